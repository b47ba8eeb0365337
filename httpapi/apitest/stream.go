package apitest

import (
	"bytes"
	"encoding/binary"
	"net/http"
	"slices"
	"strings"
	"time"
)

// answer is the ResponseWriter of the API. It records the answer, waits during a
// partition, and splits the stream of a watch into events if a fault acts between them.
type answer struct {
	x      *exchange
	w      http.ResponseWriter
	code   int
	events int // that have been sent
	torn   bool
	due    time.Time // of the last event that was held back
}

// Unwrap returns the writer below, for its deadlines.
func (a *answer) Unwrap() http.ResponseWriter { return a.w }

// SetWriteDeadline sets the deadline of the connection. It does nothing while a Silent
// partition holds the answer back: its client would not see the end of the connection.
func (a *answer) SetWriteDeadline(at time.Time) error {
	if a.x.held() {
		return nil
	}
	return http.NewResponseController(a.w).SetWriteDeadline(at)
}

// held reports whether a partition holds the answer back.
func (x *exchange) held() bool {
	x.api.mu.Lock()
	defer x.api.mu.Unlock()
	for _, gate := range x.gates {
		select {
		case <-gate:
		default:
			return true
		}
	}
	return false
}

// Header returns the header of the answer.
func (a *answer) Header() http.Header { return a.w.Header() }

// WriteHeader starts the answer.
func (a *answer) WriteHeader(code int) {
	if a.code != 0 {
		return
	}
	a.code = code
	if !a.x.pass() {
		a.fail()
		return
	}
	a.x.api.mu.Lock()
	a.x.req.Status = code
	a.x.api.mu.Unlock()
	a.x.api.record.answered(a.x.write, code)
	a.w.WriteHeader(code)
}

// fail makes the exchange cut the connection when the API returns.
func (a *answer) fail() { a.x.broken.Store(true) }

// Write sends a part of the answer.
func (a *answer) Write(p []byte) (int, error) {
	a.WriteHeader(http.StatusOK)
	if !a.watching() || len(a.x.tears) == 0 && a.x.pause == 0 {
		if a.torn || !a.x.pass() {
			a.fail()
			return 0, errFault
		}
		a.show(len(a.x.sights))
		return a.w.Write(p)
	}
	came := a.x.api.st.Clock().Now()
	binaryFrames := strings.HasPrefix(a.Header().Get("Content-Type"), "application/vnd.kubernetes.protobuf")
	for rest := p; len(rest) > 0; {
		var frame []byte
		frame, rest = cutFrame(rest, binaryFrames)
		if err := a.sendFrame(frame, came); err != nil {
			return 0, err
		}
	}
	return len(p), nil
}

// show records for Verify what the client sees in the next n events, or in the whole answer.
// It must be called before they are sent, so that every reaction of the client comes later.
func (a *answer) show(n int) {
	if sights := a.x.sights; a.code < 300 {
		n = min(n, len(sights)) // an ERROR event shows nothing
		a.x.api.record.saw(a.x.req, sights[:n])
		a.x.sights = slices.Delete(sights, 0, n)
	}
}

// FlushError flushes the answer, and ends a watch that must have no events.
func (a *answer) FlushError() error {
	a.WriteHeader(http.StatusOK)
	if a.x.broken.Load() || a.torn {
		return errFault
	}
	if err := http.NewResponseController(a.w).Flush(); err != nil {
		return err
	}
	return a.tearIfDue()
}

// watching reports whether the answer is a stream of events.
func (a *answer) watching() bool { return a.x.req.Verb == "watch" && a.code == http.StatusOK }

// holdBack delays an event that arrived at the given time. Each event waits for the
// one before it. It reports whether the watch may continue.
func (a *answer) holdBack(came time.Time) bool {
	if a.x.pause <= 0 {
		return true
	}
	if a.due.Before(came) {
		a.due = came
	}
	a.due = a.due.Add(a.x.pause)
	return a.x.wait(a.due.Sub(a.x.api.st.Clock().Now()))
}

// sendFrame sends one event.
func (a *answer) sendFrame(frame []byte, came time.Time) error {
	if a.torn || !a.holdBack(came) || !a.x.pass() {
		if !a.torn {
			a.fail()
		}
		return errFault
	}
	for _, t := range a.x.tears {
		if t.MidFrame && t.After == a.events {
			a.w.Write(frame[:len(frame)/2])
			http.NewResponseController(a.w).Flush()
			a.torn = true
			a.fail()
			return errFault
		}
	}
	a.show(1)
	if _, err := a.w.Write(frame); err != nil {
		return err
	}
	a.events++
	if err := http.NewResponseController(a.w).Flush(); err != nil {
		return err
	}
	return a.tearIfDue()
}

// tearIfDue ends the watch if it has had as many events as a Tear allows.
func (a *answer) tearIfDue() error {
	if !a.watching() {
		return nil
	}
	for _, t := range a.x.tears {
		if t.MidFrame || t.After != a.events {
			continue
		}
		if t.Error.Code != 0 {
			a.w.Write(a.x.api.api.ErrorEvent(a.x.r, fill(t.Error, a.x.request())))
		}
		a.torn = true
		return errFault
	}
	return nil
}

// cutFrame splits off the first event. It ends with its line, or in the binary form
// after the length at its beginning.
func cutFrame(p []byte, binaryFrame bool) (frame, rest []byte) {
	end := len(p)
	if !binaryFrame {
		if i := bytes.IndexByte(p, '\n'); i >= 0 {
			end = i + 1
		}
	} else if len(p) >= 4 {
		if n := uint64(binary.BigEndian.Uint32(p)) + 4; n < uint64(end) {
			end = int(n)
		}
	}
	return p[:end], p[end:]
}
