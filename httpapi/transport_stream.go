package httpapi

import (
	"cmp"
	"context"
	"io"
	"net/http"
	"sync"
	"time"
)

// stream runs the handler in a goroutine of its own, and passes the answer on while the
// handler writes it.
func (t transport) stream(req *http.Request) (*http.Response, error) {
	ctx, cancel := context.WithCancelCause(req.Context())
	p := &pipe{
		header: http.Header{}, headOnly: req.Method == http.MethodHead, started: make(chan struct{}),
		more: make(chan struct{}, 1), room: make(chan struct{}, 1), ctx: ctx, cancel: cancel,
	}
	p.closed = t.api.ctx.Done()
	served := req.WithContext(ctx)
	asReceived(served)
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
		serveGuarded(t.api, p, served, p.finish)
	}()
	select {
	case <-p.started:
		if p.code == 0 {
			_, err := p.state()
			return nil, err
		}
		resp := new(http.Response)
		fillResponse(resp, req, p.code, p.sent, p)
		return resp, nil
	case <-req.Context().Done():
		cancel(req.Context().Err())
		return nil, req.Context().Err()
	}
}

// stackOfARequest is the stack that the verbs need, in bytes, with a reserve.
const stackOfARequest = 12 << 10

// growStack grows the stack of a new goroutine while the stack is almost empty. Otherwise
// the stack would grow in three steps, and each step copies it. The three steps took a tenth
// of the time of client-go's electors and the API together.
//
//go:noinline
func growStack() {
	var room [stackOfARequest]byte
	use(&room)
}

//go:noinline
func use(*[stackOfARequest]byte) {}

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

	// The deadlines of writes and of the body of the request, or nil.
	writeBy, readBy *time.Timer
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
	p.setDeadline(&p.writeBy, at, func() { p.cancel(io.ErrUnexpectedEOF) })
	return nil
}

// SetReadDeadline closes the body of the request at a time. The zero time removes the
// deadline.
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
	if whole {
		p.start()
		p.end(context.Cause(p.ctx))
		return
	}
	if !p.begun {
		defer close(p.started)
	}
	p.end(cmp.Or(context.Cause(p.ctx), io.ErrUnexpectedEOF))
}

func (p *pipe) end(err error) {
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

func signal(ch chan struct{}) {
	select {
	case ch <- struct{}{}:
	default:
	}
}
