// Package meta holds what every object of the API has in common: its
// metadata, the times it carries, the lists it comes in, the options of the
// verbs, and the Status that answers a request which failed.
//
// The types mirror the group meta.k8s.io of the Kubernetes API. Their field
// names and JSON forms are the API's own; the struct tags also hold the
// protobuf field numbers and the merge rules that the codecs and patches of
// this module read.
//
// Rules about these types (what a create wipes, what an update restores) live
// in package store.
package meta
