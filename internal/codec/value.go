package codec

import (
	"bytes"
	"cmp"
	"maps"
	"slices"
	"unsafe"
)

// Value is a value in an object or in a tree, or the zero Value: none. It shares memory with the
// object, so that a comparison of objects needs no trees. A custom value and a map of other values
// than strings are trees, and so is a list that is not atomic, whose items are Values of their own.
type Value struct {
	typ     *Type // nil for a tree
	at      unsafe.Pointer
	tree    any
	list    *Type // of a tree that is still the list at at, as most lists are only compared
	present bool
	hides   hides
}

// hides says which members of an object a Value leaves out.
type hides uint8

const (
	nothing       hides = iota
	typeMembers         // kind and apiVersion, and managedFields of the metadata
	managedFields       // in the metadata itself
)

// Value returns obj, a non-nil pointer to the compiled struct, without the members that have no
// owners: kind, apiVersion and metadata.managedFields.
func (t *Type) Value(obj any) Value {
	return Value{typ: t, at: t.check(obj), present: true, hides: typeMembers}
}

// ZeroValue is Value for an empty object.
func (t *Type) ZeroValue() Value { return Value{typ: t, at: t.zero, present: true, hides: typeMembers} }

// InTree returns a value to put into a tree. Scalars and maps of strings stay Values, uncopied.
// FromUnstructured reads such trees too; the object that it makes shares the map.
func (v Value) InTree() any {
	if v.typ != nil && (v.typ.Kind == Scalar || v.typ.stringMap) {
		return v
	}
	return v.Tree()
}

// TreeValue returns a tree as a Value. Members of objects in it may be results of InTree.
func TreeValue(tree any) Value { return Value{tree: tree, present: true} }

// value returns the value of the member of the struct at p.
func (f *Field) value(p unsafe.Pointer) Value {
	if f.omitted(p) {
		return Value{}
	}
	q, t := f.target(p), f.Type
	switch {
	case q == nil || t.isZeroTime(q) || t.isNil(q):
		return TreeValue(nil)
	case t.Kind == Struct, t.Kind == Scalar && !t.Custom, t.stringMap, f.ListType == "atomic":
		return Value{typ: t, at: q, present: true}
	case t.Kind == List:
		return Value{list: t, at: q, present: true}
	}
	return TreeValue(t.toTree(q))
}

// Exists reports whether there is a value. Null is one.
func (v Value) Exists() bool { return v.present }

// IsTree reports whether the value is a tree, so that it may have any form.
func (v Value) IsTree() bool { return v.typ == nil }

// Tree returns the tree of the value, or nil if there is none.
func (v Value) Tree() any {
	if t := cmp.Or(v.typ, v.list); t != nil {
		return t.toTree(v.at)
	}
	return v.tree
}

// Member returns a member. Only objects have members.
func (v Value) Member(name string) Value {
	object, _ := v.tree.(map[string]any)
	if v.typ != nil && v.typ.shape == shapeMap {
		if s, ok := (*(*map[string]string)(v.at))[name]; ok {
			return TreeValue(s)
		}
	} else if v.typ != nil {
		if f := v.typ.Field(name); f != nil {
			return v.declared(f)
		}
		if v.typ.Rest != nil {
			object = *v.typ.rest(v.at)
		}
	}
	member, ok := object[name]
	if part, is := member.(Value); is {
		return part
	}
	return Value{tree: member, present: ok}
}

// declared returns the member that a field declares.
func (v Value) declared(f *Field) Value {
	switch {
	case v.typ == nil:
		return v.Member(f.Name)
	case v.hides != nothing && v.hidden(f.Name):
		return Value{}
	}
	member := f.value(v.at)
	if v.hides == typeMembers && f.Name == "metadata" {
		member.hides = managedFields
	}
	return member
}

func (v Value) hidden(name string) bool {
	switch name {
	case "kind", "apiVersion":
		return v.hides == typeMembers
	case "managedFields":
		return v.hides == managedFields
	}
	return false
}

// Len returns the number of items of a list, and 0 for other values.
func (v Value) Len() int {
	if v.list != nil {
		return v.list.length(v.at)
	}
	items, _ := v.tree.([]any)
	return len(items)
}

// Item returns an item of a list.
func (v Value) Item(i int) Value {
	if v.list == nil {
		return Value{tree: v.tree.([]any)[i], present: true}
	}
	t, p := v.list.Elem, v.list.item((*slice)(v.at), i)
	if t.isPlain() {
		return Value{typ: t, at: p, present: true}
	}
	return TreeValue(t.toTree(p))
}

// isPlain reports whether a value of the type that is not null is a Value of the type, and not a tree.
func (t *Type) isPlain() bool {
	return t.Kind == Struct || t.Kind == Scalar && !t.Custom && !t.isTime() || t.stringMap
}

// Members is a walk along the members that one of two values has, in the order of their names:
//
//	var m codec.Members
//	for m.Walk(x, y); m.Next(); {
//
// A variable of the loop would be copied for each member, and the result of a function once. If both are structs, the walk leaves
// out equal scalars.
type Members struct {
	Name  string
	Field *Field // nil for an undeclared member
	X, Y  Value

	x, y   Value
	typ    *Type    // the struct that declares members, or nil
	fields []*Field // that are left, if there are no other members
	names  []string // that are left; both may lack some
}

// Walk begins a walk along the members of v and o. m is the zero Members.
func (m *Members) Walk(v, o Value) {
	m.x, m.y = v, o
	if v.isStruct() && v.typ == o.typ && v.typ.Rest == nil {
		m.typ, m.fields = v.typ, v.typ.byName
		return
	}
	if v.isStruct() {
		m.typ = v.typ
	} else if o.isStruct() {
		m.typ = o.typ
	}
	names := o.appendNames(v.appendNames(nil, m.typ), m.typ)
	switch {
	case m.typ == nil:
		m.names = sortNames(names)
	case len(names) == 0:
		m.fields = m.typ.byName
	default:
		m.names = sortNames(append(names, m.typ.sorted...))
	}
}

func sortNames(names []string) []string {
	slices.Sort(names)
	return slices.Compact(names)
}

// Next goes to the next member, and reports whether there is one.
func (m *Members) Next() bool {
	for i, f := range m.fields {
		if m.x.typ != m.y.typ {
			m.X, m.Y = m.x.declared(f), m.y.declared(f)
		} else {
			isScalar := f.Type.Kind == Scalar && !f.Type.Custom
			if isScalar && f.equal(m.x.at, m.y.at) || m.x.hides != nothing && m.x.hidden(f.Name) {
				continue
			}
			m.X, m.Y = f.value(m.x.at), f.value(m.y.at)
			if m.x.hides == typeMembers && f.Name == "metadata" {
				m.X.hides, m.Y.hides = managedFields, managedFields
			}
		}
		if m.X.present || m.Y.present {
			m.Name, m.Field, m.fields = f.Name, f, m.fields[i+1:]
			return true
		}
	}
	m.fields = nil
	for len(m.names) > 0 {
		m.Name = m.names[0]
		m.names = m.names[1:]
		m.X, m.Y = m.x.Member(m.Name), m.y.Member(m.Name)
		if !m.X.present && !m.Y.present {
			continue
		}
		m.Field = nil
		if m.typ != nil {
			m.Field = m.typ.Field(m.Name)
		}
		return true
	}
	return false
}

// appendNames appends the names of the members that t does not declare. t may be nil.
func (v Value) appendNames(names []string, t *Type) []string {
	switch {
	case !v.present:
	case v.typ != nil && v.typ.stringMap:
		m := *(*map[string]string)(v.at)
		names = slices.Grow(names, len(m))
		for name := range m {
			names = append(names, name)
		}
	default:
		object, _ := v.tree.(map[string]any)
		if v.typ != nil && v.typ.Rest != nil {
			object = *v.typ.rest(v.at)
		}
		if t == nil {
			names = slices.Grow(names, len(object))
		}
		for name := range object {
			if t == nil || t.Field(name) == nil {
				names = append(names, name)
			}
		}
	}
	return names
}

// Keys returns the keys of a map of strings in order, in the memory of room if they fit. It returns false for another value.
func (v Value) Keys(room []string) ([]string, bool) {
	if v.typ == nil || !v.typ.stringMap {
		return nil, false
	}
	return sortNames(v.appendNames(room, nil)), true
}

// IsEmpty reports whether the value has no items and no members.
func (v Value) IsEmpty() bool {
	if v.list != nil {
		return v.list.length(v.at) == 0
	}
	if v.typ == nil {
		list, _ := v.tree.([]any)
		object, _ := v.tree.(map[string]any)
		return len(list) == 0 && len(object) == 0
	}
	switch v.typ.Kind {
	case List, Map:
		return v.typ.length(v.at) == 0
	case Struct:
		has := func(f *Field) bool { return !f.omitted(v.at) && !v.hidden(f.Name) }
		return !slices.ContainsFunc(v.typ.Fields, has) && (v.typ.Rest == nil || len(*v.typ.rest(v.at)) == 0)
	}
	return true
}

// Equal reports whether both are equal, or both none, for field management. Numbers are equal if
// they have the same value.
//
// Upstream compares atomic lists as Go values (structured-merge-diff, value.listReflect), and
// stores an empty list or map as nil. So a list o that has one in an item is not equal to a list
// of another object.
func (v Value) Equal(o Value) bool {
	t := v.typ
	switch {
	case !v.present || !o.present:
		return v.present == o.present
	case v.IsSameList(o):
		return true
	case t != o.typ && (v.isStruct() || o.isStruct()):
		return v.isObject() && o.isObject() && v.equalMembers(o)
	case t == nil || t != o.typ:
		return equalForms(v.Tree(), o.Tree())
	case v.hides != nothing:
		return v.equalMembers(o)
	case t.shape == shapeFloat64:
		return *(*float64)(v.at) == *(*float64)(o.at) // also 0 and -0
	case t.Kind == List:
		return t.equal(v.at, o.at) && (v.at == o.at || !t.hasEmpty(o.at))
	case t.Kind == Struct:
		return t.equal(v.at, o.at) || equalForms(v.Tree(), o.Tree())
	}
	return t.equal(v.at, o.at)
}

func (v Value) isStruct() bool { return v.typ != nil && v.typ.Kind == Struct }

// isObject reports whether a struct or a tree is an object.
func (v Value) isObject() bool {
	_, isObject := v.tree.(map[string]any)
	return isObject || v.isStruct()
}

func (v Value) equalMembers(o Value) bool {
	var m Members
	for m.Walk(v, o); m.Next(); {
		if !m.X.Equal(m.Y) {
			return false
		}
	}
	return true
}

// equalForms compares trees like equalTree, but an int64 equals a float64 of the same value.
func equalForms(a, b any) bool {
	switch a := a.(type) {
	case int64:
		if f, ok := b.(float64); ok {
			return float64(a) == f
		}
	case float64:
		if n, ok := b.(int64); ok {
			return a == float64(n)
		}
	case []any:
		b, ok := b.([]any)
		return ok && slices.EqualFunc(a, b, equalForms)
	case map[string]any:
		b, ok := b.(map[string]any)
		return ok && maps.EqualFunc(a, b, equalForms)
	}
	return a == b // a string, bool, number or nil
}

// IsSame reports whether two values have the same memory, or are equal maps of strings. Then
// they need no comparison.
func (v Value) IsSame(o Value) bool {
	return v.typ != nil && v.typ == o.typ && (v.at == o.at || v.typ.stringMap && v.typ.equal(v.at, o.at))
}

// IsSameList reports whether two values are lists in objects of one type and are equal.
func (v Value) IsSameList(o Value) bool {
	return v.list != nil && v.list == o.list && v.list.equal(v.at, o.at)
}

// hasEmpty reports whether a value has a list or map in it that is empty and not nil.
func (t *Type) hasEmpty(p unsafe.Pointer) bool {
	switch t.shape {
	case shapeList:
		list := (*slice)(p)
		for i := range list.len {
			if t.Elem.hasEmpty(t.item(list, i)) {
				return true
			}
		}
	case shapeStruct:
		for _, f := range t.all {
			x := f.target(p)
			if x == nil {
				continue
			}
			listOrMap := f.Type.shape == shapeList || f.Type.shape == shapeMap
			if listOrMap && !f.Type.isNil(x) && f.Type.length(x) == 0 || f.Type.hasEmpty(x) {
				return true
			}
		}
	}
	return false
}

// sameMemory reports whether two values are equal byte for byte. Most structs that
// a write does not change are.
func (t *Type) sameMemory(p, q unsafe.Pointer) bool {
	size := t.goType.Size()
	return bytes.Equal(unsafe.Slice((*byte)(p), size), unsafe.Slice((*byte)(q), size))
}

// ScalarKind is the form of a scalar in a document.
type ScalarKind int

// The kinds of scalars.
const (
	AnyScalar ScalarKind = iota // times and quantities, which may be any scalar
	String
	Numeric
	Boolean
)

// ScalarKind returns the form of a Scalar.
func (t *Type) ScalarKind() ScalarKind {
	if t.Schema != nil {
		return t.treeScalar()
	}
	if t.custom != nil {
		return AnyScalar
	}
	switch t.shape {
	case shapeCustom, shapeCustomBytes:
		return String // a type with text methods; one with JSON methods is no Scalar
	case shapeBool:
		return Boolean
	case shapeInt32, shapeInt64, shapeFloat64:
		return Numeric
	case shapeString, shapeBytes:
		return String
	}
	return AnyScalar
}
