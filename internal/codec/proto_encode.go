package codec

import (
	"encoding/binary"
	"math"
	"unsafe"

	"google.golang.org/protobuf/encoding/protowire"

	"github.com/kubecoord/kubecoord/store/meta"
)

// The wire types of protobuf that the API uses.
const (
	wireVarint  = 0
	wireFixed64 = 1
	wireBytes   = 2
)

// wireType returns the wire type of a field of type t. For a list it is the wire
// type of the items.
func (t *Type) wireType() int {
	switch t.shape {
	case shapeBool, shapeInt32, shapeInt64:
		return wireVarint
	case shapeFloat64:
		return wireFixed64
	case shapeList:
		return t.Elem.wireType()
	}
	return wireBytes
}

// AppendProto appends the protobuf message of obj, a non-nil pointer to the compiled struct,
// without an envelope. The bytes equal the API server's: fields ascend by number and maps are
// sorted, only a nil pointer, slice or map is left out, and a zero time is an empty message.
func (t *Type) AppendProto(dst []byte, obj any) []byte {
	if t.boxed != nil {
		return obj.(*Box).appendMessage(dst)
	}
	p := t.check(obj)
	if cap(dst) == 0 {
		dst = make([]byte, 0, 512)
	}
	return t.appendMessage(dst, p)
}

// appendMessage appends the fields of the struct at p.
func (t *Type) appendMessage(dst []byte, p unsafe.Pointer) []byte {
	for _, f := range t.numbered {
		q := f.target(p)
		switch {
		case q == nil:
		case f.Type.shape == shapeList:
			dst = f.appendRepeated(dst, (*slice)(q))
		case f.Type.shape == shapeMap:
			dst = f.appendEntries(dst, q)
		case f.Type.shape == shapeBytes && (*slice)(q).data == nil:
		default:
			dst = f.Type.appendProto(append(dst, f.tag...), q)
		}
	}
	return dst
}

func (f *Field) appendRepeated(dst []byte, s *slice) []byte {
	for i := range s.len {
		dst = f.Type.Elem.appendProto(append(dst, f.tag...), f.Type.item(s, i))
	}
	return dst
}

// appendEntries appends a map: one message for each entry, with the key as field 1
// and the value as field 2.
func (f *Field) appendEntries(dst []byte, p unsafe.Pointer) []byte {
	var buf [16]string
	for _, key := range f.Type.sortedKeys(buf[:0], p) {
		dst = append(append(dst, f.tag...), 0)
		start := len(dst)
		dst = protowire.AppendString(append(dst, 1<<3|wireBytes), key)
		dst = append(dst, byte(2<<3|f.Type.Elem.wireType()))
		if f.Type.stringMap {
			dst = protowire.AppendString(dst, (*(*map[string]string)(p))[key])
		} else {
			dst = f.Type.Elem.appendProto(dst, f.Type.mapValue(p, key))
		}
		dst = closeMessage(dst, start)
	}
	return dst
}

// appendProto appends the value at p without its tag. t must not be a list or map.
func (t *Type) appendProto(dst []byte, p unsafe.Pointer) []byte {
	switch t.shape {
	case shapeBool, shapeInt32, shapeInt64:
		return binary.AppendUvarint(dst, uint64(t.integer(p)))
	case shapeFloat64:
		return binary.LittleEndian.AppendUint64(dst, math.Float64bits(*(*float64)(p)))
	case shapeString:
		return protowire.AppendString(dst, *(*string)(p))
	case shapeBytes:
		return protowire.AppendBytes(dst, *(*[]byte)(p))
	}
	dst = append(dst, 0)
	start := len(dst)
	switch t.shape {
	case shapeTime, shapeMicroTime:
		if !t.isZeroTime(p) {
			seconds, nanos := t.time(p)
			dst = binary.AppendUvarint(append(dst, 1<<3|wireVarint), uint64(seconds))
			dst = binary.AppendUvarint(append(dst, 2<<3|wireVarint), uint64(nanos))
		}
	case shapeFieldsV1:
		if raw := (*meta.FieldsV1)(p).Raw; len(raw) > 0 {
			dst = protowire.AppendBytes(append(dst, 1<<3|wireBytes), raw)
		}
	case shapeStruct:
		dst = t.appendMessage(dst, p)
	}
	return closeMessage(dst, start)
}

// closeMessage writes the length of the message that begins at start into the byte before it, and
// moves a message of 128 bytes or more. Few are, so this costs less than computing sizes first.
func closeMessage(dst []byte, start int) []byte {
	n := len(dst) - start
	if n < 0x80 {
		dst[start-1] = byte(n)
		return dst
	}
	var buf [binary.MaxVarintLen64]byte
	length := binary.AppendUvarint(buf[:0], uint64(n))
	dst = append(dst, length[1:]...)
	copy(dst[start-1+len(length):], dst[start:start+n])
	copy(dst[start-1:], length)
	return dst
}
