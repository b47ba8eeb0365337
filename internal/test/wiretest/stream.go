package wiretest

import (
	"encoding/json"
	"io"
	"net/http"
	"strings"
)

// streamBuffer is the number of events that may wait to be collected. After that the server must wait.
const streamBuffer = 10000

// stream reads the events of an answer in the background, while further steps run.
type stream struct {
	events chan any // closed at the end of the answer
	ended  bool     // the end was collected

	body   io.Closer
	cancel func()        // ends the request
	closed chan struct{} // closed when no more events are collected, so that the reader stops
	hungUp bool
	done   chan struct{} // closed when the reader has returned
}

// open keeps an answer as a stream of that name. It takes over cancel.
func (x *run) open(name string, resp *http.Response, cancel func()) {
	if old := x.streams[name]; old != nil {
		old.close()
	}
	st := &stream{
		events: make(chan any, streamBuffer),
		body:   resp.Body,
		cancel: cancel,
		closed: make(chan struct{}),
		done:   make(chan struct{}),
	}
	x.streams[name] = st
	go func() {
		defer close(st.done)
		defer close(st.events)
		if strings.HasPrefix(resp.Header.Get("Content-Type"), protobufType) {
			readProtobufEvents(resp.Body, st.send)
		} else {
			readJSONEvents(resp.Body, st.send)
		}
	}()
}

// send passes an event to the collector. It reports whether to read on.
func (s *stream) send(event any) bool {
	select {
	case s.events <- event:
		return true
	case <-s.closed:
		return false
	}
}

// close closes the stream and waits for the reader. Only the goroutine that runs the steps calls it.
func (s *stream) close() {
	if s.hungUp {
		return
	}
	s.hungUp = true
	close(s.closed)
	s.cancel()
	s.body.Close()
	<-s.done
}

// readJSONEvents reads JSON values until the end, or until send returns false.
func readJSONEvents(r io.Reader, send func(any) bool) {
	decoder := json.NewDecoder(r)
	decoder.UseNumber()
	for {
		var event any
		if err := decoder.Decode(&event); err != nil || !send(event) {
			return
		}
	}
}
