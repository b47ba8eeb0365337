package scheme

import (
	"cmp"
	"encoding"
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/kube-openapi/pkg/util"

	"github.com/kubecoord/kubecoord/httpapi/kube/scheme/internal/markers"
	"github.com/kubecoord/kubecoord/store/schema"
)

// schemas makes the schemas of Go types, each once. The zero value is ready for use.
type schemas struct {
	made map[reflect.Type]*schema.Schema
}

// special returns the schemas of the types of apimachinery that write their JSON themselves, and nil for other types.
func special(t reflect.Type) *schema.Schema {
	switch t {
	case reflect.TypeFor[metav1.Time](), reflect.TypeFor[metav1.MicroTime]():
		return &schema.Schema{Type: "string", Nullable: true, Extra: map[string]any{"format": "date-time"}}
	case reflect.TypeFor[metav1.Duration]():
		return &schema.Schema{Type: "string"}
	case reflect.TypeFor[metav1.FieldsV1]():
		return &schema.Schema{Type: "object", PreserveUnknown: true}
	case reflect.TypeFor[runtime.RawExtension]():
		return &schema.Schema{Type: "object", PreserveUnknown: true, Nullable: true}
	case reflect.TypeFor[resource.Quantity]():
		return &schema.Schema{Extra: map[string]any{"oneOf": []any{map[string]any{"type": "string"}, map[string]any{"type": "number"}}}}
	case reflect.TypeFor[intstr.IntOrString]():
		return &schema.Schema{IntOrString: true}
	}
	return nil
}

// documented types return their descriptions by member; the description of the type is under "".
type documented interface{ SwaggerDoc() map[string]string }

// of returns the schema of a type. The error names the member that has no schema.
func (ts *schemas) of(t reflect.Type) (*schema.Schema, error) {
	if t.Kind() == reflect.Pointer {
		return ts.of(t.Elem())
	}
	if s := ts.made[t]; s != nil {
		return s, nil
	}
	if s := special(t); s != nil {
		s.Name = definition(t)
		s.Description = markers.Of(s.Name).Doc
		return ts.keep(t, s), nil
	}
	if s := ownForm(t); s != nil {
		return s, nil
	}
	switch t.Kind() {
	case reflect.Struct:
		return ts.structure(t)
	case reflect.Slice, reflect.Array:
		if t.Elem().Kind() == reflect.Uint8 && t.Kind() == reflect.Slice {
			return &schema.Schema{Type: "string", Extra: map[string]any{"format": "byte"}}, nil
		}
		items, err := ts.of(t.Elem())
		return &schema.Schema{Type: "array", Items: items}, err
	case reflect.Map:
		if k := t.Key(); k.Kind() != reflect.String {
			return nil, fmt.Errorf("got a map with keys of type %s, want strings", k)
		}
		values, err := ts.of(t.Elem())
		return &schema.Schema{Type: "object", Additional: values}, err
	}
	return scalar(t)
}

func (ts *schemas) keep(t reflect.Type, s *schema.Schema) *schema.Schema {
	if ts.made == nil {
		ts.made = map[reflect.Type]*schema.Schema{}
	}
	ts.made[t] = s
	return s
}

// ownForm returns the schema of other types that write their JSON themselves, and nil for the rest.
func ownForm(t reflect.Type) *schema.Schema {
	type described interface {
		OpenAPISchemaType() []string
		OpenAPISchemaFormat() string
	}
	v := reflect.New(t).Interface()
	_, marshals := v.(json.Marshaler)
	_, marshalsText := v.(encoding.TextMarshaler)
	switch d, ok := v.(described); {
	case ok && len(d.OpenAPISchemaType()) == 1:
		s := &schema.Schema{Type: d.OpenAPISchemaType()[0]}
		if format := d.OpenAPISchemaFormat(); format != "" {
			s.Extra = map[string]any{"format": format}
		}
		return s
	case marshals || t.Kind() == reflect.Interface:
		return &schema.Schema{PreserveUnknown: true, Nullable: true}
	case marshalsText:
		return &schema.Schema{Type: "string"}
	}
	return nil
}

// scalar returns the schema of a type without parts.
func scalar(t reflect.Type) (*schema.Schema, error) {
	s := &schema.Schema{}
	format := ""
	switch t.Kind() {
	case reflect.Bool:
		s.Type = "boolean"
	case reflect.String:
		s.Type = "string"
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32:
		s.Type, format = "integer", "int32"
	case reflect.Int64, reflect.Uint64:
		s.Type, format = "integer", "int64"
	case reflect.Float32:
		s.Type, format = "number", "float"
	case reflect.Float64:
		s.Type, format = "number", "double"
	default:
		return nil, fmt.Errorf("got type %s, want a type that has a JSON form", t)
	}
	if format != "" {
		s.Extra = map[string]any{"format": format}
	}
	if values := enumOf(t); values != nil {
		var enum []any
		for _, v := range values {
			enum = append(enum, v.Value)
		}
		s.Extra = map[string]any{"enum": enum}
	}
	return s, nil
}

// enumOf returns the values of an enum, and nil for other types.
func enumOf(t reflect.Type) []markers.Value {
	if t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	if t.Kind() != reflect.String || t.PkgPath() == "" {
		return nil
	}
	return markers.Of(definition(t)).Values
}

// definition returns the name of the definition of a type in OpenAPI documents.
func definition(t reflect.Type) string {
	if namer, ok := reflect.Zero(t).Interface().(util.OpenAPIModelNamer); ok {
		return namer.OpenAPIModelName()
	}
	if t.Name() == "" {
		return ""
	}
	return util.ToRESTFriendlyName(t.PkgPath() + "." + t.Name())
}

// structure returns the schema of a struct. It is kept before its members are known, since it may contain itself.
func (ts *schemas) structure(t reflect.Type) (*schema.Schema, error) {
	s := ts.keep(t, &schema.Schema{Name: definition(t), Type: "object"})
	marks := markers.Of(s.Name)
	s.Atomic = marks.Atomic
	if d, ok := reflect.Zero(t).Interface().(documented); ok {
		s.Description = d.SwaggerDoc()[""]
	}
	return s, ts.members(s, t, marks)
}

// members adds the members of a struct to s, in the order of encoding/json.
func (ts *schemas) members(s *schema.Schema, t reflect.Type, marks markers.Type) error {
	docs := map[string]string{}
	if d, ok := reflect.Zero(t).Interface().(documented); ok {
		docs = d.SwaggerDoc()
	}
	for i := range t.NumField() {
		f := t.Field(i)
		tag, _ := f.Tag.Lookup("json")
		name, rest, _ := strings.Cut(tag, ",")
		options := strings.Split(rest, ",")
		if inner := f.Type; f.Anonymous && name == "" {
			if inner.Kind() == reflect.Pointer {
				inner = inner.Elem()
			}
			if inner.Kind() == reflect.Struct {
				s.Description = cmp.Or(s.Description, f.Tag.Get("description"))
				if err := ts.members(s, inner, markers.Of(definition(inner))); err != nil {
					return err
				}
				continue
			}
		}
		if tag == "-" || !f.IsExported() {
			continue
		}
		if name == "" {
			name = f.Name
		}
		p, err := ts.property(f, name, options, marks.Members[name])
		if err != nil {
			return fmt.Errorf("%s.%s: %w", t.Name(), f.Name, err)
		}
		p.Description = withValues(cmp.Or(docs[name], f.Tag.Get("description")), f.Type)
		s.Properties = append(s.Properties, p)
	}
	return nil
}

// property returns the property of a field.
func (ts *schemas) property(f reflect.StructField, name string, options []string, m markers.Member) (schema.Property, error) {
	omits := slices.Contains(options, "omitempty")
	p := schema.Property{
		Name: name, Required: m.Required || !omits && !m.Optional,
		PatchStrategy: f.Tag.Get("patchStrategy"), PatchMergeKey: f.Tag.Get("patchMergeKey"),
	}
	s, err := ts.of(f.Type)
	if err != nil {
		return p, err
	}
	if slices.Contains(options, "string") {
		s = &schema.Schema{Type: "string"}
	}
	if s.Name == "" { // the schema belongs to this member alone
		s.ListType, s.ListMapKeys, s.Atomic = m.ListType, m.ListMapKeys, m.Atomic
		if s.Default, err = defaultOf(f.Type, omits || slices.Contains(options, "omitzero"), m.Default); err != nil {
			return p, err
		}
		s.Nullable = s.Nullable || !omits && nilable(f.Type)
	} else if f.Type.Kind() == reflect.Struct && s.Type == "object" && !s.PreserveUnknown {
		p.Default = map[string]any{} // as upstream publishes for a struct that is never absent
	}
	if m.Granular {
		own := *s
		own.Name, own.Atomic = "", false // a definition would be the type's
		s = &own
	}
	p.Schema = s
	return p, nil
}

// nilable reports whether a field of the type is written as null if it is not set.
func nilable(t reflect.Type) bool {
	return t.Kind() == reflect.Slice || t.Kind() == reflect.Map || t.Kind() == reflect.Pointer
}

// defaultOf returns the default that is published for a member without parts: the default of its marker, or the zero value of a
// type that is always written.
func defaultOf(t reflect.Type, omits bool, marked string) (any, error) {
	if marked != "" {
		var v any
		if err := json.Unmarshal([]byte(marked), &v); err != nil {
			return nil, err
		}
		if f, ok := v.(float64); ok {
			return int64(f), nil
		}
		return v, nil
	}
	if omits {
		return nil, nil
	}
	switch t.Kind() {
	case reflect.Bool:
		return false, nil
	case reflect.String:
		return "", nil
	case reflect.Float32, reflect.Float64:
		return 0.0, nil
	}
	if t.Kind() >= reflect.Int && t.Kind() <= reflect.Uint64 {
		return int64(0), nil
	}
	return nil, nil
}

// withValues adds the values of an enum to a description, as upstream does.
func withValues(doc string, t reflect.Type) string {
	values := enumOf(t)
	if values == nil {
		return doc
	}
	var b strings.Builder
	b.WriteString(doc + "\n\nPossible enum values:")
	for _, v := range values {
		fmt.Fprintf(&b, "\n - `%q` %s", v.Value, v.Doc)
	}
	return b.String()
}
