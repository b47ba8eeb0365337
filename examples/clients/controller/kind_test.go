package main

import "github.com/kubecoord/kubecoord/store"

// poolKind tells the server of Pools, as a CustomResourceDefinition without a
// schema tells a real one.
func poolKind() store.Descriptor {
	kind := store.UnstructuredKind(groupVersion.Group, "Pool", groupVersion.Version)
	kind.Status = true
	return kind
}
