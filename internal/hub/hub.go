package hub

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"
)

// ExpiredError means that history does not reach back to a version.
type ExpiredError struct {
	Requested uint64 // the version to start after
	Oldest    uint64 // the oldest version a watch could start after
}

// Error returns the text of the API.
func (e *ExpiredError) Error() string {
	return fmt.Sprintf("too old resource version: %d (%d)", e.Requested, e.Oldest)
}

// Hub is the history of a store and the watchers that follow it. All methods
// may be called at any time from any goroutine, except that Publish, Skip,
// Expire and Fork have one caller at a time.
type Hub[P any] struct {
	ring    *ring[P]
	settled atomic.Uint64 // the last version whose marks were all set
	done    chan struct{}

	mu     sync.RWMutex        // guards all below, and the index of every watcher
	grown  chan struct{}       // closed by the next change; nil while nobody waits
	groups map[Scope]*group[P] // no group is empty
}

// group holds the watchers of one scope.
type group[P any] struct {
	watchers []*Watcher[P]
}

// NewHub returns the hub of a store at version start. It keeps the last size changes, at
// least one, and drops those older than maxAge if that is above zero.
func NewHub[P any](size int, maxAge time.Duration, start uint64) *Hub[P] {
	h := &Hub[P]{
		ring:   newRing[P](max(size, 1), maxAge, start),
		done:   make(chan struct{}),
		groups: map[Scope]*group[P]{},
	}
	h.settled.Store(start)
	return h
}

// Fork returns an independent hub with the same history and no watchers. It counts as a
// Publish: the two have one caller at a time. The cost does not depend on the length of the
// history; the first changes after it cost a little more.
func (h *Hub[P]) Fork() *Hub[P] {
	f := &Hub[P]{ring: h.ring.fork(), done: make(chan struct{}), groups: map[Scope]*group[P]{}}
	f.settled.Store(h.settled.Load())
	return f
}

// Publish appends a change, whose version must be one above the last, and
// marks the watchers it concerns. It never waits for a watcher.
func (h *Hub[P]) Publish(c *Change[P]) {
	h.ring.append(c)
	h.mu.RLock()
	if len(h.groups) > 0 {
		h.markLocked(Scope{Collection: c.Collection}, c.Version)
		h.markLocked(Scope{Collection: c.Collection, Namespace: c.Namespace}, c.Version)
		h.markLocked(Scope{Collection: c.Collection, Namespace: c.Namespace, Name: c.Name}, c.Version)
	}
	waiting := h.grown != nil
	h.mu.RUnlock()
	h.setSettled(c.Version, waiting)
}

// Skip advances to a version without changes. The caller must reach the version last by
// further calls. It counts as a Publish: the two have one caller at a time.
func (h *Hub[P]) Skip(to, last uint64, at time.Time) {
	h.ring.skip(to, last, at)
	h.mu.RLock()
	waiting := h.grown != nil
	h.mu.RUnlock()
	h.setSettled(to, waiting)
}

// setSettled records that all marks up to a version were set, and wakes WaitFor.
func (h *Hub[P]) setSettled(version uint64, waiting bool) {
	h.settled.Store(version)
	if waiting {
		h.mu.Lock()
		close(h.grown)
		h.grown = nil
		h.mu.Unlock()
	}
}

func (h *Hub[P]) markLocked(s Scope, version uint64) {
	g := h.groups[s]
	if g == nil {
		return
	}
	for _, w := range g.watchers {
		w.mark(version)
	}
}

// Get returns the change with a version, or nil if history no longer holds it.
func (h *Hub[P]) Get(version uint64) *Change[P] { return h.ring.get(version) }

// Oldest returns the oldest version whose state can be reconstructed, and after which a
// watch can start.
func (h *Hub[P]) Oldest(now time.Time) uint64 { return h.ring.first(now) - 1 }

// Expire drops the whole history. A watcher that has not seen all of it expires. It counts
// as a Publish: the two have one caller at a time.
func (h *Hub[P]) Expire() { h.ring.dropAll() }

// Watch returns a watcher of the changes of a scope after a version, which may lie in the
// future. woken, if not nil, is called before a change makes Wake deliver a value. The
// writer calls it with locks held, so it must not wait. The error is an *ExpiredError. The
// caller must Close the watcher.
func (h *Hub[P]) Watch(s Scope, after uint64, now time.Time, woken func()) (*Watcher[P], error) {
	w := h.register(s, after, woken)
	// It is registered first and checked second, so a change between the two is seen.
	if oldest := h.Oldest(now); after < oldest {
		w.Close()
		return nil, &ExpiredError{Requested: after, Oldest: oldest}
	}
	w.start(after)
	return w, nil
}

// WatchLate is like Watch, but reports expiry from Poll.
func (h *Hub[P]) WatchLate(s Scope, after uint64, woken func()) *Watcher[P] {
	w := h.register(s, after, woken)
	w.start(after)
	return w
}

// register adds a watcher to its group.
func (h *Hub[P]) register(s Scope, after uint64, woken func()) *Watcher[P] {
	w := &Watcher[P]{hub: h, scope: s, wake: make(chan struct{}, 1), woken: woken}
	w.seen.Store(after)
	h.mu.Lock()
	g := h.groups[s]
	if g == nil {
		g = &group[P]{}
		h.groups[s] = g
	}
	w.index = len(g.watchers)
	g.watchers = append(g.watchers, w)
	h.mu.Unlock()
	return w
}

// remove takes a watcher out of its group.
func (h *Hub[P]) remove(w *Watcher[P]) {
	h.mu.Lock()
	defer h.mu.Unlock()
	g := h.groups[w.scope]
	if w.index < 0 {
		return
	}
	last := len(g.watchers) - 1
	g.watchers[w.index] = g.watchers[last]
	g.watchers[w.index].index = w.index
	g.watchers[last] = nil
	g.watchers = g.watchers[:last]
	w.index = -1
	if last == 0 {
		delete(h.groups, w.scope)
	}
}

// Watchers returns how many watchers there are.
func (h *Hub[P]) Watchers() int {
	h.mu.RLock()
	defer h.mu.RUnlock()
	n := 0
	for _, g := range h.groups {
		n += len(g.watchers)
	}
	return n
}

// Close ends all watchers, now and to come. It must be called only once.
func (h *Hub[P]) Close() { close(h.done) }

// Done is closed when the hub is.
func (h *Hub[P]) Done() <-chan struct{} { return h.done }

// ErrClosed ends a wait on a closed hub.
var ErrClosed = errors.New("hub: closed")

// WaitFor blocks until the history has a version. The error is the error of the context,
// or ErrClosed.
func (h *Hub[P]) WaitFor(ctx context.Context, version uint64) error {
	for {
		head, grown := h.Head()
		if head >= version {
			return nil
		}
		select {
		case <-grown:
		case <-h.done:
			return ErrClosed
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// Head returns the last version of the history, and a channel that the next change closes.
func (h *Hub[P]) Head() (version uint64, grown <-chan struct{}) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.grown == nil {
		h.grown = make(chan struct{})
	}
	return h.ring.head.Load(), h.grown
}

// Change is one entry of the history. It must not be modified once published.
type Change[P any] struct {
	Version uint64 // the resourceVersion
	// Collection, Namespace and Name identify the object.
	Collection      int
	Namespace, Name string
	At              time.Time // for histories that are limited by age
	Payload         P

	// skipped, if not 0, makes the entry stand for the versions from skipped to Version,
	// which have no change.
	skipped uint64
}

// noCollection is the Collection of an entry for skipped versions.
const noCollection = -1

// holds reports whether the entry stands for a version.
func (c *Change[P]) holds(version uint64) bool {
	return c.Version == version || c.skipped != 0 && c.skipped <= version && version < c.Version
}

// Scope is the part of the history that a watcher sees: one object, or a namespace if Name
// is empty, or a collection if Namespace is empty too.
type Scope struct {
	Collection      int
	Namespace, Name string
}

// contains reports whether a change is in the scope.
func contains[P any](s Scope, c *Change[P]) bool {
	return s.Collection == c.Collection &&
		(s.Namespace == "" || s.Namespace == c.Namespace) &&
		(s.Name == "" || s.Name == c.Name)
}
