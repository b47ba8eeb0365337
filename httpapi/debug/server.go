package debug

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"math"
	"net/http"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/kubecoord/kubecoord/candidate"
	"github.com/kubecoord/kubecoord/httpapi"
	"github.com/kubecoord/kubecoord/httpapi/apitest"
	"github.com/kubecoord/kubecoord/store"
	"github.com/kubecoord/kubecoord/store/fixture"
	"github.com/kubecoord/kubecoord/store/kind"
)

// Options configures New. The zero value serves Lease, LeaseCandidate and Endpoints from an empty store, to everyone.
type Options struct {
	// Server configures the server at the root and each fork. Over, if not nil, has the first state: the server answers from a fork
	// of it, never writes to it, and closes it in Close. Its changes have times if its store.Options.HistoryAge is set. Store
	// configures the store without Over, and the store of a reset to a fixture. TLS and Verify have no effect.
	Server apitest.Options
	// Elect, if not nil, runs a candidate.Coordinator in the server and in each fork. The page of elections shows what it does.
	Elect *candidate.CoordinatorOptions
}

// Server is an http.Handler: an API at the root with its operations below /debug/, and its forks below /debug/forks/. They are
// independent of each other. Its methods may be called from any goroutine.
type Server struct {
	options Options
	main    *fork
	loading sync.Mutex // held by the load of a fixture: decoding takes far more memory than the body

	mu     sync.Mutex // guards the fields below; taken before the mutex of a fork
	forks  map[string]*fork
	last   int // number used as a name
	closed bool
}

const (
	forksPath = "/debug/forks/"
	maxForks  = 100
)

// fork is a server with its own address: the server at the root, or a fork. A reset replaces its stage.
type fork struct {
	srv   *Server
	name  string       // "" at the root
	start *store.Store // the first state, for resets: not served, never changed

	mu  sync.RWMutex // guards the fields below
	now *stage
	end bool
}

// Reasons to refuse a fork.
var (
	errClosed = errors.New("this server has ended")
	errTaken  = errors.New("want another name: this fork exists")
	errFull   = fmt.Errorf("want %d at most: DELETE some", maxForks)
)

// New returns a server. The caller must Close it. The error is about a fixture that does not load, options of the Coordinator that
// are not valid, or a store that has ended; New has closed the store then.
func New(opts Options) (*Server, error) {
	srv := &Server{options: opts, forks: map[string]*fork{}}
	of := &srv.options.Server
	of.Store.HistoryAge = cmp.Or(of.Store.HistoryAge, math.MaxInt64) // the history has times
	start := of.Over
	if start == nil {
		start = store.New(of.Store)
	}
	if err := srv.prepare(start); err != nil {
		start.Close()
		return nil, fmt.Errorf("debug: %w", err)
	}
	of.Fixtures = nil // each stage forks a store that has them
	var err error
	if srv.main, err = srv.newFork("", start); err != nil {
		return nil, fmt.Errorf("debug: %w", err)
	}
	return srv, nil
}

// prepare loads the fixtures, and checks the options of the Coordinator.
func (srv *Server) prepare(start *store.Store) error {
	if sources := srv.options.Server.Fixtures; sources != nil {
		if err := fixture.Load(context.Background(), start, fixture.Options{Kinds: srv.kinds()}, sources...); err != nil {
			return fmt.Errorf("Options.Server.Fixtures: %w", err)
		}
	}
	if srv.options.Elect != nil {
		if _, err := candidate.NewCoordinator(start, *srv.options.Elect); err != nil {
			return fmt.Errorf("Options.Elect: %w", err)
		}
	}
	return nil
}

// kinds returns the kinds that are served at the start.
func (srv *Server) kinds() []kind.Kind {
	return append(httpapi.Kinds(), srv.options.Server.API.Kinds...)
}

// API returns the API at the root, with its store, requests and faults. A reset replaces it by another one. After Close it has
// ended, but its Requests, Dump and Verdict work. A method that would fail a test returns a zero value instead.
func (srv *Server) API() *apitest.API {
	srv.main.mu.RLock()
	defer srv.main.mu.RUnlock()
	return srv.main.now.api
}

// newFork opens a fork. The fork owns the store; newFork closes it on an error.
func (srv *Server) newFork(name string, start *store.Store) (*fork, error) {
	w := &fork{srv: srv, name: name, start: start}
	var err error
	if w.now, err = w.newStage(start); err != nil {
		start.Close()
		return nil, err
	}
	return w, nil
}

// stage returns the current stage, or nil if the fork has ended.
func (w *fork) stage() *stage {
	w.mu.RLock()
	defer w.mu.RUnlock()
	if w.end {
		return nil
	}
	return w.now
}

// path returns the path of the fork without a trailing slash.
func (w *fork) path() string {
	if w.name == "" {
		return ""
	}
	return forksPath + w.name
}

// ServeHTTP serves the API, and below /debug/ its control.
func (w *fork) ServeHTTP(rw http.ResponseWriter, r *http.Request) {
	for s := w.stage(); s != nil; s = w.stage() {
		if strings.HasPrefix(r.URL.Path, "/debug/") {
			s.api.Handler().Guard(s.control).ServeHTTP(rw, r)
			return
		}
		if s.serve(rw, r) {
			return
		}
	}
	http.Error(rw, errClosed.Error(), http.StatusServiceUnavailable)
}

// ServeHTTP answers a request, or passes it to its fork. An embedder must pass on the whole path, and requests for all paths of the API:
// an http.ServeMux in front would redirect some of them.
func (srv *Server) ServeHTTP(rw http.ResponseWriter, r *http.Request) {
	rest, below := strings.CutPrefix(r.URL.Path, forksPath)
	name, _, inside := strings.Cut(rest, "/")
	if !below || !inside {
		srv.main.ServeHTTP(rw, r)
		return
	}
	s := srv.main.stage()
	if s == nil {
		http.Error(rw, errClosed.Error(), http.StatusServiceUnavailable)
		return
	}
	w := srv.find(name)
	if w == srv.main || w == nil || !s.knows(r) {
		// Only authenticated clients may learn whether a fork exists.
		s.api.Handler().Guard(http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
			http.Error(rw, noFork(name).Error(), http.StatusNotFound)
		})).ServeHTTP(rw, r)
		return
	}
	http.StripPrefix(w.path(), w).ServeHTTP(rw, r)
}

// find returns the fork with a name, or nil. The server at the root has the name "".
func (srv *Server) find(name string) *fork {
	if name == "" {
		return srv.main
	}
	srv.mu.Lock()
	defer srv.mu.Unlock()
	return srv.forks[name]
}

func noFork(name string) error {
	return fmt.Errorf("fork: got %q, want a name that GET /debug/forks lists", name)
}

// names returns the names of the forks in their order.
func (srv *Server) names() []string {
	srv.mu.Lock()
	defer srv.mu.Unlock()
	return slices.SortedFunc(maps.Keys(srv.forks), func(a, b string) int {
		return cmp.Or(cmp.Compare(len(a), len(b)), cmp.Compare(a, b)) // as numbers are ordered
	})
}

var forkName = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$`) })

// add makes a fork with the state of another. An empty name becomes a number.
func (srv *Server) add(from *fork, name string) (*fork, error) {
	if name != "" && !forkName().MatchString(name) {
		return nil, fmt.Errorf("name: got %q, want at most 63 small letters, digits and -, the last not at an end", name)
	}
	srv.mu.Lock()
	defer srv.mu.Unlock()
	s := from.stage()
	switch {
	case srv.closed || s == nil:
		return nil, errClosed
	case len(srv.forks) >= maxForks:
		return nil, fmt.Errorf("forks: got %d, %w", len(srv.forks)+1, errFull)
	case srv.forks[name] != nil:
		return nil, fmt.Errorf("name: got %q, %w", name, errTaken)
	}
	for name == "" || srv.forks[name] != nil {
		srv.last++
		name = strconv.Itoa(srv.last)
	}
	start, err := s.api.Store().Fork()
	if err != nil {
		return nil, err
	}
	w, err := srv.newFork(name, start)
	if err == nil {
		srv.forks[name] = w
	}
	return w, err
}

// remove ends a fork.
func (srv *Server) remove(name string) error {
	srv.mu.Lock()
	w := srv.forks[name]
	delete(srv.forks, name)
	srv.mu.Unlock()
	if w == nil {
		return noFork(name)
	}
	w.close()
	return nil
}

// reset replaces the stage by a new one with a fork of a store. It drops the faults and
// requests of the old stage and ends its watches.
func (w *fork) reset(to *store.Store) error {
	next, err := w.newStage(to)
	if err != nil {
		return err
	}
	w.mu.Lock()
	old, ended := w.now, w.end
	if !ended {
		w.now = next
	}
	w.mu.Unlock()
	if ended {
		next.end()
		return errClosed
	}
	old.end()
	return nil
}

// close ends a fork. Closing it again does nothing.
func (w *fork) close() {
	w.mu.Lock()
	ended := w.end
	w.end = true
	w.mu.Unlock()
	if !ended {
		w.now.end()
		w.start.Close()
	}
}

// Close ends the server and all forks: their watches, requests in progress, elections and stores. Closing it again does nothing.
func (srv *Server) Close() {
	srv.mu.Lock()
	srv.closed = true
	forks := srv.forks
	srv.forks = nil
	srv.mu.Unlock()
	srv.main.close()
	for _, w := range forks {
		w.close()
	}
}
