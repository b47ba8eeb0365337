// Package meta holds the types that all objects of the API share: their metadata, times, the
// metadata of lists, and the Status of a failed request.
//
// The types mirror the group meta.k8s.io of the Kubernetes API. Names and JSON forms are the
// API's own. The struct tags also have protobuf field numbers and merge rules, for the codecs
// and patches of this module.
package meta
