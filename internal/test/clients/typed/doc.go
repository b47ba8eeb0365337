// Package typed tests kubecoord with client-go's typed clients for Lease,
// LeaseCandidate and Endpoints: in protobuf (their default) and in JSON, in
// memory and over a socket.
package typed
