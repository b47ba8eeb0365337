package apitest

import (
	"errors"
	"fmt"
	"math"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"
	"time"

	"github.com/kubecoord/kubecoord/candidate"
	"github.com/kubecoord/kubecoord/httpapi"
	"github.com/kubecoord/kubecoord/internal/caller"
	"github.com/kubecoord/kubecoord/internal/registry"
	"github.com/kubecoord/kubecoord/store"
	"github.com/kubecoord/kubecoord/store/fixture"
)

// Options says how New makes an API. The zero value serves Lease,
// LeaseCandidate and Endpoints to everyone.
type Options struct {
	// Store is for the store.
	Store store.Options
	// From, if not nil, is a store to begin as a fork of; see store.Store.Fork.
	// The options are its own then, in place of Store.
	From *store.Store
	// API is for the API over it. Middleware in it is put between the faults
	// and the API.
	API httpapi.Options
	// KeepRequests is how many requests are remembered, the last ones. Zero
	// means DefaultKeepRequests, below zero means none.
	KeepRequests int
	// KeepBody is how many bytes of the body of each are remembered. Zero
	// means DefaultKeepBody, below zero means none.
	KeepBody int
	// KeepHistory is how many changes of the store, and how many answers and
	// events, are remembered for Verify, the last ones of each. Zero means
	// DefaultKeepHistory, below zero means none.
	KeepHistory int
	// Verify makes the end of the test call API.Verify.
	Verify bool
	// Strict makes Verify fail the test for lost updates too.
	Strict bool
	// Fixtures are what the store begins with, all of them; see API.Load.
	Fixtures []fixture.Source
	// Elector, if not nil, makes the Elector of the API, as API.Elector is, for
	// its store. It is called when the fixtures are there, and for each Fork.
	Elector func(*store.Store) (*candidate.Elector, error)
}

// Defaults of Options.
const (
	DefaultKeepRequests = 1000
	DefaultKeepBody     = 16 << 10
)

// API is the server of one test. Its methods may be called from any goroutine,
// except that those which open something fail the test, and so belong to its
// goroutine.
type API struct {
	t       testing.TB // a noTest where Open made it
	opts    Options
	st      *registry.Store
	api     *httpapi.API
	kinds   []registry.Info
	served  []store.AnyKind
	closing chan struct{} // closed when the test ends: nothing is to wait any more
	record  *record
	ended   sync.Once

	socketMu      sync.Mutex // guards the two
	plain, secure *httptest.Server

	mu     sync.Mutex // guards all below, and what is in them; held for no callback
	closed bool
	calls  sync.WaitGroup // requests under way; none is added once closed
	faults []*Injected
	log    requestLog
	open   map[*exchange]struct{}
}

// New returns an API that ends with the test. At most one Options may be given.
func New(t testing.TB, opts ...Options) *API {
	t.Helper()
	var o Options
	switch len(opts) {
	case 0:
	case 1:
		o = opts[0]
	default:
		t.Fatalf("apitest.New: got %d Options, want one at most", len(opts))
	}
	a, err := open(t, o)
	if err != nil {
		t.Fatalf("apitest.New: %v", err)
	}
	a.endWith(t)
	return a
}

// endWith has the end of a test close the API.
func (a *API) endWith(t testing.TB) {
	t.Cleanup(func() {
		a.Close()
		if a.opts.Verify {
			a.Verify(t)
		}
	})
}

// open makes an API of a new store.
func open(t testing.TB, o Options) (*API, error) {
	if o.Store.HistoryAge == 0 {
		o.Store.HistoryAge = math.MaxInt64 // for ever, and with its times
	}
	st, err := o.openStore()
	if err != nil {
		return nil, err
	}
	st.Record(recordLimit(o.KeepHistory))
	a := over(t, st, o)
	a.served = append(httpapi.Kinds(), o.API.Kinds...)
	for _, kind := range a.served {
		a.kinds = append(a.kinds, a.st.Resource(kind.Registered()).Info())
	}
	if err := a.furnish(); err != nil {
		a.st.Close()
		return nil, err
	}
	opts, err := a.apiOptions()
	if err != nil {
		a.st.Close()
		return nil, err
	}
	a.api = httpapi.New(a.Store(), opts)
	return a, nil
}

// openStore makes the store.
func (o *Options) openStore() (*registry.Store, error) {
	if o.From == nil {
		return (*registry.Store)(store.New(o.Store)), nil
	}
	st, err := (*registry.Store)(o.From).Fork()
	if err != nil {
		return nil, fmt.Errorf("Options.From: %w", err)
	}
	return st, nil
}

// over makes what surrounds the API of a store.
func over(t testing.TB, st *registry.Store, o Options) *API {
	return &API{
		t: t, opts: o, st: st, record: newRecord(o.KeepHistory), closing: make(chan struct{}), open: map[*exchange]struct{}{},
		log: newRequestLog(o.KeepRequests, o.KeepBody),
	}
}

// furnish gives the store its fixtures.
func (a *API) furnish() error {
	if len(a.opts.Fixtures) > 0 {
		if err := a.load(a.opts.Fixtures); err != nil {
			return fmt.Errorf("Options.Fixtures: %w", err)
		}
	}
	return nil
}

// apiOptions returns the options of the API below, with the faults around it and
// an Elector for its store.
func (a *API) apiOptions() (o httpapi.Options, err error) {
	o = a.opts.API
	inner := o.Middleware
	o.Middleware = func(api http.Handler) http.Handler {
		if inner != nil {
			api = inner(api)
		}
		return a.middleware(api)
	}
	if a.opts.Elector == nil {
		return o, nil
	}
	if o.Elector != nil {
		return o, errors.New("Options: got Elector and API.Elector, want one of them")
	}
	if o.Elector, err = a.opts.Elector(a.Store()); err != nil {
		return o, fmt.Errorf("Options.Elector: %w", err)
	}
	return o, nil
}

// Close ends the API: the requests under way, the watches, the sockets and what
// the faults hold back. The end of the test does so too. What was received and
// what is stored may be looked at afterwards. Closing it twice is fine.
func (a *API) Close() { a.ended.Do(a.close) }

// close ends all that is open: first what waits for a fault, then the watches,
// then the sockets.
func (a *API) close() {
	a.mu.Lock()
	a.closed = true
	a.mu.Unlock()
	close(a.closing)
	a.api.Close()
	a.closeSockets()
	a.calls.Wait() // whose connections are cut, no server waits for
	a.st.Close()
	if none, ok := a.t.(*noTest); ok {
		none.end()
	}
}

// FastForward lets d pass by the clock of the API, which is to be one that is
// moved by hand: Options.Store.Clock set to clock.NewManual. Watches time out,
// bookmarks come, history grows old, Leases expire, delays end; see package clock
// for what it waits for and what it does not move. On another clock it fails the
// test.
func (a *API) FastForward(d time.Duration) {
	a.t.Helper()
	c, ok := a.st.Clock().(interface{ FastForward(d time.Duration) })
	switch {
	case !ok:
		a.t.Fatalf("apitest: FastForward(%s): this API goes by a clock that moves by itself: set Options.Store.Clock to clock.NewManual(...), or run the test inside testing/synctest and call time.Sleep", d)
	case d < 0:
		a.t.Fatalf("apitest: FastForward(%s): want zero or more, time does not go back", d)
	}
	c.FastForward(d)
}

// Store returns the store behind the API: its typed doors are lease.In,
// candidate.In and endpoints.In. No fault acts on it.
func (a *API) Store() *store.Store { return (*store.Store)(a.st) }

// Handler returns the API with its faults, to be mounted elsewhere. What is put
// beside it is let in by its Guard.
func (a *API) Handler() *httpapi.API { return a.api }

// Host returns the host to give to clients that go through Transport. Any other
// will do.
func (a *API) Host() string { return "http://apitest" }

// Transport returns an http.RoundTripper that reaches the API without a socket.
// It works inside a testing/synctest bubble.
func (a *API) Transport() http.RoundTripper { return a.api.Transport() }

// TransportFor is Transport for a client that is known by a name of its own, to
// the faults that are meant for it and in Requests.
func (a *API) TransportFor(client string) http.RoundTripper {
	return namedTransport{a.api.Transport(), client}
}

type namedTransport struct {
	http.RoundTripper
	client string
}

// RoundTrip sends a request under the name of the client.
func (n namedTransport) RoundTrip(req *http.Request) (*http.Response, error) {
	return n.RoundTripper.RoundTrip(req.WithContext(caller.WithName(req.Context(), n.client)))
}

// CancelRequest does nothing, since the context of a request ends it. client-go
// looks for it when a timeout of its own fires.
func (n namedTransport) CancelRequest(*http.Request) {}
