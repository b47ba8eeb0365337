// Package field reports problems with the fields of an object in the words of the Kubernetes
// API: the path of a field, the kind of problem, the value found and the value expected. The
// Validate function of a kind returns Errors, and the store answers with one Status that has
// a cause for each.
package field
