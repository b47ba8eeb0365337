package skim

import (
	"bytes"
	"strings"

	"google.golang.org/protobuf/encoding/protowire"
)

// envelopePrefix begins every protobuf document of the API.
const envelopePrefix = "k8s\x00"

// protoEvent reads a WatchEvent: type = 1, object = 2, which holds raw = 1.
func (h *Head) protoEvent(data []byte) {
	for f := range fields(data) {
		switch f.number {
		case 1:
			h.Type = f.text()
		case 2:
			for f := range fields(f.value) {
				if message, ok := bytes.CutPrefix(f.value, []byte(envelopePrefix)); ok && f.number == 1 {
					h.protoEnvelope(message)
				}
			}
		}
	}
}

// protoEnvelope reads an Unknown: typeMeta = 1 with kind = 2, raw = 2.
func (h *Head) protoEnvelope(data []byte) {
	for f := range fields(data) {
		switch f.number {
		case 1:
			for f := range fields(f.value) {
				if f.number == 2 {
					h.Kind = f.text()
				}
			}
		case 2:
			h.protoMessage(f.value)
		}
	}
}

// protoMessage reads an object, a list or a Status. h.Kind must be set.
func (h *Head) protoMessage(data []byte) {
	for f := range fields(data) {
		switch {
		case h.Kind == "Status" && f.number == 5:
			h.protoDetails(f.value)
		case h.Kind == "Status" || f.number != 1:
		case strings.HasSuffix(h.Kind, "List"):
			for f := range fields(f.value) {
				if f.number == 2 {
					h.ResourceVersion = version([]byte(f.text()))
				}
			}
		default:
			h.protoMetadata(f.value)
		}
	}
}

// protoDetails reads the details of a Status.
func (h *Head) protoDetails(data []byte) {
	for f := range fields(data) {
		switch f.number {
		case 1:
			h.Name = f.text()
		case 6:
			h.UID = f.text()
		}
	}
}

// protoMetadata reads the metadata of an object.
func (h *Head) protoMetadata(data []byte) {
	for f := range fields(data) {
		switch f.number {
		case 1:
			h.Name = f.text()
		case 3:
			h.Namespace = f.text()
		case 5:
			h.UID = f.text()
		case 6:
			h.ResourceVersion = version([]byte(f.text()))
		}
	}
}

// field is a field of a message.
type field struct {
	number protowire.Number
	value  []byte // of a string or message; only the beginning if cut is set
	cut    bool   // whether the document ends within the value
}

// text returns the value of a string, or "" if it is cut.
func (f *field) text() string {
	if f.cut {
		return ""
	}
	return string(f.value)
}

// fields returns the fields of a message. It stops at the first malformed field.
func fields(data []byte) func(yield func(field) bool) {
	return func(yield func(field) bool) {
		for len(data) > 0 {
			number, wire, n := protowire.ConsumeTag(data)
			if n < 0 {
				return
			}
			data = data[n:]
			f := field{number: number}
			switch wire {
			case protowire.BytesType, protowire.VarintType:
				v, n := protowire.ConsumeVarint(data)
				if n < 0 {
					return
				}
				data = data[n:]
				if wire == protowire.BytesType {
					f.cut = v > uint64(len(data))
					size := min(v, uint64(len(data)))
					f.value, data = data[:size], data[size:]
				}
			default:
				n := protowire.ConsumeFieldValue(number, wire, data)
				if n < 0 {
					return
				}
				data = data[n:]
			}
			if !yield(f) {
				return
			}
		}
	}
}
