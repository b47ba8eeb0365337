package kind

import (
	"context"
	"slices"

	"github.com/kubecoord/kubecoord/internal/codec"
	"github.com/kubecoord/kubecoord/store/meta"
)

// Kind is a checked description of a kind, with its types compiled. store.NewKind and store.Compile return one. It never changes, may be
// used from any goroutine, and any number of stores and servers may share it. Only this module implements Kind; a type may embed one.
type Kind interface {
	codec.Sealed // by this module alone
	// Untyped returns the Kind that a type such as store.Kind embeds. Two Kinds are the same if their Untyped results are equal.
	Untyped() Kind
	// Info returns the description of the kind, which must not be changed.
	Info() *Info
	// GroupResource returns the group and the plural of the kind.
	GroupResource() meta.GroupResource
	// Groups returns the kind as it is in each group that serves its objects: first in the group that errors about them name, then
	// in the Aliases of its Native.
	Groups() []Kind
	// DefinesKinds reports whether the objects of the kind define kinds.
	DefinesKinds() bool
	// OwnVersion returns the index of the version that a Collection reads and writes.
	OwnVersion() int
	// New returns an empty object in the form of a version. Here and below, version is an index into Info().Versions.
	New(version int) meta.Object
	// TypeMeta returns the kind and apiVersion of a version.
	TypeMeta(version int) meta.TypeMeta
	// InternalType returns the Go type that a real server converts the body of a version to, as its errors quote it.
	InternalType(version int) string

	// FieldValue returns the value of a selectable field of a stored object, or "" if path is not a selectable field.
	FieldValue(obj meta.Object, path string) string
	// Wire returns a copy of a stored object in the form of a version, with kind and apiVersion. The error is the error of the
	// conversion.
	Wire(ctx context.Context, obj meta.Object, version int) (meta.Object, error)
	// Received prepares an object in the form of a version, such as a decoded body, for a write: it sets defaults, and converts the
	// object to the stored form unless Native.KeepsVersion is set. The caller must not use obj again. The error is the error of the
	// conversion.
	Received(ctx context.Context, obj meta.Object, version int) (meta.Object, error)
	// Object returns a copy of value as an object. value is a pointer to the Go type of the version; Object panics for any other type.
	Object(value any, version int) meta.Object
	// Tree returns an object in the form of a version as its JSON decodes: objects are map[string]any, lists are []any, whole numbers
	// int64 and other numbers float64. The tree may share memory with the object.
	Tree(obj meta.Object, version int) map[string]any
	// FromTree returns the object of a tree, without the members that the version does not have. unknown has an error for each of these
	// members, sorted, with the text of strict validation. err is for a member with a value of the wrong type.
	FromTree(tree map[string]any, version int) (obj meta.Object, unknown []error, err error)
	// DefaultTree returns a copy of a tree with the defaults that the schema of a version has. The error is for a member with a value of
	// the wrong type.
	DefaultTree(tree map[string]any, version int) (map[string]any, error)
}

// Info describes a kind.
type Info struct {
	// Resource is the Resource of the Descriptor, with defaults filled in.
	Resource
	// Native reports that the kind is built into a real server: its Descriptor has a Native that is no CustomResource.
	Native bool
	// StoragePrefix is that of the Native, with the default filled in.
	StoragePrefix string
	// Versions are the versions, the preferred one first.
	Versions []VersionInfo
	// SelectableFields are all fields that a fieldSelector may name.
	SelectableFields []string
	// Trees reports that objects have members that no Go type declares, as Unstructured ones have. Their JSON has the members in the
	// order of their names, and they accept no strategic merge patch.
	Trees bool
}

// VersionInfo is one version of a kind.
type VersionInfo struct {
	Name string
	// Deprecated is the text of the warning on every answer, or "".
	Deprecated string
	// Unserved reports that the version is not served: objects are stored in it, or fields are owned in it.
	Unserved bool
}

// Serves reports whether the kind has a verb, in the words of discovery.
func (i *Info) Serves(verb string) bool { return i.Verbs == nil || slices.Contains(i.Verbs, verb) }

// Preferred returns the index of the first version that is served, or 0.
func (i *Info) Preferred() int {
	return max(slices.IndexFunc(i.Versions, func(v VersionInfo) bool { return !v.Unserved }), 0)
}

// Stored reports whether objects are kept. An object of a kind that is not stored, such as a SubjectAccessReview, is answered and
// forgotten.
func (i *Info) Stored() bool { return i.Serves("watch") }

// BuiltInGroup reports whether one of the kinds in all is Native and of the group. A real server answers all paths below such a
// group itself, in every version, so that a CustomResourceDefinition of the group is established and has no effect (upstream: apiserver,
// server/handler.go, director.ServeHTTP, which finds the group's own web service).
func BuiltInGroup(all []Kind, group string) bool {
	return slices.ContainsFunc(all, func(k Kind) bool {
		info := k.Info()
		return info.Native && info.Group == group
	})
}
