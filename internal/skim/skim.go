package skim

import (
	"bytes"
	"strconv"
	"strings"
)

// Head identifies an object.
type Head struct {
	// Type is the type of a watch event, "" for an object alone.
	Type string
	// Kind is the kind of the answer: of the object, or Table, List and so on.
	Kind string
	// Namespace, Name, UID and ResourceVersion are from the metadata. A Table has
	// only a ResourceVersion. Name and UID of a Status are from its details.
	Namespace, Name, UID string
	ResourceVersion      uint64
	// InitialEnd reports that a bookmark marks the end of the initial events.
	InitialEnd bool
}

// initialEnd occurs in the annotation of such a bookmark, and nowhere else in a
// bookmark.
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

// Object returns the head of an object or list, in JSON or in a protobuf envelope,
// or of the beginning of one. Missing values are empty.
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

// Enough reports whether reading more of the object would add nothing to the head.
func (h *Head) Enough() bool {
	return h.ResourceVersion != 0 && (h.Name != "" && h.UID != "" || h.Kind == "Table" || strings.HasSuffix(h.Kind, "List"))
}

func version(digits []byte) uint64 {
	v, _ := strconv.ParseUint(string(digits), 10, 64)
	return v
}
