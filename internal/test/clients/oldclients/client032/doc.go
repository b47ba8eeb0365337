// Package client032 lets candidates and coordinated electors of client-go 0.32,
// whose LeaseCandidate is v1alpha2, contend on an embedded server. It is a module
// of its own outside go.work, which would raise them to the version of the
// others; the test in the folder above runs it.
package client032
