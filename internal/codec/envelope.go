package codec

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"slices"

	"google.golang.org/protobuf/encoding/protowire"
)

// envelopePrefix begins every protobuf document of the API.
const envelopePrefix = "k8s\x00"

// Envelope is a protobuf document: a message and its type.
type Envelope struct {
	APIVersion, Kind string
	// Raw is the message. It shares memory with the document.
	Raw []byte
	// ContentEncoding and ContentType describe Raw. The API always leaves them
	// empty.
	ContentEncoding, ContentType string
}

// OpenEnvelope reads a protobuf document, but not the message in it.
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

// read reads the message Unknown, which every envelope consists of.
func (e *Envelope) read(data []byte) error {
	r := newProtoReader("Unknown", data)
	for r.next() {
		switch r.number {
		case 1:
			if b := r.bytesOf("TypeMeta"); r.err == nil {
				r.fail(e.readType(b))
			}
		case 2:
			e.Raw = r.bytesOf("Raw")
		case 3:
			e.ContentEncoding = string(r.bytesOf("ContentEncoding"))
		case 4:
			e.ContentType = string(r.bytesOf("ContentType"))
		default:
			r.skip()
		}
	}
	return r.err
}

func (e *Envelope) readType(data []byte) error {
	r := newProtoReader("TypeMeta", data)
	for r.next() {
		switch r.number {
		case 1:
			e.APIVersion = string(r.bytesOf("APIVersion"))
		case 2:
			e.Kind = string(r.bytesOf("Kind"))
		default:
			r.skip()
		}
	}
	return r.err
}

// AppendEnvelope appends a protobuf document that holds the message raw.
func AppendEnvelope(dst []byte, apiVersion, kind string, raw []byte) []byte {
	const more = 32 // at least all that has no parameter
	dst = slices.Grow(dst, len(apiVersion)+len(kind)+len(raw)+more)
	return append(append(AppendEnvelopeHead(dst, apiVersion, kind, len(raw)), raw...), EnvelopeFoot...)
}

// AppendEnvelopeHead appends the part of a protobuf document before a message of size bytes.
// EnvelopeFoot is the part after it.
func AppendEnvelopeHead(dst []byte, apiVersion, kind string, size int) []byte {
	dst = append(dst, envelopePrefix...)
	dst = append(dst, 1<<3|wireBytes, 0)
	start := len(dst)
	dst = protowire.AppendString(append(dst, 1<<3|wireBytes), apiVersion)
	dst = protowire.AppendString(append(dst, 2<<3|wireBytes), kind)
	dst = closeMessage(dst, start)
	return protowire.AppendVarint(append(dst, 2<<3|wireBytes), uint64(size))
}

// EnvelopeFoot ends a protobuf document: an empty ContentEncoding and ContentType.
const EnvelopeFoot = "\x1a\x00\x22\x00"

// AppendProtoWatchEvent appends one frame of a protobuf watch: the length of a message
// in four bytes, and the message, a WatchEvent. The WatchEvent has no envelope, but it
// holds the object in an envelope.
func AppendProtoWatchEvent(dst []byte, eventType string, envelope []byte) []byte {
	start := len(dst)
	dst = append(dst, 0, 0, 0, 0)
	dst = protowire.AppendString(append(dst, 1<<3|wireBytes), eventType)
	dst = append(dst, 2<<3|wireBytes, 0)
	object := len(dst)
	dst = protowire.AppendBytes(append(dst, 1<<3|wireBytes), envelope)
	dst = closeMessage(dst, object)
	binary.BigEndian.PutUint32(dst[start:], uint32(len(dst)-start-4))
	return dst
}
