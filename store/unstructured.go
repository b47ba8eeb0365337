package store

import "github.com/kubecoord/kubecoord/store/meta"

// Unstructured is an object of any form. Where T of a Kind is Unstructured, or
// another struct with a field of type map[string]any that is tagged
// `json:",rest"`, unknown members are kept, as for a custom resource whose schema
// is x-kubernetes-preserve-unknown-fields: true. Such a kind is served in JSON and
// YAML, has no strategic merge patch, and is applied with its maps merged and its
// lists replaced. The body of a request must say its apiVersion and kind, as those of
// custom resources must.
type Unstructured struct {
	meta.TypeMeta   `json:",inline"`
	meta.ObjectMeta `json:"metadata" protobuf:"1"`
	// Content are the members of the object beside apiVersion, kind and metadata.
	// Objects in it are map[string]any, lists []any, and numbers int64, or float64
	// where they are not whole. Other values become these when they are stored, by
	// way of their JSON; one that has none is a panic. So 1.0 is 1, and an update
	// from one to the other changes nothing; a real server counts a generation.
	Content map[string]any `json:",rest"`
}
