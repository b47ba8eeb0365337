package hub

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"time"
)

// ExpiredError reports that the history no longer has the changes after a version.
type ExpiredError struct {
	Requested uint64 // the version after which to start
	Oldest    uint64 // the oldest version after which a watch can start
}

// Error returns the text of the API.
func (e *ExpiredError) Error() string {
	return fmt.Sprintf("too old resource version: %d (%d)", e.Requested, e.Oldest)
}

// Hub is the history of a store and the watchers that follow it. All methods may be called
// at any time from any goroutine, except that no two calls of the writer may run at the same
// time: Publish, PublishAll, Reach, Expire, Lose and Fork.
type Hub[P any] struct {
	ring    *ring[P]
	settled atomic.Uint64 // all watchers are marked for the changes up to this version; 0 before the first
	losses  atomic.Uint64 // how often changes were lost
	done    chan struct{}
	paused  atomic.Int64 // how many watchers are paused: they are in no group

	mu         sync.RWMutex  // guards the fields below, and the index of every watcher
	nextChange chan struct{} // closed by the next change; nil if nothing waits for it
	waiters    []waiter
	groups     map[Scope]*group[P] // no group is empty
}

// waiter is a wait for a version.
type waiter struct {
	version uint64
	reached chan struct{}
}

// group holds the watchers of one scope.
type group[P any] struct {
	watchers []*Watcher[P]
}

// NewHub returns the hub of a store at version start. It keeps the last size changes, at
// least one, and drops those older than maxAge if that is above zero.
func NewHub[P any](size int, maxAge time.Duration, start uint64) *Hub[P] {
	return &Hub[P]{
		ring:   newRing[P](max(size, 1), maxAge, start),
		done:   make(chan struct{}),
		groups: map[Scope]*group[P]{},
	}
}

// LimitBytes bounds the sum of the sizes of the changes that are kept; 0 means no limit.
// It must be called before the first change.
func (h *Hub[P]) LimitBytes(most int64) { h.ring.bytes.most = most }

// Fork returns an independent hub with the same history and no watchers. It must not run
// at the same time as Publish. The cost does not depend on the length of the
// history; the first changes after it cost a little more.
func (h *Hub[P]) Fork() *Hub[P] {
	return &Hub[P]{ring: h.ring.fork(), done: make(chan struct{}), groups: map[Scope]*group[P]{}}
}

// Publish appends a change, whose version must be greater than that of the last, and marks
// the watchers whose scope it is in. It never waits for a watcher.
func (h *Hub[P]) Publish(c *Change[P]) {
	h.ring.append(c)
	h.ring.head.Store(c.Version)
	h.mu.RLock()
	if len(h.groups) > 0 {
		h.markLocked(c)
	}
	waiting := h.waiting()
	h.mu.RUnlock()
	h.setSettled(c.Version, waiting)
}

// PublishAll appends changes that have one version, which must be greater than the last one.
// Readers see all of them or none. Without changes it is like Reach.
func (h *Hub[P]) PublishAll(version uint64, changes []*Change[P]) {
	for _, c := range changes {
		h.ring.append(c)
	}
	h.ring.head.Store(version)
	h.mu.RLock()
	for _, c := range changes {
		h.markLocked(c)
	}
	waiting := h.waiting()
	h.mu.RUnlock()
	h.setSettled(version, waiting)
}

// Reach advances to a version without changes in between.
func (h *Hub[P]) Reach(version uint64) { h.PublishAll(version, nil) }

// waiting reports whether a change has to wake somebody else than watchers. It needs the lock.
func (h *Hub[P]) waiting() bool { return h.nextChange != nil || len(h.waiters) > 0 }

// setSettled records that all watchers are marked for the changes up to a version. Then it
// wakes the goroutines that wait for this version.
func (h *Hub[P]) setSettled(version uint64, waiting bool) {
	h.settled.Store(version)
	if !waiting {
		return
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.nextChange != nil {
		close(h.nextChange)
		h.nextChange = nil
	}
	h.waiters = slices.DeleteFunc(h.waiters, func(w waiter) bool {
		if w.version > version {
			return false
		}
		close(w.reached)
		return true
	})
}

// markLocked marks the watchers whose scope a change is in, if they want it.
func (h *Hub[P]) markLocked(c *Change[P]) {
	h.markScopeLocked(Scope{Collection: c.Collection}, c)
	h.markScopeLocked(Scope{Collection: c.Collection, Namespace: c.Namespace}, c)
	h.markScopeLocked(Scope{Collection: c.Collection, Namespace: c.Namespace, Name: c.Name}, c)
}

func (h *Hub[P]) markScopeLocked(s Scope, c *Change[P]) {
	g := h.groups[s]
	if g == nil {
		return
	}
	for _, w := range g.watchers {
		if w.wants == nil || w.wants(c) {
			w.mark(c.Version)
		}
	}
}

// Forward calls visit with the changes after a version up to another one, the oldest first,
// until it returns false. It returns false if the history no longer has all of them.
func (h *Hub[P]) Forward(after, until uint64, visit func(*Change[P]) bool) (complete bool) {
	n, ok := h.ring.after(after)
	for ; ok; n++ {
		c := h.ring.get(n)
		if c == nil {
			return after >= h.ring.floor.Load()
		}
		if c.Version > until || !visit(c) {
			break
		}
	}
	return ok
}

// Backward is like Forward, but begins with the latest change.
func (h *Hub[P]) Backward(after, until uint64, visit func(*Change[P]) bool) (complete bool) {
	n, _ := h.ring.after(until)
	for n--; ; n-- {
		c := h.ring.get(n)
		if c == nil || c.Version <= after {
			return after >= h.ring.floor.Load()
		}
		if !visit(c) {
			return true
		}
	}
}

// Oldest returns the oldest version whose state can be reconstructed, and after which a
// watch can start.
func (h *Hub[P]) Oldest(now time.Time) uint64 { return h.ring.oldest(now) }

// Expire drops the whole history. A watcher that has not seen all of it expires. It must
// not run at the same time as Publish.
func (h *Hub[P]) Expire() { h.ring.dropAll() }

// Lose drops the whole history and continues at a version, which may be any: the changes in
// between are unknown. So every watcher expires, even one that has seen the whole history. It
// must not run at the same time as Publish.
func (h *Hub[P]) Lose(version uint64) {
	h.losses.Add(1) // first, so that who reads the new head finds it
	h.ring.head.Store(version)
	h.ring.dropAll()
	h.losses.Add(1) // again, for the watchers that were registered meanwhile
	h.Signal()
	h.setSettled(version, true)
}

// Signal wakes all watchers, except those that are paused.
func (h *Hub[P]) Signal() {
	h.mu.RLock()
	defer h.mu.RUnlock()
	for _, g := range h.groups {
		for _, w := range g.watchers {
			w.Signal()
		}
	}
}

// Watch returns a watcher of the changes of a scope after a version, which may lie in the
// future. If onWake is not nil, it is called before a change makes Wake deliver a value. The
// writer calls it with locks held, so it must not block. The error is an *ExpiredError. The
// caller must Close the watcher.
func (h *Hub[P]) Watch(s Scope, after uint64, now time.Time, onWake func()) (*Watcher[P], error) {
	return h.WatchWanted(s, after, now, onWake, nil)
}

// WatchWanted is like Watch, but only the changes that are wanted wake the watcher. Poll may
// return others too. The writer calls wants with locks held, so it must not block; nil wants
// all changes.
func (h *Hub[P]) WatchWanted(s Scope, after uint64, now time.Time, onWake func(), wants func(*Change[P]) bool) (*Watcher[P], error) {
	w := h.register(s, after, onWake, wants)
	// The watcher is registered before the check, so it sees a change between the two.
	if oldest := h.Oldest(now); after < oldest {
		w.Close()
		return nil, &ExpiredError{Requested: after, Oldest: oldest}
	}
	w.start(after)
	return w, nil
}

// WatchLate is like Watch, but reports expiry from Poll.
func (h *Hub[P]) WatchLate(s Scope, after uint64, onWake func()) *Watcher[P] {
	w := h.register(s, after, onWake, nil)
	w.start(after)
	return w
}

// register makes a watcher.
func (h *Hub[P]) register(s Scope, after uint64, onWake func(), wants func(*Change[P]) bool) *Watcher[P] {
	w := &Watcher[P]{hub: h, scope: s, wake: make(chan struct{}, 1), onWake: onWake, wants: wants, losses: h.losses.Load()}
	w.seen.Store(after)
	h.add(w)
	return w
}

// add adds a watcher to its group.
func (h *Hub[P]) add(w *Watcher[P]) {
	h.mu.Lock()
	defer h.mu.Unlock()
	g := h.groups[w.scope]
	if g == nil {
		g = &group[P]{}
		h.groups[w.scope] = g
	}
	w.index = len(g.watchers)
	g.watchers = append(g.watchers, w)
}

// remove removes a watcher from its group. It may be called more than once.
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
	n := int(h.paused.Load())
	for _, g := range h.groups {
		n += len(g.watchers)
	}
	return n
}

// Close closes Done, which ends all present and future watchers, and wakes the present
// ones. It must be called only once.
func (h *Hub[P]) Close() {
	close(h.done)
	h.Signal()
}

// Done returns a channel that is closed when the hub is closed.
func (h *Hub[P]) Done() <-chan struct{} { return h.done }

// ErrClosed is the error of WaitFor on a closed hub.
var ErrClosed = errors.New("hub: closed")

// WaitFor blocks until the history has a version. It returns ErrClosed, or the error of
// the context, if it stops earlier.
func (h *Hub[P]) WaitFor(ctx context.Context, version uint64) error {
	h.mu.Lock()
	if h.ring.head.Load() >= version {
		h.mu.Unlock()
		return nil
	}
	reached := make(chan struct{})
	h.waiters = append(h.waiters, waiter{version, reached})
	h.mu.Unlock()
	var err error
	select {
	case <-reached:
		return nil
	case <-h.done:
		err = ErrClosed
	case <-ctx.Done():
		err = ctx.Err()
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	h.waiters = slices.DeleteFunc(h.waiters, func(w waiter) bool { return w.reached == reached })
	return err
}

// Head returns the last version of the history, and a channel that the next change closes.
func (h *Hub[P]) Head() (version uint64, nextChange <-chan struct{}) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.nextChange == nil {
		h.nextChange = make(chan struct{})
	}
	return h.ring.head.Load(), h.nextChange
}

// Change is one entry of the history. It must not be modified once published.
type Change[P any] struct {
	Version uint64 // the resourceVersion; several changes may have one
	// Collection, Namespace and Name identify the object.
	Collection      int
	Namespace, Name string
	At              time.Time // the time of the change, for a history with a maxAge
	Size            int64     // in bytes, for a history with a limit
	Payload         P

	number uint64 // in the order of changes
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
