package apitest

import (
	"bytes"
	"encoding/binary"
	"net/http"
	"strconv"
	"strings"

	"github.com/kubecoord/kubecoord/internal/skim"
)

// note records an answer for Verify just before it is sent, so that every reaction of
// the client comes later. A nil note does nothing.
type note struct {
	record   *record
	call     *call
	code     int
	watching bool
	noted    bool   // the answer is in the record
	size     int    // of the answer so far
	data     []byte // the beginning of an answer, or an incomplete frame of a watch
	yaml     bool
}

// note returns the note for a request, just before the API gets it.
func (x *exchange) note() *note {
	if x.call == nil {
		return nil
	}
	x.api.record.handOn(x.call)
	return &note{record: x.api.record, call: x.call}
}

// begin records the code.
func (n *note) begin(code int, watching bool) {
	if n == nil {
		return
	}
	if n.code, n.watching = code, watching; watching {
		n.noted = true
		n.record.opened(n.call)
	}
}

// write records a part of the answer.
func (n *note) write(p []byte, header http.Header) {
	switch {
	case n == nil:
	case n.watching:
		n.frames(p, strings.HasPrefix(header.Get("Content-Type"), "application/vnd.kubernetes.protobuf"))
	case !n.noted:
		n.size += len(p)
		length, err := strconv.Atoi(header.Get("Content-Length"))
		n.yaml = strings.HasPrefix(header.Get("Content-Type"), typeYAML)
		n.answer(p, err == nil && n.size >= length)
	}
}

// answer records an answer as soon as its metadata is complete.
func (n *note) answer(p []byte, whole bool) {
	if len(n.data) > 0 {
		n.data = append(n.data, p...)
		p = n.data
	}
	head, enough := skimObject(p, n.yaml, whole)
	switch {
	case enough:
		n.data, n.noted = nil, true
		n.record.answered(n.call, n.code, head)
	case n.data == nil:
		n.data = bytes.Clone(p)
	}
}

// frames records the events that p completes.
func (n *note) frames(p []byte, protobuf bool) {
	if len(n.data) > 0 {
		p = append(n.data, p...)
		n.data = nil
	}
	for len(p) > 0 {
		frame, rest, complete := nextFrame(p, protobuf)
		if !complete {
			n.data = bytes.Clone(p)
			return
		}
		n.record.event(n.call, skim.Event(frame, protobuf))
		p = rest
	}
}

// nextFrame splits off the first event and reports whether it is complete.
func nextFrame(p []byte, protobuf bool) (frame, rest []byte, complete bool) {
	frame, rest = cutFrame(p, protobuf)
	if protobuf {
		return frame, rest, len(p) >= 4 && len(frame) == int(binary.BigEndian.Uint32(p))+4
	}
	return frame, rest, frame[len(frame)-1] == '\n'
}

// end records an answer that was too short to be recorded before, or that there was
// none.
func (n *note) end() {
	switch {
	case n == nil || n.noted:
	case n.code != 0:
		n.answer(nil, true)
	default:
		n.record.answered(n.call, 0, skim.Head{})
	}
}
