package codec

import (
	"bytes"
	"cmp"
	"maps"
	"slices"
	"unsafe"
)

// Value is a value in an object or in a tree, or the zero Value: none. It shares memory with the
// object, so that a comparison of objects needs no trees. A custom value, a list that is not
// atomic and a map of other values than strings are trees.
type Value struct {
	typ     *Type // nil for a tree
	at      unsafe.Pointer
	tree    any
	present bool
	hides   hides
}

// hides are the members that a Value of an object does not have.
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

// TreeValue returns a tree as a Value.
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
	}
	return TreeValue(t.toTree(q))
}

// Exists reports whether there is a value. Null is one.
func (v Value) Exists() bool { return v.present }

// IsTree reports whether the value is a tree, so that it may have any form.
func (v Value) IsTree() bool { return v.typ == nil }

// Tree returns the tree of the value, or nil if there is none.
func (v Value) Tree() any {
	if v.typ == nil {
		return v.tree
	}
	return v.typ.toTree(v.at)
}

// Member returns a member. Only objects have members.
func (v Value) Member(name string) Value {
	if v.typ == nil {
		object, _ := v.tree.(map[string]any)
		member, ok := object[name]
		return Value{tree: member, present: ok}
	}
	switch v.typ.shape {
	case shapeMap:
		if s, ok := (*(*map[string]string)(v.at))[name]; ok {
			return TreeValue(s)
		}
	case shapeStruct:
		return v.field(name)
	}
	return Value{}
}

func (v Value) field(name string) Value {
	f := v.typ.Field(name)
	switch {
	case f == nil && v.typ.Rest != nil:
		member, ok := (*v.typ.rest(v.at))[name]
		return Value{tree: member, present: ok}
	case f == nil || v.hidden(name):
		return Value{}
	}
	member := f.value(v.at)
	if v.hides == typeMembers && name == "metadata" {
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

// Each calls f for each member that v or o has, in the order of their names, until f returns false.
// It leaves out some that are equal. field is nil for an undeclared member.
func (v Value) Each(o Value, f func(name string, field *Field, x, y Value) bool) bool {
	if !v.isPlainStruct() || o.typ != v.typ {
		for _, name := range v.Names(o) {
			x, y := v.Member(name), o.Member(name)
			if (x.present || y.present) && !f(name, cmp.Or(v.typ, o.typ).declared(name), x, y) {
				return false
			}
		}
		return true
	}
	for _, field := range v.typ.byName {
		isScalar := field.Type.Kind == Scalar && !field.Type.Custom
		if isScalar && field.equal(v.at, o.at) || v.hides != nothing && v.hidden(field.Name) {
			continue
		}
		x, y := field.value(v.at), field.value(o.at)
		if v.hides == typeMembers && field.Name == "metadata" {
			x.hides, y.hides = managedFields, managedFields
		}
		if (x.present || y.present) && !f(field.Name, field, x, y) {
			return false
		}
	}
	return true
}

// declared returns the member of a struct with a name, or nil.
func (t *Type) declared(name string) *Field {
	if t == nil || t.Kind != Struct {
		return nil
	}
	return t.Field(name)
}

// Names returns the sorted names of the members of v and o, and perhaps of others that both
// lack.
func (v Value) Names(o Value) []string {
	if v.isPlainStruct() && (o.typ == v.typ || o.isEmptyTree()) {
		return v.typ.sorted
	}
	if o.isPlainStruct() && v.isEmptyTree() {
		return o.typ.sorted
	}
	names := o.appendNames(v.appendNames(nil))
	slices.Sort(names)
	return slices.Compact(names)
}

func (v Value) isPlainStruct() bool { return v.typ != nil && v.typ.Kind == Struct && v.typ.Rest == nil }

// isEmptyTree reports whether the value is a tree or none, without members.
func (v Value) isEmptyTree() bool { return v.typ == nil && v.IsEmpty() }

func (v Value) appendNames(names []string) []string {
	switch {
	case v.typ == nil:
		object, _ := v.tree.(map[string]any)
		return slices.AppendSeq(names, maps.Keys(object))
	case v.typ.stringMap:
		return slices.AppendSeq(names, maps.Keys(*(*map[string]string)(v.at)))
	case v.typ.Kind == Struct:
		names = append(names, v.typ.sorted...)
		if v.typ.Rest != nil {
			names = slices.AppendSeq(names, maps.Keys(*v.typ.rest(v.at)))
		}
	}
	return names
}

// IsEmpty reports whether the value has no items and no members.
func (v Value) IsEmpty() bool {
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
	case t == nil || t != o.typ:
		return equalForms(v.Tree(), o.Tree())
	case t.shape == shapeFloat64:
		return *(*float64)(v.at) == *(*float64)(o.at) // also 0 and -0
	case t.Kind == List:
		return t.equal(v.at, o.at) && (v.at == o.at || !t.hasEmpty(o.at))
	case t.Kind == Struct:
		return t.equal(v.at, o.at) || equalForms(v.Tree(), o.Tree())
	}
	return t.equal(v.at, o.at)
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
	AnyScalar ScalarKind = iota // times, which may be any scalar
	String
	Numeric
	Boolean
)

// ScalarKind returns the form of a Scalar.
func (t *Type) ScalarKind() ScalarKind {
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
