package kind

import (
	"context"
	"slices"

	"github.com/kubecoord/kubecoord/store/meta"
)

// Kind is a kind that was checked, with its types compiled, as store.NewKind and store.Compile return it. It never changes, may be used
// from any goroutine, and any number of stores and servers may share it. Other packages may embed a Kind; they cannot implement one.
type Kind interface {
	// Untyped returns the kind itself, without the types that embed it. Two Kinds are the same if the results are equal.
	Untyped() Kind
	// Info returns the description of the kind, which must not be changed.
	Info() *Info
	// GroupResource returns the group and the plural of the kind.
	GroupResource() meta.GroupResource
	// Groups returns the kind in each group that its objects are served in: first the group that errors about them name, then the
	// Aliases of the Descriptor.
	Groups() []Kind
	// DefinesKinds reports whether the objects of the kind define kinds.
	DefinesKinds() bool
	// OwnVersion returns the index of the version that a Collection reads and writes.
	OwnVersion() int
	// New returns an empty object in the shape of a version.
	New(version int) meta.Object
	// TypeMeta returns the kind and apiVersion of a version, by its index in Info.
	TypeMeta(version int) meta.TypeMeta
	// InternalType returns the Go type that a real server converts the body of a version to, as its errors quote it.
	InternalType(version int) string

	// FieldValue returns the value of a selectable field of a stored object, "" for others.
	FieldValue(obj meta.Object, path string) string
	// Wire returns a copy of a stored object in the shape of a version, with kind and apiVersion. It fails if the conversion fails.
	Wire(ctx context.Context, obj meta.Object, version int) (meta.Object, error)
	// Received returns an object in the shape of a version as the steps of a write get it: with defaults, and in the stored form unless
	// the kind KeepsVersion. It takes ownership of the object.
	Received(ctx context.Context, obj meta.Object, version int) (meta.Object, error)
	// Object returns a copy of a value of the Go type of a version as an object. It panics for another type.
	Object(value any, version int) meta.Object
	// Tree returns an object in the shape of a version as its JSON decodes: objects are map[string]any, lists are []any, whole numbers
	// int64 and other numbers float64. The tree may share memory with the object.
	Tree(obj meta.Object, version int) map[string]any
	// FromTree returns the object of a tree, without the members that the version does not have. unknown names these, sorted, as strict
	// validation does.
	FromTree(tree map[string]any, version int) (obj meta.Object, unknown []error, err error)
	// DefaultTree returns a tree with the defaults of the schema of a version.
	DefaultTree(tree map[string]any, version int) (map[string]any, error)
}

// Info describes a kind.
type Info struct {
	Group, Kind, Plural, Singular string
	// StoragePrefix is the path before namespace and name in the storage.
	StoragePrefix          string
	ShortNames, Categories []string
	// Verbs are the served verbs in the words of discovery; nil means all.
	Verbs []string
	// Versions are the versions, the preferred one first.
	Versions []VersionInfo
	// SelectableFields are all fields that a fieldSelector may name.
	SelectableFields []string
	// FieldRefusal is the format of the message that refuses other fields than SelectableFields, or "" for a list of these.
	FieldRefusal string
	// CreateOnUpdate and UnconditionalUpdate are the members CreateMissing and Unconditional of the UpdateStrategy.
	CreateOnUpdate, UnconditionalUpdate bool
	// ReturnsDeleted and OrphansDependents are the members ReturnsObject and OrphansDependents of the DeleteStrategy.
	ReturnsDeleted, OrphansDependents bool
	// ClusterScoped kinds have no namespaces, Status is a subresource of the kind, and Native kinds are built into a real server.
	ClusterScoped, Status, Native bool
	// Trees are objects with members that no Go type declares. They have their members in the order of their names in JSON, and no
	// strategic merge patch.
	Trees bool
	// JSONOnly reports that objects have no protobuf form, as custom resources.
	JSONOnly bool
}

// VersionInfo is one version of a kind.
type VersionInfo struct {
	Name string
	// Deprecated is the text of the warning, or "".
	Deprecated string
	// Unserved is set for a version that objects are only stored in.
	Unserved bool
}

// Serves reports whether the kind has a verb, in the words of discovery.
func (i *Info) Serves(verb string) bool { return i.Verbs == nil || slices.Contains(i.Verbs, verb) }

// Preferred returns the index of the first version that is served, or 0.
func (i *Info) Preferred() int {
	return max(slices.IndexFunc(i.Versions, func(v VersionInfo) bool { return !v.Unserved }), 0)
}

// Stored reports whether objects are kept. Others, such as a SubjectAccessReview, are answered and forgotten.
func (i *Info) Stored() bool { return i.Serves("watch") }
