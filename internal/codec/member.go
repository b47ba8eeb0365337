package codec

import "unsafe"

// This file holds what a subresource needs: one member of an object taken apart
// from the others.

// Has reports whether objects can have a member with the given JSON name.
func (t *Type) Has(name string) bool { return t.byName[name] != nil || t.Rest != nil }

// CopyMember sets the member of dst with the given JSON name to a deep copy of
// that of src; it must be one that they can have. Both are non-nil pointers to the compiled struct; a nil src
// stands for an empty one.
func (t *Type) CopyMember(dst, src any, name string) {
	f, p := t.byName[name], t.check(dst)
	from := unsafe.Pointer(nil)
	if src != nil {
		from = t.check(src)
	}
	if f == nil {
		t.copyRestMember(p, from, name)
		return
	}
	f.assign(p, from)
	if from != nil {
		f.detach(p)
	}
}

// assign sets the field in the struct at p to that of the struct at q, or to its
// zero value where q is nil.
func (f *Field) assign(p, q unsafe.Pointer) {
	if f.Pointer {
		*(*unsafe.Pointer)(f.at(p)) = nil
		if q != nil {
			*(*unsafe.Pointer)(f.at(p)) = *(*unsafe.Pointer)(f.at(q))
		}
		return
	}
	to := f.Type.value(f.at(p))
	if q == nil {
		to.SetZero()
		return
	}
	to.Set(f.Type.value(f.at(q)))
}

// EqualBeside is Equal for all members but the one with the given JSON name.
func (t *Type) EqualBeside(a, b any, name string) bool {
	p, q := t.check(a), t.check(b)
	for _, f := range t.all {
		if f.Name != name && !f.equal(p, q) {
			return false
		}
	}
	return true
}
