package store

import (
	"cmp"
	"fmt"
	"path"
	"reflect"
	"strings"
	"sync"
	"time"

	"github.com/kubecoord/kubecoord/internal/codec"
	"github.com/kubecoord/kubecoord/internal/managedfields"
	"github.com/kubecoord/kubecoord/store/field"
	"github.com/kubecoord/kubecoord/store/meta"
)

// Object is what a store holds: a pointer to a struct that embeds
// meta.TypeMeta and meta.ObjectMeta.
type Object interface {
	GetTypeMeta() *meta.TypeMeta
	GetObjectMeta() *meta.ObjectMeta
}

// Kind describes one kind of object: all that the store and the HTTP API need to
// know about it. T is a struct that embeds meta.TypeMeta with
// the tag `json:",inline"` and meta.ObjectMeta with the tags
// `json:"metadata" protobuf:"1"`; its other fields carry json tags as in the
// API and protobuf tags with their field numbers. For objects of any form it is
// Unstructured.
//
// A Kind must not be changed after its first use. Only Name and Versions are
// required; a nil function means that there is nothing to do.
// Functions are called without a lock held, from any goroutine. They must not
// keep the objects they are given, and only Default and PrepareForUpdate may
// change obj.
type Kind[T any] struct {
	// Group is the API group; "" is the core group.
	Group string
	// Name is the kind in CamelCase, such as "Lease".
	Name string
	// Plural is the resource in paths, such as "leases". Default: Name in lower case
	// and an "s", or "es" after an "s", or "ies" in place of a "y".
	Plural string
	// Singular defaults to Name in lower case.
	Singular string
	// StoragePrefix is what a few errors, which come from the storage of a
	// real server, put before namespace and name. Default: group and plural,
	// as for custom resources.
	StoragePrefix string
	// ShortNames are what kubectl accepts in place of Plural.
	ShortNames []string

	// Versions are the served versions, the preferred one first. The first is
	// also the one that objects are said to be stored as, and its rules hold
	// for writes through the Go API.
	Versions []Version[T]

	// ClusterScoped kinds have no namespaces. A namespace that a writer gives is
	// dropped; what asks for one finds nothing there.
	ClusterScoped bool
	// Status makes the member "status" a subresource: it is written through
	// Collection.UpdateStatus and the path …/{name}/status alone, which in turn
	// write nothing else. T and all that Forms are of must have the member.
	Status bool
	// Native is for kinds that a real server has built in. Others are treated as
	// custom resources: metadata.generation is 1 in a new object and counts the
	// updates that change more than metadata, or status where that is a subresource.
	Native bool
	// CreateOnUpdate lets an update of a missing object create it.
	CreateOnUpdate bool
	// UnconditionalUpdate lets an update leave out the resourceVersion.
	UnconditionalUpdate bool

	// ValidateName reports what is wrong with a name; prefix is set for a
	// generateName. Default: DNSSubdomainName.
	ValidateName func(name string, prefix bool) []string
	// ValidateFinalizer reports what is wrong with a finalizer beyond the rule
	// of all kinds, which is that of a label key. Default: nothing.
	ValidateFinalizer func(finalizer string) []string
	// ValidateMetadataOnUpdate applies the rules of a create to the metadata
	// of an update too, after those of an update. Endpoints do.
	ValidateMetadataOnUpdate bool
	// Default fills in what a writer may leave out.
	Default func(obj *T)
	// PrepareForUpdate carries over from old what an update cannot change. It is
	// not called for writes of the status.
	PrepareForUpdate func(obj, old *T)
	// Validate reports what is wrong outside the metadata; old is nil on a
	// create. A Version may have rules of its own in its place.
	Validate func(obj, old *T) field.Errors
	// Warnings are sent with the answer to a write; old is nil on a create. They
	// are not asked for on writes of the status.
	Warnings func(obj, old *T) []string

	// SelectableFields are the fields that a fieldSelector may name beside
	// metadata.name and, unless the kind is cluster-scoped, metadata.namespace.
	SelectableFields []SelectableField[T]
	// Columns are what a Table shows. Default: name and age.
	Columns []Column[T]

	once  sync.Once
	built *descriptor
}

// Version is one served version of a kind.
type Version[T any] struct {
	// Name is the version, such as "v1".
	Name string
	// Deprecated is the text of the warning on every answer, or "".
	Deprecated string
	// Form is the version's shape on the wire where it is not T itself; see
	// FormOf.
	Form Form[T]
	// Validate stands in for the Kind's on writes through this version.
	Validate func(obj, old *T) field.Errors
}

// Form converts between the stored form of a kind and the shape that one
// version has on the wire. The zero Form is T itself.
type Form[T any] struct {
	newWire func() Object
	to      func(*T) Object
	from    func(Object) *T
}

// FormOf returns the Form of a version whose Go type is W. The functions are
// given an object that nobody uses afterwards, so that what they return may
// share its memory.
func FormOf[T, W any](to func(*T) *W, from func(*W) *T) Form[T] {
	asObject := func(w *W) Object { return any(w).(Object) }
	return Form[T]{
		newWire: func() Object { return asObject(new(W)) },
		to:      func(t *T) Object { return asObject(to(t)) },
		from:    func(o Object) *T { return from(any(o).(*W)) },
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

// Descriptor is a Kind of any type. Only *Kind implements it.
type Descriptor interface {
	describe() *descriptor
}

// descriptor is a Kind with its type erased and its types compiled.
type descriptor struct {
	group, name, plural, singular string
	storagePrefix                 string
	shortNames                    []string
	versions                      []version
	forms                         []form // forms[0] is the stored form

	clusterScoped, status, native                                 bool
	createOnUpdate, unconditionalUpdate, validateMetadataOnUpdate bool
	// pure kinds have no function that may change an object, so that what goes
	// in may share memory with what is stored.
	pure           bool
	managers       *managedfields.Kind
	statusManagers *managedfields.Kind // of writes of the status, if it is a subresource

	validateName      func(name string, prefix bool) []string
	validateFinalizer func(finalizer string) []string // nil: nothing to check
	defaults          func(Object)
	prepareForUpdate  func(obj, old Object)
	warnings          func(obj, old Object) []string
	fields            []string
	fieldValue        func(obj Object, path string) string
	columns           []ColumnInfo
	cells             func(obj Object, now time.Time) []any
}

type version struct {
	name, deprecated string
	form             int
	// schema is the form's type. Where versions share a form, each has its own,
	// for the texts of errors.
	schema   *codec.Type
	validate func(obj, old Object) field.Errors
}

// form is one shape of a kind on the wire; versions that look alike share it,
// and with it the remembered bytes.
type form struct {
	typ     *codec.Type
	newWire func() Object
	to      func(Object) Object // nil for the stored form
	from    func(Object) Object
}

// ColumnInfo is a Column without its function.
type ColumnInfo struct {
	Name, Type, Format, Description string
	Priority                        int32
}

// describe compiles the kind on first use. It panics where T does not fit or a
// required member is missing: mistakes of a programmer.
func (k *Kind[T]) describe() *descriptor {
	if k == nil {
		panic(noKind)
	}
	k.once.Do(func() { k.built = k.compile() })
	return k.built
}

const noKind = "store: got nil, want a Kind"

// checkNames panics where a name would not do in a path.
func (k *Kind[T]) checkNames(plural string) {
	check := func(what, got string, rule func(string, bool) []string) {
		if problems := rule(got, false); len(problems) > 0 {
			panic(fmt.Sprintf("store: Kind %s: %s: got %q, want %s", k.Name, what, got, problems[0]))
		}
	}
	check("Name in lower case", strings.ToLower(k.Name), DNSLabelName)
	check("Plural", plural, DNSLabelName)
	if k.Group != "" {
		check("Group", k.Group, DNSSubdomainName)
	}
	seen := map[string]bool{}
	for _, v := range k.Versions {
		if check("Versions", v.Name, DNSLabelName); seen[v.Name] {
			panic(fmt.Sprintf("store: Kind %s: Versions: got %q twice, want it once", k.Name, v.Name))
		}
		seen[v.Name] = true
	}
}

// checkFunctions panics where one is missing that a column or field cannot do
// without.
func (k *Kind[T]) checkFunctions() {
	for _, c := range k.Columns {
		if c.Cell == nil {
			panic(fmt.Sprintf("store: Kind %s: Columns: got %q without a Cell, want one", k.Name, c.Name))
		}
	}
	for _, f := range k.SelectableFields {
		if f.Value == nil {
			panic(fmt.Sprintf("store: Kind %s: SelectableFields: got %q without a Value, want one", k.Name, f.Path))
		}
	}
}

func (k *Kind[T]) compile() *descriptor {
	if _, ok := any(new(T)).(Object); !ok {
		panic(fmt.Sprintf("store: %T does not embed meta.TypeMeta and meta.ObjectMeta", *new(T)))
	}
	if k.Name == "" || len(k.Versions) == 0 {
		panic("store: a Kind needs Name and Versions")
	}
	plural := cmp.Or(k.Plural, pluralOf(k.Name))
	k.checkNames(plural)
	k.checkFunctions()
	d := &descriptor{
		group: k.Group, name: k.Name, plural: plural, singular: k.Singular, shortNames: k.ShortNames,
		storagePrefix: cmp.Or(k.StoragePrefix, path.Join(k.Group, plural)),
		clusterScoped: k.ClusterScoped, status: k.Status, native: k.Native,
		createOnUpdate: k.CreateOnUpdate, unconditionalUpdate: k.UnconditionalUpdate,
		validateMetadataOnUpdate: k.ValidateMetadataOnUpdate,
		pure:                     k.Default == nil && k.PrepareForUpdate == nil,
		validateName:             k.ValidateName,
		validateFinalizer:        k.ValidateFinalizer,
		fields:                   []string{fieldName, fieldNamespace},
	}
	if k.ClusterScoped {
		d.fields = d.fields[:1]
	}
	if d.singular == "" {
		d.singular = strings.ToLower(k.Name)
	}
	if d.validateName == nil {
		d.validateName = DNSSubdomainName
	}
	d.defaults = func(Object) {}
	if f := k.Default; f != nil {
		d.defaults = func(o Object) { f(as[T](o)) }
	}
	d.prepareForUpdate = func(_, _ Object) {}
	if f := k.PrepareForUpdate; f != nil {
		d.prepareForUpdate = func(o, old Object) { f(as[T](o), as[T](old)) }
	}
	d.warnings = func(_, _ Object) []string { return nil }
	if f := k.Warnings; f != nil {
		d.warnings = func(o, old Object) []string { return f(as[T](o), as[T](old)) }
	}
	for _, f := range k.SelectableFields {
		d.fields = append(d.fields, f.Path)
	}
	d.fieldValue = func(o Object, path string) string {
		for _, f := range k.SelectableFields {
			if f.Path == path {
				return f.Value(as[T](o))
			}
		}
		return ""
	}
	k.compileColumns(d)
	k.compileVersions(d)
	if k.Status {
		for _, f := range d.forms {
			if !f.typ.Has(memberStatus) {
				panic(fmt.Sprintf("store: Kind %s has a status subresource, but %s has no member %q", k.Name, f.typ.Name, memberStatus))
			}
		}
	}
	d.compileManagers()
	return d
}

func (k *Kind[T]) compileColumns(d *descriptor) {
	columns := k.Columns
	if columns == nil {
		columns = []Column[T]{NameColumn[T](), AgeColumn[T]()}
	}
	for _, c := range columns {
		d.columns = append(d.columns, ColumnInfo{c.Name, c.Type, c.Format, c.Description, c.Priority})
	}
	d.cells = func(o Object, now time.Time) []any {
		cells := make([]any, len(columns))
		for i, c := range columns {
			cells[i] = c.Cell(as[T](o), now)
		}
		return cells
	}
}

func (k *Kind[T]) compileVersions(d *descriptor) {
	stored := reflect.TypeFor[T]()
	d.forms = []form{{
		typ:     codec.Compile(stored, k.Versions[0].Name),
		newWire: func() Object { return any(new(T)).(Object) },
	}}
	for _, v := range k.Versions {
		erased := version{name: v.Name, deprecated: v.Deprecated}
		check := v.Validate
		if check == nil {
			check = k.Validate
		}
		erased.validate = func(_, _ Object) field.Errors { return nil }
		if check != nil {
			erased.validate = func(o, old Object) field.Errors { return check(as[T](o), as[T](old)) }
		}
		if v.Form.newWire != nil {
			erased.form = len(d.forms)
			d.forms = append(d.forms, form{
				typ:     codec.Compile(reflect.TypeOf(v.Form.newWire()).Elem(), v.Name),
				newWire: v.Form.newWire,
				to:      func(o Object) Object { return v.Form.to(as[T](o)) },
				from:    func(o Object) Object { return any(v.Form.from(o)).(Object) },
			})
		}
		erased.schema = d.forms[erased.form].typ
		if !erased.schema.Has("metadata") {
			panic(fmt.Sprintf("store: Kind %s: %s embeds meta.ObjectMeta without the tags `json:\"metadata\" protobuf:\"1\"`", k.Name, erased.schema.Name))
		}
		if erased.form == 0 && v.Name != k.Versions[0].Name {
			erased.schema = codec.Compile(stored, v.Name)
		}
		d.versions = append(d.versions, erased)
	}
}

// pluralOf guesses the resource of a kind as clients do (upstream: apimachinery,
// api/meta/restmapper.go).
func pluralOf(kind string) string {
	name := strings.ToLower(kind)
	switch {
	case strings.HasSuffix(name, "endpoints"):
		return name
	case strings.HasSuffix(name, "s"):
		return name + "es"
	case strings.HasSuffix(name, "y"):
		return name[:len(name)-1] + "ies"
	}
	return name + "s"
}

// as returns the typed pointer behind o, and nil for the nil Object.
func as[T any](o Object) *T {
	t, _ := any(o).(*T)
	return t
}

func (d *descriptor) groupResource() meta.GroupResource {
	return meta.GroupResource{Group: d.group, Resource: d.plural}
}

func (d *descriptor) groupKind() meta.GroupKind {
	return meta.GroupKind{Group: d.group, Kind: d.name}
}
