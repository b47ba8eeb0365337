package kind

import "github.com/kubecoord/kubecoord/store/meta"

// Descriptor describes one kind of object: everything that a store and a server need to know. Only the Kind of the Resource and one
// Version with a name are required. A nil function does nothing, unless its field names another default.
//
// P is what the functions get: a pointer to the Go type of the stored objects, such as *lease.Lease, or [meta.Object] for code that
// makes kinds of many types.
//
// The type is a struct that embeds meta.TypeMeta with the tag `json:",inline"` and meta.ObjectMeta with the tags
// `json:"metadata" protobuf:"1"`. Its other fields have json tags as in the API (the options omitempty, omitzero and inline), and protobuf
// tags with their field numbers. If a field has no number, the kind is served only in JSON and YAML, as custom resources are. For objects
// without a Go type use store.Unstructured, for Go types of another library a [Library].
//
// kubectl explain shows the tag description of a field, and for the kind the tag description of the embedded meta.TypeMeta.
//
// A field may have one of these types. The error of store.NewKind names the first field of another type, and the types that are allowed:
//
//   - bool, int, int32, int64, float64, string, []byte, and types with one of these as underlying type, such as time.Duration, which is a
//     number of nanoseconds;
//   - meta.Time and meta.MicroTime, but not time.Time;
//   - a struct, also an embedded one, or one with pointers to its own type;
//   - a type with MarshalJSON and UnmarshalJSON, or MarshalText and UnmarshalText, that has no pointers, slices or maps in it, or is a slice
//     of bytes, such as json.RawMessage. It must not have a protobuf number. If MarshalJSON or MarshalText returns an error, a write through
//     the Go API answers store.ErrInvalid;
//   - a slice of one of these, or a map from strings to one of these;
//   - a pointer to one of the above except slices and maps. Items of slices and values of maps must not be pointers.
//
// Fields that are unexported or tagged "-" are not encoded. They are copied and compared, and must have one of these types too.
//
// Functions are called without a lock, from any goroutine. They must not keep their arguments, and change only the first one, where their
// doc comment says so.
type Descriptor[P any] struct {
	// Resource is how the API names and serves the kind.
	Resource Resource
	// Versions are the versions, the preferred one first. The first one is also the storage version, so it has no Form. Writes through the
	// Go API are in this version, and its rules apply to them.
	Versions []Version[P]
	// Strategy has the rules of writes.
	Strategy Strategy[P]
	// Table is how a list is shown to kubectl get. Default: name and age.
	Table Table[P]
	// SelectableFields are the fields that a fieldSelector may name besides metadata.name and, unless the kind is cluster-scoped,
	// metadata.namespace.
	SelectableFields []SelectableField[P]
	// Subresources are the subresources besides the status. A Subresource with the name "status" replaces the subresource that
	// Resource.Status makes.
	Subresources []Subresource[P]
	// New returns an empty object in the stored form. It is needed if P is an interface and the first version has no Type. Nil: a new
	// object has the Type of the first version, or the type P if that version has no Type.
	New func() meta.Object
	// Native has what the kinds of a real server need beside this. Nil is for a kind of your own, which is treated as a custom resource:
	// bodies over HTTP must name apiVersion and kind, and metadata.generation is 1 in a new object. It then counts the updates that change
	// more than metadata, or more than metadata and status if Resource.Status is set.
	Native *Native[P]
}

// Resource is how the API names and serves a kind.
type Resource struct {
	// Group is the API group; "" is the core group.
	Group string
	// Kind is the name in CamelCase, such as "Lease". ListKind is the kind of lists. Default: Kind and "List".
	Kind, ListKind string
	// Plural is the resource in paths, such as "leases". Default: Kind in lower case and an "s", or "es" after an "s", or "ies" in place of
	// a "y".
	Plural string
	// Singular defaults to Kind in lower case.
	Singular string
	// ShortNames are names that kubectl accepts in place of Plural, Categories the names that stand for several resources, such as "all".
	ShortNames, Categories []string
	// ClusterScoped kinds have no namespaces. A write drops the namespace of its object; a read in a namespace finds nothing.
	ClusterScoped bool
	// Status makes the member "status" a subresource. Only Collection.Status and the path …/{name}/status write it, and they write nothing
	// else. The type of each version must have the member.
	Status bool
	// Verbs are the served verbs in the words of discovery. Nil means all. Objects of a kind without the verb watch are not stored: a create
	// is answered by Native.Answer.
	Verbs []string
}

// SelectableField is a field that a fieldSelector may name.
type SelectableField[P any] struct {
	Path  string             // such as "spec.leaseName"
	Value func(obj P) string // returns the value that the selector compares
}
