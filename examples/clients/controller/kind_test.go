package main

import (
	"github.com/kubecoord/kubecoord/store"
	"github.com/kubecoord/kubecoord/store/kind"
)

// poolKind tells the server of Pools, as a CustomResourceDefinition without a
// schema tells a real one.
func poolKind() kind.Kind {
	return store.MustKind(store.Descriptor[store.Unstructured]{
		Group: groupVersion.Group, Name: "Pool", Status: true,
		Versions: []store.Version[store.Unstructured]{{Name: groupVersion.Version}},
	})
}
