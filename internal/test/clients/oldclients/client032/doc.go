// Package client032 runs candidates and coordinated electors of client-go 0.32,
// whose LeaseCandidate is v1alpha2, against an embedded server. It is a separate
// module outside go.work, because go.work would select a newer client-go. The
// test in the parent folder runs it.
package client032
