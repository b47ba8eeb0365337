package httpapi

import (
	"cmp"
	"context"
	"errors"
	"io"
	"net/http"
	"strconv"
	"sync"
	"time"
)

// Transport returns an http.RoundTripper that passes requests to the API without a
// socket. Answers are streamed, so watches work. The end of a request's context ends
// the request. The Transport works inside a testing/synctest bubble. It ignores host
// and scheme. If Middleware panics with http.ErrAbortHandler, the client gets
// io.ErrUnexpectedEOF, from RoundTrip or from the body of an answer that has begun.
func (a *API) Transport() http.RoundTripper { return transport{a} }

type transport struct{ api *API }

var errClosed = errors.New("httpapi: API is closed")

// RoundTrip starts the request and returns when the header of its answer is known.
func (t transport) RoundTrip(req *http.Request) (*http.Response, error) {
	ctx := req.Context()
	if err := ctx.Err(); err != nil {
		closeBody(req.Body)
		return nil, err
	}
	if !t.api.begin() {
		closeBody(req.Body)
		return nil, errClosed
	}
	ctx, cancel := context.WithCancelCause(ctx)
	p := &pipe{
		header: http.Header{}, headOnly: req.Method == http.MethodHead, started: make(chan struct{}),
		more: make(chan struct{}, 1), room: make(chan struct{}, 1), ctx: ctx, cancel: cancel,
	}
	p.closed = t.api.ctx.Done()
	served := serverRequest(req, ctx)
	if req.Body != nil && req.Body != http.NoBody {
		p.closeBody = sync.OnceFunc(func() { req.Body.Close() })
	}
	go func() {
		growStack()
		defer t.api.calls.Done()
		if p.closeBody != nil {
			defer p.closeBody()
			// A handler that reads the body must see the end too.
			defer context.AfterFunc(ctx, p.closeBody)()
		}
		p.run(t.api, served)
	}()
	select {
	case <-p.started:
		if p.code == 0 {
			_, err := p.state()
			return nil, err
		}
		return p.response(req), nil
	case <-req.Context().Done():
		cancel(req.Context().Err())
		return nil, req.Context().Err()
	}
}

// CancelRequest does nothing: the context of a request ends it. client-go looks for
// this method when its own timeout fires.
func (t transport) CancelRequest(*http.Request) {}

// begin adds a request to a.calls. It returns false if the API is closed.
func (a *API) begin() bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.ctx.Err() != nil {
		return false
	}
	a.calls.Add(1)
	return true
}

// stackOfARequest is the stack that the verbs need, in bytes, with a reserve.
const stackOfARequest = 12 << 10

// growStack grows the stack of a new goroutine while it is almost empty. Otherwise it
// would grow in three steps, each of which copies it: measured as a tenth of the time
// of client-go's electors and the API together.
//
//go:noinline
func growStack() {
	var room [stackOfARequest]byte
	use(&room)
}

//go:noinline
func use(*[stackOfARequest]byte) {}

// serverRequest returns the request as a server receives it.
func serverRequest(req *http.Request, ctx context.Context) *http.Request {
	r := req.WithContext(ctx)
	r.RequestURI = req.URL.RequestURI()
	r.Method = cmp.Or(r.Method, http.MethodGet)
	if r.URL.Path == "" {
		u := *r.URL
		u.Path = "/"
		r.URL = &u
	}
	r.Proto, r.ProtoMajor, r.ProtoMinor = "HTTP/1.1", 1, 1
	if r.Host == "" {
		r.Host = req.URL.Host
	}
	switch {
	case r.Body == nil:
		r.Body = http.NoBody
	case r.ContentLength == 0 && r.Body != http.NoBody:
		r.ContentLength = -1 // 0 means unknown in a client's request
	}
	r.RemoteAddr = transportAddr
	if r.Header == nil {
		r.Header = http.Header{}
	}
	return r
}

func closeBody(body io.Closer) {
	if body != nil {
		body.Close()
	}
}

// pipeBuffer is how many bytes of an answer may wait for its reader. A handler then
// blocks, as it does on a full socket.
const pipeBuffer = 256 << 10

// pipe is the ResponseWriter of one request and the body of its response.
type pipe struct {
	header    http.Header // the handler's
	code      int
	headOnly  bool
	closeBody func()        // of the request; nil without one
	started   chan struct{} // closed when the client gets the header; code is 0 if the answer was cut before
	begun     bool          // used by the handler: started is closed
	sent      http.Header

	more chan struct{} // capacity 1: data or the end can be read
	room chan struct{} // capacity 1: data was read
	// ctx ends with the request, and when the body is closed.
	ctx    context.Context
	cancel context.CancelCauseFunc
	closed <-chan struct{} // closed with the API

	mu   sync.Mutex // guards all below
	data []byte
	off  int // the number of bytes of data that were read
	done bool
	err  error // why the answer was cut

	deadline *time.Timer // of writes, or nil
	readBy   *time.Timer // the deadline of the body, or nil
}

// run calls the handler. A panic with http.ErrAbortHandler cuts the answer.
func (p *pipe) run(h http.Handler, r *http.Request) {
	done := false
	defer func() {
		if done {
			p.finish()
			return
		}
		switch problem := recover(); problem {
		case http.ErrAbortHandler, nil: // nil: runtime.Goexit
			p.abort()
		default:
			panic(problem)
		}
	}()
	h.ServeHTTP(p, r)
	done = true
}

// Header returns the header of the answer.
func (p *pipe) Header() http.Header { return p.header }

// WriteHeader fixes the header. Only the first call counts. The client gets the header
// with the next Write or Flush, as with a socket.
func (p *pipe) WriteHeader(code int) {
	if p.code == 0 {
		p.code = code
		p.sent = p.header.Clone()
	}
}

// start gives the client the header.
func (p *pipe) start() {
	p.WriteHeader(http.StatusOK)
	if !p.begun {
		p.begun = true
		close(p.started)
	}
}

// Flush starts the answer.
func (p *pipe) Flush() { p.start() }

// Write passes data to the reader, and waits while the buffer is full. The answer to
// HEAD has no body.
func (p *pipe) Write(data []byte) (int, error) {
	p.WriteHeader(http.StatusOK)
	if p.headOnly {
		return len(data), nil
	}
	for {
		p.mu.Lock()
		if len(p.data)-p.off < pipeBuffer {
			if p.off > len(p.data)/2 {
				// Drop the data that was read, in case the reader never catches up.
				p.data, p.off = p.data[:copy(p.data, p.data[p.off:])], 0
			}
			p.data = append(p.data, data...)
			p.mu.Unlock()
			signal(p.more)
			p.start()
			return len(data), nil
		}
		p.mu.Unlock()
		select {
		case <-p.room:
		case <-p.closed:
			return 0, errClosed
		case <-p.ctx.Done():
			return 0, context.Cause(p.ctx)
		}
	}
}

// SetWriteDeadline cuts the answer at a time. The zero time removes the deadline.
func (p *pipe) SetWriteDeadline(at time.Time) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.deadline != nil {
		p.deadline.Stop()
		p.deadline = nil
	}
	if !at.IsZero() && !p.done {
		p.deadline = time.AfterFunc(time.Until(at), func() { p.cancel(io.ErrUnexpectedEOF) })
	}
	return nil
}

// SetReadDeadline closes the body of the request at a time. The zero time removes the
// deadline.
func (p *pipe) SetReadDeadline(at time.Time) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.readBy != nil {
		p.readBy.Stop()
		p.readBy = nil
	}
	if p.closeBody != nil && !at.IsZero() && !p.done {
		p.readBy = time.AfterFunc(time.Until(at), p.closeBody)
	}
	return nil
}

// finish completes the answer.
func (p *pipe) finish() {
	p.start()
	p.end(context.Cause(p.ctx))
}

// abort cuts the answer.
func (p *pipe) abort() {
	if !p.begun {
		defer close(p.started)
	}
	p.end(cmp.Or(context.Cause(p.ctx), io.ErrUnexpectedEOF))
}

func (p *pipe) end(err error) {
	p.mu.Lock()
	p.done, p.err = true, err
	if p.deadline != nil {
		p.deadline.Stop()
	}
	if p.readBy != nil {
		p.readBy.Stop()
	}
	p.mu.Unlock()
	signal(p.more)
	p.cancel(nil)
}

// Read returns data from the handler, and waits for it.
func (p *pipe) Read(dst []byte) (int, error) {
	if len(dst) == 0 {
		return 0, nil
	}
	for {
		p.mu.Lock()
		n := copy(dst, p.data[p.off:])
		p.off += n
		if p.off == len(p.data) {
			p.data, p.off = p.data[:0], 0
		}
		done, err := p.done, p.err
		p.mu.Unlock()
		switch {
		case n > 0:
			signal(p.room)
			return n, nil
		case done:
			signal(p.more) // for a Read after this one
			return 0, cmp.Or(err, io.EOF)
		}
		select {
		case <-p.more:
		case <-p.ctx.Done():
			// The end of the answer also ends the context.
			if done, _ := p.state(); !done {
				return 0, context.Cause(p.ctx)
			}
		}
	}
}

// state reports whether the handler has returned, and the error that cut the answer.
func (p *pipe) state() (done bool, err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.done, p.err
}

// Close ends the request: the handler sees its context end.
func (p *pipe) Close() error {
	p.cancel(http.ErrBodyReadAfterClose)
	return nil
}

func (p *pipe) response(req *http.Request) *http.Response {
	length, err := strconv.ParseInt(p.sent.Get("Content-Length"), 10, 64)
	if err != nil {
		length = -1
	}
	return &http.Response{
		Status: strconv.Itoa(p.code) + " " + http.StatusText(p.code), StatusCode: p.code,
		Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1,
		Header: p.sent, Body: p, ContentLength: length, Request: req,
	}
}

func signal(ch chan struct{}) {
	select {
	case ch <- struct{}{}:
	default:
	}
}
