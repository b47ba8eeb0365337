package codec

import (
	"bytes"
	"maps"
	"reflect"
	"time"
	"unsafe"

	"github.com/kubecoord/kubecoord/store/meta"
)

// Copy returns a deep copy of obj, a non-nil pointer to the compiled struct. The copy is normalised as by encoding and decoding: times are
// in UTC and cut to the precision of their type, and empty slices and maps with omitempty are nil, but for objects of a Library, whose
// library distinguishes them. A pointer to a zero time stays, although its JSON is null.
func (t *Type) Copy(obj any) any { return t.CopyOnto(obj, nil) }

// CopyOnto is like Copy, but the copy shares the labels, annotations, owner references,
// finalizers and managedFields of base where they are equal. It is for objects that never
// change.
func (t *Type) CopyOnto(obj any, base *meta.ObjectMeta) any {
	return t.object(reflect.NewAt(t.goType, t.copy(t.check(obj), base)))
}

// CopyStruct returns a copy of the struct alone. All that the struct refers to is shared, so it
// must never change.
func (t *Type) CopyStruct(obj any) any {
	to := reflect.New(t.goType)
	t.assign(to.UnsafePointer(), t.check(obj))
	return t.object(to)
}

// detach makes a deep copy of the value at p, which was assigned from another value: it replaces
// each reference to memory that can change.
func (t *Type) detach(p unsafe.Pointer) {
	switch t.shape {
	case shapeTime, shapeMicroTime:
		*(*time.Time)(p) = time.Unix(t.time(p)).UTC()
	case shapeCustom:
		if t.custom != nil && t.custom.detach != nil {
			t.custom.detach(p)
		}
	case shapeBytes, shapeCustomBytes, shapeFieldsV1: // all in the memory of a []byte
		b := (*[]byte)(p)
		*b = bytes.Clone(*b)
	case shapeStruct:
		for _, f := range t.deep {
			f.detach(p)
		}
	case shapeList:
		t.detachList(p)
	case shapeMap:
		if t.stringMap {
			m := (*map[string]string)(p)
			*m = maps.Clone(*m)
		} else if !t.isNil(p) {
			t.detachOtherMap(t.value(p))
		}
	case shapeTree:
		m := (*map[string]any)(p)
		*m = copyObject(*m)
	}
}

// assign sets the value at p to the value at q.
func (t *Type) assign(p, q unsafe.Pointer) {
	switch t.shape { // frequent types without reflection
	case shapeString:
		*(*string)(p) = *(*string)(q)
	case shapeBool, shapeInt32, shapeInt64:
		t.setInteger(p, t.integer(q))
	case shapeTime, shapeMicroTime:
		*(*time.Time)(p) = *(*time.Time)(q)
	default:
		t.value(p).Set(t.value(q))
	}
}

// detach detaches the field of the struct at p.
func (f *Field) detach(p unsafe.Pointer) {
	p = f.at(p)
	if f.Pointer {
		if q := (*unsafe.Pointer)(p); *q != nil {
			old := *q
			p = f.Type.allocate(q)
			f.Type.assign(p, old)
			f.Type.detach(p)
		}
		return
	}
	if f.OmitEmpty && !f.keepsEmpty && f.Type.nilable() && f.Type.length(p) == 0 {
		if !f.Type.isNil(p) {
			f.setZero(p)
		}
		return
	}
	f.Type.detach(p)
}

func (t *Type) detachList(p unsafe.Pointer) {
	s := (*slice)(p)
	if s.len == 0 {
		s.cap = 0 // stays nil or empty; an append must not write to the old array
		return
	}
	if s.len == 1 && t.Elem.shape == shapeStruct {
		*s = slice{data: t.Elem.copy(s.data, nil), len: 1, cap: 1}
		return
	}
	list := t.value(p)
	old := list.Slice(0, s.len) // keeps the old array until it is copied
	*s = slice{}
	list.Grow(old.Len())
	list.SetLen(old.Len())
	reflect.Copy(list, old)
	if t.Elem.flat {
		return
	}
	for i := range s.len {
		t.Elem.detach(t.item(s, i))
	}
}

func (t *Type) detachOtherMap(old reflect.Value) {
	m := reflect.MakeMapWithSize(t.goType, old.Len())
	for key, value := range old.Seq2() {
		v := t.copyMapValue(value)
		t.Elem.detach(v)
		m.SetMapIndex(key, reflect.NewAt(t.goType.Elem(), v).Elem())
	}
	old.Set(m)
}

// Has reports whether objects can have a member with the given JSON name.
func (t *Type) Has(name string) bool { return t.Field(name) != nil || t.Rest != nil }

// CopyMember sets a member of dst, which the type must have, to a deep copy of the member of src.
// Both are non-nil pointers to the compiled struct; a nil src is an empty object.
func (t *Type) CopyMember(dst, src any, name string) {
	f, p, from := t.Field(name), t.check(dst), t.address(src)
	switch {
	case f == nil:
		t.copyRestMember(p, from, name)
	case from == nil:
		f.setZero(f.at(p))
	case f.Pointer:
		*(*unsafe.Pointer)(f.at(p)) = *(*unsafe.Pointer)(f.at(from))
		f.detach(p)
	default:
		f.Type.assign(f.at(p), f.at(from))
		f.detach(p)
	}
}

// EqualBeside is like Equal, but ignores the member with the given JSON name.
func (t *Type) EqualBeside(a, b any, name string) bool {
	p, q := t.check(a), t.check(b)
	for _, f := range t.all {
		if f.Name != name && !f.equal(p, q) {
			return false
		}
	}
	return true
}

// EqualMember reports whether a member, which the type must have as a field, has the same meaning on the wire in both objects.
func (t *Type) EqualMember(a, b any, name string) bool {
	return t.Field(name).equal(t.check(a), t.check(b))
}
