package httpapi

import (
	"cmp"
	"context"
	"io"
	"net/http"
	"runtime"
	"strconv"
	"sync"
	"time"
)

// pipeBuffer is how many bytes of an answer may wait for its reader. A handler then
// blocks, as it does on a full socket.
const pipeBuffer = 256 << 10

// pipe is the ResponseWriter of a request through a Transport and the body of its response.
type pipe struct {
	api       *API
	req       http.Request // as the server receives it
	resp      http.Response
	client    context.Context
	header    http.Header // the handler's
	code      int
	sent      http.Header // with code
	closeBody func()      // of the request; nil without one

	more chan struct{} // capacity 1: the header, data or the end can be read
	room chan struct{} // capacity 1: data was read
	// cancel ends the context of req: with the answer, and when the body is closed.
	cancel context.CancelCauseFunc

	mu     sync.Mutex // guards all below
	data   []byte
	off    int   // the number of bytes of data that were read
	begun  bool  // the client gets the header
	done   bool  // code is 0 if the answer was cut before its header
	closed bool  // by the client
	err    error // why the answer was cut

	// The deadlines of writes and of the body of the request, or nil.
	writeBy, readBy *time.Timer
}

func newPipe(a *API, req *http.Request) *pipe {
	ctx, cancel := context.WithCancelCause(req.Context())
	p := &pipe{
		api: a, client: req.Context(), header: make(http.Header, 8), req: *req.WithContext(ctx), cancel: cancel,
		more: make(chan struct{}, 1), room: make(chan struct{}, 1),
	}
	asReceived(&p.req)
	if req.Body != nil && req.Body != http.NoBody {
		p.closeBody = sync.OnceFunc(func() { req.Body.Close() })
	}
	return p
}

// serve runs the handler. If it panics or ends its goroutine, the answer is cut, as a server
// cuts the connection.
func (p *pipe) serve() {
	defer p.api.running.Done()
	if p.closeBody != nil {
		defer p.closeBody()
		defer context.AfterFunc(p.req.Context(), p.closeBody)() // a handler that reads the body must see the end too
	}
	whole := false
	defer func() {
		if problem := recover(); problem != nil && problem != http.ErrAbortHandler {
			logPanic(&p.req, problem)
		}
		p.finish(whole)
	}()
	p.api.ServeHTTP(p, &p.req)
	whole = true
}

// awaitStart waits until the client can have the header, or for the end of its context.
func (p *pipe) awaitStart() {
	for {
		p.mu.Lock()
		ready := p.begun || p.done
		p.mu.Unlock()
		if ready {
			return
		}
		select {
		case <-p.more:
		case <-p.client.Done():
			p.cancel(p.client.Err())
			return
		}
	}
}

// response returns the response to req after its start.
func (p *pipe) response(req *http.Request) (*http.Response, error) {
	if p.code == 0 {
		p.mu.Lock()
		defer p.mu.Unlock()
		return nil, p.err
	}
	length, err := strconv.ParseInt(p.sent.Get("Content-Length"), 10, 64)
	if err != nil {
		length = -1
	}
	status := "200 OK"
	if p.code != http.StatusOK {
		status = strconv.Itoa(p.code) + " " + http.StatusText(p.code)
	}
	p.resp = http.Response{
		Status: status, StatusCode: p.code,
		Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1,
		Header: p.sent, Body: p, ContentLength: length, Request: req,
	}
	return &p.resp, nil
}

// growStack grows the stack of a new goroutine at once. Otherwise the stack grows in three
// steps, each with a copy, which took 15 % of the CPU time of a get through a Transport.
//
//go:noinline
func growStack() {
	var room [12 << 10]byte // enough for each verb
	runtime.KeepAlive(&room)
}

// Header returns the header of the answer.
func (p *pipe) Header() http.Header { return p.header }

// WriteHeader fixes the header; the client gets it with the next Write or Flush. Only the first
// call counts.
func (p *pipe) WriteHeader(code int) {
	if p.code != 0 {
		return
	}
	p.code, p.sent = code, p.header.Clone()
}

// start gives the client the header.
func (p *pipe) start() {
	p.WriteHeader(http.StatusOK)
	p.mu.Lock()
	p.begun = true
	p.mu.Unlock()
	signal(p.more)
}

// Flush starts the answer.
func (p *pipe) Flush() { p.start() }

// Write passes data to the reader, and waits while the buffer is full. HEAD has no body.
func (p *pipe) Write(data []byte) (int, error) {
	p.WriteHeader(http.StatusOK)
	if p.req.Method == http.MethodHead {
		return len(data), nil
	}
	for !p.append(data) {
		select {
		case <-p.room:
		case <-p.api.ctx.Done():
			return 0, errClosed
		case <-p.req.Context().Done():
			return 0, context.Cause(p.req.Context())
		}
	}
	signal(p.more)
	return len(data), nil
}

// append adds data to the buffer. It reports false if the buffer is full.
func (p *pipe) append(data []byte) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	switch {
	case len(p.data)-p.off >= pipeBuffer:
		return false
	case p.off > len(p.data)/2:
		p.data, p.off = p.data[:copy(p.data, p.data[p.off:])], 0
	}
	p.data, p.begun = append(p.data, data...), true
	return true
}

// SetWriteDeadline cuts the answer at a time; the zero time is none.
func (p *pipe) SetWriteDeadline(at time.Time) error {
	p.setDeadline(&p.writeBy, at, func() { p.cancel(io.ErrUnexpectedEOF) })
	return nil
}

// SetReadDeadline closes the body of the request at a time; the zero time is none.
func (p *pipe) SetReadDeadline(at time.Time) error {
	if p.closeBody != nil {
		p.setDeadline(&p.readBy, at, p.closeBody)
	}
	return nil
}

func (p *pipe) setDeadline(timer **time.Timer, at time.Time, passed func()) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if *timer != nil {
		(*timer).Stop()
		*timer = nil
	}
	if !at.IsZero() && !p.done {
		*timer = time.AfterFunc(time.Until(at), passed)
	}
}

// finish completes the answer, or cuts it.
func (p *pipe) finish(whole bool) {
	err := context.Cause(p.req.Context())
	if whole {
		p.start()
	} else {
		err = cmp.Or(err, io.ErrUnexpectedEOF)
	}
	p.mu.Lock()
	p.done, p.err = true, err
	p.mu.Unlock()
	p.SetWriteDeadline(time.Time{})
	p.SetReadDeadline(time.Time{})
	signal(p.more)
	p.cancel(nil)
}

// Read returns data from the handler, and waits for it.
func (p *pipe) Read(dst []byte) (int, error) {
	for {
		n, err := p.take(dst)
		if n > 0 || err != nil || len(dst) == 0 {
			signal(p.room)
			return n, err
		}
		select {
		case <-p.more:
		case <-p.req.Context().Done():
		}
	}
}

// take moves data to dst. It returns neither data nor an error if the reader must wait.
func (p *pipe) take(dst []byte) (n int, err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	switch n = copy(dst, p.data[p.off:]); {
	case p.closed:
		return 0, http.ErrBodyReadAfterClose
	case p.client.Err() != nil:
		return 0, context.Cause(p.client)
	case n == 0 && p.done:
		return 0, cmp.Or(p.err, io.EOF)
	case n == 0:
		return 0, context.Cause(p.req.Context())
	}
	if p.off += n; p.off == len(p.data) {
		p.data, p.off = p.data[:0], 0
	}
	return n, nil
}

// Close ends the request: the handler sees its context end.
func (p *pipe) Close() error {
	p.mu.Lock()
	p.closed = true
	p.mu.Unlock()
	p.cancel(http.ErrBodyReadAfterClose)
	return nil
}

func signal(ch chan struct{}) {
	select {
	case ch <- struct{}{}:
	default:
	}
}
