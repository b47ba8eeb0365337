// Package client031 runs candidates and coordinated electors of client-go 0.31,
// whose LeaseCandidate is v1alpha1, against an embedded server. It is a separate
// module outside go.work, because go.work would select a newer client-go. The
// test in the parent folder runs it.
package client031
