package codec

import (
	"cmp"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
)

// The errors of the API server's generated decoders.
var (
	errProtoOverflow = errors.New("proto: integer overflow")
	errProtoLength   = errors.New("proto: negative length found during unmarshaling")
	errProtoGroup    = errors.New("proto: unexpected end of group")
)

// protoReader reads the fields of one protobuf message. After the first error it is at the end
// of the message.
type protoReader struct {
	message  string // its name for error texts
	rest     []byte // not yet read
	field    []byte // the rest of the message, from the tag of the current field
	number   int32
	wireType int
	err      error

	size    int // of the message
	overrun int // how many bytes map entries have read beyond their ends
}

func newProtoReader(message string, data []byte) *protoReader {
	return &protoReader{message: message, rest: data, size: len(data)}
}

// fail records an error if it is the first one.
func (r *protoReader) fail(err error) {
	if err != nil {
		r.err, r.rest = cmp.Or(r.err, err), nil
	}
}

// next reads the tag of the next field. It returns false at the end, and for an error.
func (r *protoReader) next() bool {
	if len(r.rest) == 0 {
		return false
	}
	tag := r.tag()
	switch {
	case r.err != nil:
	case r.wireType == 4:
		r.fail(fmt.Errorf("proto: %s: wiretype end group for non-group", r.message))
	case r.number <= 0:
		r.fail(fmt.Errorf("proto: %s: illegal tag %d (wire type %d)", r.message, r.number, tag))
	}
	return r.err == nil
}

// tag reads any tag, as the API server does in map entries.
func (r *protoReader) tag() uint64 {
	r.field = r.rest
	tag := r.varint()
	r.number, r.wireType = int32(tag>>3), int(tag&7)
	return tag
}

// expect reports whether the current field has a wire type, or fails. name is the name of the
// field.
func (r *protoReader) expect(wireType int, name string) bool {
	if r.wireType != wireType {
		r.fail(fmt.Errorf("proto: wrong wireType = %d for field %s", r.wireType, name))
	}
	return r.err == nil
}

// bytesOf returns the value of the current field, which shares memory with the input.
func (r *protoReader) bytesOf(name string) []byte {
	if !r.expect(wireBytes, name) {
		return nil
	}
	return r.bytes()
}

// varintOf returns the value of the current field.
func (r *protoReader) varintOf(name string) uint64 {
	if !r.expect(wireVarint, name) {
		return 0
	}
	return r.varint()
}

func (r *protoReader) varint() (v uint64) {
	for i, b := range r.rest {
		if i == binary.MaxVarintLen64 {
			break
		}
		v |= uint64(b&0x7f) << (7 * i) // bits beyond the 64th are dropped
		if b < 0x80 {
			r.rest = r.rest[i+1:]
			return v
		}
	}
	if len(r.rest) >= binary.MaxVarintLen64 {
		r.fail(errProtoOverflow)
	}
	r.fail(io.ErrUnexpectedEOF)
	return 0
}

func (r *protoReader) bytes() []byte { return r.take(r.length()) }

// length reads a length, and checks that as many bytes follow.
func (r *protoReader) length() int {
	v := r.varint()
	switch {
	case int64(v) < 0, int64(v)+int64(r.size-len(r.rest)) < 0: // the end overflows, as an offset in the message
		r.fail(errProtoLength)
	case v > uint64(len(r.rest)):
		r.fail(io.ErrUnexpectedEOF)
	default:
		return int(v)
	}
	return 0
}

func (r *protoReader) take(n int) []byte {
	if n > len(r.rest) {
		r.fail(io.ErrUnexpectedEOF)
		return nil
	}
	b := r.rest[:n:n]
	r.rest = r.rest[n:]
	return b
}

// skip skips the current field, including all fields of a group.
func (r *protoReader) skip() {
	if r.err == nil {
		r.rest = r.field
	}
	for depth := 0; ; {
		switch wireType := int(r.varint() & 7); wireType {
		case wireVarint:
			r.varint()
		case wireFixed64:
			r.take(8)
		case wireBytes:
			r.bytes()
		case 3:
			depth++
		case 4:
			if depth--; depth < 0 {
				r.fail(errProtoGroup)
			}
		case 5:
			r.take(4)
		default:
			r.fail(fmt.Errorf("proto: illegal wireType %d", wireType))
		}
		if r.err != nil || depth == 0 {
			return
		}
	}
}
