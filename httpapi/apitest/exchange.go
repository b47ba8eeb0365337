package apitest

import (
	"context"
	"crypto/tls"
	"errors"
	"io"
	"net"
	"net/http"
	"sync/atomic"
	"time"

	"github.com/kubecoord/kubecoord/internal/atwork"
	"github.com/kubecoord/kubecoord/internal/registry"
)

// exchange is a request on its way through the faults.
type exchange struct {
	api *API
	req *Request // guarded by api.mu but for what was received
	r   *http.Request
	w   http.ResponseWriter
	// call is what Verify remembers of the request, or nil.
	call *call
	// cancel ends the context of the request.
	cancel context.CancelFunc

	gates  []<-chan struct{} // what the answer has to wait for; guarded by api.mu
	broken atomic.Bool       // the connection is to be cut

	// worker is at work from when the request was let go on to the beginning of
	// its answer, and in a watch from when there is an event to when it is sent.
	worker *atwork.Worker

	discard bool              // the answer is not to be sent
	stale   *Injected         // whose replica answers, or nil; guarded by api.mu
	replica *registry.Replica // that answers, or nil; guarded by api.mu
	tears   []*Tear
	pause   time.Duration // before each event
}

// errFault is what the API sees of an answer that cannot go on.
var errFault = errors.New("apitest: a fault ended the answer")

// middleware puts the faults around a handler.
func (a *API) middleware(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		x := a.begin(w, r)
		defer x.end()
		for _, in := range a.Faults() {
			if !in.wants(x.request()) {
				continue
			}
			if f := in.claim(x); f != nil && x.suffer(f, in) {
				return
			}
		}
		x.forward(next)
	})
}

// begin receives a request and counts it among those under way.
func (a *API) begin(w http.ResponseWriter, r *http.Request) *exchange {
	ctx, cancel := context.WithCancel(r.Context())
	x := &exchange{api: a, w: w, cancel: cancel, worker: atwork.New(a.st.Clock())}
	x.req, x.r, x.call = a.receive(r, atwork.With(ctx, x.worker))
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.closed {
		cancel()
		panic(http.ErrAbortHandler)
	}
	a.calls.Add(1)
	a.log.add(x.req)
	a.open[x] = struct{}{}
	return x
}

// request returns what is known of the request so far.
func (x *exchange) request() Request {
	x.api.mu.Lock()
	defer x.api.mu.Unlock()
	return *x.req
}

func (x *exchange) end() {
	x.worker.Away()
	x.api.mu.Lock()
	defer x.api.mu.Unlock()
	delete(x.api.open, x)
	x.req.Done = true
	x.cancel()
	x.api.calls.Done()
}

// suffer does what a fault says, and reports whether that was the end of the
// request.
func (x *exchange) suffer(f *Fault, in *Injected) bool {
	if f.ExpireHistory {
		x.api.st.ExpireHistory()
	}
	if f.Delay > 0 && !x.wait(f.Delay) {
		x.abort()
	}
	switch {
	case f.Hang:
		x.worker.Away()
		select {
		case <-x.r.Context().Done():
		case <-x.api.closing:
		}
		x.abort()
	case f.Cut == CutBefore, f.Partition == Refused:
		x.abort()
	case f.Answer.Code != 0:
		x.api.api.Fail(&answer{x: x, w: x.w}, x.r, fill(f.Answer, x.request()))
		if x.broken.Load() {
			x.abort()
		}
		return true
	case f.Partition == Silent:
		x.api.mu.Lock()
		x.gates = append(x.gates, in.removed)
		x.api.mu.Unlock()
		if !x.pass() {
			x.abort()
		}
	case f.Cut == CutAfter:
		x.discard = true
	case f.Tear != nil:
		x.tears = append(x.tears, f.Tear)
	}
	if f.Stale != nil {
		x.readFrom(in, f.Stale)
	}
	x.pause += f.SlowEvents
	return false
}

// forward has the request answered by the API.
func (x *exchange) forward(next http.Handler) {
	a := &answer{x: x, w: x.w, note: x.note()}
	defer a.note.end()
	if x.discard {
		next.ServeHTTP(&nowhere{header: http.Header{}}, x.r)
		x.abort()
	}
	next.ServeHTTP(a, x.r)
	if x.broken.Load() {
		x.abort()
	}
}

// wait holds the request back. It reports whether it may go on: its client is
// still there, and the test has not ended.
func (x *exchange) wait(d time.Duration) bool {
	waiter, done := x.worker.StandIn(x.api.st.Clock())
	defer done()
	seen := waiter.Wakes()
	timer := waiter.NewTimer(x.api.st.Clock(), d)
	defer timer.Stop()
	waiter.Rest(seen) // or the timer has gone off already
	select {
	case <-timer.C():
		return !x.broken.Load()
	case <-x.r.Context().Done():
	case <-x.api.closing:
	}
	return false
}

// pass waits for the partitions that the request is in.
func (x *exchange) pass() bool {
	for i := 0; ; i++ {
		x.api.mu.Lock()
		if i >= len(x.gates) {
			x.gates = x.gates[:0]
			x.api.mu.Unlock()
			return !x.broken.Load()
		}
		gate := x.gates[i]
		x.api.mu.Unlock()
		x.worker.Away()
		select {
		case <-gate:
		case <-x.r.Context().Done():
			return false
		case <-x.api.closing:
			return false
		}
	}
}

// breakLocked has the connection of a request under way cut.
func (x *exchange) breakLocked() {
	x.broken.Store(true)
	// A write that waits for the client is not to hold it up.
	http.NewResponseController(x.w).SetWriteDeadline(time.Unix(1, 0))
	x.cancel()
}

// abort cuts the connection. It does not return.
func (x *exchange) abort() {
	x.api.mu.Lock()
	x.req.Cut = true
	began := x.req.Status != 0
	x.api.mu.Unlock()
	if !began {
		reset(x.w)
	}
	panic(http.ErrAbortHandler)
}

// reset resets the connection of a socket. The interim answer before keeps
// net/http's client from sending a GET once more by itself, as it would if it
// had used the connection before and nothing came: the fault would not be seen.
func reset(w http.ResponseWriter) {
	conn, _, err := http.NewResponseController(w).Hijack()
	if err != nil {
		return // there is no socket
	}
	defer conn.Close()
	io.WriteString(conn, "HTTP/1.1 100 Continue\r\n\r\n")
	raw := conn
	if t, ok := conn.(*tls.Conn); ok {
		raw = t.NetConn()
	}
	if t, ok := raw.(*net.TCPConn); ok {
		t.SetLinger(0)
		defer t.Close()
	}
}

// nowhere takes the answer that a client is not to see.
type nowhere struct{ header http.Header }

// Header returns the header that nobody sees.
func (n *nowhere) Header() http.Header { return n.header }

// WriteHeader does nothing.
func (n *nowhere) WriteHeader(int) {}

// Write takes everything.
func (n *nowhere) Write(p []byte) (int, error) { return len(p), nil }

// Flush does nothing.
func (n *nowhere) Flush() {}
