package apitest

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"net/http"
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/kubecoord/kubecoord/internal/codec"
)

// Unwrap returns the writer below, for its deadlines.
func (x *exchange) Unwrap() http.ResponseWriter { return x.w }

// SetWriteDeadline sets the deadline of the connection, unless a Partition holds the answer back: its
// client would not see the end of the connection.
func (x *exchange) SetWriteDeadline(at time.Time) error {
	if x.gate() != nil {
		return nil
	}
	return http.NewResponseController(x.w).SetWriteDeadline(at)
}

// Header returns the header of the answer.
func (x *exchange) Header() http.Header { return x.w.Header() }

// WriteHeader starts the answer, after the partitions that hold it.
func (x *exchange) WriteHeader(code int) {
	if x.code != 0 {
		return
	}
	x.code = code
	if !x.pass() {
		x.broken.Store(true)
		return
	}
	x.api.mu.Lock()
	x.req.Status = code
	x.api.mu.Unlock()
	if w := x.req.write; w != nil { // before the client gets the answer
		w.status.Store(int32(code))
	}
	x.w.WriteHeader(code)
}

// Write sends a part of the answer. It splits the stream of a watch if a fault acts between events.
func (x *exchange) Write(p []byte) (int, error) {
	x.WriteHeader(http.StatusOK)
	if !x.watching() || len(x.tears) == 0 && x.pause == 0 {
		if err := x.send(p, len(x.sights)); err != nil {
			return 0, err
		}
		return len(p), nil
	}
	came := x.api.st.Clock().Now()
	for rest := p; len(rest) > 0; {
		var frame []byte
		frame, rest = cutFrame(rest, x.sendsProtobuf())
		if err := x.sendFrame(frame, came); err != nil {
			return 0, err
		}
	}
	return len(p), nil
}

// send sends bytes that show the client the next n sights.
func (x *exchange) send(p []byte, n int) error {
	if !x.pass() {
		x.broken.Store(true)
		return errFault
	}
	n = min(n, len(x.sights)) // an ERROR event shows nothing
	if n > 0 && x.code < 300 {
		x.api.recorder.saw(x.req, x.sights[:n])
		x.sights = slices.Delete(x.sights, 0, n)
	}
	if _, err := x.w.Write(p); err != nil || !x.watching() {
		return err
	}
	x.countEvents(p)
	return nil
}

func (x *exchange) countEvents(p []byte) {
	events, code := 0, 0
	for rest := p; len(rest) > 0; {
		var frame []byte
		frame, rest = cutFrame(rest, x.sendsProtobuf())
		code = errorIn(frame, x.sendsProtobuf())
		if code == 0 {
			events++
		}
	}
	x.api.mu.Lock()
	defer x.api.mu.Unlock()
	x.req.Watch.Events += events
	x.req.Watch.Error = code
}

func (x *exchange) sent() int {
	x.api.mu.Lock()
	defer x.api.mu.Unlock()
	return x.req.Watch.Events
}

func (x *exchange) sendsProtobuf() bool {
	return strings.HasPrefix(x.Header().Get("Content-Type"), "application/vnd.kubernetes.protobuf")
}

func (x *exchange) sendFrame(frame []byte, came time.Time) error {
	switch {
	case x.torn:
		return errFault
	case !x.holdBack(came) || !x.pass():
		x.broken.Store(true)
		return errFault
	}
	for _, t := range x.tears {
		if t.midFrame && t.after == x.sent() {
			x.w.Write(frame[:len(frame)/2])
			http.NewResponseController(x.w).Flush()
			x.torn = true
			x.broken.Store(true)
			return errFault
		}
	}
	if err := x.send(frame, 1); err != nil {
		return err
	}
	return x.FlushError()
}

// holdBack delays an event that has arrived. It returns false if the watch must end.
func (x *exchange) holdBack(came time.Time) bool {
	if x.pause <= 0 {
		return true
	}
	if x.due.Before(came) {
		x.due = came
	}
	x.due = x.due.Add(x.pause)
	return x.wait(x.due.Sub(x.api.st.Clock().Now()))
}

// FlushError flushes the answer. It ends a watch that has sent as many events as its tears allow.
func (x *exchange) FlushError() error {
	x.WriteHeader(http.StatusOK)
	if x.broken.Load() || x.torn {
		return errFault
	}
	if err := http.NewResponseController(x.w).Flush(); err != nil || !x.watching() {
		return err
	}
	for _, t := range x.tears {
		if t.midFrame || t.after != x.sent() {
			continue
		}
		if t.status.Code != 0 {
			frame := x.api.api.ErrorEvent(x.r, complete(t.status, x.request(), false))
			x.w.Write(frame)
			x.countEvents(frame)
		}
		x.torn = true
		return errFault
	}
	return nil
}

func (x *exchange) watching() bool { return x.req.Verb == "watch" && x.code == http.StatusOK }

// cutFrame splits off the first event: a line, or in the binary form a length and as many bytes.
func cutFrame(p []byte, binaryFrame bool) (frame, rest []byte) {
	end := uint64(len(p))
	if !binaryFrame {
		end = uint64(bytes.IndexByte(p, '\n')) + 1 // 0: none
	} else if len(p) >= 4 {
		end = uint64(binary.BigEndian.Uint32(p)) + 4
	}
	if end == 0 || end > uint64(len(p)) {
		end = uint64(len(p))
	}
	return p[:end], p[end:]
}

// code is the part of a Status that errorIn needs.
type code struct {
	Code int32 `json:"code" protobuf:"6"`
}

// errorIn returns the code of the Status in an ERROR event, or 0 for another event. A binary frame begins with its length.
func errorIn(frame []byte, binaryFrame bool) int {
	var ev struct{ Object code }
	if !binaryFrame {
		if bytes.HasPrefix(frame, []byte(`{"type":"ERROR"`)) {
			json.Unmarshal(frame, &ev)
		}
		return int(ev.Object.Code)
	}
	const length = 4
	if len(frame) < length || !bytes.HasPrefix(frame[length:], []byte("\x0a\x05ERROR")) {
		return 0
	}
	at := max(bytes.Index(frame, []byte("k8s\x00")), 0) // the envelope of the Status is the end of the frame
	if e, err := codec.OpenEnvelope(frame[at:]); err == nil {
		codec.MustCompile(reflect.TypeFor[code](), "v1").DecodeProto(e.Raw, &ev.Object)
	}
	return int(ev.Object.Code)
}
