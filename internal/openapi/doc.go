// Package openapi makes the OpenAPI documents of an API: one of version 2 for the whole
// API, and one of version 3 for each group version and each discovery document. They
// equal the documents of a real server, except for the descriptions.
//
// The documents are derived from [API] in these steps:
//
//   - schemas.go, trees.go and words.go: Go types, schemas and words.txt to definitions of version 3
//   - operations.go: resources to paths of version 2
//   - documents.go: definitions and paths to one tree per document
//   - proto.go and proto.txt: a tree to its protobuf form, as defined by gnostic
//
// Equal input gives equal bytes.
package openapi

import (
	"encoding/json"
	"strings"

	"github.com/kubecoord/kubecoord/internal/codec"
	"github.com/kubecoord/kubecoord/store/meta"
)

// API describes an API.
type API struct {
	// Version is the version of the server, such as "v1.37.2".
	Version string
	// GroupVersions are all served versions of all groups. A document of version 3 needs only its own, and the kinds of others
	// that its schemas name.
	GroupVersions []GroupVersion
}

// GroupVersion is one version of a group.
type GroupVersion struct {
	meta.GroupVersion
	Resources []Resource
}

// Resource is a kind in one version.
type Resource struct {
	Kind, ListKind, Plural string
	// ClusterScoped means that objects have no namespace.
	ClusterScoped bool
	// Subresources are in the order of their names.
	Subresources []Subresource
	// JSONOnly means that objects have no protobuf form, NotStrategic that there are no strategic merge patches, and Native
	// that the kind is built into a real server.
	JSONOnly, NotStrategic, Native bool
	// Verbs are the verbs of the resource, in the words of discovery; nil means all.
	Verbs []string
	// Type is the struct of the objects. The schema of their other members, if it has a name, is the definition.
	Type *codec.Type

	body *Subresource // whose operations these are, if it has a kind of its own
}

// Subresource is a path below each object.
type Subresource struct {
	Name  string
	Verbs []string
	// Body is the kind of the bodies, or nil for the kind of the resource. GroupVersion is its version.
	Body         *Resource
	GroupVersion meta.GroupVersion
}

// Name returns the name of the document of version 3.
func (gv GroupVersion) Name() string { return strings.TrimPrefix(gv.root(), "/") }

// root returns the common beginning of the paths of a group version.
func (gv GroupVersion) root() string {
	if gv.Group == "" {
		return "/api/" + gv.Version
	}
	return "/apis/" + gv.Group + "/" + gv.Version
}

func kindIn(gv meta.GroupVersion, kind string) object {
	return object{"group": gv.Group, "kind": kind, "version": gv.Version}
}

// Document is an OpenAPI document.
type Document struct {
	tree    object
	version string // "v2" or "v3"
}

// JSON returns the JSON form, with sorted members.
func (d Document) JSON() []byte { return encode(d.tree) }

func encode(tree any) []byte {
	data, err := json.Marshal(tree)
	if err != nil {
		panic(err) // a tree can always be encoded
	}
	return data
}

// Protobuf returns the protobuf form, which gnostic defines.
func (d Document) Protobuf() []byte {
	var m message
	newForms(d.version)["document"](&m, d.tree)
	return m
}
