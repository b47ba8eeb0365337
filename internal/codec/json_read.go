package codec

import (
	"bytes"
	"encoding"
	"encoding/json"
	"reflect"
	"slices"
	"unsafe"

	"github.com/kubecoord/kubecoord/store/meta"
)

// jsonReader reads JSON as clients write it, in one pass and without an error text. Its
// methods return false for everything else: unknown, duplicate or escaped member names,
// values of another type, invalid UTF-8 and all errors. The library then reads the
// document from its beginning, and its result stands. FuzzReadJSON compares the two.
type jsonReader struct {
	data  []byte
	at    int
	depth int
	// patching refuses null, FieldsV1 and custom types: a merge patch does more with these
	// than replace the value.
	patching bool
}

// maxReadDepth limits the nesting of documents that a jsonReader reads.
const maxReadDepth = 100

// readJSON reads a document into the zero struct at p. If it returns false, the struct is
// zero again. Nothing in the struct shares memory with data. like is nil or a struct that never
// changes; equal strings at the same place share its memory: a renewal then takes half the
// allocations.
func (t *Type) readJSON(data []byte, p, like unsafe.Pointer) bool {
	if !t.readable || !t.sameMemory(p, t.zero) {
		return false
	}
	r := jsonReader{data: data}
	if r.peek() == '{' && r.structValue(t, p, like) && r.atEnd() {
		return true
	}
	t.value(p).SetZero()
	return false
}

// atEnd reports whether nothing but spaces follows.
func (r *jsonReader) atEnd() bool { return r.peek() == 0 && r.at == len(r.data) }

// readableJSON reports whether a jsonReader can read values of the type.
func (t *Type) readableJSON() bool {
	return t.Rest == nil && len(t.Fields) <= 64 && t.goType != reflect.TypeFor[json.Number]()
}

// peek skips spaces and returns the next byte, or 0 at the end.
func (r *jsonReader) peek() byte {
	for ; r.at < len(r.data); r.at++ {
		switch c := r.data[r.at]; c {
		case ' ', '\t', '\r', '\n':
		default:
			return c
		}
	}
	return 0
}

// open skips the bracket that the reader is at. empty reports whether the value ends
// immediately; the closing bracket is then skipped too.
func (r *jsonReader) open(closing byte) (empty, ok bool) {
	r.at++
	if r.depth++; r.depth > maxReadDepth {
		return false, false
	}
	if r.peek() != closing {
		return false, true
	}
	r.at++
	r.depth--
	return true, true
}

// more skips a comma or the closing bracket, and reports whether another member or item
// follows.
func (r *jsonReader) more(closing byte) (more, ok bool) {
	switch r.peek() {
	case ',':
		r.at++
		return true, true
	case closing:
		r.at++
		r.depth--
		return false, true
	}
	return false, false
}

// word skips a literal such as null.
func (r *jsonReader) word(w string) bool {
	if len(r.data)-r.at < len(w) || string(r.data[r.at:r.at+len(w)]) != w {
		return false
	}
	r.at += len(w)
	return true
}

// value reads a value of type t into the zero value at p. like is nil or a value of that type.
func (r *jsonReader) value(t *Type, p, like unsafe.Pointer) bool {
	c := r.peek()
	switch {
	case r.patching && (c == 'n' || t.Custom || t.shape == shapeFieldsV1):
		return false
	case c == 'n' && !t.Custom: // null has no effect on a zero value
		return r.word("null")
	}
	switch t.shape {
	case shapeString:
		s, ok := r.text((*string)(like))
		*(*string)(p) = s
		return ok
	case shapeBool:
		*(*bool)(p) = c == 't'
		return c == 't' && r.word("true") || c == 'f' && r.word("false")
	case shapeInt32:
		n, ok := r.integer()
		*(*int32)(p) = int32(n)
		return ok && int64(int32(n)) == n
	case shapeInt64:
		n, ok := r.integer()
		*(*int64)(p) = n
		return ok
	case shapeFloat64:
		return r.float((*float64)(p))
	case shapeBytes:
		return r.bytes((*[]byte)(p))
	case shapeTime:
		return r.time(&(*meta.Time)(p).Time, false)
	case shapeMicroTime:
		return r.time(&(*meta.MicroTime)(p).Time, true)
	case shapeFieldsV1:
		return r.fieldsV1((*meta.FieldsV1)(p), (*meta.FieldsV1)(like))
	case shapeStruct:
		return c == '{' && r.structValue(t, p, like)
	case shapeList:
		return c == '[' && r.list(t, p, (*slice)(like))
	case shapeMap:
		return c == '{' && r.mapValue(t, p)
	}
	return r.custom(t, p)
}

func (r *jsonReader) structValue(t *Type, p, like unsafe.Pointer) bool {
	if empty, ok := r.open('}'); empty || !ok {
		return ok
	}
	var seen uint64
	for next := 0; ; {
		i := r.member(t, next)
		if i < 0 || seen&(1<<i) != 0 {
			return false
		}
		seen |= 1 << i
		next = i + 1
		f := t.Fields[i]
		to := f.at(p)
		if f.Pointer {
			if r.peek() == 'n' {
				if to = nil; r.patching || !r.word("null") {
					return false
				}
			} else {
				to = f.Type.allocate((*unsafe.Pointer)(to))
			}
		}
		if to != nil && !r.value(f.Type, to, f.in(like)) {
			return false
		}
		if more, ok := r.more('}'); !more {
			return ok
		}
	}
}

// in returns the address of the field's value in the struct at p, or nil if there is none.
func (f *Field) in(p unsafe.Pointer) unsafe.Pointer {
	if p == nil {
		return nil
	}
	return f.target(p)
}

// member skips the name of a member and the colon. It returns the index of the field, or
// -1 if there is no such field. It looks first at the fields from next on, because most
// clients write the members in the order of the fields.
func (r *jsonReader) member(t *Type, next int) int {
	if r.peek() != '"' {
		return -1
	}
	for i := next; i < len(t.Fields); i++ {
		if r.word(t.Fields[i].jsonKey) {
			return i
		}
	}
	name, form, ok := r.quoted()
	if !ok || form != 0 || r.peek() != ':' {
		return -1
	}
	r.at++
	f := t.Field(string(name))
	if f == nil {
		return -1
	}
	return f.index
}

// list reads an array.
func (r *jsonReader) list(t *Type, p unsafe.Pointer, like *slice) bool {
	empty, ok := r.open(']')
	if !ok {
		return false
	}
	list := t.value(p)
	if empty {
		list.Set(reflect.MakeSlice(t.goType, 0, 0))
		return true
	}
	s := (*slice)(p)
	start := r.at
	for n := 0; ; n++ {
		if n == s.cap {
			list.Grow(r.expected(n, r.at-start))
		}
		s.len = n + 1
		if !r.value(t.Elem, t.item(s, n), t.itemIn(like, n)) {
			return false
		}
		if more, ok := r.more(']'); !more {
			if ok && n+1 < s.cap*3/4 {
				exact := reflect.MakeSlice(t.goType, n+1, n+1)
				reflect.Copy(exact, list)
				list.Set(exact)
			}
			return ok
		}
	}
}

// itemIn returns the address of item i of a list, or nil if there is none.
func (t *Type) itemIn(s *slice, i int) unsafe.Pointer {
	if s == nil || i >= s.len {
		return nil
	}
	return t.item(s, i)
}

// expected estimates how many more items a list has, after n items that took size bytes of
// the document.
func (r *jsonReader) expected(n, size int) int {
	if n == 0 {
		return 1
	}
	rest := (len(r.data) - r.at) * n / max(size, n)
	return min(1+rest, 63*n)
}

// custom reads a value of a type with methods of its own.
func (r *jsonReader) custom(t *Type, p unsafe.Pointer) bool {
	to := t.value(p).Addr().Interface()
	if u, ok := to.(json.Unmarshaler); ok {
		raw, ok := r.raw()
		return ok && u.UnmarshalJSON(raw) == nil
	}
	u, isText := to.(encoding.TextUnmarshaler)
	if !isText || r.peek() != '"' {
		return false
	}
	text, form, ok := r.quoted()
	return ok && form == 0 && u.UnmarshalText(text) == nil
}

// fieldsV1 reads a value of any form and keeps its text.
func (r *jsonReader) fieldsV1(to, like *meta.FieldsV1) bool {
	raw, ok := r.raw()
	to.Raw = rawLike(raw, like)
	return ok
}

// rawLike returns a copy of b: the bytes of like, if these are equal.
func rawLike(b []byte, like *meta.FieldsV1) []byte {
	if like != nil && len(b) > 0 && bytes.Equal(like.Raw, b) {
		return slices.Clip(like.Raw)
	}
	return bytes.Clone(b)
}
