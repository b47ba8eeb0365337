package wiretest

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strconv"
	"time"
)

// protobufMagic begins the Kubernetes protobuf form. After it comes an envelope, which names the type and holds the encoded
// object. It is compared as a JSON-like tree. In a field that is not optional, zero counts as absent.
const protobufMagic = "k8s\x00"

// The layouts of Time and MicroTime.
const (
	timeLayout  = "2006-01-02T15:04:05Z"
	microLayout = "2006-01-02T15:04:05.000000Z"
)

// decodeProtobuf turns an enveloped object into its tree.
func decodeProtobuf(data []byte) (any, error) {
	envelope, ok := bytes.CutPrefix(data, []byte(protobufMagic))
	if !ok {
		return nil, fmt.Errorf("no protobuf envelope: %q", short(data))
	}
	var apiVersion, kind string
	var raw []byte
	err := protoFields(envelope, func(number int, _ uint64, b []byte) error {
		switch number {
		case 1:
			return decodePair(b, &apiVersion, &kind)
		case 2:
			raw = b
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	tree, err := decodeMessage(kind, raw)
	if err != nil {
		return nil, err
	}
	tree["apiVersion"], tree["kind"] = apiVersion, kind
	return tree, nil
}

// protoFields calls each for every field of an encoded message: with v for a number, with data for anything of a length.
func protoFields(b []byte, each func(number int, v uint64, data []byte) error) error {
	for len(b) > 0 {
		tag, n := binary.Uvarint(b)
		if n <= 0 {
			return errors.New("bad protobuf tag")
		}
		b = b[n:]
		v, n := binary.Uvarint(b)
		if n <= 0 {
			return errors.New("bad protobuf value")
		}
		b = b[n:]
		var data []byte
		switch tag & 7 {
		case 0:
		case 2:
			if v > uint64(len(b)) {
				return errors.New("protobuf value is cut off")
			}
			data, b = b[:v], b[v:]
		default:
			return fmt.Errorf("unexpected wire type %d", tag&7)
		}
		if err := each(int(tag>>3), v, data); err != nil {
			return err
		}
	}
	return nil
}

// decodePair reads a message of two texts: the entry of a map, or an apiVersion and a kind.
func decodePair(b []byte, first, second *string) error {
	return protoFields(b, func(number int, _ uint64, data []byte) error {
		if number == 1 {
			*first = string(data)
		} else {
			*second = string(data)
		}
		return nil
	})
}

func decodeMessage(name string, b []byte) (map[string]any, error) {
	fields, err := messageFields(name)
	if err != nil {
		return nil, err
	}
	out := map[string]any{}
	err = protoFields(b, func(number int, v uint64, data []byte) error {
		for _, f := range fields {
			if f.number != number {
				continue
			}
			if err := f.decodeInto(out, v, data); err != nil {
				return fmt.Errorf("%s.%s: %w", name, f.name, err)
			}
			return nil
		}
		return fmt.Errorf("%s has an unknown field %d", name, number)
	})
	return out, err
}

// decodeInto puts one occurrence of the field into its message.
func (f protoField) decodeInto(out map[string]any, v uint64, data []byte) error {
	value, zero, err := f.decode(v, data, out[f.name])
	if err != nil {
		return err
	}
	switch {
	case f.repeated:
		list, _ := out[f.name].([]any)
		out[f.name] = append(list, value)
	case !zero || f.optional:
		out[f.name] = value
	}
	return nil
}

// decode returns the value of one occurrence, and whether it is zero. An occurrence of a map adds to its earlier entries.
func (f protoField) decode(v uint64, data []byte, had any) (value any, zero bool, err error) {
	switch f.typ {
	case "string":
		return string(data), len(data) == 0, nil
	case "int":
		return json.Number(strconv.FormatInt(int64(v), 10)), v == 0, nil
	case "bool":
		return v != 0, v == 0, nil
	case "time":
		value, err = decodeTime(data, timeLayout)
		return value, len(data) == 0, err
	case "micro":
		value, err = decodeTime(data, microLayout)
		return value, len(data) == 0, err
	case "json":
		err = protoFields(data, func(_ int, _ uint64, b []byte) (err error) {
			value, err = decodeJSON(b)
			return err
		})
		return value, value == nil, err
	case "map":
		entries, _ := had.(map[string]any)
		if entries == nil {
			entries = map[string]any{}
		}
		var key, text string
		err := decodePair(data, &key, &text)
		entries[key] = text
		return entries, false, err
	}
	message, err := decodeMessage(f.typ, data)
	// An object always has metadata and spec, even where they are empty.
	return message, false, err
}

func decodeTime(data []byte, layout string) (string, error) {
	var seconds, nanos int64
	err := protoFields(data, func(number int, v uint64, _ []byte) error {
		if number == 1 {
			seconds = int64(v)
		} else {
			nanos = int64(v)
		}
		return nil
	})
	return time.Unix(seconds, nanos).UTC().Format(layout), err
}

// readProtobufEvents reads a watch stream, until it ends or send refuses. Each event is preceded by its length in four bytes
// and holds a type and an enveloped object. An object that cannot be decoded becomes a member "error".
func readProtobufEvents(r io.Reader, send func(any) bool) {
	for {
		var size [4]byte
		if _, err := io.ReadFull(r, size[:]); err != nil {
			return
		}
		frame := make([]byte, binary.BigEndian.Uint32(size[:]))
		if _, err := io.ReadFull(r, frame); err != nil {
			return
		}
		if !send(decodeEvent(frame)) {
			return
		}
	}
}

func decodeEvent(frame []byte) map[string]any {
	event := map[string]any{}
	err := protoFields(frame, func(number int, _ uint64, b []byte) error {
		if number == 1 {
			event["type"] = string(b)
			return nil
		}
		return protoFields(b, func(_ int, _ uint64, b []byte) error {
			object, err := decodeProtobuf(b)
			event["object"] = object
			return err
		})
	})
	if err != nil {
		event["error"] = err.Error()
	}
	return event
}
