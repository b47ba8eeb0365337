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

// maxProtoDepth bounds the nesting of messages of recursive types. It is the
// limit of the protobuf library.
const maxProtoDepth = 10_000

// DecodeProto reads a protobuf message without an envelope into obj, a pointer to
// the compiled struct. Fields that data does not have keep their values, items are
// appended to lists, and messages are merged. Unknown fields are ignored, and
// strings need not be UTF-8. obj shares no memory with data. Error texts are the
// ones of the API server's generated code.
func (t *Type) DecodeProto(data []byte, obj any) error { return t.DecodeProtoLike(data, obj, nil) }

// DecodeProtoLike is DecodeProto. like is nil or an object that never changes; strings and
// FieldsV1 of obj that are equal in like may share its memory.
func (t *Type) DecodeProtoLike(data []byte, obj, like any) error {
	return t.readMessage(t.check(obj), t.address(like), data, 0)
}

// readMessage reads the fields of a message into the struct at p. like is nil or a struct that
// never changes.
func (t *Type) readMessage(p, like unsafe.Pointer, data []byte, depth int) error {
	if depth > maxProtoDepth {
		return errors.New("proto: exceeded maximum recursion depth")
	}
	c := newCursor(t.Name, data)
	for c.more() {
		if err := c.next(); err != nil {
			return err
		}
		var err error
		if f := t.fieldByNumber(int(c.number)); f != nil {
			err = f.readMember(c, f.at(p), f.in(like), depth)
		} else {
			err = c.skip()
		}
		if err != nil {
			return err
		}
	}
	return nil
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
func (f *Field) readMember(c *cursor, to, like unsafe.Pointer, depth int) error {
	value := f.Type
	switch {
	case value.shape == shapeList && value.wireType() != wireBytes && c.wireType == wireBytes:
		return f.readPacked(c, to)
	case value.shape == shapeList:
		if err := c.expect(value.wireType(), f.goName); err != nil {
			return err
		}
		likeItem := value.itemIn((*slice)(like), (*slice)(to).len)
		return value.Elem.readValue(c, value.grow(to), likeItem, depth)
	case value.shape == shapeMap:
		return f.readEntry(c, to, depth)
	}
	if err := c.expect(value.wireType(), f.goName); err != nil {
		return err
	}
	if f.Pointer {
		q := (*unsafe.Pointer)(to)
		if to = *q; to == nil || value.Kind == Scalar { // other objects may share the old scalar
			to = value.allocate(q)
		}
	}
	return value.readValue(c, to, like, depth)
}

// readPacked reads a list of numbers that was written as one field. The API server
// reads this form, but never writes it.
func (f *Field) readPacked(c *cursor, p unsafe.Pointer) error {
	data, err := c.takeBytes()
	if err != nil {
		return err
	}
	for packed := newCursor("", data); packed.more(); {
		if err := f.Type.Elem.readValue(packed, f.Type.grow(p), nil, 0); err != nil {
			return err
		}
	}
	return nil
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

// readEntry reads one map entry. As in the API server, wire types in it are not
// checked, and a key or value may reach beyond the end of the entry. The next field
// still starts at the end of the entry. Without maxOverrun, entries that each read
// the rest of the message would take memory quadratic in its size.
func (f *Field) readEntry(c *cursor, p unsafe.Pointer, depth int) error {
	if err := c.expect(wireBytes, f.goName); err != nil {
		return err
	}
	size, err := c.takeLength()
	if err != nil {
		return err
	}
	after := c.rest[size:]
	var key string
	value := reflect.New(f.Type.Elem.goType)
	for len(c.rest) > len(after) {
		if _, err := c.nextUnchecked(); err != nil {
			return err
		}
		switch c.number {
		case 1:
			var b []byte
			b, err = c.takeBytes()
			key = string(b)
		case 2:
			value.Elem().SetZero()
			err = f.Type.Elem.readValue(c, value.UnsafePointer(), nil, depth)
		default:
			if err = c.skip(); err == nil && len(c.rest) < len(after) {
				err = io.ErrUnexpectedEOF
			}
		}
		if err != nil {
			return err
		}
	}
	if c.overrun += len(after) - len(c.rest); c.overrun > maxOverrun*c.size {
		return io.ErrUnexpectedEOF
	}
	c.rest = after
	f.Type.put(p, key, value.Elem())
	return nil
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

// readValue reads the value of a field whose wire type was checked. like is nil or a value of
// that type.
func (t *Type) readValue(c *cursor, p, like unsafe.Pointer, depth int) error {
	switch t.wireType() {
	case wireVarint:
		v, err := c.takeVarint()
		t.setInteger(p, int64(v))
		return err
	case wireFixed64:
		b, err := c.take(8)
		if err == nil {
			*(*float64)(p) = math.Float64frombits(binary.LittleEndian.Uint64(b))
		}
		return err
	}
	b, err := c.takeBytes()
	if err != nil {
		return err
	}
	switch t.shape {
	case shapeString:
		*(*string)(p) = textLike(b, (*string)(like))
	case shapeBytes:
		*(*[]byte)(p) = append([]byte{}, b...)
	case shapeTime, shapeMicroTime:
		return t.readTimestamp((*time.Time)(p), b)
	case shapeFieldsV1:
		return readFieldsV1((*meta.FieldsV1)(p), (*meta.FieldsV1)(like), b)
	case shapeStruct:
		return t.readMessage(p, like, b, depth+1)
	}
	return nil
}

// readTimestamp reads a time in the precision of t. An empty message is the zero time.
func (t *Type) readTimestamp(to *time.Time, data []byte) error {
	var seconds, nanos uint64
	c := newCursor("Timestamp", data)
	for c.more() { // not c.each, for speed: most leases have four times
		err := c.next()
		switch {
		case err != nil:
		case c.number == 1:
			seconds, err = c.varint("Seconds")
		case c.number == 2:
			nanos, err = c.varint("Nanos")
		default:
			err = c.skip()
		}
		if err != nil {
			return err
		}
	}
	switch {
	case len(data) == 0:
		*to = time.Time{}
	case t.shape == shapeTime:
		*to = time.Unix(int64(seconds), 0).UTC()
	default:
		*to = time.Unix(int64(seconds), int64(time.Duration(int32(nanos)).Truncate(time.Microsecond))).UTC()
	}
	return nil
}

func readFieldsV1(f, like *meta.FieldsV1, data []byte) error {
	c := newCursor("FieldsV1", data)
	return c.each(func() error {
		if c.number != 1 {
			return c.skip()
		}
		raw, err := c.bytes("Raw")
		f.Raw = rawLike(raw, like)
		return err
	})
}
