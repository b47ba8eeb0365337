package apitest

import (
	"context"
	"crypto/tls"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"slices"
	"sync/atomic"
	"time"

	"github.com/kubecoord/kubecoord/internal/caller"
	"github.com/kubecoord/kubecoord/internal/registry"
	"github.com/kubecoord/kubecoord/store/clock"
)

// exchange is a request that passes through the faults, and the ResponseWriter of its answer.
type exchange struct {
	api    *API
	req    *Request // guarded by api.mu, except the fields that do not change
	r      *http.Request
	w      http.ResponseWriter
	cancel context.CancelFunc // ends the context of r

	met    []*Fault          // the faults that have counted the request; guarded by api.mu
	gates  []<-chan struct{} // the answer waits until all are closed; guarded by api.mu
	broken atomic.Bool       // the connection must be cut

	after func()            // if not nil, the answer is dropped and after takes its place
	stale bool              // a replica serves the request
	lags  map[*Fault][]*lag // that serve only this request; guarded by api.mu
	veils *registry.Veils   // on the watch, or nil
	tears []tear
	pause time.Duration // before each event

	code int       // of the answer, or 0
	torn bool      // the watch must end
	due  time.Time // of the last event that was held back

	// For Verify: whether an update or a patch names a resourceVersion, and the versions in the part of the
	// answer that is not sent yet.
	guarded bool
	sights  []caller.Sight
}

// errFault is the error of a write to an answer that a fault has ended.
var errFault = errors.New("apitest: a fault ended the answer")

// serve answers a request by next, unless a fault does.
func (a *API) serve(w http.ResponseWriter, r *http.Request, next http.Handler) {
	x := a.begin(w, r)
	defer x.end()
	x.slowDown()
	if a.hasCrashed(x) {
		x.abort()
	}
	if !slices.ContainsFunc(a.Faults(), func(f *Fault) bool { return f.meet(x, false) }) {
		x.forward(next)
	}
}

// begin receives a request and counts it as in progress.
func (a *API) begin(w http.ResponseWriter, r *http.Request) *exchange {
	ctx, cancel := context.WithCancel(r.Context())
	x := &exchange{api: a, w: w, cancel: cancel}
	x.receive(r.WithContext(ctx))
	if x.req.Verb == "watch" {
		x.veils = &registry.Veils{}
		x.r = x.r.WithContext(x.veils.Context(ctx))
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.closed {
		cancel()
		panic(http.ErrAbortHandler)
	}
	a.calls.Add(1)
	a.logLocked(x.req)
	a.open[x] = struct{}{}
	return x
}

func (x *exchange) request() Request {
	x.api.mu.Lock()
	defer x.api.mu.Unlock()
	return *x.req
}

func (x *exchange) end() {
	now, left := x.api.st.Now(), x.watching() && x.r.Context().Err() != nil
	x.api.mu.Lock()
	defer x.api.mu.Unlock()
	delete(x.api.open, x)
	x.req.Done, x.req.Duration, x.req.Watch.Left = true, now.Sub(x.req.Time), left
	x.cancel()
	x.api.calls.Done()
}

func (x *exchange) forward(next http.Handler) {
	if !x.pass() { // a partition began while the request met the faults
		x.abort()
	}
	x.record()
	if x.after != nil {
		next.ServeHTTP(&httptest.ResponseRecorder{}, x.r) // keeps no body: the answer may be an endless watch
		x.after()
		return
	}
	next.ServeHTTP(x, x.r)
	x.abortIfBroken()
}

// record records the request for Verify, just before the API gets it.
func (x *exchange) record() {
	rec := x.api.recorder
	if rec.limit == 0 || x.req.Resource == "" {
		return
	}
	ctx := caller.WithObserver(x.r.Context(), func(s caller.Sight) { x.sights = append(x.sights, s) })
	w := rec.start(x)
	x.r = x.r.WithContext(context.WithValue(ctx, writeKey{}, w))
	x.api.mu.Lock()
	defer x.api.mu.Unlock()
	x.req.write = w
}

// wait holds the request back. It reports whether the request may continue.
func (x *exchange) wait(d time.Duration) bool {
	c := x.api.st.Clock()
	waiting, cancel := clock.WithDeadline(x.r.Context(), c, c.Now().Add(d), nil)
	defer cancel()
	select {
	case <-waiting.Done():
		return x.r.Context().Err() == nil && !x.broken.Load()
	case <-x.api.closing:
		return false
	}
}

func (x *exchange) hold(gate <-chan struct{}) {
	x.api.mu.Lock()
	defer x.api.mu.Unlock()
	x.gates = append(x.gates, gate)
}

// pass waits for the end of the partitions that hold the request. It returns false if the request must end.
func (x *exchange) pass() bool {
	for gate := x.gate(); gate != nil; gate = x.gate() {
		select {
		case <-gate:
		case <-x.r.Context().Done():
			return false
		case <-x.api.closing:
			return false
		}
	}
	return !x.broken.Load()
}

func (x *exchange) gate() <-chan struct{} {
	x.api.mu.Lock()
	defer x.api.mu.Unlock()
	for len(x.gates) > 0 {
		select {
		case <-x.gates[0]:
			x.gates = x.gates[1:]
		default:
			return x.gates[0]
		}
	}
	return nil
}

func (x *exchange) breakOff() {
	x.api.mu.Lock()
	defer x.api.mu.Unlock()
	if _, open := x.api.open[x]; open {
		x.broken.Store(true)
		// A write that waits for the client must not delay the cut.
		http.NewResponseController(x.w).SetWriteDeadline(time.Unix(1, 0))
		x.cancel()
	}
}

func (x *exchange) abortIfBroken() {
	if x.broken.Load() {
		x.abort()
	}
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

// reset resets the connection of a socket. The interim answer keeps net/http's client from repeating a
// GET, as it does if a reused connection ends without any answer.
func reset(w http.ResponseWriter) {
	conn, _, err := http.NewResponseController(w).Hijack()
	if err != nil {
		return // a Transport has no connection
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
