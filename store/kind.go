package store

import (
	"errors"
	"fmt"
	"time"

	"github.com/kubecoord/kubecoord/internal/kinds"
	"github.com/kubecoord/kubecoord/store/field"
	"github.com/kubecoord/kubecoord/store/kind"
	"github.com/kubecoord/kubecoord/store/schema"
)

// Kind is one kind of object, ready for use. It never changes; any number of stores may share it.
type Kind[T any] struct {
	kind.Kind
}

// NewKind checks a descriptor and makes it a Kind. The error names the member that is wrong and the expected value.
func NewKind[T any](d Descriptor[T]) (*Kind[T], error) {
	erased, err := d.erase()
	if err != nil {
		return nil, err
	}
	k, err := kinds.NewKind(erased)
	if err != nil {
		return nil, fmt.Errorf("store: %w", err)
	}
	return &Kind[T]{k}, nil
}

// MustKind is like NewKind, but panics with the error.
func MustKind[T any](d Descriptor[T]) *Kind[T] {
	k, err := NewKind(d)
	if err != nil {
		panic(err)
	}
	return k
}

// As returns a kind of another package, such as one of store/kube, as a Kind of its type. The error is for a kind whose stored
// objects are not of type T.
func As[T any](k kind.Kind) (*Kind[T], error) {
	untyped := kinds.Of(k)
	if o := untyped.New(untyped.OwnVersion()); as[T](o) == nil {
		var have any = o
		if b, ok := o.(interface{ Value() any }); ok {
			have = b.Value()
		}
		return nil, fmt.Errorf("store: kind %s: got objects of type %T, want %T", k.Info().Kind, have, (*T)(nil))
	}
	return &Kind[T]{k.Untyped()}, nil
}

// In returns the collection of the kind in a store. It panics if the store already has a different Kind of the same
// group and plural, and if Open opened the store without the kind.
func (k *Kind[T]) In(st *Store) *Collection[T] {
	return &Collection[T]{r: st.r.Resource(kinds.Of(k))}
}

// Descriptor describes one kind of object: everything that the store and the HTTP API need to know. Only Name and
// Versions are required. A nil function does nothing, unless its field names another default.
//
// T is a struct that embeds meta.TypeMeta with the tag `json:",inline"` and meta.ObjectMeta with the tags
// `json:"metadata" protobuf:"1"`. Its other fields have json tags as in the API (the options omitempty, omitzero and
// inline), and protobuf tags with their field numbers. If a field has no number, the kind is served only in JSON and
// YAML, as custom resources are. For objects without a schema, use Unstructured.
//
// kubectl explain shows the tag description of a field, and for the kind the tag description of the embedded meta.TypeMeta.
//
// A field may have one of these types. NewKind returns an error that names the first field of another type, and the
// types that are allowed:
//
//   - bool, int, int32, int64, float64, string, []byte, and types with one of these as
//     underlying type, such as time.Duration, which is a number of nanoseconds;
//   - meta.Time and meta.MicroTime, but not time.Time;
//   - a struct, also an embedded one, or one with pointers to its own type;
//   - a type with MarshalJSON and UnmarshalJSON, or MarshalText and UnmarshalText,
//     that has no pointers, slices or maps in it, or is a slice of bytes, such as
//     json.RawMessage. It must not have a protobuf number. If MarshalJSON or MarshalText
//     returns an error, a write through the Go API answers ErrInvalid;
//   - a slice of one of these, or a map from strings to one of these;
//   - a pointer to one of the above except slices and maps. Items of slices and
//     values of maps must not be pointers.
//
// Fields that are unexported or tagged "-" are not encoded. They are copied and compared, and must have one of these
// types too.
//
// Functions are called without a lock, from any goroutine. They must not keep their arguments. Only Default and
// PrepareForUpdate may change obj.
type Descriptor[T any] struct {
	// Group is the API group; "" is the core group.
	Group string
	// Name is the kind in CamelCase, such as "Lease".
	Name string
	// Plural is the resource in paths, such as "leases". Default: Name in lower case and an "s", or "es" after an
	// "s", or "ies" in place of a "y".
	Plural string
	// Singular defaults to Name in lower case.
	Singular string
	// StoragePrefix is the path before namespace and name in the storage, which a few errors show. Default: group and
	// plural, as for custom resources.
	StoragePrefix string
	// ShortNames are names that kubectl accepts in place of Plural.
	ShortNames []string

	// Versions are the served versions, the preferred one first. The first one is also the storage version, as in
	// discovery, so it has no Form. Its rules apply to writes through the Go API.
	Versions []Version[T]

	// ClusterScoped kinds have no namespaces. A write drops the namespace of its object; a read in a namespace finds
	// nothing.
	ClusterScoped bool
	// Status makes the member "status" a subresource. Only Collection.Status and the path …/{name}/status write it,
	// and they write nothing else. T and the type of each Form must have the member.
	Status bool
	// Native is for kinds that are built into a real server. Other kinds are treated as custom resources: bodies over
	// HTTP must name apiVersion and kind, and metadata.generation is 1 in a new object. It then counts the updates
	// that change more than metadata, or more than metadata and status if Status is set.
	Native bool
	// CreateOnUpdate lets an update of a missing object create it.
	CreateOnUpdate bool
	// UnconditionalUpdate lets an update leave out the resourceVersion.
	UnconditionalUpdate bool

	// ValidateName returns the problems of a name; prefix is set for a generateName. Default: DNSSubdomainName.
	ValidateName func(name string, prefix bool) []string
	// ValidateFinalizer returns the problems of a finalizer. It adds to the rule of all kinds: a finalizer must be a
	// valid label key. Default: no further rule.
	ValidateFinalizer func(finalizer string) []string
	// ValidateMetadataOnUpdate applies the rules of a create to the metadata of an update too, after the rules of an
	// update. Endpoints set it.
	ValidateMetadataOnUpdate bool
	// Default sets the fields that a writer left out.
	Default func(obj *T)
	// PrepareForUpdate copies from old the fields that an update cannot change. It is not called for writes of the
	// status.
	PrepareForUpdate func(obj, old *T)
	// Validate returns the problems outside of the metadata; old is nil on a create. Validate of a Version replaces
	// it.
	Validate func(obj, old *T) field.Errors
	// Warnings returns warnings for the answer to a write; old is nil on a create. It is not called for writes of the
	// status.
	Warnings func(obj, old *T) []string

	// SelectableFields are the fields that a fieldSelector may name besides metadata.name and, unless the kind is
	// cluster-scoped, metadata.namespace.
	SelectableFields []SelectableField[T]
	// Columns are the columns of a Table. Default: name and age.
	Columns []Column[T]
}

// Version is one served version of a kind.
type Version[T any] struct {
	// Name is the version, such as "v1".
	Name string
	// Deprecated is the text of the warning on every answer, or "".
	Deprecated string
	// Form is the version's shape on the wire if it is not T; see FormOf.
	Form Form[T]
	// Schema is the form of the objects if T is Unstructured, or nil for any form. The one of the first version is also the
	// form of stored objects.
	Schema *schema.Schema
	// Validate replaces Descriptor.Validate in writes through this version.
	Validate func(obj, old *T) field.Errors
}

// Form converts between the stored form of a kind and the shape of one version on the wire. The zero Form means that
// the shape is T.
type Form[T any] struct {
	err     error // for NewKind
	newWire func() kinds.Object
	to      func(*T) kinds.Object
	from    func(kinds.Object) *T
}

// FormOf returns the Form of a version with the Go type W. The result of each function may share memory with the
// argument, which is not used again.
func FormOf[T, W any](to func(*T) *W, from func(*W) *T) Form[T] {
	asObject := func(w *W) kinds.Object { return any(w).(kinds.Object) }
	var err error
	if _, ok := any(new(W)).(kinds.Object); !ok {
		err = fmt.Errorf("got a Form of %T, want one that embeds meta.TypeMeta and meta.ObjectMeta", *new(W))
	} else if to == nil || from == nil {
		err = errors.New("got a Form with a nil function, want both")
	}
	return Form[T]{
		err:     err,
		newWire: func() kinds.Object { return asObject(new(W)) },
		to:      func(t *T) kinds.Object { return asObject(to(t)) },
		from:    func(o kinds.Object) *T { return from(any(o).(*W)) },
	}
}

// SelectableField is a field that a fieldSelector may name.
type SelectableField[T any] struct {
	Path  string // such as "spec.leaseName"
	Value func(obj *T) string
}

// Column is one column of a Table (API reference, "TableColumnDefinition").
type Column[T any] struct {
	Name        string
	Type        string // an OpenAPI type, such as "string"
	Format      string // "name" for the column that identifies the row
	Description string
	Priority    int32 // 0 is always shown
	// Cell renders the column; now is the server's time.
	Cell func(obj *T, now time.Time) any
}

// erase returns the descriptor with functions that take any object.
func (d *Descriptor[T]) erase() (kinds.Descriptor, error) {
	if _, ok := any(new(T)).(kinds.Object); !ok {
		return kinds.Descriptor{}, fmt.Errorf("store: kind %s: %T does not embed meta.TypeMeta and meta.ObjectMeta", d.Name, *new(T))
	}
	e := kinds.Descriptor{
		Group: d.Group, Name: d.Name, Plural: d.Plural, Singular: d.Singular, StoragePrefix: d.StoragePrefix,
		ShortNames: d.ShortNames, New: func() kinds.Object { return any(new(T)).(kinds.Object) },
		ClusterScoped: d.ClusterScoped, Status: d.Status, Native: d.Native,
		CreateOnUpdate: d.CreateOnUpdate, UnconditionalUpdate: d.UnconditionalUpdate,
		ValidateMetadataOnUpdate: d.ValidateMetadataOnUpdate, ValidateName: d.ValidateName, ValidateFinalizer: d.ValidateFinalizer,
	}
	if f := d.Default; f != nil {
		e.Default = func(o kinds.Object) { f(as[T](o)) }
	}
	if f := d.PrepareForUpdate; f != nil {
		e.PrepareForUpdate = func(o, old kinds.Object) { f(as[T](o), as[T](old)) }
	}
	if f := d.Warnings; f != nil {
		e.Warnings = func(o, old kinds.Object) []string { return f(as[T](o), as[T](old)) }
	}
	for _, f := range d.SelectableFields {
		e.SelectableFields = append(e.SelectableFields, f.erase())
	}
	columns := d.Columns
	if columns == nil {
		columns = []Column[T]{NameColumn[T](), AgeColumn[T]()}
	}
	for _, c := range columns {
		e.Columns = append(e.Columns, c.erase())
	}
	for _, v := range d.Versions {
		if v.Form.err != nil {
			return e, fmt.Errorf("store: kind %s: version %s: %w", d.Name, v.Name, v.Form.err)
		}
		e.Versions = append(e.Versions, v.erase(d.Validate))
	}
	return e, nil
}

func (f SelectableField[T]) erase() kinds.SelectableField {
	e := kinds.SelectableField{Path: f.Path}
	if value := f.Value; value != nil {
		e.Value = func(o kinds.Object) string { return value(as[T](o)) }
	}
	return e
}

func (c Column[T]) erase() kinds.Column {
	e := kinds.Column{ColumnInfo: kinds.ColumnInfo{
		Name: c.Name, Type: c.Type, Format: c.Format, Description: c.Description, Priority: c.Priority,
	}}
	if cell := c.Cell; cell != nil {
		e.Cell = func(o kinds.Object, now time.Time) any { return cell(as[T](o), now) }
	}
	return e
}

// erase returns the version; validate is Descriptor.Validate.
func (v Version[T]) erase(validate func(obj, old *T) field.Errors) kinds.Version {
	e := kinds.Version{Name: v.Name, Deprecated: v.Deprecated, New: v.Form.newWire, Schema: v.Schema}
	if v.Validate != nil {
		validate = v.Validate
	}
	if validate != nil {
		e.Validate = func(o, old kinds.Object) field.Errors { return validate(as[T](o), as[T](old)) }
	}
	if v.Form.newWire != nil {
		e.Convert = kinds.ConvertBy(func(o kinds.Object) kinds.Object { return v.Form.to(as[T](o)) },
			func(o kinds.Object) kinds.Object { return any(v.Form.from(o)).(kinds.Object) })
	}
	return e
}

// as returns the typed pointer behind o, and nil for the nil object.
func as[T any](o kinds.Object) *T { return kinds.ValueOf[T](o) }
