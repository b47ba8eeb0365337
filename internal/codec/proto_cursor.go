package codec

import (
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

// cursor reads the fields of one protobuf message.
type cursor struct {
	message  string // its name for error texts
	rest     []byte // not yet read
	field    []byte // the rest of the message, from the tag of the current field
	number   int32
	wireType int

	size    int // of the message
	overrun int // how many bytes map entries have read beyond their ends
}

func newCursor(message string, data []byte) *cursor {
	return &cursor{message: message, rest: data, size: len(data)}
}

// more reports whether there is another field.
func (c *cursor) more() bool { return len(c.rest) > 0 }

// next reads the tag of the next field.
func (c *cursor) next() error {
	tag, err := c.nextUnchecked()
	switch {
	case err != nil:
		return err
	case c.wireType == 4:
		return fmt.Errorf("proto: %s: wiretype end group for non-group", c.message)
	case c.number <= 0:
		return fmt.Errorf("proto: %s: illegal tag %d (wire type %d)", c.message, c.number, tag)
	}
	return nil
}

// each reads the tag of each field and calls read, which must read the value.
func (c *cursor) each(read func() error) error {
	for c.more() {
		if err := c.next(); err != nil {
			return err
		}
		if err := read(); err != nil {
			return err
		}
	}
	return nil
}

// nextUnchecked is like next, but accepts any tag, as the API server does in map
// entries.
func (c *cursor) nextUnchecked() (tag uint64, err error) {
	c.field = c.rest
	tag, err = c.takeVarint()
	c.number, c.wireType = int32(tag>>3), int(tag&7)
	return tag, err
}

// expect returns an error if the current field has another wire type. name is the
// name of the field.
func (c *cursor) expect(wireType int, name string) error {
	if c.wireType != wireType {
		return fmt.Errorf("proto: wrong wireType = %d for field %s", c.wireType, name)
	}
	return nil
}

// varint reads the value of the current field.
func (c *cursor) varint(name string) (uint64, error) {
	if err := c.expect(wireVarint, name); err != nil {
		return 0, err
	}
	return c.takeVarint()
}

// bytes returns the value of the current field, which shares memory with the
// input.
func (c *cursor) bytes(name string) ([]byte, error) {
	if err := c.expect(wireBytes, name); err != nil {
		return nil, err
	}
	return c.takeBytes()
}

func (c *cursor) takeVarint() (v uint64, err error) {
	for i, b := range c.rest {
		if i == binary.MaxVarintLen64 {
			return 0, errProtoOverflow
		}
		v |= uint64(b&0x7f) << (7 * i) // bits beyond the 64th are dropped
		if b < 0x80 {
			c.rest = c.rest[i+1:]
			return v, nil
		}
	}
	if len(c.rest) >= binary.MaxVarintLen64 {
		return 0, errProtoOverflow
	}
	return 0, io.ErrUnexpectedEOF
}

func (c *cursor) takeBytes() ([]byte, error) {
	n, err := c.takeLength()
	if err != nil {
		return nil, err
	}
	return c.take(n)
}

// takeLength reads a length, and checks that as many bytes follow.
func (c *cursor) takeLength() (int, error) {
	v, err := c.takeVarint()
	switch {
	case err != nil:
		return 0, err
	case int64(v) < 0, int64(v)+int64(c.size-len(c.rest)) < 0: // the end overflows, as an offset in the message
		return 0, errProtoLength
	case v > uint64(len(c.rest)):
		return 0, io.ErrUnexpectedEOF
	}
	return int(v), nil
}

func (c *cursor) take(n int) ([]byte, error) {
	if n > len(c.rest) {
		return nil, io.ErrUnexpectedEOF
	}
	b := c.rest[:n:n]
	c.rest = c.rest[n:]
	return b, nil
}

// skip skips the current field, including all fields of a group.
func (c *cursor) skip() error {
	c.rest = c.field
	for depth := 0; ; {
		if !c.more() {
			return io.ErrUnexpectedEOF
		}
		tag, err := c.takeVarint()
		if err != nil {
			return err
		}
		switch wireType := int(tag & 7); wireType {
		case wireVarint:
			_, err = c.takeVarint()
		case wireFixed64:
			_, err = c.take(8)
		case wireBytes:
			_, err = c.takeBytes()
		case 3:
			depth++
		case 4:
			if depth--; depth < 0 {
				return errProtoGroup
			}
		case 5:
			_, err = c.take(4)
		default:
			return fmt.Errorf("proto: illegal wireType %d", wireType)
		}
		if err != nil || depth == 0 {
			return err
		}
	}
}
