package kinds

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/url"
	"path"
	"reflect"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/kubecoord/kubecoord/internal/codec"
	"github.com/kubecoord/kubecoord/internal/managedfields"
	"github.com/kubecoord/kubecoord/internal/scratch"
	"github.com/kubecoord/kubecoord/internal/validate"
	"github.com/kubecoord/kubecoord/store/field"
	"github.com/kubecoord/kubecoord/store/kind"
	"github.com/kubecoord/kubecoord/store/meta"
	"github.com/kubecoord/kubecoord/store/schema"
)

// Object is an object of a store: a pointer to a struct that embeds meta.TypeMeta and meta.ObjectMeta.
type Object = managedfields.Object

// Descriptor describes a kind without its Go type. Package store documents the fields; it makes a Descriptor of the
// typed one that a user writes. A nil function does nothing.
type Descriptor struct {
	Group, Name, Plural, Singular, StoragePrefix string

	ShortNames, Categories []string
	// New returns an empty object in the stored form.
	New      func() Object
	Versions []Version

	ClusterScoped, Status, Native       bool
	CreateOnUpdate, UnconditionalUpdate bool
	ValidateMetadataOnUpdate            bool
	// KeepsVersion keeps a written object in the version of its request, which its TypeMeta names, until it is stored: the
	// functions of the versions get objects in their own version. Kinds without it are converted when a body is read.
	KeepsVersion bool
	// SlowValidation is for a kind whose validation may take long and cannot be cancelled: requests end at their time nevertheless.
	SlowValidation bool
	// StatusOnCreate lets a create set the status of a kind with Status, as Nodes do.
	StatusOnCreate bool
	// Resets are the members, beside the status of a kind with Status, that have no owners, since updates cannot change them. Like
	// the Resets of a Subresource.
	Resets []string
	// Holds reports whether a deleted object stays without finalizers in its metadata, as a Namespace with some in its spec.
	// Such a kind has PrepareForDelete.
	Holds func(obj Object) bool

	ValidateName      func(name string, prefix bool) []string
	ValidateFinalizer func(finalizer string) []string
	Default           func(obj Object)
	// PrepareForCreate and PrepareForUpdate set the fields that a writer cannot set. ctx is the one of the write.
	PrepareForCreate func(ctx context.Context, obj Object)
	PrepareForUpdate func(obj, old Object)
	// PrepareForDelete, if not nil, changes an object whose deletion begins: the deletionTimestamp is set, and the object
	// stays until its finalizers are gone. Without it the object has the finalizers that deletion options ask for.
	PrepareForDelete func(obj Object, now time.Time)
	Warnings         func(obj, old Object) []string
	// Counts reports whether an update counts a generation. Nil: custom resources count updates of more than metadata
	// (and status, if Status is set), built-in kinds none. A new object has generation 1 if Counts is not nil.
	Counts func(obj, old Object) bool
	// ErrorKind is the kind in errors about objects that are invalid, if another kind's storage writes them.
	ErrorKind meta.GroupKind
	// ReturnsDeleted makes a deletion answer with the object that is gone, and not with a Status.
	ReturnsDeleted bool
	// OrphansDependents is the policy of a deletion that has none: the finalizer "orphan" is added.
	OrphansDependents bool
	// Grace returns the seconds after which a deleted object is to be gone. A deletion with some left marks the object; one with
	// none removes it. requested is the gracePeriodSeconds of the request. Nil: there is no grace.
	Grace func(obj Object, requested *int64) int64
	// Verbs are the verbs that are served, in the words of discovery; nil means all.
	Verbs []string
	// BodyVersions are other API versions, of the same form, that a body may name where it has another kind than its path, as an
	// Eviction may be of policy/v1beta1 (upstream: rest.GroupVersionAcceptor).
	BodyVersions []string
	// Answer completes an object of a kind that is not stored, such as a TokenReview, once it is validated. Nil: it is
	// answered as it is.
	Answer func(ctx context.Context, obj Object) error
	// Subresources are the ones besides status. One with the name status replaces the one that Status makes.
	Subresources []Subresource

	SelectableFields []SelectableField
	// FieldRefusal is the message that refuses other fields in a fieldSelector, a format with one string. Default: as upstream.
	FieldRefusal string
	Columns      []Column
	// Cells returns all cells of a row in a Table, in place of the functions of Columns.
	Cells func(obj Object, now time.Time) []any
	// RowConditions returns the conditions of a row in a Table, values that have a JSON form.
	RowConditions func(obj Object) []any

	// Aliases are other groups that the same objects are read and written in.
	Aliases []Alias
	// Defines returns the kind that an object defines, as a CustomResourceDefinition does, or an error that says why it
	// defines none. Objects with equal specs must give the same kind, and no object more than one: a fixture, the forks of
	// an API and a server that starts again ask for it. Nil: the objects define no kinds.
	Defines func(obj Object) (*Kind, error)
}

// Alias is another group that the objects of a kind are served in, under the same names, as events.k8s.io has the events of
// the core group. Both groups have one collection: one resourceVersion, one history, and watches in both. Upstream registers
// such objects in two groups that share a storage (controlplane/apiserver, AddCohabitatingResources).
type Alias struct {
	Group string
	// Version converts between the stored form of the kind and the one of the group. The functions of the version and of the
	// fields get stored objects, as for any other version.
	Version          Version
	ValidateName     func(name string, prefix bool) []string
	SelectableFields []SelectableField
}

// Version is one served API version of a kind.
type Version struct {
	Name, Deprecated string
	// New returns an empty object in the shape of the version. Nil: the shape is the stored form. Convert converts between the two.
	// Nil: all members keep their names.
	New      func() Object
	Convert  Conversion
	Validate func(obj, old Object) field.Errors
	// ValidateStatus replaces Validate for writes of the status.
	ValidateStatus func(obj, old Object) field.Errors
	// Columns and Cells replace the columns and cells of the kind. Their functions get an object in the shape of the version.
	Columns []Column
	Cells   func(obj Object, now time.Time) []any
	// Unserved is for a first version that objects are only stored in.
	Unserved bool
	// Schema is the form of an object without a Go type, or nil for any form. The first version's is the stored form.
	Schema *schema.Schema
	// Type is the form of an object of a Go type of another library, or nil. The objects are Boxes. Schema then only describes them
	// in documents.
	Type *codec.Type
}

// Subresource is a path below each object: {name}/{Name}.
type Subresource struct {
	Name string
	// Body is the kind of the bodies, such as Scale, or nil for the kind of the parent. It is not stored.
	Body *Kind
	// Verbs are the verbs that are served, of create, get, patch and update, in this order.
	Verbs []string
	// Read returns the body for a state. Nil: the parent itself.
	Read func(parent Object) (Object, error)
	// Shows, if not nil, returns why the body of a state is not shown. An update reads it nevertheless.
	Shows func(parent Object) error
	// Start returns the body that an update begins with. Nil: as Read.
	Start func(parent Object) (Object, error)
	// Write changes a copy of the state as a body asks. A write of a body of the parent's kind keeps all of the parent that
	// Write does not change.
	Write func(parent, body Object) error
	// Resets are the members of a body of the parent's kind that the subresource does not own, of the first or the second level:
	// "spec", "metadata.labels".
	Resets []string
	// Validate returns the problems of a write in place of the version's.
	Validate func(parent, old Object) field.Errors
	// Removes makes a create delete the parent, as an Eviction does, with the deleteOptions of the body. Write, if it is
	// not nil, changes the parent first.
	Removes bool
	// MayRemove, if not nil, may refuse a create that would delete the parent. exact makes the deletion fail if the parent has
	// changed since; unless the body names a resourceVersion, MayRemove is then called again.
	MayRemove func(ctx context.Context, parent Object, dryRun bool) (exact bool, err error)
	// Answer returns the answer of a create, which then writes nothing, as a TokenRequest. Nil: a Status.
	Answer func(ctx context.Context, parent, body Object) (Object, error)
	// Connect answers a request in place of all other functions, without a body: a path of a kubelet. query is the query of
	// the request. Without an error there is no content. Discovery does not name the subresource.
	Connect func(name string, parent func() (Object, error), query url.Values) error
	// Member is the path of the member of the parent that spec.replicas of a Scale stands for, in all versions. Default:
	// spec.replicas.
	Member []string

	managers *managedfields.FieldManager // of the bodies
	mapping  *managedfields.Mapping      // nil without a Body
}

// SelectableField is a field that a fieldSelector may name.
type SelectableField struct {
	Path  string
	Value func(Object) string
}

// Column is one column of a Table.
type Column struct {
	ColumnInfo
	Cell func(obj Object, now time.Time) any
}

// ColumnInfo is a Column without its function.
type ColumnInfo struct {
	Name, Type, Format, Description string
	Priority                        int32
}

// Kind is a Descriptor that was checked, with its types compiled. It never
// changes, so that any number of stores may share it.
type Kind struct {
	of       Descriptor // with defaults
	info     kind.Info
	versions []version
	forms    []form // forms[0] is the stored form

	// pure kinds have no function that may change an object, so a patched object may
	// share memory with the stored one.
	pure         bool
	scratch      scratch.Pool // for encoding
	endpoints    func() []*Endpoint
	managers     *managedfields.FieldManager
	subresources []Subresource // the status among them, by name

	aliases []*Kind
	origin  *Kind // of an alias, or nil
	own     int   // the version that the Go API and clients see: 0, or the one of an alias
}

type version struct {
	named meta.TypeMeta // the kind in this version
	form  int
	// schema is the form's type. Where versions share a form, each has its own, for the texts of errors.
	schema *codec.Type
	// document is the type that documents describe.
	document func() *codec.Type
	validate func(obj, old Object) field.Errors
	// validateStatus is validate for writes of the status.
	validateStatus func(obj, old Object) field.Errors
}

// NewKind checks and compiles a descriptor. The error names the member that is wrong and the expected value.
func NewKind(d Descriptor) (*Kind, error) {
	if d.Name == "" || len(d.Versions) == 0 {
		return nil, errors.New("a kind needs Name and Versions")
	}
	k := d.kind()
	for _, check := range []func(*Kind) error{d.checkNames, d.checkFunctions, d.compileVersions, k.checkStatus} {
		if err := check(k); err != nil {
			return nil, fmt.Errorf("kind %s: %w", d.Name, err)
		}
	}
	k.compileManagers()
	k.compileSubresources()
	k.endpoints = sync.OnceValue(k.makeEndpoints)
	for i := range d.Aliases {
		k.aliases = append(k.aliases, k.alias(&d.Aliases[i], len(d.Versions)+i))
	}
	return k, nil
}

// kind returns the Kind without its versions, with defaults filled in.
func (d *Descriptor) kind() *Kind {
	plural := cmp.Or(d.Plural, pluralOf(d.Name))
	k := &Kind{
		info: kind.Info{
			Group: d.Group, Kind: d.Name, Plural: plural, ShortNames: slices.Clone(d.ShortNames),
			Categories: slices.Clone(d.Categories), Verbs: slices.Clone(d.Verbs),
			Singular:      cmp.Or(d.Singular, strings.ToLower(d.Name)),
			StoragePrefix: cmp.Or(d.StoragePrefix, path.Join(d.Group, plural)),
			ClusterScoped: d.ClusterScoped, Status: d.Status, Native: d.Native, CreateOnUpdate: d.CreateOnUpdate,
			UnconditionalUpdate: d.UnconditionalUpdate, ReturnsDeleted: d.ReturnsDeleted, OrphansDependents: d.OrphansDependents,
			SelectableFields: []string{FieldName, FieldNamespace},
		},
		of:   *d,
		pure: d.Default == nil && d.PrepareForUpdate == nil,
	}
	// Upstream refuses other fields in a function for each kind. Built-in kinds without such a function share one, which takes
	// the namespace of any kind (apimachinery: runtime/scheme.go, DefaultMetaV1FieldSelectorConversion).
	if !k.info.Native || len(d.SelectableFields) > 0 {
		k.info.FieldRefusal = cmp.Or(d.FieldRefusal, "field label not supported: %s")
		if k.info.ClusterScoped {
			k.info.SelectableFields = k.info.SelectableFields[:1]
		}
	}
	for _, f := range d.SelectableFields {
		k.info.SelectableFields = append(k.info.SelectableFields, f.Path)
	}
	k.of.Versions = slices.Clone(d.Versions)
	for _, a := range d.Aliases {
		k.of.Versions = append(k.of.Versions, a.Version)
	}
	if d.ValidateName == nil {
		k.of.ValidateName = validate.NameIsDNSSubdomain
	}
	if d.Default == nil {
		k.of.Default = func(Object) {}
	}
	if d.Warnings == nil {
		k.of.Warnings = func(_, _ Object) []string { return nil }
	}
	return k
}

// checkNames refuses names that would not do in a path.
func (d *Descriptor) checkNames(k *Kind) error {
	check := func(what, got string, rule func(string, bool) []string) error {
		if problems := rule(got, false); len(problems) > 0 {
			return fmt.Errorf("%s: got %q, want %s", what, got, problems[0])
		}
		return nil
	}
	errs := []error{
		check("Name in lower case", strings.ToLower(d.Name), validate.NameIsDNSLabel),
		check("Plural", k.info.Plural, validate.NameIsDNSLabel),
	}
	if d.Group != "" {
		errs = append(errs, check("Group", d.Group, validate.NameIsDNSSubdomain))
	}
	seen := map[string]bool{}
	for _, v := range d.Versions {
		if errs = append(errs, check("Versions", v.Name, validate.NameIsDNSLabel)); seen[v.Name] {
			errs = append(errs, fmt.Errorf("Versions: got %q twice, want it once", v.Name))
		}
		seen[v.Name] = true
	}
	for _, a := range d.Aliases {
		errs = append(errs, check("Aliases: Group", a.Group, validate.NameIsDNSSubdomain), check("Aliases: Version", a.Version.Name, validate.NameIsDNSLabel))
		if a.Group == d.Group {
			errs = append(errs, fmt.Errorf("Aliases: got the group %q of the kind, want another one", a.Group))
		}
	}
	return cmp.Or(errs...)
}

// checkFunctions refuses a column or a field without its function.
func (d *Descriptor) checkFunctions(*Kind) error {
	for _, c := range d.Columns {
		if c.Cell == nil && d.Cells == nil {
			return fmt.Errorf("Columns: got %q without a Cell, want one", c.Name)
		}
	}
	for _, f := range d.SelectableFields {
		if f.Value == nil {
			return fmt.Errorf("SelectableFields: got %q without a Value, want one", f.Path)
		}
	}
	for i := range d.Subresources {
		if err := d.Subresources[i].check(); err != nil {
			return err
		}
	}
	return nil
}

func (d *Descriptor) compileVersions(k *Kind) error {
	first := d.Versions[0]
	stored, err := d.compileType(d.New(), first)
	if err != nil {
		return err
	}
	k.forms = []form{{typ: stored, newWire: d.New}}
	k.info.Trees = stored.Rest != nil
	if first.New != nil {
		return fmt.Errorf("Versions: got a Form for %q, want none: the first version has the stored form", first.Name)
	}
	for i, v := range k.of.Versions {
		group := d.Group
		if alias := i - len(d.Versions); alias >= 0 {
			group, v.Unserved = d.Aliases[alias].Group, true
		}
		named := meta.TypeMeta{Kind: d.Name, APIVersion: meta.GroupVersion{Group: group, Version: v.Name}.String()}
		compiled := version{named: named, validate: k.afterJSON(v.Validate)}
		compiled.validateStatus = compiled.validate
		if v.ValidateStatus != nil {
			compiled.validateStatus = k.afterJSON(v.ValidateStatus)
		}
		if v.New != nil || v.Schema != first.Schema {
			shape := form{newWire: v.New, convert: v.Convert}
			if v.New == nil {
				shape.newWire = d.New
			}
			if shape.typ, err = d.compileType(shape.newWire(), v); err != nil {
				return err
			}
			compiled.form = len(k.forms)
			k.forms = append(k.forms, shape)
		}
		compiled.schema = k.forms[compiled.form].typ
		if err := checkMeta(compiled.schema); err != nil {
			return err
		}
		if compiled.form == 0 && i > 0 {
			if compiled.schema, err = d.compileType(d.New(), v); err != nil {
				return err
			}
		}
		compiled.document = sync.OnceValue(func() *codec.Type { return v.describedBy(compiled.schema) })
		k.versions = append(k.versions, compiled)
		k.info.Versions = append(k.info.Versions, kind.VersionInfo{Name: v.Name, Deprecated: v.Deprecated, Unserved: v.Unserved})
		k.info.JSONOnly = k.info.JSONOnly || !compiled.schema.HasProto()
	}
	return nil
}

// describedBy returns the type that documents describe: the type of the objects, or for one of another library the type of its schema.
func (v *Version) describedBy(typ *codec.Type) *codec.Type {
	if v.Type == nil {
		return typ
	}
	tree, err := codec.CompileTree(reflect.TypeFor[tree](), v.Name, v.Schema)
	if err != nil {
		panic(err) // cannot be: the schema was made of the Go type
	}
	return tree
}

// tree is an object of any form.
type tree struct {
	meta.TypeMeta   `json:",inline"`
	meta.ObjectMeta `json:"metadata"`
	Content         map[string]any `json:",rest"`
}

// compileType compiles the type of an object in the shape of a version.
func (d *Descriptor) compileType(o Object, v Version) (*codec.Type, error) {
	if v.Type != nil {
		return v.Type, nil
	}
	typ, err := codec.CompileTree(reflect.TypeOf(o).Elem(), v.Name, v.Schema)
	if err != nil && v.Schema != nil {
		err = fmt.Errorf("version %s: %w", v.Name, err)
	}
	return typ, err
}

// checkMeta refuses a type that does not embed meta.TypeMeta and meta.ObjectMeta with the right tags.
func checkMeta(t *codec.Type) error {
	if f := t.Field("metadata"); f == nil || f.Pointer || f.Type.Name != "ObjectMeta" || f.Number > 1 {
		return fmt.Errorf("%s: got meta.ObjectMeta without the tags `json:\"metadata\" protobuf:\"1\"`, want it embedded with them", t.Name)
	}
	if !t.Has("kind") || !t.Has("apiVersion") {
		return fmt.Errorf("%s: got meta.TypeMeta with a name in its tag, want it embedded with `json:\",inline\"`", t.Name)
	}
	return nil
}

// afterJSON returns validate, which may be nil, after validateJSON.
func (k *Kind) afterJSON(validate func(obj, old Object) field.Errors) func(obj, old Object) field.Errors {
	return func(o, old Object) field.Errors {
		if errs := k.validateJSON(o); errs != nil || validate == nil {
			return errs
		}
		return validate(o, old)
	}
}

// validateJSON refuses objects of the stored form that have no JSON form. Only a
// write through the Go API can bring one.
func (k *Kind) validateJSON(o Object) field.Errors {
	path, err := k.forms[0].typ.CheckJSON(o)
	if err != nil {
		return field.Errors{field.Invalid(field.Path(path), "", err.Error())}
	}
	return nil
}

// checkStatus refuses a status subresource of objects without a status.
func (k *Kind) checkStatus(*Kind) error {
	for _, f := range k.forms {
		if k.info.Status && !f.typ.Has(memberStatus) {
			return fmt.Errorf("Status: got true, but %s has no member %q", f.typ.Name, memberStatus)
		}
	}
	return nil
}

// pluralOf guesses the resource of a kind as clients do (upstream: apimachinery, api/meta/restmapper.go).
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

// HasSubresource reports whether objects have a subresource.
func (k *Kind) HasSubresource(name string) bool {
	return name == memberStatus && k.info.Status ||
		slices.ContainsFunc(k.of.Subresources, func(s Subresource) bool { return s.Name == name })
}

// DefinesKinds reports whether the objects of the kind define kinds.
func (k *Kind) DefinesKinds() bool { return k.of.Defines != nil }

// Defined returns the kind that an object defines.
func (k *Kind) Defined(o Object) (*Kind, error) { return k.of.Defines(o) }

// FieldValue returns the value of a selectable field, "" for others.
func (k *Kind) FieldValue(o Object, path string) string {
	for _, f := range k.of.SelectableFields {
		if f.Path == path {
			return f.Value(o)
		}
	}
	return ""
}

// Columns returns the columns of a version.
func (k *Kind) Columns(version int) []Column {
	if own := k.of.Versions[version].Columns; own != nil {
		return own
	}
	return k.of.Columns
}

// Cells returns the cells of an object's row in a Table of a version.
func (k *Kind) Cells(ctx context.Context, o Object, version int, now time.Time) (_ []any, err error) {
	row := k.of.Cells
	if own := &k.of.Versions[version]; own.Columns != nil {
		if o, err = k.Convert(ctx, o, 0, version, Remembered); err != nil {
			return nil, err
		}
		row = own.Cells
	}
	if row != nil {
		return row(o, now), nil
	}
	columns := k.Columns(version)
	cells := make([]any, len(columns))
	for i, c := range columns {
		cells[i] = c.Cell(o, now)
	}
	return cells, nil
}

// RowConditions returns the conditions of an object's row in a Table.
func (k *Kind) RowConditions(o Object) []any {
	if k.of.RowConditions == nil {
		return nil
	}
	return k.of.RowConditions(o)
}

// Grace returns the seconds of grace of a deletion, and reports whether the kind has any.
func (k *Kind) Grace(o Object, requested *int64) (seconds int64, ok bool) {
	if k.of.Grace == nil {
		return 0, false
	}
	return k.of.Grace(o, requested), true
}

// Answer completes an object of a kind that is not stored.
func (k *Kind) Answer(ctx context.Context, o Object) error {
	if k.of.Answer == nil {
		return nil
	}
	return k.of.Answer(ctx, o)
}

// Info returns the description of the kind, which must not be changed.
func (k *Kind) Info() *kind.Info { return &k.info }

// GroupResource returns the group and the plural of the kind.
func (k *Kind) GroupResource() meta.GroupResource {
	return meta.GroupResource{Group: k.info.Group, Resource: k.info.Plural}
}

// GroupKind returns the group and the name of the kind, as errors about its objects have them.
func (k *Kind) GroupKind() meta.GroupKind {
	if k.of.ErrorKind != (meta.GroupKind{}) {
		return k.of.ErrorKind
	}
	return meta.GroupKind{Group: k.info.Group, Kind: k.info.Kind}
}

// The selectable fields of every kind.
const (
	FieldName      = "metadata.name"
	FieldNamespace = "metadata.namespace"
)

// PreparesDelete reports whether the kind decides how a deletion begins.
func (k *Kind) PreparesDelete() bool { return k.of.PrepareForDelete != nil }

// PrepareDelete makes an object one whose deletion has begun.
func (k *Kind) PrepareDelete(o Object, now time.Time) {
	o.GetObjectMeta().DeletionTimestamp = new(meta.NewTime(now))
	k.of.PrepareForDelete(o, now)
}

// PreparesWrites reports whether the kind has a function that may change more than the metadata of a write.
func (k *Kind) PreparesWrites() bool {
	return k.of.PrepareForUpdate != nil || k.of.PrepareForCreate != nil
}
