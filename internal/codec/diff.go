package codec

import (
	"bytes"
	"unsafe"
)

// This file holds what field management needs: where two objects differ, and a
// view of an object that does not open what has one owner as a whole.

// maxPath is how deep members can lie that a Path leads to.
const maxPath = 6

// Path leads from an object through structs to one of its members.
type Path struct {
	fields [maxPath]*Field
	len    int
}

// Len returns how many members the path leads through, the last one included.
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

// Diff calls report for each member that is on the wire and in which a and b,
// non-nil pointers to the compiled struct, differ. leaf tells that both have
// the member and that it has one owner as a whole: a scalar, or a list or
// struct that is atomic. Of other structs the members are compared; a map, or
// a list of any other kind, is reported once however many of its items differ,
// and so is a member that lies too deep for a Path. Diff ends, and returns
// false, when report returns false.
func (t *Type) Diff(a, b any, report func(at Path, leaf bool) bool) bool {
	p, q := t.check(a), t.check(b)
	return p == q || t.diff(p, q, &Path{}, report)
}

// diff compares the members of two structs, which lie at the end of a path.
func (t *Type) diff(p, q unsafe.Pointer, at *Path, report func(Path, bool) bool) bool {
	deep := at.len == maxPath
	for _, f := range t.Fields {
		if f.Type.Kind == Struct && !f.Type.Atomic && !deep && !f.omitted(p) && !f.omitted(q) {
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
		if !f.equal(p, q) && !report(at.to(f), f.whole() && !deep && !f.omitted(p) && !f.omitted(q)) {
			return false
		}
	}
	return t.Rest == nil || t.diffRest(p, q, at, report)
}

// sameMemory reports whether two structs are the same down to the references in
// them. What a writer leaves alone mostly is.
func (t *Type) sameMemory(p, q unsafe.Pointer) bool {
	size := t.goType.Size()
	return bytes.Equal(unsafe.Slice((*byte)(p), size), unsafe.Slice((*byte)(q), size))
}

// whole reports whether the member has one owner.
func (f *Field) whole() bool {
	switch f.Type.Kind {
	case Struct:
		return f.Type.Atomic
	case List:
		return f.ListType == "atomic"
	case Map:
		return false
	}
	return true
}

// Unopened is a list in an outline that has one owner as a whole. It shares
// memory with the object.
type Unopened struct {
	typ *Type
	at  unsafe.Pointer
}

// Equal reports whether both lists mean the same on the wire.
func (u Unopened) Equal(o Unopened) bool { return u.typ == o.typ && u.typ.equal(u.at, o.at) }

// Open returns the list as ToUnstructured would.
func (u Unopened) Open() any { return u.typ.toTree(u.at) }

// Outline returns obj, a non-nil pointer to the compiled struct, as
// ToUnstructured does, but for lists with one owner that lie in it or in its
// structs: they become Unopened where they are not nil.
func (t *Type) Outline(obj any) map[string]any { return t.outline(t.check(obj)) }

func (t *Type) outline(p unsafe.Pointer) map[string]any {
	tree := make(map[string]any, len(t.Fields))
	for _, f := range t.Fields {
		if f.omitted(p) {
			continue
		}
		q := f.target(p)
		switch {
		case q == nil:
			tree[f.Name] = nil
		case f.Type.Kind == Struct:
			tree[f.Name] = f.Type.outline(q)
		case f.ListType == "atomic" && (*slice)(q).data != nil:
			tree[f.Name] = Unopened{f.Type, q}
		default:
			tree[f.Name] = f.Type.toTree(q)
		}
	}
	if t.Rest != nil {
		t.addRestTo(tree, p, false)
	}
	return tree
}

// ScalarKind is what a scalar looks like in a document.
type ScalarKind int

// The kinds of scalars.
const (
	AnyScalar ScalarKind = iota // times, which are strings, but are not checked to be
	String
	Numeric
	Boolean
)

// ScalarKind returns what a value of the type, a Scalar, looks like.
func (t *Type) ScalarKind() ScalarKind {
	switch t.shape {
	case shapeBool:
		return Boolean
	case shapeInt32, shapeInt64, shapeFloat64:
		return Numeric
	case shapeString, shapeBytes:
		return String
	}
	return AnyScalar
}
