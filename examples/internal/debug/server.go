// Package debug serves tests in any language: below /debug/ it has the functions of package httpapi/apitest, forks of the
// whole server, and pages that show elections. examples/server -debug is its only user.
package debug

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/kubecoord/kubecoord/httpapi"
	"github.com/kubecoord/kubecoord/httpapi/apitest"
	"github.com/kubecoord/kubecoord/store"
	"github.com/kubecoord/kubecoord/store/kind"
)

// Server is an http.Handler: a server at the root, and its forks below /debug/forks/. They are independent of each other.
type Server struct {
	options apitest.Options // of each
	empty   store.Options   // of a store for a reset to a fixture
	elect   bool
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

// New opens the server with a fork of start. Close closes start. opts configures it and each fork, and empty the store
// of a reset to a fixture.
func New(start *store.Store, empty store.Options, opts apitest.Options, elect bool) (*Server, error) {
	srv := &Server{options: opts, empty: empty, elect: elect, forks: map[string]*fork{}}
	var err error
	srv.main, err = srv.newFork("", start)
	return srv, err
}

// Store returns the store of the server at the root, also after Close.
func (srv *Server) Store() *store.Store { return srv.main.store() }

// API returns the API of the server at the root, or nil after Close.
func (srv *Server) API() *httpapi.API { return srv.main.handler() }

// Kinds returns the kinds that the server at the root serves, also after Close.
func (srv *Server) Kinds() []kind.Kind {
	srv.main.mu.RLock()
	defer srv.main.mu.RUnlock()
	return srv.main.now.api.Handler().Kinds()
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

// handler returns the API of the fork, or nil if it has ended.
func (w *fork) handler() *httpapi.API {
	if s := w.stage(); s != nil {
		return s.api.Handler()
	}
	return nil
}

// store returns the store of the fork, also after its end.
func (w *fork) store() *store.Store {
	w.mu.RLock()
	defer w.mu.RUnlock()
	return w.now.api.Store()
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
	http.Error(rw, "this server has ended", http.StatusServiceUnavailable)
}

// ServeHTTP passes a request to its fork. An http.ServeMux would redirect paths that
// the API must get unchanged.
func (srv *Server) ServeHTTP(rw http.ResponseWriter, r *http.Request) {
	rest, below := strings.CutPrefix(r.URL.Path, forksPath)
	name, _, inside := strings.Cut(rest, "/")
	if !below || !inside {
		srv.main.ServeHTTP(rw, r)
		return
	}
	w := srv.find(name)
	if w == srv.main || w == nil || !srv.knows(r) {
		// Only authenticated clients may learn whether a fork exists.
		if s := srv.main.stage(); s != nil {
			s.api.Handler().Guard(http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
				http.Error(rw, noFork(name).Error(), http.StatusNotFound)
			})).ServeHTTP(rw, r)
		}
		return
	}
	http.StripPrefix(w.path(), w).ServeHTTP(rw, r)
}

// knows reports whether a request has valid credentials.
func (srv *Server) knows(r *http.Request) bool {
	if srv.options.API.Authenticate == nil {
		return true
	}
	_, ok := srv.options.API.Authenticate(r)
	return ok
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

var forkName = regexp.MustCompile(`^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$`)

// add makes a fork with the state of another. An empty name becomes a number.
func (srv *Server) add(from *fork, name string) (*fork, error) {
	if name != "" && !forkName.MatchString(name) {
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

// Close ends the server and all forks.
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
