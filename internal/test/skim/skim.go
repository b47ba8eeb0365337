package skim

import (
	"bytes"
	"strconv"
	"strings"
)

// Head identifies an object.
type Head struct {
	// Type is the type of a watch event, or "" if there is no event.
	Type string
	// Kind is the kind of the document, such as Lease, LeaseList, Table or Status.
	Kind string
	// Namespace, Name, UID and ResourceVersion are from the metadata. A Table has
	// only a ResourceVersion. Name and UID of a Status are from its details.
	Namespace, Name, UID string
	ResourceVersion      uint64
	// InitialEnd reports that a bookmark marks the end of the initial events.
	InitialEnd bool
}

// initialEnd is part of the annotation of a bookmark that ends the initial events. It
// occurs nowhere else in a bookmark.
var initialEnd = []byte("k8s.io/initial-events-end")

// Event returns the head of a watch event. frame is a line of JSON, or a protobuf
// message after its length in four bytes.
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

// Object returns the head of an object or list, in JSON or in a protobuf envelope. data
// may be cut off. Missing values are empty.
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

// Enough reports whether the head is complete, so that reading can stop.
func (h *Head) Enough() bool {
	return h.ResourceVersion != 0 && (h.Name != "" && h.UID != "" || h.Kind == "Table" || strings.HasSuffix(h.Kind, "List"))
}

func version(digits []byte) uint64 {
	v, _ := strconv.ParseUint(string(digits), 10, 64)
	return v
}
