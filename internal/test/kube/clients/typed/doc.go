// Package typed tests kubecoord with client-go's typed client for Leases: in protobuf (its default) and in JSON, in memory and over a
// socket. Other kinds and clients are in the recorded exchanges, which have the same bytes.
package typed
