package httpapi

import (
	"cmp"
	"context"
	"io"
	"net/http"
	"strconv"
	"sync/atomic"
	"time"
)

// answerAtOnce runs the handler in the goroutine of the client. An answer then needs no
// goroutine, which would cost more than most handlers do.
func (t transport) answerAtOnce(req *http.Request) (*http.Response, error) {
	defer t.api.calls.Done()
	defer closeBody(req.Body)
	x := &wholeAnswer{request: *req, header: make(http.Header, 8)}
	asReceived(&x.request)
	serveGuarded(t.api, x, &x.request, x.end)
	if err := req.Context().Err(); err != nil {
		return nil, err
	}
	if x.code == 0 {
		return nil, x.err
	}
	fillResponse(&x.response, req, x.code, x.header, x)
	return &x.response, nil
}

// wholeAnswer is an answer that is complete when the client gets its header: the
// ResponseWriter of the request and the body of the response.
type wholeAnswer struct {
	request  http.Request // as the server receives it
	response http.Response
	header   http.Header // of the handler, which changes nothing after the first Write
	code     int
	body     []byte
	off      int         // the number of bytes of body that were read
	err      error       // after the body
	closed   atomic.Bool // by the client
}

// Header returns the header of the answer.
func (x *wholeAnswer) Header() http.Header { return x.header }

// WriteHeader sets the code. Only the first call counts.
func (x *wholeAnswer) WriteHeader(code int) { x.code = cmp.Or(x.code, code) }

// Flush fixes the header.
func (x *wholeAnswer) Flush() { x.WriteHeader(http.StatusOK) }

// Write appends data to the body. The answer to HEAD has no body.
func (x *wholeAnswer) Write(data []byte) (int, error) {
	x.WriteHeader(http.StatusOK)
	if x.request.Method == http.MethodHead {
		return len(data), nil
	}
	if x.body == nil {
		length, _ := strconv.Atoi(x.header.Get("Content-Length"))
		x.body = make([]byte, 0, max(length, len(data)))
	}
	x.body = append(x.body, data...)
	return len(data), nil
}

// SetReadDeadline does nothing: the body of the request is in memory.
func (x *wholeAnswer) SetReadDeadline(time.Time) error { return nil }

// SetWriteDeadline does nothing: Write never waits.
func (x *wholeAnswer) SetWriteDeadline(time.Time) error { return nil }

// end completes the answer, or cuts it.
func (x *wholeAnswer) end(whole bool) {
	if x.err = io.ErrUnexpectedEOF; whole {
		x.WriteHeader(http.StatusOK)
		x.err = io.EOF
	}
}

// Read returns data of the body.
func (x *wholeAnswer) Read(dst []byte) (int, error) {
	if x.closed.Load() {
		return 0, http.ErrBodyReadAfterClose
	}
	if ctx := x.request.Context(); ctx.Err() != nil {
		return 0, context.Cause(ctx)
	}
	n := copy(dst, x.body[x.off:])
	if x.off += n; n == 0 && len(dst) > 0 {
		return 0, x.err
	}
	return n, nil
}

// Close ends the use of the body.
func (x *wholeAnswer) Close() error {
	x.closed.Store(true)
	return nil
}
