package codec

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
)

// envelopePrefix begins every protobuf document of the API.
const envelopePrefix = "k8s\x00"

// Envelope is a protobuf document: a message and the type it says it has.
type Envelope struct {
	APIVersion, Kind string
	// Raw is the message. It shares memory with the document.
	Raw []byte
	// ContentEncoding and ContentType tell of Raw; both are empty in all that
	// the API sends.
	ContentEncoding, ContentType string
}

// OpenEnvelope reads a protobuf document. The message in it is not looked at.
func OpenEnvelope(data []byte) (Envelope, error) {
	message, ok := bytes.CutPrefix(data, []byte(envelopePrefix))
	switch {
	case len(data) == 0:
		return Envelope{}, errors.New("empty data")
	case !ok:
		return Envelope{}, fmt.Errorf("provided data does not appear to be a protobuf message, expected prefix %v", []byte(envelopePrefix))
	case len(message) == 0:
		return Envelope{}, errors.New("empty body")
	}
	var e Envelope
	if err := e.read(message); err != nil {
		return Envelope{}, err
	}
	return e, nil
}

// read reads the message that the API calls Unknown.
func (e *Envelope) read(data []byte) error {
	c := newCursor("Unknown", data)
	for c.more() {
		if err := c.next(); err != nil {
			return err
		}
		var b []byte
		var err error
		switch c.number {
		case 1:
			if b, err = c.bytes("TypeMeta"); err == nil {
				err = e.readType(b)
			}
		case 2:
			e.Raw, err = c.bytes("Raw")
		case 3:
			b, err = c.bytes("ContentEncoding")
			e.ContentEncoding = string(b)
		case 4:
			b, err = c.bytes("ContentType")
			e.ContentType = string(b)
		default:
			err = c.skip()
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func (e *Envelope) readType(data []byte) error {
	c := newCursor("TypeMeta", data)
	for c.more() {
		if err := c.next(); err != nil {
			return err
		}
		var b []byte
		var err error
		switch c.number {
		case 1:
			b, err = c.bytes("APIVersion")
			e.APIVersion = string(b)
		case 2:
			b, err = c.bytes("Kind")
			e.Kind = string(b)
		default:
			err = c.skip()
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// AppendEnvelope appends a protobuf document that holds the message raw.
func AppendEnvelope(dst []byte, apiVersion, kind string, raw []byte) []byte {
	dst = append(dst, envelopePrefix...)
	dst = append(dst, 1<<3|wireBytes, 0)
	start := len(dst)
	dst = appendProtoString(append(dst, 1<<3|wireBytes), apiVersion)
	dst = appendProtoString(append(dst, 2<<3|wireBytes), kind)
	dst = closeMessage(dst, start)
	dst = appendProtoBytes(append(dst, 2<<3|wireBytes), raw)
	return append(dst, 3<<3|wireBytes, 0, 4<<3|wireBytes, 0)
}

// AppendProtoWatchEvent appends one frame of a protobuf watch: four bytes of
// length and the message WatchEvent, which has no envelope of its own around
// that of its object.
func AppendProtoWatchEvent(dst []byte, eventType string, envelope []byte) []byte {
	start := len(dst)
	dst = append(dst, 0, 0, 0, 0)
	dst = appendProtoString(append(dst, 1<<3|wireBytes), eventType)
	dst = append(dst, 2<<3|wireBytes, 0)
	object := len(dst)
	dst = appendProtoBytes(append(dst, 1<<3|wireBytes), envelope)
	dst = closeMessage(dst, object)
	binary.BigEndian.PutUint32(dst[start:], uint32(len(dst)-start-4))
	return dst
}
