// Package field says what is wrong with a field of an object, in the words of
// the Kubernetes API: the path of the field, the kind of problem, the value
// that was found and what was expected. A kind's validation returns Errors;
// the store turns them into one Status with a cause for each.
package field
