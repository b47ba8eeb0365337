package codec

import (
	"bytes"
	"encoding"
	"encoding/json"
	"reflect"
	"slices"
	"strconv"
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
	// constant promises that the maps of the object never change. Then they are shared.
	constant bool
	texts    *textCache // nil: none
	maps     *mapCache  // nil until the first use
}

// maxReadDepth limits the nesting of documents that a jsonReader reads.
const maxReadDepth = 100

// readJSON reads a document into the zero struct at p. If it returns false, the struct is
// zero again. Nothing in the struct shares memory with data. like is nil or a struct that
// never changes; equal strings at the same place share its memory. constant promises that
// the maps of the struct never change; they may be those of other objects.
func (t *Type) readJSON(data []byte, p, like unsafe.Pointer, constant bool) bool {
	if !t.readable || !t.sameMemory(p, t.zero) {
		return false
	}
	r := t.reader(data)
	r.constant = constant
	ok := r.peek() == '{' && r.structValue(t, p, like) && r.atEnd()
	t.release(r)
	if !ok {
		t.value(p).SetZero()
	}
	return ok
}

// reader returns a reader of a document. It must be released.
func (t *Type) reader(data []byte) *jsonReader {
	r, _ := t.readers.Get().(*jsonReader)
	if r == nil {
		r = &jsonReader{texts: new(textCache)}
	}
	r.data, r.at, r.depth, r.patching, r.constant = data, 0, 0, false, false
	return r
}

func (t *Type) release(r *jsonReader) {
	r.data = nil
	t.readers.Put(r)
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

// value reads a value of type t into the zero value at p. like is nil or a value of that
// type.
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
		s, ok := r.textLike((*string)(like))
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
	var block unsafe.Pointer
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
				to = t.pointTo(i, (*unsafe.Pointer)(to), &block)
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

// pointees is the layout of a block of the values that the pointers of a struct point to.
type pointees struct {
	block   reflect.Type // nil if each value is allocated alone
	offsets []int        // of the value of each field; -1: not in the block
}

// pointTo makes the pointer of field i point to a zero value. The scalars that the
// pointers of one struct point to are in one block, as in a copyLayout.
func (t *Type) pointTo(i int, p, block *unsafe.Pointer) unsafe.Pointer {
	layout := t.pointees.Load()
	if layout == nil && t.pointed.Add(1) > firstCopies {
		layout = t.newPointees()
		t.pointees.Store(layout)
	}
	if layout == nil || layout.block == nil || layout.offsets[i] < 0 {
		return t.Fields[i].Type.allocate(p)
	}
	if *block == nil {
		*block = reflect.New(layout.block).UnsafePointer()
	}
	*p = unsafe.Add(*block, layout.offsets[i])
	return *p
}

// newPointees lays out the block of a struct for pointTo.
func (t *Type) newPointees() *pointees {
	layout := &pointees{offsets: make([]int, len(t.Fields))}
	var members []reflect.StructField
	for i, f := range t.Fields {
		if layout.offsets[i] = -1; f.Pointer && f.Type.shape != shapeStruct {
			layout.offsets[i] = len(members)
			members = append(members, reflect.StructField{Name: "P" + strconv.Itoa(i), Type: f.Type.goType})
		}
	}
	if len(members) < 2 || t.goType == reflect.TypeFor[meta.ObjectMeta]() { // its pointers are nearly always nil
		return layout
	}
	layout.block = reflect.StructOf(members)
	for i, member := range layout.offsets {
		if member >= 0 {
			layout.offsets[i] = int(layout.block.Field(member).Offset)
		}
	}
	return layout
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
			r.grow(list, like, r.at-start)
		}
		s.len = n + 1
		likeItem := unsafe.Pointer(nil)
		if like != nil && n < like.len {
			likeItem = t.item(like, n)
		}
		if !r.value(t.Elem, t.item(s, n), likeItem) {
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

// grow makes room in a list. size is how many bytes of the document its items took so far.
// grow expects as many items as like has. Without like it estimates how many items the rest
// of the document holds.
func (r *jsonReader) grow(list reflect.Value, like *slice, size int) {
	n := list.Len()
	switch {
	case like != nil && n < like.len:
		list.Grow(like.len - n)
	case n == 0:
		list.Grow(1)
	default:
		rest := (len(r.data) - r.at) * n / max(size, n)
		list.Grow(min(1+rest, 63*n))
	}
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
	if !ok {
		return false
	}
	if like != nil && bytes.Equal(like.Raw, raw) {
		to.Raw = slices.Clip(like.Raw)
	} else {
		to.Raw = append(make([]byte, 0, len(raw)), raw...)
	}
	return true
}
