package codec

import (
	"cmp"
	"reflect"
	"slices"
	"strings"
	"sync"

	"github.com/kubecoord/kubecoord/store/schema"
)

// This file compiles a schema.Schema into the Type of the undeclared members of a struct. Its values are trees, so these
// types have no Go type. The rules of ownership are upstream's (kube-openapi, schemaconv): an object without properties, and
// all that is in one with preserved unknown members, has members of any form.

// Names of upstream's Go types whose ownership upstream does not take from their schema.
const (
	quantityName     = "io.k8s.apimachinery.pkg.api.resource.Quantity"
	rawExtensionName = "io.k8s.apimachinery.pkg.runtime.RawExtension"
)

// treeCompiler compiles the schemas of one object, which were checked.
type treeCompiler struct {
	meta    *Type // of ObjectMeta
	untyped *Type
	seen    map[placedSchema]*Type
}

// placedSchema is a schema, and whether one around it preserves unknown members.
type placedSchema struct {
	*schema.Schema
	open bool
}

// lazyTree is the type of the undeclared members of a struct. Schemas are large, and most kinds of a server are never used,
// so it is compiled when it is first needed.
type lazyTree struct {
	schema *schema.Schema // of the whole object
	once   sync.Once
	typ    *Type
}

// Undeclared returns the type of the members that no field of a struct declares, or nil if it has none.
func (t *Type) Undeclared() *Type {
	switch {
	case t.Rest == nil:
		return nil
	case t.tree == nil:
		return t.Rest.Type
	}
	t.tree.once.Do(func() {
		own := *t.tree.schema
		own.Properties = slices.DeleteFunc(slices.Clone(own.Properties), func(p schema.Property) bool { return t.Field(p.Name) != nil })
		c := &treeCompiler{
			meta: t.Field("metadata").Type, untyped: &Type{Kind: Untyped, Schema: &schema.Schema{}}, seen: map[placedSchema]*Type{},
		}
		t.tree.typ = c.compile(&own, false)
	})
	return t.tree.typ
}

// TreeSchema returns the schema of the object, or nil.
func (t *Type) TreeSchema() *schema.Schema {
	if t.tree == nil {
		return nil
	}
	return t.tree.schema
}

// compile compiles a schema. open reports whether a schema around it preserves unknown members.
func (c *treeCompiler) compile(s *schema.Schema, open bool) *Type {
	if s == nil {
		return c.untyped
	}
	open = open && s.Name == ""
	if have := c.seen[placedSchema{s, open}]; have != nil {
		return have
	}
	t := &Type{Name: s.Name[strings.LastIndexByte(s.Name, '.')+1:], Schema: s, Atomic: s.Atomic}
	c.seen[placedSchema{s, open}] = t
	switch s.Type {
	case "object":
		c.object(t, open || s.PreserveUnknown)
	case "array":
		t.Kind, t.AsField = List, &Field{Type: t, OmitEmpty: true, ListType: cmp.Or(s.ListType, "atomic"), ListMapKeys: s.ListMapKeys}
		t.Elem = c.compile(s.Items, open || s.PreserveUnknown)
	case "":
		t.Kind = Untyped
		if s.Atomic {
			t.Kind = Opaque
		}
	}
	switch s.Name {
	case quantityName:
		t.Kind = Scalar
	case rawExtensionName:
		t.Kind = Opaque
	}
	return t
}

// object compiles the members of an object.
func (c *treeCompiler) object(t *Type, open bool) {
	s := t.Schema
	switch {
	case s.Additional != nil:
		t.Kind = Map
		t.Elem = c.compile(s.Additional, open)
		return
	case len(s.Properties) == 0 && !s.Embedded:
		t.Kind, t.Elem = Map, c.untyped
		return
	case open:
		t.Elem = c.untyped
	}
	t.Kind = Struct
	fields := make([]Field, len(s.Properties))
	for i, p := range s.Properties {
		if s.Embedded && isMetaMember(p.Name) {
			continue
		}
		f := &fields[i]
		*f = Field{
			Name: p.Name, Type: c.compile(p.Schema, open), OmitEmpty: true,
			PatchStrategy: p.PatchStrategy, PatchMergeKey: p.PatchMergeKey, Property: &s.Properties[i], Default: p.Default,
		}
		if f.Default == nil && p.Schema != nil {
			f.Default = p.Schema.Default
		}
		f.Default = copyTree(f.Default)
		f.setListType()
		t.addTree(f)
	}
	if s.Embedded {
		text := &Type{Schema: &schema.Schema{Type: "string"}}
		t.addTree(&Field{Name: "apiVersion", OmitEmpty: true, Type: text})
		t.addTree(&Field{Name: "kind", OmitEmpty: true, Type: text})
		t.addTree(&Field{Name: "metadata", OmitEmpty: true, Type: c.meta})
	}
}

// isMetaMember reports whether every API object has the member.
func isMetaMember(name string) bool {
	return name == "apiVersion" || name == "kind" || name == "metadata"
}

// addTree adds a member to an object.
func (t *Type) addTree(f *Field) {
	i, _ := slices.BinarySearch(t.sorted, f.Name)
	f.jsonKey, f.index = string(append(AppendString(nil, f.Name), ':')), len(t.Fields)
	t.sorted, t.byName, t.Fields = slices.Insert(t.sorted, i, f.Name), slices.Insert(t.byName, i, f), append(t.Fields, f)
}

// setListType sets the list type of a member.
func (f *Field) setListType() {
	list := f.Type.AsField
	if list == nil {
		return
	}
	f.ListType, f.ListMapKeys = list.ListType, list.ListMapKeys
	f.followPatchStrategy(f.Type.Schema.ListType)
}

// followPatchStrategy gives a list without a declared type the type that fits how a strategic merge patch merges it.
func (f *Field) followPatchStrategy(declared string) {
	if declared == "" && strings.HasPrefix(f.PatchStrategy, "merge") {
		f.ListType = "set"
		if f.PatchMergeKey != "" {
			f.ListType, f.ListMapKeys = "map", []string{f.PatchMergeKey}
		}
	}
}

// Member returns the member with the given name as a field, or nil. The second result is the type of the members that no
// field declares, or nil if there are none.
func (t *Type) Member(name string) (*Field, *Type) {
	if f := t.Field(name); f != nil {
		return f, nil
	}
	if t.Rest != nil {
		return t.Undeclared().Member(name)
	}
	return nil, t.Elem
}

// IsClosed reports whether objects have no other members than their fields.
func (t *Type) IsClosed() bool {
	if t.Rest != nil {
		return t.Undeclared().IsClosed()
	}
	return t.Kind == Struct && t.Elem == nil
}

// treeScalar is ScalarKind for a tree. As upstream, a string with a format may be any scalar.
func (t *Type) treeScalar() ScalarKind {
	format, _ := t.Schema.Extra["format"].(string)
	switch {
	case t.Schema.Type == "boolean":
		return Boolean
	case t.Schema.Type == "integer", t.Schema.Type == "number":
		return Numeric
	case t.Schema.Type == "string" && (format == "" || format == "byte") && t.Schema.Name != quantityName:
		return String
	}
	return AnyScalar
}

// GoKind returns the kind of upstream's Go type for values of the type, where a time or JSON of any form is a struct.
func (t *Type) GoKind() reflect.Kind {
	switch {
	case t.Kind == Map:
		return reflect.Map
	case t.Kind == List:
		return reflect.Slice
	case t.Kind != Scalar:
		return reflect.Struct
	case t.Custom:
		return reflect.String
	case t.goType != nil:
		return t.goType.Kind()
	}
	switch t.treeScalar() {
	case String:
		return reflect.String
	case Boolean:
		return reflect.Bool
	case Numeric:
		return reflect.Int32
	}
	return reflect.Struct
}
