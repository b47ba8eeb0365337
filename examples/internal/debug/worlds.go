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

// Worlds is an http.Handler with one world at the root, and its forks below /debug/worlds/. Worlds are independent of each
// other.
type Worlds struct {
	options apitest.Options // of each
	empty   store.Options   // of a store for a reset to a fixture
	elect   bool
	main    *world
	loading sync.Mutex // held by the load of a fixture: decoding takes far more memory than the body

	mu     sync.Mutex // guards the fields below; taken before the mutex of a world
	forks  map[string]*world
	last   int // number used as a name
	closed bool
}

const (
	worldsPath = "/debug/worlds/"
	maxWorlds  = 100 // beside the one at the root
)

// world is a server with its own address. A reset replaces its stage.
type world struct {
	ws    *Worlds
	name  string       // "" at the root
	start *store.Store // the first state, for resets: not served, never changed

	mu  sync.RWMutex // guards the fields below
	now *stage
	end bool
}

// Reasons to refuse a fork.
var (
	errClosed = errors.New("the world has ended")
	errTaken  = errors.New("want another name: this world exists")
	errFull   = fmt.Errorf("want %d at most: DELETE some", maxWorlds)
)

// New opens the world at the root with a fork of start. Close closes start. opts configures each world, and empty the store
// of a reset to a fixture.
func New(start *store.Store, empty store.Options, opts apitest.Options, elect bool) (*Worlds, error) {
	ws := &Worlds{options: opts, empty: empty, elect: elect, forks: map[string]*world{}}
	var err error
	ws.main, err = ws.newWorld("", start)
	return ws, err
}

// Store returns the store of the world at the root, also after Close.
func (ws *Worlds) Store() *store.Store { return ws.main.store() }

// API returns the API of the world at the root, or nil after Close.
func (ws *Worlds) API() *httpapi.API { return ws.main.handler() }

// Kinds returns the kinds that the world at the root serves, also after Close.
func (ws *Worlds) Kinds() []kind.Kind {
	ws.main.mu.RLock()
	defer ws.main.mu.RUnlock()
	return ws.main.now.api.Handler().Kinds()
}

// newWorld opens a world. The world owns the store; newWorld closes it on an error.
func (ws *Worlds) newWorld(name string, start *store.Store) (*world, error) {
	w := &world{ws: ws, name: name, start: start}
	var err error
	if w.now, err = w.newStage(start); err != nil {
		start.Close()
		return nil, err
	}
	return w, nil
}

// stage returns the current stage, or nil if the world has ended.
func (w *world) stage() *stage {
	w.mu.RLock()
	defer w.mu.RUnlock()
	if w.end {
		return nil
	}
	return w.now
}

// handler returns the API of the world, or nil if it has ended.
func (w *world) handler() *httpapi.API {
	if s := w.stage(); s != nil {
		return s.api.Handler()
	}
	return nil
}

// store returns the store of the world, also after its end.
func (w *world) store() *store.Store {
	w.mu.RLock()
	defer w.mu.RUnlock()
	return w.now.api.Store()
}

// path returns the path of the world without a trailing slash.
func (w *world) path() string {
	if w.name == "" {
		return ""
	}
	return worldsPath + w.name
}

// ServeHTTP serves the API, and below /debug/ its control.
func (w *world) ServeHTTP(rw http.ResponseWriter, r *http.Request) {
	for s := w.stage(); s != nil; s = w.stage() {
		if strings.HasPrefix(r.URL.Path, "/debug/") {
			s.api.Handler().Guard(s.control).ServeHTTP(rw, r)
			return
		}
		if s.serve(rw, r) {
			return
		}
	}
	http.Error(rw, "this world has ended", http.StatusServiceUnavailable)
}

// ServeHTTP passes a request to its world. An http.ServeMux would redirect paths that
// the API must get unchanged.
func (ws *Worlds) ServeHTTP(rw http.ResponseWriter, r *http.Request) {
	rest, below := strings.CutPrefix(r.URL.Path, worldsPath)
	name, _, inside := strings.Cut(rest, "/")
	if !below || !inside {
		ws.main.ServeHTTP(rw, r)
		return
	}
	w := ws.find(name)
	if w == ws.main || w == nil || !ws.knows(r) {
		// Only authenticated clients may learn whether a world exists.
		if s := ws.main.stage(); s != nil {
			s.api.Handler().Guard(http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
				http.Error(rw, noWorld(name).Error(), http.StatusNotFound)
			})).ServeHTTP(rw, r)
		}
		return
	}
	http.StripPrefix(w.path(), w).ServeHTTP(rw, r)
}

// knows reports whether a request has valid credentials.
func (ws *Worlds) knows(r *http.Request) bool {
	if ws.options.API.Authenticate == nil {
		return true
	}
	_, ok := ws.options.API.Authenticate(r)
	return ok
}

// find returns the world with a name, or nil. The root has the name "".
func (ws *Worlds) find(name string) *world {
	if name == "" {
		return ws.main
	}
	ws.mu.Lock()
	defer ws.mu.Unlock()
	return ws.forks[name]
}

func noWorld(name string) error {
	return fmt.Errorf("world: got %q, want a name that GET /debug/worlds lists", name)
}

// names returns the names of the forks in their order.
func (ws *Worlds) names() []string {
	ws.mu.Lock()
	defer ws.mu.Unlock()
	return slices.SortedFunc(maps.Keys(ws.forks), func(a, b string) int {
		return cmp.Or(cmp.Compare(len(a), len(b)), cmp.Compare(a, b)) // as numbers are ordered
	})
}

var worldName = regexp.MustCompile(`^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$`)

// fork makes a world with the state of another. An empty name becomes a number.
func (ws *Worlds) fork(from *world, name string) (*world, error) {
	if name != "" && !worldName.MatchString(name) {
		return nil, fmt.Errorf("name: got %q, want at most 63 small letters, digits and -, the last not at an end", name)
	}
	ws.mu.Lock()
	defer ws.mu.Unlock()
	s := from.stage()
	switch {
	case ws.closed || s == nil:
		return nil, errClosed
	case len(ws.forks) >= maxWorlds:
		return nil, fmt.Errorf("worlds: got %d, %w", len(ws.forks)+1, errFull)
	case ws.forks[name] != nil:
		return nil, fmt.Errorf("name: got %q, %w", name, errTaken)
	}
	for name == "" || ws.forks[name] != nil {
		ws.last++
		name = strconv.Itoa(ws.last)
	}
	start, err := s.api.Store().Fork()
	if err != nil {
		return nil, err
	}
	w, err := ws.newWorld(name, start)
	if err == nil {
		ws.forks[name] = w
	}
	return w, err
}

// remove ends a fork.
func (ws *Worlds) remove(name string) error {
	ws.mu.Lock()
	w := ws.forks[name]
	delete(ws.forks, name)
	ws.mu.Unlock()
	if w == nil {
		return noWorld(name)
	}
	w.close()
	return nil
}

// reset replaces the stage by a new one with a fork of a store. It drops the faults and
// requests of the old stage and ends its watches.
func (w *world) reset(to *store.Store) error {
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

// close ends a world. Closing it again does nothing.
func (w *world) close() {
	w.mu.Lock()
	ended := w.end
	w.end = true
	w.mu.Unlock()
	if !ended {
		w.now.end()
		w.start.Close()
	}
}

// Close ends all worlds.
func (ws *Worlds) Close() {
	ws.mu.Lock()
	ws.closed = true
	forks := ws.forks
	ws.forks = nil
	ws.mu.Unlock()
	ws.main.close()
	for _, w := range forks {
		w.close()
	}
}
