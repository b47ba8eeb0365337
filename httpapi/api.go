package httpapi

import (
	"context"
	"fmt"
	"net/http"
	"sync"

	"github.com/kubecoord/kubecoord/candidate"
	"github.com/kubecoord/kubecoord/endpoints"
	"github.com/kubecoord/kubecoord/internal/codec"
	"github.com/kubecoord/kubecoord/internal/registry"
	"github.com/kubecoord/kubecoord/lease"
	"github.com/kubecoord/kubecoord/store"
	"github.com/kubecoord/kubecoord/store/clock"
)

// Options says what an API serves. The zero value serves Lease,
// LeaseCandidate and Endpoints.
type Options struct {
	// Kinds are served beside the three of this module.
	Kinds []store.AnyKind
	// Authenticate, if not nil, is asked who each request comes from; those
	// without good credentials are answered 401. Health paths are open.
	Authenticate Authenticator
	// Authorize, if not nil, is asked whether each request may be carried
	// out; if not it is answered 403. Without Authenticate the user is empty.
	Authorize Authorizer
	// Elect, if not nil, starts a candidate.Elector with these options. It elects
	// the holders of Leases among their LeaseCandidates until Close, as the
	// coordinator of a real control plane does. New panics if the options are not
	// valid: to check options from a user, call candidate.NewElector first.
	Elect *candidate.ElectorOptions
	// Middleware, if not nil, is put around the API: it is given the handler of
	// the API and returns that of all requests, those of a Transport too. A
	// handler that panics with http.ErrAbortHandler cuts the connection, and a
	// Transport acts as if there were one. Health paths come through it as well.
	Middleware func(http.Handler) http.Handler
	// Log, if not nil, is called after each answer of the API itself. It may be called from
	// many goroutines at once.
	Log func(LogEntry)
}

// API is the http.Handler of a store. Use it from any number of goroutines.
type API struct {
	st  *registry.Store
	log func(LogEntry)

	authenticate Authenticator
	authorize    Authorizer

	handler http.Handler // what requests are handed to
	kinds   []store.AnyKind
	groups  []*apiGroup
	openAPI openAPI
	// dated tells that answers say the date of the store, where net/http would
	// put that of the machine on a socket.
	dated    bool
	auditIDs auditIDs
	status   *codec.Type
	lists    *codec.Type // ListMeta
	scheme   *registry.Scheme

	ctx   context.Context // ends with Close
	close context.CancelFunc
	mu    sync.Mutex     // held to add to calls while ctx has not ended
	calls sync.WaitGroup // requests that came through a Transport, and the election
}

// Kinds returns the kinds that every API serves: Lease, LeaseCandidate and
// Endpoints.
func Kinds() []store.AnyKind {
	return []store.AnyKind{lease.Kind(), candidate.Kind(), endpoints.Kind()}
}

// New returns the API of a store. It panics if opts.Elect is not valid.
func New(st *store.Store, opts Options) *API {
	a := &API{st: (*registry.Store)(st), status: statusType(), lists: listMetaType()}
	a.kinds = append(Kinds(), opts.Kinds...)
	kinds := make([]*registry.Kind, len(a.kinds))
	for i, k := range a.kinds {
		kinds[i] = k.Registered()
		a.addResource(a.st.Resource(k.Registered()))
	}
	a.scheme = registry.NewScheme(kinds...)
	a.openAPI = newOpenAPI(a)
	a.start(opts)
	return a
}

// start sets up what New and Fork have in common, and starts the election.
func (a *API) start(opts Options) {
	a.log, a.authenticate, a.authorize = opts.Log, opts.Authenticate, opts.Authorize
	a.auditIDs.seed = a.st.Seed()
	_, real := a.st.Clock().(clock.Real)
	a.dated = !real
	a.ctx, a.close = context.WithCancel(context.Background())
	a.handler = http.HandlerFunc(a.serve)
	if opts.Middleware != nil {
		a.handler = opts.Middleware(a.handler)
	}
	if opts.Elect != nil {
		elector, err := candidate.NewElector((*store.Store)(a.st), *opts.Elect)
		if err != nil {
			panic(fmt.Sprintf("httpapi: Options.Elect: %v", err))
		}
		a.calls.Go(func() { elector.Run(a.ctx) }) // returns an error when a or its store is closed
	}
}

// Close ends all open watches, all reads that wait for a version, and the
// election. It waits for the election and for the requests that came through a
// Transport. Later requests are refused. The store stays open.
func (a *API) Close() {
	a.mu.Lock()
	a.close()
	a.mu.Unlock()
	a.calls.Wait()
}
