package main

import (
	"github.com/kubecoord/kubecoord/store"
	"github.com/kubecoord/kubecoord/store/kind"
)

// poolKind tells the server of Pools, as a CustomResourceDefinition without a
// schema tells a real one.
func poolKind() kind.Kind {
	return store.MustKind(kind.Descriptor[*store.Unstructured]{
		Resource: kind.Resource{Group: groupVersion.Group, Kind: "Pool", Status: true},
		Versions: []kind.Version[*store.Unstructured]{{Name: groupVersion.Version}},
	})
}
