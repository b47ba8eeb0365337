package main

import (
	"errors"
	"fmt"
	"net/http"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/kubecoord/kubecoord/httpapi/apitest"
	"github.com/kubecoord/kubecoord/store"
)

// worlds are what a server with -debug serves: one world at the root, and those
// that were forked below worldsPath. Worlds know nothing of each other.
type worlds struct {
	options apitest.Options // of each
	empty   store.Options   // of a store for a fixture that one is to be reset to
	elect   bool
	main    *world

	mu     sync.Mutex // guards what is below; taken before that of a world
	forks  map[string]*world
	last   int // number that was given as a name
	closed bool
}

const (
	worldsPath = "/debug/worlds/"
	mostWorlds = 100 // beside the one at the root
)

// world is a server of its own at an address of its own. A reset puts another
// stage in place.
type world struct {
	ws    *worlds
	name  string       // "" at the root
	start *store.Store // what to reset to: it is not served, and does not change

	mu  sync.RWMutex // guards the two
	now *stage
	end bool
}

// Why there is no fork.
var (
	errClosed = errors.New("the world has ended")
	errTaken  = errors.New("want another: there is such a world")
	errFull   = fmt.Errorf("want %d at most: DELETE some", mostWorlds)
)

// newWorlds opens the world at the root, which begins as a fork of a store, and
// closes the store in the end. The options are those of each world, and of a store
// that one is to be reset to.
func newWorlds(start *store.Store, empty store.Options, opts apitest.Options, elect bool) (*worlds, error) {
	ws := &worlds{options: opts, empty: empty, elect: elect, forks: map[string]*world{}}
	var err error
	ws.main, err = ws.newWorld("", start)
	return ws, err
}

// newWorld opens a world. The store is the world's, and closed where there is an
// error.
func (ws *worlds) newWorld(name string, start *store.Store) (*world, error) {
	w := &world{ws: ws, name: name, start: start}
	var err error
	if w.now, err = w.newStage(start); err != nil {
		start.Close()
		return nil, err
	}
	return w, nil
}

// stage returns the stage of now, or nil if the world has ended.
func (w *world) stage() *stage {
	w.mu.RLock()
	defer w.mu.RUnlock()
	if w.end {
		return nil
	}
	return w.now
}

// path is where the world is, without a slash at the end.
func (w *world) path() string {
	if w.name == "" {
		return ""
	}
	return worldsPath + w.name
}

// ServeHTTP answers as the API does, and below /debug/ with what is beside it.
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

// ServeHTTP finds the world that is asked for. It is no http.ServeMux, which would
// redirect paths that the API takes as they are.
func (ws *worlds) ServeHTTP(rw http.ResponseWriter, r *http.Request) {
	rest, below := strings.CutPrefix(r.URL.Path, worldsPath)
	name, _, inside := strings.Cut(rest, "/")
	if !below || !inside {
		ws.main.ServeHTTP(rw, r)
		return
	}
	w := ws.find(name)
	if w == ws.main || w == nil || !ws.knows(r) {
		// Whether there is such a world, only those are told who are let in.
		if s := ws.main.stage(); s != nil {
			s.api.Handler().Guard(http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
				http.Error(rw, noWorld(name).Error(), http.StatusNotFound)
			})).ServeHTTP(rw, r)
		}
		return
	}
	http.StripPrefix(w.path(), w).ServeHTTP(rw, r)
}

// knows reports whether a request has good credentials.
func (ws *worlds) knows(r *http.Request) bool {
	if ws.options.API.Authenticate == nil {
		return true
	}
	_, ok := ws.options.API.Authenticate(r)
	return ok
}

// find returns a world, "" being the one at the root, or nil.
func (ws *worlds) find(name string) *world {
	if name == "" {
		return ws.main
	}
	ws.mu.Lock()
	defer ws.mu.Unlock()
	return ws.forks[name]
}

func noWorld(name string) error {
	return fmt.Errorf("world: got %q, want one of those that GET /debug/worlds lists", name)
}

// names returns the names of the worlds that were forked, in their order.
func (ws *worlds) names() []string {
	ws.mu.Lock()
	defer ws.mu.Unlock()
	names := make([]string, 0, len(ws.forks))
	for name := range ws.forks {
		names = append(names, name)
	}
	slices.SortFunc(names, func(a, b string) int {
		if len(a) != len(b) {
			return len(a) - len(b)
		}
		return strings.Compare(a, b)
	})
	return names
}

var worldName = regexp.MustCompile(`^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$`)

// fork makes a world with the state of another. Without a name it gets a number.
func (ws *worlds) fork(from *world, name string) (*world, error) {
	if name != "" && !worldName.MatchString(name) {
		return nil, fmt.Errorf("name: got %q, want at most 63 small letters, digits and -, the last not at an end", name)
	}
	ws.mu.Lock()
	defer ws.mu.Unlock()
	s := from.stage()
	switch {
	case ws.closed || s == nil:
		return nil, errClosed
	case len(ws.forks) >= mostWorlds:
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

// remove ends a world that was forked.
func (ws *worlds) remove(name string) error {
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

// reset puts a new stage in place of that of now, which begins as a fork of a
// store. Faults and requests go with the old one, and its watches end.
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

// close ends a world. It may be closed twice.
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
func (ws *worlds) Close() {
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
