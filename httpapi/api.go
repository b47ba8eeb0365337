package httpapi

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"log"
	"net/http"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/kubecoord/kubecoord/candidate"
	"github.com/kubecoord/kubecoord/endpoints"
	"github.com/kubecoord/kubecoord/internal/kinds"
	"github.com/kubecoord/kubecoord/internal/registry"
	"github.com/kubecoord/kubecoord/internal/scratch"
	"github.com/kubecoord/kubecoord/lease"
	"github.com/kubecoord/kubecoord/store"
	"github.com/kubecoord/kubecoord/store/admission"
	"github.com/kubecoord/kubecoord/store/clock"
	"github.com/kubecoord/kubecoord/store/fixture"
	"github.com/kubecoord/kubecoord/store/kind"
)

// Version is the version of Kubernetes whose answers are implemented, as /version says it. The libraries of httpapi/kube are of it.
const Version = "v1.37.2"

// Options configures an API. The zero value serves Lease, LeaseCandidate and Endpoints to everyone.
type Options struct {
	// Kinds are served in addition to Lease, LeaseCandidate and Endpoints.
	Kinds []kind.Kind
	// Authenticate, if not nil, returns the user of each request, or the answer is 401. Health
	// paths need no credentials.
	Authenticate Authenticator
	// Authorize, if not nil, decides whether each request is allowed, or the answer is 403.
	// Without Authenticate the user is empty.
	Authorize Authorizer
	// Parts live with this one API. New and each Fork call them in their order.
	Parts []Part
	// Admission, if not nil, decides about each write of the store after it is authorized. It also sees writes of the Go API.
	// Package httpapi/kube/cluster has webhooks and policies.
	// The user of a request without Authenticate, and of the Go API, is system:apiserver of the group system:masters.
	Admission admission.Interface
	// Middleware, if not nil, wraps the handler of the API, also for health paths and a
	// Transport. A handler that panics cuts the connection; a Transport reports that.
	Middleware func(http.Handler) http.Handler
	// KindContext, if not nil, returns the context of a request for a subresource, or for a kind that is not stored, with what this one API
	// gives to the functions of kinds that answer it: Connect, Answer, MayRemove.
	KindContext func(ctx context.Context) context.Context
	// Hosts, if not nil, are the names under which clients reach the API, with or without a
	// port: "kubecoord.example", "10.0.0.1". The names of the loopback, the address at which a
	// request arrives, and any host through a Transport are allowed. A request for another host,
	// and a write of a browser's page of another origin, are answered 403, on health paths too.
	// An empty list is not nil.
	Hosts []string
	// RequestTimeout limits a request that is not a watch, from its header to the last byte
	// of its answer. A client may ask for less by the parameter timeout. After it the answer
	// is 504, or cut if it has begun. Zero means a minute, as on a real server; less means no
	// limit. For the header of the request and an answer of less than 4 KiB see
	// ReadHeaderTimeout and WriteTimeout of http.Server. A WriteTimeout ends watches too.
	RequestTimeout time.Duration
	// WatchStall is how long a watch waits for a client that does not read, before its
	// connection is cut. Zero means no limit but the timeout of the watch.
	WatchStall time.Duration
	// SlowClientBytes limits the memory of answers that are being written, watches included,
	// and of bodies that are being read. Above it the requests whose write or read has taken
	// longest are cut, but none in its first half second. Bytes that several watches send count
	// once, a body with a Content-Length of up to 16 KiB not at all. Zero means 256 MiB; less
	// means no limit.
	SlowClientBytes int64
	// Reads and Writes limit the requests in flight, except watches. Excess requests wait in line,
	// each client in one of its own, and get 429 after a quarter of RequestTimeout, unless their
	// user is in the group system:masters or the path is a health path. A request
	// does not count while its body arrives, while it waits for a resourceVersion in the
	// future, and once its answer has begun. Zero means no limit; a real server has 400 and 200.
	Reads, Writes int
	// ClientShare is how many percent of Reads, and of Writes, one client may take. A client
	// is a user, or without Authenticate an address. Zero means no limit.
	ClientShare int
	// WatchesPerClient limits the watches of one address; excess watches get 429. As many
	// other requests of a client may wait for their bodies, or for a resourceVersion. Zero
	// means no limit. Clients behind a Transport share an address.
	WatchesPerClient int
	// Checks are run by the health paths /healthz, /livez and /readyz, after ping and log, which
	// always pass. If one fails, the answer is 500.
	Checks []HealthCheck
	// Log, if not nil, is called after each answer of the API itself, from many goroutines.
	Log func(LogEntry)
}

// Part is something that lives with one API and needs its store, such as a controller, an Admission, or an Authorizer that reads
// Roles. It is called before the API answers requests, and may change the other options of this one API, except Kinds; Parts that it
// adds are called too. run, if not nil, is called in a goroutine when the API answers requests, with a context that ends with Close.
// Close waits for it.
type Part func(a *API, opts *Options) (run func(ctx context.Context))

// Controller returns the Part of a controller, such as crd.Run of httpapi/kube.
func Controller(run func(ctx context.Context, a *API)) Part {
	return func(a *API, _ *Options) func(context.Context) {
		return func(ctx context.Context) { run(ctx, a) }
	}
}

// Elect returns the Part that runs a candidate.Coordinator. New panics if the options are not valid; candidate.NewCoordinator checks
// them.
func Elect(opts candidate.CoordinatorOptions) Part {
	return func(a *API, _ *Options) func(context.Context) {
		elector, err := candidate.NewCoordinator(a.Store(), opts)
		if err != nil {
			panic(fmt.Sprintf("httpapi: Elect: %v", err))
		}
		return func(ctx context.Context) { elector.Run(ctx) } // returns an error when a or its store is closed
	}
}

// API is the http.Handler of a store. It is safe for concurrent use.
type API struct {
	st  *registry.Store // of store
	log func(LogEntry)

	authenticate Authenticator
	authorize    Authorizer
	hosts        map[string]bool // as hostOf writes them, or nil
	crossOrigin  *http.CrossOriginProtection
	timeout      time.Duration // 0: none
	limits       limits
	turns        chan struct{}                     // an element for each list that is being encoded, at most one a processor
	watches      series[watchLabels, atomic.Int64] // that are open
	events       series[versionedResource, atomic.Int64]
	metrics      atomic.Pointer[metrics] // nil until Metrics is called
	backlog      backlog
	checks       []HealthCheck
	kindContext  func(context.Context) context.Context // of Options

	handler  http.Handler // serve behind the Middleware
	served   atomic.Pointer[served]
	changing sync.Mutex // held while served changes
	setDate  bool       // take the Date header from the store's clock; net/http sets it otherwise
	buffers  sync.Pool  // of *buffers
	frames   frames
	scratch  scratch.Pool // for parts of lists, and frames

	ctx     context.Context // ends with Close
	close   context.CancelFunc
	mu      sync.Mutex     // must be held to add to running; ctx has not ended then
	running sync.WaitGroup // requests through a Transport, and Parts
}

// Kinds returns the kinds that every API serves: Lease, LeaseCandidate and Endpoints.
func Kinds() []kind.Kind {
	return []kind.Kind{lease.Kind(), candidate.Kind(), endpoints.Kind()}
}

// New returns the API of a store. It panics if a Part does, if two kinds have the same group and plural or
// the same group and name, and if the store has another kind in place of one of them. Lease, LeaseCandidate and
// Endpoints are always the kinds of the function Kinds: opts.Kinds must not have others.
func New(st *store.Store, opts Options) *API {
	a := &API{st: (*registry.Store)(st)}
	s, err := newServed(append(Kinds(), opts.Kinds...), a.st.Now())
	if err != nil {
		panic(err.Error())
	}
	for _, k := range s.kinds {
		if err := a.st.Check(kinds.Of(k)); err != nil {
			panic(err.Error())
		}
	}
	a.start(s, opts)
	return a
}

// start serves the kinds, applies the options, and starts the Parts.
func (a *API) start(s *served, opts Options) {
	a.served.Store(s)
	opts.Parts = slices.Clip(opts.Parts) // Forks share it
	var runs []func(context.Context)
	for i := 0; i < len(opts.Parts); i++ {
		if run := opts.Parts[i](a, &opts); run != nil {
			runs = append(runs, run)
		}
	}
	a.log, a.authenticate, a.authorize = opts.Log, opts.Authenticate, opts.Authorize
	if opts.Hosts != nil {
		a.hosts, a.crossOrigin = hostSet(opts.Hosts), http.NewCrossOriginProtection()
	}
	a.timeout = max(cmp.Or(opts.RequestTimeout, requestTimeout), 0)
	a.backlog.limit, a.backlog.stall = max(cmp.Or(opts.SlowClientBytes, slowClientBytes), 0), opts.WatchStall
	a.backlog.start, a.backlog.clock, a.backlog.guards = time.Now(), a.st.Clock(), map[*stallGuard]struct{}{}
	a.limits, a.turns = newLimits(opts), make(chan struct{}, runtime.GOMAXPROCS(0))
	a.checks, a.kindContext = append(alwaysHealthy(), opts.Checks...), opts.KindContext
	_, real := a.st.Clock().(clock.Real)
	a.setDate = !real
	a.ctx, a.close = context.WithCancel(context.Background())
	a.handler = http.HandlerFunc(a.serve)
	if opts.Middleware != nil {
		a.handler = opts.Middleware(a.handler)
	}
	if opts.Admission != nil {
		a.st.SetAdmission(opts.Admission)
	}
	a.serveDefined(a.ctx)
	for _, run := range runs {
		a.running.Go(func() { run(a.ctx) })
	}
}

// Store returns the store that the API serves.
func (a *API) Store() *store.Store { return (*store.Store)(a.st) }

// Close is Shutdown that waits no longer than requests may take: for RequestTimeout, or a minute without one. It logs what it leaves.
func (a *API) Close() {
	ctx, cancel := context.WithTimeout(context.Background(), cmp.Or(a.timeout, requestTimeout)+closeGrace)
	defer cancel()
	if err := a.Shutdown(ctx); err != nil {
		log.Print(err)
	}
}

// Shutdown ends all watches, all reads that wait for a resourceVersion, and the Parts. It returns
// when the Parts and all requests through a Transport have ended; later ones fail. The store
// stays open. The error says that ctx has ended first: a function of the user, such as a Default of a kind, does not return.
func (a *API) Shutdown(ctx context.Context) error {
	a.mu.Lock()
	a.close()
	a.mu.Unlock()
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		a.running.Wait()
	}()
	select {
	case <-ended:
		return nil
	case <-ctx.Done():
		return fmt.Errorf("httpapi: a request or a Part has not ended: %w", ctx.Err())
	}
}

// Load stores objects of the kinds that are served, all of them or none; see package store/fixture.
// Open watches report them. Kinds that the objects define are served when Load returns.
func (a *API) Load(ctx context.Context, sources ...fixture.Source) error {
	err := fixture.Load(ctx, a.Store(), fixture.Options{Kinds: a.Kinds()}, sources...)
	if err == nil {
		a.serveDefined(ctx)
	}
	return err
}

// Dump writes the objects of all kinds that are served, or of opts.Kinds, in a form that Load reads.
func (a *API) Dump(w io.Writer, opts fixture.DumpOptions) error {
	if opts.Kinds == nil {
		opts.Kinds = a.Kinds()
	}
	return fixture.Dump(w, a.Store(), opts)
}

// Fork returns an API of the kinds that are served now over another store, for example a fork of this API's store.
// It is like New, but much cheaper, since the two share everything that depends on the kinds alone.
// opts.Kinds is ignored. The caller must Close each of the two.
func (a *API) Fork(st *store.Store, opts Options) *API {
	f := &API{st: (*registry.Store)(st)}
	served := a.served.Load()
	for _, k := range served.kinds {
		if f.st.Check(kinds.Of(k)) != nil { // st was forked just before the kind changed, or just after
			_ = f.st.Register(context.Background(), kinds.Of(k)) // or the requests get the error
		}
	}
	f.start(served, opts)
	return f
}
