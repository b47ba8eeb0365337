package codec

import (
	"bytes"
	"time"
	"unsafe"

	"github.com/kubecoord/kubecoord/store/meta"
)

// Most values of a write are the values of the state before it. A reader that shares them compares the text with that state, and
// takes memory only for what differs: a renewal reads its managedFields and labels without any.

// same skips a value of type t that is equal to the one at like. Otherwise it returns false, and the reader has not moved. like may
// be nil.
func (r *jsonReader) same(t *Type, like unsafe.Pointer) bool {
	if like == nil || !r.shares {
		return false
	}
	at, depth := r.at, r.depth
	if r.equals(t, like) {
		return true
	}
	r.at, r.depth = at, depth
	return false
}

// equals reports whether a value is equal to the one at p. It returns false for values that a write seldom has, such as null.
func (r *jsonReader) equals(t *Type, p unsafe.Pointer) bool {
	c := r.peek()
	switch {
	case t.shape == shapeString:
		text, form, ok := r.quoted()
		return ok && form == 0 && string(text) == *(*string)(p)
	case t.shape == shapeBool:
		return *(*bool)(p) && r.word("true") || !*(*bool)(p) && r.word("false")
	case t.shape == shapeInt32, t.shape == shapeInt64:
		n, ok := r.integer()
		return ok && n == t.integer(p)
	case t.isTime():
		var at time.Time
		return r.time(&at, t.timeSize()) && at == *(*time.Time)(p)
	case t.shape == shapeFieldsV1 && c != 'n':
		raw, ok := r.raw()
		return ok && bytes.Equal(raw, (*meta.FieldsV1)(p).Raw)
	case t.shape == shapeStruct && c == '{':
		return r.equalsStruct(t, p)
	case t.shape == shapeList && c == '[':
		return r.equalsList(t, (*slice)(p))
	case t.stringMap && c == '{':
		return r.equalsMap(*(*map[string]string)(p))
	}
	return false
}

func (r *jsonReader) equalsStruct(t *Type, p unsafe.Pointer) bool {
	if empty, ok := r.open('}'); empty || !ok {
		return false
	}
	var seen uint64
	for next, more := 0, true; more; {
		i := r.member(t, next)
		if i < 0 || seen&(1<<i) != 0 {
			return false
		}
		seen |= 1 << i
		next = i + 1
		f, ok := t.Fields[i], true
		if at := f.target(p); at == nil || !r.equals(f.Type, at) {
			return false
		}
		if more, ok = r.more('}'); !ok {
			return false
		}
	}
	for i, f := range t.Fields {
		if seen&(1<<i) == 0 && !f.isZero(p) {
			return false
		}
	}
	return true
}

// isZero reports whether the field of the struct at p has its zero value.
func (f *Field) isZero(p unsafe.Pointer) bool {
	if f.Pointer {
		return f.target(p) == nil
	}
	return f.Type.value(f.at(p)).IsZero()
}

func (r *jsonReader) equalsList(t *Type, list *slice) bool {
	if empty, ok := r.open(']'); empty || !ok {
		return false
	}
	for i, more, ok := 0, true, true; more; i++ {
		if i == list.len || !r.equals(t.Elem, t.item(list, i)) {
			return false
		}
		if more, ok = r.more(']'); !ok || !more && i+1 < list.len {
			return false
		}
	}
	return true
}

// equalsMap wants the keys in order, as encoders write them. So it needs not look for duplicates.
func (r *jsonReader) equalsMap(m map[string]string) bool {
	if empty, ok := r.open('}'); empty || !ok {
		return false
	}
	var last []byte
	for n, more := 1, true; more; n++ {
		r.peek()
		key, form, ok := r.quoted()
		if !ok || form != 0 || n > 1 && bytes.Compare(last, key) >= 0 || r.peek() != ':' {
			return false
		}
		last = key
		r.at++
		r.peek()
		want, found := m[string(key)]
		text, form, ok := r.quoted()
		if !found || !ok || form != 0 || string(text) != want {
			return false
		}
		if more, ok = r.more('}'); !ok || !more && n < len(m) {
			return false
		}
	}
	return true
}
