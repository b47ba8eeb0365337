package codec

import (
	"bytes"
	"encoding"
	"encoding/json"
	"reflect"
	"slices"
	"time"
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
	// merging reads a JSON merge patch into an object that is not zero. Null deletes a
	// member. The reader refuses null items, FieldsV1 and custom types, for which a merge
	// patch does more than replace the value.
	merging bool
	shares  bool      // see Like
	likely  [2]string // kind and apiVersion
}

// maxReadDepth limits the nesting of documents that a jsonReader reads.
const maxReadDepth = 100

// readJSON reads a document into the zero struct at p, which shares no memory with data. If it
// returns false, the struct is zero again.
func (t *Type) readJSON(data []byte, p unsafe.Pointer, like Like) bool {
	if !t.readable || !t.sameMemory(p, t.zero) {
		return false
	}
	r := jsonReader{data: data, shares: like.Shares, likely: [2]string{like.Type.Kind, like.Type.APIVersion}}
	if r.document(t, p, t.address(like.Object)) {
		return true
	}
	t.value(p).SetZero()
	return false
}

// MergeJSON applies a JSON merge patch (RFC 7386) to obj, which was decoded from JSON, with the
// result of merging and decoding documents. It replaces, and does not change, the values that obj
// refers to. If it returns false, the patch has something unusual: the caller must discard obj,
// which may be half merged, and merge documents.
func (t *Type) MergeJSON(patch []byte, obj any) bool {
	p := t.check(obj)
	r := jsonReader{data: patch, merging: true}
	return t.readable && r.document(t, p, nil)
}

// document reads an object with nothing but spaces around it.
func (r *jsonReader) document(t *Type, p, like unsafe.Pointer) bool {
	return r.peek() == '{' && r.structValue(t, p, like) && r.atEnd()
}

// value reads a value of type t into the value at p, which is zero, or a struct or map to
// merge with. like is nil or a value of that type.
func (r *jsonReader) value(t *Type, p, like unsafe.Pointer) bool {
	c := r.peek()
	switch {
	case r.merging && (c == 'n' || t.Custom || t.shape == shapeFieldsV1):
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
	case shapeInt32, shapeInt64:
		n, ok := r.integer()
		t.setInteger(p, n)
		return ok && t.integer(p) == n
	case shapeFloat64:
		f, ok := r.float()
		*(*float64)(p) = f
		return ok
	case shapeBytes:
		b, ok := r.bytes()
		*(*[]byte)(p) = b
		return ok
	case shapeTime, shapeMicroTime:
		return r.time((*time.Time)(p), t.timeSize())
	case shapeFieldsV1:
		raw, ok := r.raw()
		(*meta.FieldsV1)(p).Raw = rawLike(raw, (*meta.FieldsV1)(like))
		return ok
	case shapeStruct:
		return c == '{' && r.structValue(t, p, like)
	case shapeList:
		if r.same(t, like) {
			*(*slice)(p) = *(*slice)(like)
			(*slice)(p).cap = (*slice)(p).len // an append must not write to the array
			return true
		}
		return c == '[' && r.list(t, p, (*slice)(like))
	case shapeMap:
		if r.same(t, like) {
			*(*unsafe.Pointer)(p) = *(*unsafe.Pointer)(like)
			return true
		}
		return c == '{' && r.mapValue(t, p)
	}
	return r.custom(t, p)
}

// timeSize returns the size of the text of a time in UTC.
func (t *Type) timeSize() int {
	if t.shape == shapeTime {
		return len("2006-01-02T15:04:05Z")
	}
	return len("2006-01-02T15:04:05.000000Z")
}

// time reads a time in UTC with a text of size bytes.
func (r *jsonReader) time(to *time.Time, size int) bool {
	text, form, ok := r.quoted()
	return ok && form == 0 && len(text) == size && text[13] == ':' && text[size-1] == 'Z' && // UnmarshalText takes an hour of one digit
		to.UnmarshalText(text) == nil
}

// timeLike reads a time of type t, and sets to to its address: like, if that time is equal and the reader shares values.
func (r *jsonReader) timeLike(t *Type, to *unsafe.Pointer, like *time.Time) bool {
	var at time.Time
	if !r.time(&at, t.timeSize()) {
		return false
	}
	if like == nil || !r.shares || at != *like {
		like = new(time.Time)
		*like = at
	}
	*to = unsafe.Pointer(like)
	return true
}

// rawLike returns a copy of b: the bytes of like, if these are equal.
func rawLike(b []byte, like *meta.FieldsV1) []byte {
	if like != nil && len(b) > 0 && bytes.Equal(like.Raw, b) {
		return slices.Clip(like.Raw)
	}
	return bytes.Clone(b)
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
		if !r.field(t.Fields[i], p, like) {
			return false
		}
		if more, ok := r.more('}'); !more {
			return ok
		}
	}
}

// member skips the name of a member and the colon, and returns the index of the field, or -1.
// It looks first at the fields from next on, as most clients write the members in that order.
func (r *jsonReader) member(t *Type, next int) int {
	if r.peek() != '"' || r.at+1 == len(r.data) {
		return -1
	}
	first := r.data[r.at+1]
	for i := next; i < len(t.Fields); i++ {
		if key := t.Fields[i].jsonKey; key[1] == first && r.word(key) {
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

// field reads the value of a member of the struct at p. like is nil or a struct of that type.
func (r *jsonReader) field(f *Field, p, like unsafe.Pointer) bool {
	p = f.at(p)
	isNull := r.peek() == 'n' && (f.Pointer || r.merging)
	if isNull || r.merging && f.Type.shape != shapeStruct && f.Type.shape != shapeMap {
		f.setZero(p)
	}
	if isNull {
		return r.word("null")
	}
	from := f.in(like)
	if f.Pointer {
		q := (*unsafe.Pointer)(p)
		if f.Type.isTime() {
			return r.timeLike(f.Type, q, (*time.Time)(from))
		}
		if r.same(f.Type, from) {
			*q = from
			return true
		}
		old := *q
		p = f.Type.allocate(q)
		if old != nil {
			f.Type.assign(p, old) // a struct to merge with
		}
	}
	return r.value(f.Type, p, from)
}

// in returns the address of the field's value in the struct at p, or nil if there is none.
func (f *Field) in(p unsafe.Pointer) unsafe.Pointer {
	if p == nil {
		return nil
	}
	return f.target(p)
}

// setZero sets the field at p to its zero value.
func (f *Field) setZero(p unsafe.Pointer) {
	if f.Pointer {
		*(*unsafe.Pointer)(p) = nil
		return
	}
	f.Type.value(p).SetZero()
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

// mapValue reads an object into a new map. If the reader merges, the map keeps the members of
// the old map that the object does not have.
func (r *jsonReader) mapValue(t *Type, p unsafe.Pointer) bool {
	if r.merging && !t.stringMap {
		return false
	}
	old, nulls := *(*map[string]string)(p), []string(nil)
	t.makeMap(p)
	empty, ok := r.open('}')
	for n, more := 1, !empty; ok && more; n++ {
		var key string
		if key, ok = r.key(); !ok {
			return false
		}
		if r.merging && r.peek() == 'n' {
			nulls = append(nulls, key)
		}
		if !r.entry(t, p, key) || t.length(p) != n {
			return false
		}
		more, ok = r.more('}')
	}
	if r.merging {
		m := *(*map[string]string)(p)
		for key, value := range old {
			if _, replaced := m[key]; !replaced {
				m[key] = value
			}
		}
		for _, key := range nulls {
			delete(m, key)
		}
	}
	return ok
}

// entry reads the value of a key into the map at p. Null is the zero value.
func (r *jsonReader) entry(t *Type, p unsafe.Pointer, key string) (ok bool) {
	if !t.stringMap {
		value := reflect.New(t.goType.Elem())
		ok = r.value(t.Elem, value.UnsafePointer(), nil)
		t.put(p, key, value.Elem())
		return ok
	}
	m := *(*map[string]string)(p)
	if r.peek() == 'n' {
		m[key] = ""
		return r.word("null")
	}
	m[key], ok = r.text(nil)
	return ok
}

// key reads the name of a member of a map, and the colon.
func (r *jsonReader) key() (string, bool) {
	r.peek()
	key, ok := r.text(nil)
	r.peek()
	return key, ok && r.skip(':')
}

// custom reads a value of a type with methods of its own.
func (r *jsonReader) custom(t *Type, p unsafe.Pointer) bool {
	to := t.value(p).Addr().Interface()
	if u, ok := to.(json.Unmarshaler); ok {
		raw, ok := r.raw()
		return ok && u.UnmarshalJSON(raw) == nil
	}
	u, isText := to.(encoding.TextUnmarshaler)
	text, form, ok := r.quoted()
	return isText && ok && form == 0 && u.UnmarshalText(text) == nil
}
