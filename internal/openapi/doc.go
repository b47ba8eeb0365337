// Package openapi writes the OpenAPI documents of an API: one of version 2 for
// all of it, and one of version 3 for each group version and each discovery
// document. They have the structure that the machinery of Kubernetes generates
// for the same types, with wording of our own.
//
// Everything is derived from [API]. The steps are
//
//   - collect.go, meta.go and words.go: Go types to definitions
//   - operations.go and parameters.go: resources to operations
//   - schema.go, v2.go and v3.go: both to the trees of the two versions
//   - proto2.go and proto3.go: the messages of the protobuf forms, which clients
//     know as gnostic's
//   - proto.go: a tree to its protobuf form
//
// Equal input gives equal bytes.
package openapi

import (
	"reflect"

	"github.com/kubecoord/kubecoord/internal/codec"
	"github.com/kubecoord/kubecoord/store/meta"
)

// API is what the documents describe.
type API struct {
	// Version is that of the server, such as "v1.37.2".
	Version string
	// GroupVersions are all that are served.
	GroupVersions []GroupVersion
}

// GroupVersion is one version of a group.
type GroupVersion struct {
	meta.GroupVersion
	Resources []Resource
}

// Resource is one kind in the shape of one version.
type Resource struct {
	Kind, Plural string
	// ClusterScoped tells that objects have no namespaces, Status that they have
	// their status as a subresource.
	ClusterScoped, Status bool
	// Unstructured tells that objects may have any form.
	Unstructured bool
	// Type is the compiled form of GoType, the struct of the objects.
	Type   *codec.Type
	GoType reflect.Type
}

// root returns the path that everything of a group version is below.
func (gv GroupVersion) root() string {
	if gv.Group == "" {
		return "/api/" + gv.Version
	}
	return "/apis/" + gv.Group + "/" + gv.Version
}

// groupVersionKind names a type.
type groupVersionKind struct {
	meta.GroupVersion
	kind string
}

func (g groupVersionKind) tree() object {
	return object{"group": g.Group, "kind": g.kind, "version": g.Version}
}
