package apitest

import (
	"cmp"
	"context"
	"math"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"time"

	"github.com/kubecoord/kubecoord/httpapi"
	"github.com/kubecoord/kubecoord/internal/registry"
	"github.com/kubecoord/kubecoord/store"
	"github.com/kubecoord/kubecoord/store/fixture"
)

// TB is the part of testing.TB that this package uses. A program that is not a test, such as
// package debug, can pass its own. If Fatalf returns, its caller returns a zero value.
type TB interface {
	Helper()
	TempDir() string
	Cleanup(func())
	Logf(format string, args ...any)
	Errorf(format string, args ...any)
	Fatalf(format string, args ...any)
}

// Options configures New. The zero value serves Lease, LeaseCandidate and Endpoints without
// authentication.
type Options struct {
	// Store configures the store.
	Store store.Options
	// Over, if not nil, is the store to serve instead. The end of the API closes it.
	Over *store.Store
	// API configures the API. Faults act before its Middleware and Authenticate.
	API httpapi.Options
	// Fixtures are loaded before the API starts.
	Fixtures []fixture.Source
	// TLS makes URL and Kubeconfig use HTTPS.
	TLS bool
	// Verify calls API.Verify when the test ends.
	Verify bool
	// KeepHistory is how many changes, and versions that clients have seen, are
	// kept for Verify, Changes and Request.Result. Zero means 10,000 of each, a negative value none.
	KeepHistory int
	// KeepRequests is how many requests Requests returns at most. Zero means 1000, a negative value none.
	KeepRequests int
	// MaxRequestsPerInstant is how many requests a client may send at one instant of a testing/synctest bubble. A client that works
	// without a pause would otherwise stop the time there, and the test never ends. Beyond it the test fails once, with the name
	// of the client, and each later request of the client takes a second. Zero means 100,000, a negative value no limit.
	MaxRequestsPerInstant int
}

// API is the server of one test. Its methods may be called from any goroutine, except the methods that may
// end a test: CA, Dump, FastForward, Fault, Fork, Kubeconfig and URL must be called from the goroutine of
// that test.
type API struct {
	t        TB
	opts     Options
	st       *registry.Store
	api      *httpapi.API
	closing  chan struct{} // closed by Close: every wait ends
	recorder *recorder
	ended    sync.Once

	mu     sync.Mutex // guards all below and their contents; no callback runs under it
	closed bool
	server *httptest.Server // on a loopback port, or nil
	calls  sync.WaitGroup   // requests in progress; none is added once closed
	faults []*Fault
	log    []*Request // the last Options.KeepRequests
	open   map[*exchange]struct{}
	rushes map[string]rush // by the name of the client
}

// New returns an API that ends with the test. It takes at most one Options. A test that fails shows the last
// requests, as Requests.Timeline.
func New(t TB, opts ...Options) *API {
	t.Helper()
	if len(opts) > 1 {
		t.Fatalf("apitest.New: got %d Options, want one at most", len(opts))
		return nil
	}
	o := append(opts, Options{})[0]
	o.KeepHistory = max(cmp.Or(o.KeepHistory, 10_000), 0)
	o.KeepRequests = max(cmp.Or(o.KeepRequests, 1000), 0)
	o.MaxRequestsPerInstant = cmp.Or(o.MaxRequestsPerInstant, 100_000)
	if o.Store.HistoryAge == 0 {
		o.Store.HistoryAge = math.MaxInt64 // history never expires by age and has times
	}
	st := o.Over
	if st == nil {
		st = store.New(o.Store)
	}
	all := append(httpapi.Kinds(), o.API.Kinds...)
	if o.Fixtures != nil {
		if err := fixture.Load(context.Background(), st, fixture.Options{Kinds: all}, o.Fixtures...); err != nil {
			st.Close()
			t.Fatalf("apitest.New: Options.Fixtures: %v", err)
			return nil
		}
	}
	rec := newRecorder((*registry.Store)(st), o.KeepHistory) // before o.API.Parts, whose writes it has too
	return newAPI(t, st, rec, o, func(opts httpapi.Options) *httpapi.API { return httpapi.New(st, opts) })
}

// newAPI returns an API that ends with the test. serve makes its handler.
func newAPI(t TB, st *store.Store, rec *recorder, o Options, serve func(httpapi.Options) *httpapi.API) *API {
	a := &API{
		t: t, opts: o, st: (*registry.Store)(st), recorder: rec,
		closing: make(chan struct{}), open: map[*exchange]struct{}{}, rushes: map[string]rush{},
	}
	opts := o.API
	opts.Middleware = func(next http.Handler) http.Handler {
		if o.API.Middleware != nil {
			next = o.API.Middleware(next)
		}
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { a.serve(w, r, next) })
	}
	a.api = serve(opts)
	t.Cleanup(func() {
		a.Close()
		if o.Verify {
			a.Verify(t)
		}
		a.logTimeline(t)
	})
	return a
}

// Fork returns a copy of the API with the same Options, objects, next resourceVersion and history,
// so that lists, continue tokens and watches can start before the fork. Later writes to one are not
// seen in the other. The fork ends with t, which may be a different test.
//
// The cost does not depend on the number of objects. Fork may be called during writes, by several
// tests at once, on a fork, and in a testing/synctest bubble on an API from outside. Time in a bubble
// begins in the year 2000; Verify lets it continue from the fork.
//
// A fork has its own sockets, election and manual clock, and starts without faults and requests.
// Functions in the Options are called for both. Fork fails the test if the API has ended.
func (a *API) Fork(t TB) *API {
	t.Helper()
	st, err := a.st.Fork()
	if err != nil {
		t.Fatalf("apitest.Fork: the API has ended: %v", err)
		return nil
	}
	forked := (*store.Store)(st)
	return newAPI(t, forked, a.recorder.fork(st), a.opts, func(opts httpapi.Options) *httpapi.API { return a.api.Fork(forked, opts) })
}

// Close ends the API before the end of the test: requests in progress, watches, the election,
// sockets, and the store. Requests, Dump and Verdict still work.
func (a *API) Close() {
	a.ended.Do(func() {
		a.mu.Lock()
		a.closed = true
		socket := a.server
		a.mu.Unlock()
		close(a.closing)
		a.api.Close()
		if socket != nil {
			socket.CloseClientConnections()
			socket.Close()
		}
		a.calls.Wait() // httptest.Server does not wait for a request after its connection is cut
		a.st.Close()
	})
}

// FastForward moves the manual clock of the API by d: watches time out, history expires, Leases run
// out, delays end. It waits for none of this: see package clock. It fails the test if
// Options.Store.Clock is not a clock.Manual.
func (a *API) FastForward(d time.Duration) {
	a.t.Helper()
	c, ok := a.st.Clock().(interface{ FastForward(d time.Duration) })
	switch {
	case !ok:
		a.t.Fatalf("apitest: FastForward(%s): got a clock that moves by itself: set Options.Store.Clock to clock.NewManual(...), or run the test inside testing/synctest and call time.Sleep", d)
	case d < 0:
		a.t.Fatalf("apitest: FastForward(%s): want zero or more, time does not go back", d)
	default:
		c.FastForward(d)
	}
}

// Dump returns the state of the store as text that Options.Fixtures can load. Equal states give equal
// texts. Without opts.Kinds it includes all served kinds.
func (a *API) Dump(opts fixture.DumpOptions) string {
	a.t.Helper()
	var b strings.Builder
	if err := a.api.Dump(&b, opts); err != nil {
		a.t.Fatalf("apitest.Dump: %v", err)
	}
	return b.String()
}

// Store returns the store behind the API. Faults do not act on it.
func (a *API) Store() *store.Store { return a.api.Store() }

// Handler returns the API with its faults, for a mux or server of your own. Its method Load adds
// fixtures later.
func (a *API) Handler() *httpapi.API { return a.api }

// Host returns a host for clients that use Transport, which ignores it.
func (a *API) Host() string { return "http://apitest" }

// Transport returns an http.RoundTripper that reaches the API without a socket, also in a
// testing/synctest bubble.
func (a *API) Transport() http.RoundTripper { return a.api.Transport() }
