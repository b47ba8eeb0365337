package kinds

import (
	"cmp"
	"context"
	"errors"
	"fmt"
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
)

// Object is an object of a store: a pointer to a struct that embeds meta.TypeMeta and meta.ObjectMeta.
type Object = managedfields.Object

// Descriptor describes a kind whose functions get objects of any Go type.
type Descriptor = kind.Descriptor[Object]

// Kind is a Descriptor that was checked, with its types compiled. It never
// changes, so that any number of stores may share it.
type Kind struct {
	codec.Seal
	shape
	of       Descriptor // with defaults
	native   kind.Native[Object]
	info     kind.Info
	versions []version
	forms    []form // forms[0] is the stored form

	// pure kinds have no function that may change an object, so a patched object may
	// share memory with the stored one.
	pure         bool
	jsonOnly     bool
	scratch      scratch.Pool // for encoding
	endpoints    func() []*Endpoint
	managers     *managedfields.FieldManager
	whole        *managedfields.FieldManager // of the versions that lack the status subresource; nil without one
	subresources []Subresource               // the status among them

	aliases []*Kind
	origin  *Kind // of an alias, or nil
	own     int   // the version that the Go API and clients see: 0, or the version of an alias
}

type version struct {
	named meta.TypeMeta // the kind in this version
	form  int
	// schema is the form's type. Where versions share a form, each has its own, for the texts of errors.
	schema *codec.Type
	// document is the type that documents describe.
	document func() *codec.Type
	lacks    []string // see kind.NativeVersion
	validate func(obj, old Object) field.Errors
	// validateStatus is validate for writes of the status.
	validateStatus func(obj, old Object) field.Errors
}

// NewKind checks and compiles a descriptor. The error names the member that is wrong and the expected value.
func NewKind(d Descriptor) (*Kind, error) {
	if d.Resource.Kind == "" || len(d.Versions) == 0 {
		return nil, errors.New("a kind needs Resource.Kind and Versions")
	}
	k := newKind(&d)
	for _, check := range []func() error{k.checkNames, k.checkFunctions, k.compileVersions, k.checkStatus} {
		if err := check(); err != nil {
			return nil, fmt.Errorf("kind %s: %w", d.Resource.Kind, err)
		}
	}
	k.shape = k.compileShape()
	k.compileManagers()
	k.compileSubresources()
	k.endpoints = sync.OnceValue(k.makeEndpoints)
	for i := range k.native.Aliases {
		k.aliases = append(k.aliases, k.alias(&k.native.Aliases[i], k.aliasAt()+i))
	}
	return k, nil
}

// newKind returns the Kind without its versions, with defaults filled in.
func newKind(d *Descriptor) *Kind {
	r, n := d.Resource, valueOf(d.Native)
	r.Plural = cmp.Or(r.Plural, pluralOf(r.Kind))
	r.ListKind = cmp.Or(r.ListKind, r.Kind+"List")
	r.Singular = cmp.Or(r.Singular, strings.ToLower(r.Kind))
	r.ShortNames, r.Categories, r.Verbs = slices.Clone(r.ShortNames), slices.Clone(r.Categories), slices.Clone(r.Verbs)
	// Upstream refuses other fields in a function for each kind. Built-in kinds without such a function share one, which takes
	// the namespace of any kind (apimachinery: runtime/scheme.go, DefaultMetaV1FieldSelectorConversion).
	builtIn := d.Native != nil && !n.CustomResource
	shared := builtIn && len(d.SelectableFields) == 0
	if n.FieldRefusal = cmp.Or(n.FieldRefusal, "field label not supported: %s"); shared {
		n.FieldRefusal = ""
	}
	k := &Kind{
		info: kind.Info{
			Resource: r, Native: builtIn, StoragePrefix: cmp.Or(n.StoragePrefix, path.Join(r.Group, r.Plural)),
			SelectableFields: []string{FieldName, FieldNamespace},
		},
		of: *d, native: n,
		pure: d.Strategy.Default == nil && d.Strategy.Update.Prepare == nil,
	}
	if r.ClusterScoped && !shared {
		k.info.SelectableFields = k.info.SelectableFields[:1]
	}
	for _, f := range d.SelectableFields {
		k.info.SelectableFields = append(k.info.SelectableFields, f.Path)
	}
	k.of.Versions = slices.Clone(d.Versions)
	for _, a := range n.Aliases {
		k.of.Versions = append(k.of.Versions, a.Version)
	}
	if k.of.New == nil {
		k.of.New = newOf(d.Versions[0], nil)
	}
	if k.of.Table.Columns = slices.Clone(d.Table.Columns); d.Table.Columns == nil && d.Table.Cells == nil {
		k.of.Table.Columns = []kind.Column[Object]{kind.NameColumn[Object](), kind.AgeColumn[Object]()}
	}
	if d.Strategy.ValidateName == nil {
		k.of.Strategy.ValidateName = validate.NameIsDNSSubdomain
	}
	if d.Strategy.Default == nil {
		k.of.Strategy.Default = noDefault
	}
	return k
}

func noDefault(Object) {}

// newOf returns the function that returns an empty object in the shape of a version. stored is the function of the stored form.
func newOf(v kind.Version[Object], stored func() Object) func() Object {
	switch {
	case v.Form.New != nil:
		return v.Form.New
	case v.Type != nil:
		return func() Object { return v.Type.New().(Object) }
	}
	return stored
}

// checkNames refuses names that would not do in a path.
func (k *Kind) checkNames() error {
	check := func(what, got string, rule func(string, bool) []string) error {
		if problems := rule(got, false); len(problems) > 0 {
			return fmt.Errorf("%s: got %q, want %s", what, got, problems[0])
		}
		return nil
	}
	errs := []error{
		check("Resource.Kind in lower case", strings.ToLower(k.info.Kind), validate.NameIsDNSLabel),
		check("Resource.Plural", k.info.Plural, validate.NameIsDNSLabel),
	}
	if k.info.Group != "" {
		errs = append(errs, check("Resource.Group", k.info.Group, validate.NameIsDNSSubdomain))
	}
	seen := map[string]bool{}
	for _, v := range k.of.Versions[:k.aliasAt()] {
		if errs = append(errs, check("Versions", v.Name, validate.NameIsDNSLabel)); seen[v.Name] {
			errs = append(errs, fmt.Errorf("Versions: got %q twice, want it once", v.Name))
		}
		seen[v.Name] = true
	}
	for _, a := range k.native.Aliases {
		errs = append(errs, check("Native.Aliases: Group", a.Group, validate.NameIsDNSSubdomain), check("Native.Aliases: Version", a.Version.Name, validate.NameIsDNSLabel))
		if a.Group == k.info.Group {
			errs = append(errs, fmt.Errorf("Native.Aliases: got the group %q of the kind, want another one", a.Group))
		}
	}
	return cmp.Or(errs...)
}

// aliasAt returns the index of the first version of an alias.
func (k *Kind) aliasAt() int { return len(k.of.Versions) - len(k.native.Aliases) }

// checkFunctions refuses a column, a field or a subresource without its function.
func (k *Kind) checkFunctions() error {
	if k.of.New == nil {
		return errors.New("New: got none, want one, or a Type for the first version: the functions get objects of any Go type")
	}
	for _, c := range k.of.Table.Columns {
		if c.Cell == nil && k.of.Table.Cells == nil {
			return fmt.Errorf("Table.Columns: got %q without a Cell, want one", c.Name)
		}
	}
	for _, f := range k.of.SelectableFields {
		if f.Value == nil {
			return fmt.Errorf("SelectableFields: got %q without a Value, want one", f.Path)
		}
	}
	for i := range k.of.Subresources {
		if err := checkSubresource(&k.of.Subresources[i]); err != nil {
			return err
		}
	}
	return nil
}

func (k *Kind) compileVersions() error {
	first := k.of.Versions[0]
	stored, err := compileType(k.of.New(), first)
	if err != nil {
		return err
	}
	k.forms = []form{{typ: stored, newWire: k.of.New}}
	k.info.Trees = stored.Rest != nil
	if first.Form.New != nil || first.Form.Convert != nil {
		return fmt.Errorf("Versions: got a Form for %q, want none: the first version has the stored form", first.Name)
	}
	for i, v := range k.of.Versions {
		group, native := k.info.Group, valueOf(v.Native)
		if alias := i - k.aliasAt(); alias >= 0 {
			group, native.Unserved = k.native.Aliases[alias].Group, true
		}
		named := meta.TypeMeta{Kind: k.info.Kind, APIVersion: meta.GroupVersion{Group: group, Version: v.Name}.String()}
		validate := v.Validate
		if validate == nil {
			validate = k.of.Strategy.Validate
		}
		compiled := version{named: named, lacks: native.Lacks, validate: k.afterJSON(validate)}
		compiled.validateStatus = compiled.validate
		if v.ValidateStatus != nil {
			compiled.validateStatus = k.afterJSON(v.ValidateStatus)
		}
		if v.Form.New != nil || v.Form.Convert != nil || v.Schema != first.Schema {
			if v.Form.New != nil && v.Form.Convert == nil {
				return fmt.Errorf("Versions: got a Form for %q without a function that converts, want both functions", v.Name)
			}
			shape := form{newWire: newOf(v, k.of.New), convert: v.Form.Convert}
			if shape.typ, err = compileType(shape.newWire(), v); err != nil {
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
			if compiled.schema, err = compileType(k.of.New(), v); err != nil {
				return err
			}
		}
		compiled.document = sync.OnceValue(func() *codec.Type { return describedBy(compiled.schema, v) })
		k.versions = append(k.versions, compiled)
		k.info.Versions = append(k.info.Versions, kind.VersionInfo{Name: v.Name, Deprecated: v.Deprecated, Unserved: native.Unserved})
		k.jsonOnly = k.jsonOnly || !compiled.schema.HasProto()
	}
	return nil
}

// valueOf returns what p points to, or the zero value for nil.
func valueOf[T any](p *T) (v T) {
	if p != nil {
		v = *p
	}
	return v
}

// describedBy returns the type that documents describe: the type of the objects, or for one of another library the type of its schema.
func describedBy(typ *codec.Type, v kind.Version[Object]) *codec.Type {
	if v.Type == nil {
		return typ
	}
	described, err := codec.CompileTree(reflect.TypeFor[tree](), v.Name, v.Schema)
	if err != nil {
		panic(err) // cannot be: the schema was made of the Go type
	}
	return described
}

// tree is an object of any form.
type tree struct {
	meta.TypeMeta   `json:",inline"`
	meta.ObjectMeta `json:"metadata"`
	Content         map[string]any `json:",rest"`
}

func compileType(o Object, v kind.Version[Object]) (*codec.Type, error) {
	if v.Type != nil {
		return v.Type.(*codec.Type), nil
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

// afterJSON returns validate, which may be nil, after a check that refuses objects of the stored form that have no JSON form. Only a
// write through the Go API can bring one.
func (k *Kind) afterJSON(validate func(obj, old Object) field.Errors) func(obj, old Object) field.Errors {
	return func(o, old Object) field.Errors {
		path, err := k.forms[0].typ.CheckJSON(o)
		switch {
		case err != nil:
			return field.Errors{field.Invalid(field.Path(path), "", err.Error())}
		case validate == nil:
			return nil
		}
		return validate(o, old)
	}
}

// checkStatus refuses a status subresource of objects without a status.
func (k *Kind) checkStatus() error {
	for _, f := range k.forms {
		if k.info.Status && !f.typ.Has(memberStatus) {
			return fmt.Errorf("Resource.Status: got true, but %s has no member %q", f.typ.Name, memberStatus)
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

// DefinesKinds reports whether the objects of the kind define kinds.
func (k *Kind) DefinesKinds() bool { return k.native.Defines != nil }

// Defined returns the kind that an object defines.
func (k *Kind) Defined(o Object) (*Kind, error) {
	defined, err := k.native.Defines(o)
	if err == nil && defined == nil {
		err = fmt.Errorf("kind %s: Native.Defines: got neither a kind nor an error", k.info.Kind)
	}
	if err != nil {
		return nil, err
	}
	return Of(defined), nil
}

// SelectableIn returns the fields that a fieldSelector may name in a version.
func (k *Kind) SelectableIn(version int) []string {
	if lacks := k.versions[version].lacks; len(lacks) > 0 {
		return slices.DeleteFunc(slices.Clone(k.info.SelectableFields), func(path string) bool { return slices.Contains(lacks, "."+path) })
	}
	return k.info.SelectableFields
}

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
func (k *Kind) Columns(version int) []kind.Column[Object] {
	if own := k.of.Versions[version].Table.Columns; own != nil {
		return own
	}
	return k.of.Table.Columns
}

// HasTable reports whether a subresource, nil for the object itself, can be shown as a Table.
func (k *Kind) HasTable(s *Subresource) bool {
	return s == nil || !slices.Contains(k.native.NoTableOf, s.Name)
}

// NullRows reports whether a Table without rows has null in their place.
func (k *Kind) NullRows() bool { return k.native.NullRows }

// Cells returns the cells of an object's row in a Table of a version.
func (k *Kind) Cells(ctx context.Context, o Object, version int, now time.Time) (_ []any, err error) {
	row := k.of.Table.Cells
	if own := &k.of.Versions[version]; own.Table.Columns != nil {
		if o, err = k.Convert(ctx, o, 0, version, kind.Remembered); err != nil {
			return nil, err
		}
		row = own.Table.Cells
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

// DefaultRow returns the function that chooses the row of a list that is marked, or nil.
func (k *Kind) DefaultRow() func(o, other Object) bool { return k.native.DefaultRow }

// RowConditions returns the conditions of an object's row in a Table.
func (k *Kind) RowConditions(o Object) []any {
	if k.of.Table.Conditions == nil {
		return nil
	}
	return k.of.Table.Conditions(o)
}

// Grace returns the seconds of grace of a deletion, and reports whether the kind has any. The error says that they are negative.
func (k *Kind) Grace(o Object, requested *int64) (seconds int64, ok bool, err error) {
	if k.of.Strategy.Delete.Grace == nil {
		return 0, false, nil
	}
	if requested != nil && *requested < 0 {
		requested = new(int64(1)) // before the strategy is asked (upstream: registry/rest, BeforeDelete)
	}
	if seconds = k.of.Strategy.Delete.Grace(o, requested); seconds < 0 {
		err = meta.NewInternalError(fmt.Errorf("kind %s: Strategy.Delete.Grace: got %d seconds, want 0 or more", k.info.Kind, seconds))
	}
	return seconds, true, err
}

// Strategy returns the rules of writes. Default and ValidateName are not nil.
func (k *Kind) Strategy() *kind.Strategy[Object] { return &k.of.Strategy }

// Native returns what a kind of a real server has beside that, the zero Native for other kinds. Its FieldRefusal has the default; if it is
// "", the message lists SelectableFields.
func (k *Kind) Native() *kind.Native[Object] { return &k.native }

// JSONOnly reports that objects have no protobuf encoding, as custom resources.
func (k *Kind) JSONOnly() bool { return k.jsonOnly }

// Made returns the objects of a kind that is not stored, and reports whether it has any.
func (k *Kind) Made() (objects []Object, ok bool) {
	if k.info.Stored() || k.native.Objects == nil {
		return nil, false
	}
	return k.native.Objects(), true
}

// Info returns the description of the kind, which must not be changed.
func (k *Kind) Info() *kind.Info { return &k.info }

// GroupResource returns the group and the plural of the kind.
func (k *Kind) GroupResource() meta.GroupResource {
	return meta.GroupResource{Group: k.info.Group, Resource: k.info.Plural}
}

// GroupKind returns the group and kind for error texts. An alias uses its origin's, as upstream.
func (k *Kind) GroupKind() meta.GroupKind {
	info := &k.Origin().info
	return meta.GroupKind{Group: info.Group, Kind: info.Kind}
}

// The selectable fields of every kind.
const (
	FieldName      = "metadata.name"
	FieldNamespace = "metadata.namespace"
)

// PreparesDelete reports whether the kind decides how a deletion begins.
func (k *Kind) PreparesDelete() bool { return k.of.Strategy.Delete.Prepare != nil }

// PrepareDelete makes an object one whose deletion has begun.
func (k *Kind) PrepareDelete(o Object, now time.Time) {
	o.GetObjectMeta().DeletionTimestamp = new(meta.NewTime(now))
	k.of.Strategy.Delete.Prepare(o, now)
}

// PreparesWrites reports whether the kind has a function that may change more than the metadata of a write.
func (k *Kind) PreparesWrites() bool {
	return k.of.Strategy.Update.Prepare != nil || k.of.Strategy.Create.Prepare != nil
}
