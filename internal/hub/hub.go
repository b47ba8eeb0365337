package hub

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"
)

// ExpiredError says that history no longer reaches back to the version asked
// for.
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
	settled atomic.Uint64 // the last version all watchers concerned know of
	done    chan struct{}

	mu     sync.RWMutex        // guards all below, and the index of every watcher
	grown  chan struct{}       // closed by the next change; nil while nobody waits
	groups map[Scope]*group[P] // no group is empty
}

// group is the watchers of one scope.
type group[P any] struct {
	watchers []*Watcher[P]
}

// NewHub returns the hub of a store whose last version is start. It keeps the
// last size changes (at least one), and of them, if maxAge is above zero, only
// those that are no older.
func NewHub[P any](size int, maxAge time.Duration, start uint64) *Hub[P] {
	h := &Hub[P]{
		ring:   newRing[P](max(size, 1), maxAge, start),
		done:   make(chan struct{}),
		groups: map[Scope]*group[P]{},
	}
	h.settled.Store(start)
	return h
}

// Fork returns a hub with the same history, whose watchers and changes to come
// are its own. It counts as a Publish: the two have one caller at a time. It
// costs the same however long the history is, and the first changes after it, of
// either hub, a little more than others.
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
	h.settle(c.Version, waiting)
}

// Skip makes the versions after the last one up to to pass without a change, as
// they do where they belong to something else. The caller is about to reach the
// version last by further calls. It counts as a Publish: the two have one caller
// at a time.
func (h *Hub[P]) Skip(to, last uint64, at time.Time) {
	h.ring.skip(to, last, at)
	h.mu.RLock()
	waiting := h.grown != nil
	h.mu.RUnlock()
	h.settle(to, waiting)
}

// settle tells how far history has come, and those who wait for it where there
// are any.
func (h *Hub[P]) settle(version uint64, waiting bool) {
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

// Get returns the change that was given a version, or nil if history no longer
// holds it.
func (h *Hub[P]) Get(version uint64) *Change[P] { return h.ring.get(version) }

// Oldest returns the oldest version whose state history can still tell, and
// after which a watch can still start.
func (h *Hub[P]) Oldest(now time.Time) uint64 { return h.ring.first(now) - 1 }

// Expire lets go of the whole history. A watcher that has seen all of it goes
// on; one that has not is told that it expired. It counts as a Publish: the two
// have one caller at a time.
func (h *Hub[P]) Expire() { h.ring.dropAll() }

// Watch returns a watcher that sees every change of the scope with a version
// above after. A version that lies in the future is waited for. The error is
// an *ExpiredError. The caller must Close the watcher.
func (h *Hub[P]) Watch(s Scope, after uint64, now time.Time) (*Watcher[P], error) {
	return h.WatchFunc(s, after, now, nil)
}

// WatchFunc is Watch with a function that is called before Wake delivers a value
// because of a change. The writer calls it, with locks held: it must not wait.
func (h *Hub[P]) WatchFunc(s Scope, after uint64, now time.Time, woken func()) (*Watcher[P], error) {
	w := h.join(s, after, woken)
	// Registered first, checked second: a change between the two is seen.
	if oldest := h.Oldest(now); after < oldest {
		w.Close()
		return nil, &ExpiredError{Requested: after, Oldest: oldest}
	}
	w.start(after)
	return w, nil
}

// WatchLate is WatchFunc for who is in no hurry: that history no longer reaches
// back far enough is what Poll tells, once it is asked for more than is lost.
func (h *Hub[P]) WatchLate(s Scope, after uint64, woken func()) *Watcher[P] {
	w := h.join(s, after, woken)
	w.start(after)
	return w
}

// join adds a watcher to its group.
func (h *Hub[P]) join(s Scope, after uint64, woken func()) *Watcher[P] {
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

// ErrClosed ends what waits on a hub that is closed.
var ErrClosed = errors.New("hub: closed")

// WaitFor blocks until the history has reached a version. The error is that of
// the context, or ErrClosed.
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

// Head returns the last version of the history, and a channel that is closed once
// there is a later one.
func (h *Hub[P]) Head() (version uint64, grown <-chan struct{}) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.grown == nil {
		h.grown = make(chan struct{})
	}
	return h.ring.head.Load(), h.grown
}
