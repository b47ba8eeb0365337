package skim

import (
	"bytes"
	"strconv"
	"strings"
)

// Head is what identifies an object.
type Head struct {
	// Type is that of a watch event, "" for an object that stands alone.
	Type string
	// Kind is that of the object: its own, or Table, List and so on.
	Kind string
	// Namespace, Name, UID and ResourceVersion are those of its metadata. Of a
	// Table there is the ResourceVersion alone; of a Status Name and UID are
	// those of its details.
	Namespace, Name, UID string
	ResourceVersion      uint64
	// InitialEnd tells that a bookmark marks the end of the initial events.
	InitialEnd bool
}

// initialEnd is the annotation that marks such a bookmark. Bookmarks hold
// nothing else in which it could stand.
var initialEnd = []byte("k8s.io/initial-events-end")

// Event returns the head of one event of a watch: a line of JSON, or a frame of
// protobuf with its length before it.
func Event(frame []byte, protobuf bool) Head {
	var h Head
	if protobuf {
		if len(frame) < 4 {
			return Head{}
		}
		h.protoEvent(frame[4:])
	} else {
		h.jsonEvent(frame)
	}
	h.InitialEnd = h.Type == "BOOKMARK" && bytes.Contains(frame, initialEnd)
	return h
}

// Object returns the head of an object or a list in JSON or in a protobuf
// envelope, or of the beginning of one. What is not there is left empty.
func Object(data []byte) Head {
	var h Head
	if message, ok := bytes.CutPrefix(data, []byte(envelopePrefix)); ok {
		h.protoEnvelope(message)
	} else {
		s := scanner{data: data}
		h.jsonObject(&s)
	}
	return h
}

// Enough reports whether the head tells all that can be told of an object, so that
// more of it would not help.
func (h *Head) Enough() bool {
	return h.ResourceVersion != 0 && (h.Name != "" && h.UID != "" || h.Kind == "Table" || strings.HasSuffix(h.Kind, "List"))
}

func version(digits []byte) uint64 {
	v, _ := strconv.ParseUint(string(digits), 10, 64)
	return v
}
