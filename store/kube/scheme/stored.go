package scheme

import (
	"slices"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/kubecoord/kubecoord/internal/kinds"
	"github.com/kubecoord/kubecoord/store"
	"github.com/kubecoord/kubecoord/store/schema"
)

// A kube-apiserver answers with an object as it is after it was stored in protobuf, which has no null in a map of bytes, and does
// not distinguish an empty list from one that is not set.

// storage is what storing changes in the objects of a type.
type storage struct {
	lists [][]string // that are always in the JSON, outside of other lists
	bytes []string   // members of the object that are maps of bytes
}

func storageOf(s *schema.Schema) (st storage) {
	for _, p := range s.Properties {
		if a := p.Schema.Additional; a != nil && a.Type == "string" && a.Extra["format"] == "byte" {
			st.bytes = append(st.bytes, p.Name)
		}
	}
	st.addLists(s, nil, nil)
	return st
}

func (st *storage) addLists(s *schema.Schema, path, around []string) {
	if s.Name != "" && slices.Contains(around, s.Name) {
		return
	}
	around = append(around, s.Name)
	for _, p := range s.Properties {
		member := append(slices.Clip(path), p.Name)
		switch {
		case p.Name == "metadata" && path == nil:
		case p.Schema.Type == "array" && p.Schema.Nullable:
			st.lists = append(st.lists, member)
		case p.Schema.Type == "object":
			st.addLists(p.Schema, member, around)
		}
	}
}

// apply brings an object into the form that it has after it was stored.
func (st *storage) apply(o kinds.Object) {
	u := o.(*store.Unstructured)
	for _, path := range st.lists {
		if list, ok := at(o, path...).([]any); ok && len(list) == 0 {
			_ = unstructured.SetNestedField(u.Content, nil, path...) // its parent is an object
		}
	}
	for _, name := range st.bytes {
		entries, _ := u.Content[name].(map[string]any)
		for key, value := range entries {
			if value == nil {
				entries[key] = ""
			}
		}
	}
}
