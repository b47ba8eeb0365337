package codec

import (
	"bytes"
	"encoding"
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"math/bits"
	"reflect"
	"slices"
	"strconv"
	"time"
	"unicode/utf8"
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
	// patching refuses null, FieldsV1 and custom types, to which a merge patch does more
	// than replace them.
	patching bool
	texts    *textCache // nil: none
}

// maxReadDepth limits the nesting of documents that a jsonReader reads.
const maxReadDepth = 100

// readJSON reads a document into the zero struct at p. If it returns false, the struct is
// zero again. Nothing in the struct shares memory with data. like is nil or a struct that
// never changes; equal strings at the same place share its memory.
func (t *Type) readJSON(data []byte, p, like unsafe.Pointer) bool {
	if !t.readable || !t.sameMemory(p, t.zero) {
		return false
	}
	r := t.reader(data)
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
	r.data, r.at, r.depth, r.patching = data, 0, 0, false
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
	f := t.byName[string(name)]
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

// grow makes room in a list, whose items took size bytes of the document so far. It
// expects as many items as in like, or as many as the rest of the document may hold.
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

// mapValue reads an object into a map.
func (r *jsonReader) mapValue(t *Type, p unsafe.Pointer) bool {
	empty, ok := r.open('}')
	if !ok {
		return false
	}
	if !t.stringMap {
		return r.otherMap(t, p, empty)
	}
	m := map[string]string{}
	*(*map[string]string)(p) = m
	for n := 1; !empty; n++ {
		key, ok := r.key()
		if !ok {
			return false
		}
		if r.peek() == 'n' { // null is the zero value
			if r.patching || !r.word("null") {
				return false
			}
			m[key] = ""
		} else if m[key], ok = r.text(); !ok {
			return false
		}
		if len(m) != n {
			return false
		}
		if more, ok := r.more('}'); !more {
			return ok
		}
	}
	return true
}

func (r *jsonReader) otherMap(t *Type, p unsafe.Pointer, empty bool) bool {
	m := reflect.MakeMap(t.goType)
	t.value(p).Set(m)
	for n := 1; !empty; n++ {
		key, ok := r.key()
		if !ok {
			return false
		}
		value := reflect.New(t.Elem.goType)
		if !r.value(t.Elem, value.UnsafePointer(), nil) {
			return false
		}
		if m.SetMapIndex(reflect.ValueOf(key).Convert(t.goType.Key()), value.Elem()); m.Len() != n {
			return false
		}
		if more, ok := r.more('}'); !more {
			return ok
		}
	}
	return true
}

// key reads the name of a member of a map, and the colon.
func (r *jsonReader) key() (string, bool) {
	r.peek()
	key, ok := r.text()
	if !ok || r.peek() != ':' {
		return "", false
	}
	r.at++
	return key, true
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

// quoted skips a string and returns the text between its quotes, which may have escapes. If
// it is not ASCII, it may be invalid UTF-8.
func (r *jsonReader) quoted() (text []byte, form textForm, ok bool) {
	if r.at == len(r.data) || r.data[r.at] != '"' {
		return nil, 0, false
	}
	start := r.at + 1
	for i := start; ; {
		i += plainLen(r.data[i:])
		if i == len(r.data) {
			return nil, 0, false
		}
		switch c := r.data[i]; {
		case c == '"':
			r.at = i + 1
			return r.data[start:i], form, true
		case c == '\\':
			n := escapeLen(r.data[i:])
			if n == 0 {
				return nil, 0, false
			}
			form |= escaped
			i += n
		case c < ' ':
			return nil, 0, false
		default:
			form |= notASCII
			i++
		}
	}
}

// textForm is what the text of a string needs.
type textForm uint8

const (
	escaped textForm = 1 << iota
	notASCII
)

// plainLen returns the number of bytes at the start of b that a string holds as they are:
// ASCII without quotes, backslashes and control characters. It tests eight bytes at a
// time; the first byte that it finds is exact, as borrows only reach later ones.
func plainLen(b []byte) int {
	const ones, high = 0x0101010101010101, 0x8080808080808080
	i := 0
	for ; i+8 <= len(b); i += 8 {
		x := binary.LittleEndian.Uint64(b[i:])
		quote, backslash := x^'"'*ones, x^'\\'*ones
		if found := (x | (quote-ones)&^quote | (backslash-ones)&^backslash | (x-' '*ones)&^x) & high; found != 0 {
			return i + bits.TrailingZeros64(found)/8
		}
	}
	for ; i < len(b); i++ {
		if c := b[i]; c < ' ' || c >= utf8.RuneSelf || c == '"' || c == '\\' {
			break
		}
	}
	return i
}

// escapeLen returns the length of the escape at the start of b, or 0 if it is not valid.
func escapeLen(b []byte) int {
	if len(b) < 2 {
		return 0
	}
	switch b[1] {
	case '"', '\\', '/', 'b', 'f', 'n', 'r', 't':
		return 2
	case 'u':
		if _, ok := hexRune(b); ok {
			return 6
		}
	}
	return 0
}

// hexRune returns the character of an escape of the form \u1234.
func hexRune(b []byte) (rune, bool) {
	if len(b) < 6 {
		return 0, false
	}
	var out rune
	for _, c := range b[2:6] {
		switch {
		case c >= '0' && c <= '9':
			c -= '0'
		case c >= 'a' && c <= 'f':
			c -= 'a' - 10
		case c >= 'A' && c <= 'F':
			c -= 'A' - 10
		default:
			return 0, false
		}
		out = out<<4 | rune(c)
	}
	return out, true
}

// text reads a string.
func (r *jsonReader) text() (string, bool) { return r.textLike(nil) }

// textLike reads a string. If like is equal, it returns like, which needs no memory.
func (r *jsonReader) textLike(like *string) (string, bool) {
	text, form, ok := r.quoted()
	switch {
	case !ok || form&notASCII != 0 && !utf8.Valid(text):
		return "", false
	case form&escaped != 0:
		return unescape(text)
	case like != nil && *like == string(text):
		return *like, true
	}
	return r.texts.get(text), true
}

// unescape replaces the escapes of a string, which are valid. It returns false for
// surrogates.
func unescape(text []byte) (string, bool) {
	out := make([]byte, 0, len(text))
	for i := 0; i < len(text); i++ {
		if text[i] != '\\' {
			out = append(out, text[i])
			continue
		}
		switch i++; text[i] {
		case 'b':
			out = append(out, '\b')
		case 'f':
			out = append(out, '\f')
		case 'n':
			out = append(out, '\n')
		case 'r':
			out = append(out, '\r')
		case 't':
			out = append(out, '\t')
		case 'u':
			c, _ := hexRune(text[i-1:])
			if !utf8.ValidRune(c) {
				return "", false
			}
			out = utf8.AppendRune(out, c)
			i += 4
		default:
			out = append(out, text[i])
		}
	}
	return string(out), true
}

// integer reads a number without a fraction or an exponent, of at most 18 digits.
func (r *jsonReader) integer() (int64, bool) {
	token, ok := r.number()
	if !ok || len(token) > 18 {
		return 0, false
	}
	digits := token
	if token[0] == '-' {
		digits = token[1:]
	}
	var n int64
	for _, c := range digits {
		if c < '0' || c > '9' {
			return 0, false
		}
		n = n*10 + int64(c-'0')
	}
	if token[0] == '-' {
		n = -n
	}
	return n, true
}

func (r *jsonReader) float(to *float64) bool {
	token, ok := r.number()
	if !ok {
		return false
	}
	f, err := strconv.ParseFloat(string(token), 64)
	*to = f
	return err == nil
}

// number skips a number and returns it.
func (r *jsonReader) number() ([]byte, bool) {
	start := r.at
	r.skip('-')
	if !r.skip('0') && r.digits() == 0 {
		return nil, false
	}
	if r.skip('.') && r.digits() == 0 {
		return nil, false
	}
	if r.skip('e') || r.skip('E') {
		if !r.skip('+') {
			r.skip('-')
		}
		if r.digits() == 0 {
			return nil, false
		}
	}
	return r.data[start:r.at], true
}

// skip skips a byte if it is c.
func (r *jsonReader) skip(c byte) bool {
	if r.at == len(r.data) || r.data[r.at] != c {
		return false
	}
	r.at++
	return true
}

// digits skips digits and returns their number.
func (r *jsonReader) digits() int {
	start := r.at
	for r.at < len(r.data) && r.data[r.at] >= '0' && r.data[r.at] <= '9' {
		r.at++
	}
	return r.at - start
}

func (r *jsonReader) bytes(to *[]byte) bool {
	text, form, ok := r.quoted()
	if !ok || form != 0 {
		return false
	}
	out := make([]byte, base64.StdEncoding.DecodedLen(len(text)))
	n, err := base64.StdEncoding.Decode(out, text)
	*to = out[:n]
	return err == nil
}

// time reads a time in UTC, such as "2006-01-02T15:04:05Z", with six digits of fraction
// if micros is set and else without a fraction.
func (r *jsonReader) time(to *time.Time, micros bool) bool {
	const seconds, fraction = "2006-01-02T15:04:05", ".000000"
	text, form, ok := r.quoted()
	size := len(seconds) + 1
	if micros {
		size += len(fraction)
	}
	if !ok || form != 0 || len(text) != size || text[size-1] != 'Z' ||
		text[4] != '-' || text[7] != '-' || text[10] != 'T' || text[13] != ':' || text[16] != ':' {
		return false
	}
	year, month, day := number(text[:4]), number(text[5:7]), number(text[8:10])
	hour, minute, second, micro := number(text[11:13]), number(text[14:16]), number(text[17:19]), 0
	if micros {
		if text[19] != '.' {
			return false
		}
		micro = number(text[20:26])
	}
	if year < 0 || month < 1 || month > 12 || day < 1 || hour < 0 || hour > 23 || minute < 0 || minute > 59 || second < 0 || second > 59 || micro < 0 {
		return false
	}
	*to = time.Date(year, time.Month(month), day, hour, minute, second, micro*1000, time.UTC)
	return to.Day() == day // else the month has no such day
}

// number returns the value of decimal digits, or -1 for other text.
func number(text []byte) int {
	n := 0
	for _, c := range text {
		if c < '0' || c > '9' {
			return -1
		}
		n = n*10 + int(c-'0')
	}
	return n
}

// raw skips a value of any form and returns its text.
func (r *jsonReader) raw() ([]byte, bool) {
	r.peek()
	start := r.at
	ok := r.anything()
	return r.data[start:r.at], ok
}

// anything skips a value. Its text is valid JSON.
func (r *jsonReader) anything() bool {
	switch r.peek() {
	case '"':
		_, _, ok := r.quoted()
		return ok
	case '{':
		empty, ok := r.open('}')
		for more := !empty; ok && more; {
			r.peek()
			if _, _, ok = r.quoted(); !ok || r.peek() != ':' {
				return false
			}
			r.at++
			if !r.anything() {
				return false
			}
			more, ok = r.more('}')
		}
		return ok
	case '[':
		empty, ok := r.open(']')
		for more := !empty; ok && more; {
			if !r.anything() {
				return false
			}
			more, ok = r.more(']')
		}
		return ok
	case 'n':
		return r.word("null")
	case 't':
		return r.word("true")
	case 'f':
		return r.word("false")
	}
	_, ok := r.number()
	return ok
}

// textCache holds strings that occurred before. The bodies of a client repeat most of
// their strings, so most strings need no new memory.
type textCache [256]string

// maxCachedText is the length up to which strings are cached.
const maxCachedText = 64

// get returns b as a string.
func (c *textCache) get(b []byte) string {
	if c == nil || len(b) < 2 || len(b) > maxCachedText {
		return string(b)
	}
	slot := &c[hashText(b)%uint64(len(c))]
	if *slot != string(b) {
		*slot = string(b)
	}
	return *slot
}

// hashText returns a hash of the first and the last eight bytes.
func hashText(b []byte) uint64 {
	var first, last uint64
	if len(b) >= 8 {
		first, last = binary.LittleEndian.Uint64(b), binary.LittleEndian.Uint64(b[len(b)-8:])
	} else {
		for _, x := range b {
			first = first<<8 | uint64(x)
		}
	}
	return ((first*31+last)*31 + uint64(len(b))) * 0x9e3779b97f4a7c15 >> 40
}
