package store

import (
	"reflect"
	"sync"

	"github.com/kubecoord/kubecoord/internal/codec"
	"github.com/kubecoord/kubecoord/store/meta"
)

// Unstructured is an object of any form. If T of a Kind is Unstructured, or another struct with a field of type
// map[string]any and the tag `json:",rest"`, unknown members are kept, as in a custom resource with the schema
// x-kubernetes-preserve-unknown-fields: true. Such a kind is served in JSON and YAML, and has no strategic merge
// patch. Server-side apply merges its maps and replaces its lists. The body of a request must name apiVersion and
// kind, as for all kinds that are not Native.
type Unstructured struct {
	meta.TypeMeta   `json:",inline"`
	meta.ObjectMeta `json:"metadata" protobuf:"1"`
	// Content has the members of the object except apiVersion, kind and metadata. Objects are map[string]any, lists
	// are []any, whole numbers are int64, other numbers are float64. A store converts other values to these types
	// through their JSON, and panics if a value has no JSON. So 1.0 is 1, and an update from 1 to 1.0 changes
	// nothing; a real server counts a generation.
	Content map[string]any `json:",rest"`
}

// unstructuredType is compiled once per process.
var unstructuredType = sync.OnceValue(func() *codec.Type { return codec.MustCompile(reflect.TypeFor[Unstructured](), "v1") })

// Tree returns the object as its JSON decodes, with the types that Content has, as the packages of Kubernetes take it. The tree may share
// memory with the object.
func (u *Unstructured) Tree() map[string]any { return unstructuredType().ToUnstructured(u) }

// SetTree makes a tree the object. The object may share memory with it. The error names a member of the metadata of a wrong type; the
// object is then undefined.
func (u *Unstructured) SetTree(tree map[string]any) error {
	*u = Unstructured{}
	_, err := unstructuredType().FromUnstructured(tree, u, false)
	return err
}
