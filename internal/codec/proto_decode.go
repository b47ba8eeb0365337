package codec

import (
	"encoding/binary"
	"errors"
	"io"
	"math"
	"reflect"
	"time"
	"unsafe"

	"github.com/kubecoord/kubecoord/store/meta"
)

// maxProtoDepth bounds the nesting of messages, as in the protobuf library.
const maxProtoDepth = 10_000

// DecodeProto reads a protobuf message without an envelope into obj, a pointer to the compiled
// struct. It appends items to lists, merges messages, ignores unknown fields, and accepts strings
// that are not UTF-8. obj shares no memory with data. Error texts come from the API server's
// generated code.
func (t *Type) DecodeProto(data []byte, obj any) error { return t.DecodeProtoLike(data, obj, nil) }

// DecodeProtoLike is DecodeProto. like is nil or an object that never changes; strings and
// FieldsV1 of obj that are equal in like may share its memory.
func (t *Type) DecodeProtoLike(data []byte, obj, like any) error {
	if t.boxed != nil {
		return obj.(*Box).message().Unmarshal(data)
	}
	return t.readMessage(t.check(obj), t.address(like), data, 0)
}

// readMessage reads the fields of a message into the struct at p. like is nil or a struct that
// never changes.
func (t *Type) readMessage(p, like unsafe.Pointer, data []byte, depth int) error {
	if depth > maxProtoDepth {
		return errors.New("proto: exceeded maximum recursion depth")
	}
	r := newProtoReader(t.Name, data)
	for r.next() {
		if f := t.fieldByNumber(int(r.number)); f != nil {
			f.readMember(r, f.at(p), f.in(like), depth)
		} else {
			r.skip()
		}
	}
	return r.err
}

func (t *Type) fieldByNumber(number int) *Field {
	for _, f := range t.numbered {
		if f.Number == number {
			return f
		}
	}
	return nil
}

// readMember reads the current field of the message into the member at to.
func (f *Field) readMember(r *protoReader, to, like unsafe.Pointer, depth int) {
	value := f.Type
	switch {
	case value.shape == shapeMap:
		f.readEntry(r, to, depth)
		return
	case value.shape == shapeList && value.wireType() != wireBytes && r.wireType == wireBytes:
		f.readPacked(r, to)
		return
	case !r.expect(value.wireType(), f.goName):
		return
	}
	if value.shape == shapeList {
		like = value.itemIn((*slice)(like), (*slice)(to).len)
		to, value = value.grow(to), value.Elem
	}
	if f.Pointer {
		q := (*unsafe.Pointer)(to)
		to = *q
		if to == nil || value.Kind == Scalar { // other objects may share the old scalar
			to = value.allocate(q)
		}
	}
	value.readValue(r, to, like, depth)
}

// readPacked reads a list of numbers that was written as one field. The API server
// reads this form, but never writes it.
func (f *Field) readPacked(r *protoReader, p unsafe.Pointer) {
	packed := newProtoReader("", r.bytes())
	for len(packed.rest) > 0 {
		f.Type.Elem.readValue(packed, f.Type.grow(p), nil, 0)
	}
	r.fail(packed.err)
}

// grow adds a zero item to the list at p and returns its address.
func (t *Type) grow(p unsafe.Pointer) unsafe.Pointer {
	list := t.value(p)
	n := list.Len()
	list.Grow(1)
	list.SetLen(n + 1)
	item := list.Index(n)
	item.SetZero()
	return item.Addr().UnsafePointer()
}

// maxOverrun limits how many bytes the map entries of a message may read beyond
// their ends, as a multiple of the size of the message.
const maxOverrun = 16

// readEntry reads one map entry. As in the API server, it checks no wire types in it, and a key
// or value may reach beyond the end of the entry, where the next field still starts. Without
// maxOverrun, entries that each read the rest of the message would take quadratic memory.
func (f *Field) readEntry(r *protoReader, p unsafe.Pointer, depth int) {
	if !r.expect(wireBytes, f.goName) {
		return
	}
	size := r.length()
	after := r.rest[size:]
	var key string
	value := reflect.New(f.Type.Elem.goType)
	for len(r.rest) > len(after) {
		switch r.tag(); r.number {
		case 1:
			key = string(r.bytes())
		case 2:
			value.Elem().SetZero()
			f.Type.Elem.readValue(r, value.UnsafePointer(), nil, depth)
		default:
			if r.skip(); len(r.rest) < len(after) {
				r.fail(io.ErrUnexpectedEOF)
			}
		}
	}
	if r.overrun += len(after) - len(r.rest); r.overrun > maxOverrun*r.size {
		r.fail(io.ErrUnexpectedEOF)
	}
	if r.err == nil {
		r.rest = after
		f.Type.put(p, key, value.Elem())
	}
}

// put sets a key of the map at p, and makes the map if it is nil.
func (t *Type) put(p unsafe.Pointer, key string, value reflect.Value) {
	if *(*unsafe.Pointer)(p) == nil {
		t.makeMap(p)
	}
	if t.stringMap {
		(*(*map[string]string)(p))[key] = value.String()
		return
	}
	t.value(p).SetMapIndex(reflect.ValueOf(key).Convert(t.goType.Key()), value)
}

// makeMap sets the map at p to a new one.
func (t *Type) makeMap(p unsafe.Pointer) {
	if t.stringMap {
		*(*map[string]string)(p) = map[string]string{}
		return
	}
	t.value(p).Set(reflect.MakeMap(t.goType))
}

// readValue reads the value of a field with the wire type of t. like is nil or a value of t.
func (t *Type) readValue(r *protoReader, p, like unsafe.Pointer, depth int) {
	switch t.wireType() {
	case wireVarint:
		t.setInteger(p, int64(r.varint()))
		return
	case wireFixed64:
		if b := r.take(8); b != nil {
			*(*float64)(p) = math.Float64frombits(binary.LittleEndian.Uint64(b))
		}
		return
	}
	b := r.bytes()
	if r.err != nil {
		return
	}
	switch t.shape {
	case shapeString:
		*(*string)(p) = textLike(b, (*string)(like))
	case shapeBytes:
		*(*[]byte)(p) = append([]byte{}, b...)
	case shapeTime, shapeMicroTime:
		r.fail(t.readTimestamp((*time.Time)(p), b))
	case shapeFieldsV1:
		m := newProtoReader("FieldsV1", b)
		for m.next() {
			if m.number == 1 {
				(*meta.FieldsV1)(p).Raw = rawLike(m.bytesOf("Raw"), (*meta.FieldsV1)(like))
			} else {
				m.skip()
			}
		}
		r.fail(m.err)
	case shapeStruct:
		r.fail(t.readMessage(p, like, b, depth+1))
	}
}

// readTimestamp reads a time in the precision of t. An empty message is the zero time.
func (t *Type) readTimestamp(to *time.Time, data []byte) error {
	var seconds, nanos int64
	r := newProtoReader("Timestamp", data)
	for r.next() {
		switch r.number {
		case 1:
			seconds = int64(r.varintOf("Seconds"))
		case 2:
			nanos = int64(int32(r.varintOf("Nanos")))
		default:
			r.skip()
		}
	}
	switch {
	case len(data) == 0:
		*to = time.Time{}
	case t.shape == shapeTime:
		*to = time.Unix(seconds, 0).UTC()
	default:
		*to = time.Unix(seconds, nanos-nanos%int64(time.Microsecond)).UTC()
	}
	return r.err
}
