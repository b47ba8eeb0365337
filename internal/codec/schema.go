package codec

import (
	"cmp"
	"fmt"
	"reflect"
	"slices"
	"strings"

	"github.com/kubecoord/kubecoord/store/schema"
)

// This file compiles a schema.Schema into the Type of the undeclared members of a struct. Its values are trees, so these
// types have no Go type. The rules of ownership are upstream's (kube-openapi, schemaconv): an object without properties, and
// all that is in one with preserved unknown members, has members of any form.

// Tree is the form of the undeclared members of a struct.
type Tree struct {
	// Schema describes the whole object; nil allows any form. The members that the struct declares are left out.
	Schema *schema.Schema
	// InOrder writes members in the order of the schema, and not in the order of their names.
	InOrder bool
	// Whole keeps members that the schema does not describe: the user's library has dropped them.
	Whole bool
}

// Names of upstream's Go types whose ownership upstream does not take from their schema.
const (
	quantityName     = "io.k8s.apimachinery.pkg.api.resource.Quantity"
	rawExtensionName = "io.k8s.apimachinery.pkg.runtime.RawExtension"
)

// untyped is the type of values of any form. It is shared, as nothing in it may be changed.
func (c *treeCompiler) untyped() *Type { return &Type{Kind: Untyped, Schema: &schema.Schema{}} }

// treeCompiler compiles the schemas of one object. After an error it continues, and keeps the first.
type treeCompiler struct {
	meta *Type // of ObjectMeta
	seen map[placedSchema]*Type
	busy map[*schema.Schema]bool // without a name, around the current one
	path []string
	err  error
}

// placedSchema is a schema, and whether one around it preserves unknown members.
type placedSchema struct {
	*schema.Schema
	open bool
}

func (c *treeCompiler) fail(member, format string, args ...any) {
	if c.err == nil {
		path := strings.TrimPrefix(strings.Join(c.path, ""), ".")
		c.err = fmt.Errorf("Schema: %s: %s: "+format, append([]any{cmp.Or(path, "the object"), member}, args...)...)
	}
}

// compileRest compiles the schema of a whole object into the type of the undeclared members of root.
func (root *Type) compileRest(t Tree) error {
	s := t.Schema
	if s == nil {
		return nil
	}
	if s.Type != "object" {
		return fmt.Errorf("Schema: the object: Type: got %q, want \"object\"", s.Type)
	}
	own := *s
	own.Properties = slices.DeleteFunc(slices.Clone(s.Properties), func(p schema.Property) bool { return root.Field(p.Name) != nil })
	c := &treeCompiler{meta: root.Field("metadata").Type, seen: map[placedSchema]*Type{}, busy: map[*schema.Schema]bool{}}
	rest, old := c.compile(&own, false), root.Rest.Type
	rest.shape, rest.goType, rest.names, rest.Schema = old.shape, old.goType, old.names, s
	root.Rest.Type, root.inOrder, root.whole = rest, t.InOrder, t.Whole
	return c.err
}

// compile compiles a schema. open reports whether a schema around it preserves unknown members.
func (c *treeCompiler) compile(s *schema.Schema, open bool) *Type {
	if s == nil {
		return c.untyped()
	}
	open = open && s.Name == ""
	if have := c.seen[placedSchema{s, open}]; have != nil {
		if c.busy[s] {
			c.fail("Name", `got "" for a schema that contains itself, want a name`)
		}
		return have
	}
	t := &Type{Name: s.Name[strings.LastIndexByte(s.Name, '.')+1:], Schema: s, Atomic: s.Atomic}
	c.seen[placedSchema{s, open}] = t
	if s.Name == "" {
		c.busy[s] = true
		defer delete(c.busy, s)
	}
	switch s.Type {
	case "object":
		c.object(t, open || s.PreserveUnknown)
	case "array":
		t.Kind, t.AsField = List, &Field{Type: t, OmitEmpty: true, ListType: cmp.Or(s.ListType, "atomic"), ListMapKeys: s.ListMapKeys}
		t.Elem = c.below("[]", s.Items, open || s.PreserveUnknown)
		c.checkList(s)
	case "string", "integer", "number", "boolean":
	case "":
		if t.Kind = Untyped; s.Atomic {
			t.Kind = Opaque
		}
	default:
		c.fail("Type", `got %q, want "object", "array", "string", "integer", "number", "boolean" or ""`, s.Type)
	}
	switch s.Name {
	case quantityName:
		t.Kind = Scalar
	case rawExtensionName:
		t.Kind = Opaque
	}
	return t
}

// below compiles the schema of a member or of items.
func (c *treeCompiler) below(part string, s *schema.Schema, open bool) *Type {
	c.path = append(c.path, part)
	defer func() { c.path = c.path[:len(c.path)-1] }()
	return c.compile(s, open)
}

// object compiles the members of an object.
func (c *treeCompiler) object(t *Type, open bool) {
	s := t.Schema
	switch {
	case s.Additional != nil && len(s.Properties) > 0:
		c.fail("Additional", "got Properties too, want one of both")
	case s.Additional != nil:
		t.Kind = Map
		t.Elem = c.below(".*", s.Additional, open)
		return
	case len(s.Properties) == 0 && !s.Embedded:
		t.Kind, t.Elem = Map, c.untyped()
		return
	case open:
		t.Elem = c.untyped()
	}
	t.Kind = Struct
	fields := make([]Field, len(s.Properties))
	for i, p := range s.Properties {
		if s.Embedded && isMetaMember(p.Name) {
			continue
		}
		f := &fields[i]
		*f = Field{Name: p.Name, OmitEmpty: true, PatchStrategy: p.PatchStrategy, PatchMergeKey: p.PatchMergeKey, Property: &s.Properties[i]}
		f.Type = c.below("."+p.Name, p.Schema, open)
		if f.Default = p.Default; f.Default == nil && p.Schema != nil {
			f.Default = p.Schema.Default
		}
		f.Default = copyTree(f.Default)
		c.patched(f)
		t.addTree(f, c)
	}
	if s.Embedded {
		text := &Type{Schema: &schema.Schema{Type: "string"}}
		t.addTree(&Field{Name: "apiVersion", OmitEmpty: true, Type: text}, c)
		t.addTree(&Field{Name: "kind", OmitEmpty: true, Type: text}, c)
		t.addTree(&Field{Name: "metadata", OmitEmpty: true, Type: c.meta}, c)
	}
}

// isMetaMember reports whether every API object has the member.
func isMetaMember(name string) bool {
	return name == "apiVersion" || name == "kind" || name == "metadata"
}

// addTree adds a member to an object.
func (t *Type) addTree(f *Field, c *treeCompiler) {
	i, taken := slices.BinarySearch(t.sorted, f.Name)
	if taken {
		c.fail("Properties", "got %q twice, want it once", f.Name)
	}
	f.jsonKey, f.index = string(append(appendJSONString(nil, f.Name), ':')), len(t.Fields)
	t.sorted, t.byName, t.Fields = slices.Insert(t.sorted, i, f.Name), slices.Insert(t.byName, i, f), append(t.Fields, f)
}

// patched sets the list type of a member. Without one, a list that a strategic merge patch merges has the type that fits.
func (c *treeCompiler) patched(f *Field) {
	list := f.Type.AsField
	if list == nil {
		return
	}
	f.ListType, f.ListMapKeys = list.ListType, list.ListMapKeys
	if f.Type.Schema.ListType == "" && strings.HasPrefix(f.PatchStrategy, "merge") {
		if f.ListType = "set"; f.PatchMergeKey != "" {
			f.ListType, f.ListMapKeys = "map", []string{f.PatchMergeKey}
		}
	}
}

// checkList refuses a list type that does not fit the items.
func (c *treeCompiler) checkList(s *schema.Schema) {
	switch s.ListType {
	case "", "atomic", "set":
		return
	case "map":
	default:
		c.fail("ListType", `got %q, want "atomic", "set" or "map"`, s.ListType)
	}
	if s.Items == nil || s.Items.Type != "object" {
		c.fail("ListType", `got "map" for items that are no objects, want "atomic" or "set"`)
		return
	}
	if len(s.ListMapKeys) == 0 {
		c.fail("ListMapKeys", "got none, want the members that identify an item")
	}
	for _, key := range s.ListMapKeys {
		if !slices.ContainsFunc(s.Items.Properties, func(p schema.Property) bool { return p.Name == key }) {
			c.fail("ListMapKeys", "got %q, want a member of the items", key)
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
		return t.Rest.Type.Member(name)
	}
	return nil, t.Elem
}

// IsClosed reports whether objects have no other members than their fields.
func (t *Type) IsClosed() bool {
	if t.Rest != nil {
		return t.Rest.Type.IsClosed()
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
	case t.Kind == Opaque || t.Kind == Untyped:
		return reflect.Struct
	case t.Custom:
		return reflect.String
	case t.goType != nil && t.shape != shapeTree:
		return t.goType.Kind()
	}
	switch t.Kind {
	case Struct:
		return reflect.Struct
	case Map:
		return reflect.Map
	case List:
		return reflect.Slice
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
