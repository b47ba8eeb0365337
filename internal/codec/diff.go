package codec

import (
	"bytes"
	"unsafe"
)

// This file serves field management: Diff finds where two objects differ, Outline returns
// a tree whose atomic lists are not converted, and a Value walks through an object.

// maxPath is the length of the longest Path.
const maxPath = 6

// Path is a list of members: it leads from an object through structs to a field.
type Path struct {
	fields [maxPath]*Field
	len    int
}

// Len returns how many members the path has.
func (p Path) Len() int { return p.len }

// At returns the member at step i.
func (p Path) At(i int) *Field { return p.fields[i] }

func (p Path) to(f *Field) Path {
	if p.len < maxPath {
		p.fields[p.len] = f
		p.len++
	}
	return p
}

// Diff calls report for each member on the wire in which a and b, non-nil pointers
// to the compiled struct, differ. leaf is true if both have the member and it is
// owned as a whole: a scalar, or an atomic list or struct. The members of other
// structs are compared one by one. A map, a list that is not atomic, and a member
// too deep for a Path are reported once, with leaf false. Diff stops and returns
// false when report returns false.
func (t *Type) Diff(a, b any, report func(at Path, leaf bool) bool) bool {
	p, q := t.check(a), t.check(b)
	return p == q || t.diff(p, q, &Path{}, report)
}

// diff compares the members of two structs at a path.
func (t *Type) diff(p, q unsafe.Pointer, at *Path, report func(Path, bool) bool) bool {
	atLimit := at.len == maxPath
	for _, f := range t.Fields {
		if f.Type.Kind == Struct && !f.Type.Atomic && !atLimit && !f.omitted(p) && !f.omitted(q) {
			if x, y := f.target(p), f.target(q); x != nil && y != nil {
				if f.Type.sameMemory(x, y) {
					continue
				}
				at.fields[at.len] = f
				at.len++
				more := f.Type.diff(x, y, at, report)
				at.len--
				if !more {
					return false
				}
				continue
			}
		}
		if f.sameOwned(p, q) {
			continue
		}
		if !report(at.to(f), f.hasOneOwner() && !atLimit && !f.omitted(p) && !f.omitted(q)) {
			return false
		}
	}
	return t.Rest == nil || t.diffRest(p, q, at, report)
}

// sameMemory reports whether two values are equal byte for byte. Most structs that
// a write does not change are.
func (t *Type) sameMemory(p, q unsafe.Pointer) bool {
	size := t.goType.Size()
	return bytes.Equal(unsafe.Slice((*byte)(p), size), unsafe.Slice((*byte)(q), size))
}

// hasOneOwner reports whether the member is owned as a whole.
func (f *Field) hasOneOwner() bool {
	switch f.Type.Kind {
	case Struct:
		return f.Type.Atomic
	case List:
		return f.ListType == "atomic"
	case Map, Untyped:
		return false
	}
	return true
}

// Unopened is an atomic list in an outline that is not converted to a tree. It
// shares memory with the object.
type Unopened struct {
	typ *Type
	at  unsafe.Pointer
}

// Equal reports whether a change of a list from u to o leaves its owners as they are: see
// sameOwned.
func (u Unopened) Equal(o Unopened) bool {
	return u.typ == o.typ && u.typ.equal(u.at, o.at) && (u.at == o.at || !o.typ.hasEmpty(o.at))
}

// sameOwned reports whether a change of the member from p to q leaves its owners as they are.
// Upstream compares atomic lists as Go values (structured-merge-diff, value.listReflect), and
// what it has stored is nil where it was empty. So a list with an empty list or map in an item
// is always a change.
func (f *Field) sameOwned(p, q unsafe.Pointer) bool {
	if !f.equal(p, q) {
		return false
	}
	if f.ListType != "atomic" {
		return true
	}
	y := f.target(q)
	return y == nil || y == f.target(p) || !f.Type.hasEmpty(y)
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
			// Both begin with a pointer, which is nil only for nil.
			listOrMap := f.Type.shape == shapeList || f.Type.shape == shapeMap
			if listOrMap && *(*unsafe.Pointer)(x) != nil && f.Type.length(x) == 0 || f.Type.hasEmpty(x) {
				return true
			}
		}
	}
	return false
}

// Outline returns obj, a non-nil pointer to the compiled struct, as
// ToUnstructured does, but atomic lists in it or in its structs are Unopened
// unless they are nil.
func (t *Type) Outline(obj any) map[string]any { return t.structToTree(t.check(obj), outlinedTree) }

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

// Value is a value in an object. It shares memory with the object.
type Value struct {
	typ *Type
	at  unsafe.Pointer
}

// Value returns obj, a non-nil pointer to the compiled struct, as a Value.
func (t *Type) Value(obj any) Value { return Value{t, t.check(obj)} }

// Member returns the value of a member of a struct. It returns false if the member is left
// out or null. The zero Value has no members.
func (v Value) Member(f *Field) (Value, bool) {
	if v.at == nil || f.omitted(v.at) {
		return Value{}, false
	}
	p := f.target(v.at)
	return Value{f.Type, p}, p != nil
}

// Equal reports whether two values of the same type have the same tree.
func (v Value) Equal(o Value) bool {
	if v.typ.shape == shapeFloat64 {
		return *(*float64)(v.at) == *(*float64)(o.at) // also 0 and -0
	}
	return v.typ.equal(v.at, o.at)
}

// Strings returns the value of a type whose IsStringMap is true.
func (v Value) Strings() map[string]string { return *(*map[string]string)(v.at) }

// IsStringMap reports whether the Go type is a map of strings.
func (t *Type) IsStringMap() bool { return t.stringMap }
