package hub

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
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

// Change is one entry of the history. It must not be modified once published.
type Change[P any] struct {
	Version uint64 // the resourceVersion; several changes may have one
	// Collection, Namespace and Name identify the object.
	Collection      int
	Namespace, Name string
	At              time.Time // the time of the change, for a history with Limits.Age
	Size            int64     // in bytes, for a history with Limits.Bytes
	Payload         P
}

// Scope is the part of the history that a reader sees: one object, or a namespace if Name
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

// Hub is the history of a store and the readers that follow it. All methods may be called
// from any goroutine, but no two of Publish, Expire, Forget, Lose and Fork at the same time.
type Hub[P any] struct {
	done   chan struct{}
	toWake []chan struct{} // by the present Publish

	mu         sync.Mutex // guards all below, and the marks of every Reader and Follower
	history    history[P]
	readers    int                    // how many are open
	groups     map[Scope][]*Reader[P] // no group is empty
	followers  []*Follower[P]
	nextChange chan struct{} // closed by the next change or Signal; nil if nothing waits for it
	waiters    []waiter
	forgotten  []int // collections whose changes go when nobody is to read them
}

// waiter is a wait for a version.
type waiter struct {
	version uint64
	reached chan struct{}
}

// NewHub returns the hub of a store at version start.
func NewHub[P any](limits Limits, start uint64) *Hub[P] {
	return hubOf(history[P]{limits: limits, floor: start, head: start})
}

func hubOf[P any](h history[P]) *Hub[P] {
	return &Hub[P]{done: make(chan struct{}), history: h, groups: map[Scope][]*Reader[P]{}}
}

// Fork returns an independent hub with the same history and no readers. The cost does not
// depend on the length of the history, but the next change of each copies the slice.
func (h *Hub[P]) Fork() *Hub[P] {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.history.changes = slices.Clip(h.history.changes)
	return hubOf(h.history)
}

// Publish appends the changes of a version, which must be greater than the last one, and wakes the readers of
// their scopes. It never waits for a reader. Without changes it advances to the version.
func (h *Hub[P]) Publish(version uint64, changes ...*Change[P]) {
	h.mu.Lock()
	for _, c := range changes {
		h.history.add(c)
		h.markLocked(Scope{Collection: c.Collection}, c)
		h.markLocked(Scope{Collection: c.Collection, Namespace: c.Namespace}, c)
		h.markLocked(Scope{Collection: c.Collection, Namespace: c.Namespace, Name: c.Name}, c)
		for _, f := range h.followers {
			if f.marked == 0 && f.wants(c) {
				f.marked = c.Version
				h.toWake = append(h.toWake, f.wake)
			}
		}
	}
	h.history.head = version
	h.reachedLocked(version)
	h.mu.Unlock()
	// A woken reader takes the lock, so the writer releases it first.
	for _, wake := range h.toWake {
		signal(wake)
	}
	clear(h.toWake)
	h.toWake = h.toWake[:0]
}

// markLocked marks the readers of a scope. They keep their order: a group of only
// the readers without a mark takes the order in which they poll, and its memory is no longer read in
// a row, which cost half as much again for 10,000 readers (BenchmarkWatchFanOut).
func (h *Hub[P]) markLocked(s Scope, c *Change[P]) {
	for _, r := range h.groups[s] {
		if r.marked == 0 {
			r.marked = c.Version
			h.toWake = append(h.toWake, r.wake)
		}
	}
}

// nextLocked wakes the goroutines that wait for the next change.
func (h *Hub[P]) nextLocked() {
	if h.nextChange != nil {
		close(h.nextChange)
		h.nextChange = nil
	}
}

// reachedLocked wakes the goroutines that wait for a version.
func (h *Hub[P]) reachedLocked(version uint64) {
	h.nextLocked()
	h.waiters = slices.DeleteFunc(h.waiters, func(w waiter) bool {
		if w.version > version {
			return false
		}
		close(w.reached)
		return true
	})
}

// snapshot returns the history as it is now.
func (h *Hub[P]) snapshot() history[P] {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.history
}

// Changes returns the changes after a version up to another one, the oldest first. complete
// reports whether the history still has all of them. The slice must not be modified.
func (h *Hub[P]) Changes(after, until uint64) (changes []*Change[P], complete bool) {
	now := h.snapshot()
	changes = now.after(after)
	return changes[:len(changes)-len(now.after(max(after, until)))], after >= now.floor
}

// Oldest returns the oldest version whose state can be reconstructed, and after which a watch can start.
func (h *Hub[P]) Oldest(now time.Time) uint64 {
	s := h.snapshot()
	return s.oldest(now)
}

// Expire drops the whole history. A reader that has not seen all of it expires.
func (h *Hub[P]) Expire() {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.history.reset(h.history.head)
}

// Forget drops the changes of a collection that has ended, when it has no reader any more and no Follower has changes to read.
func (h *Hub[P]) Forget(collection int) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.forgotten = append(h.forgotten, collection)
	h.forgetLocked()
}

func (h *Hub[P]) forgetLocked() {
	if len(h.forgotten) == 0 || slices.ContainsFunc(h.followers, func(f *Follower[P]) bool { return f.marked != 0 }) {
		return
	}
	h.forgotten = slices.DeleteFunc(h.forgotten, func(collection int) bool {
		for s := range h.groups {
			if s.Collection == collection {
				return false
			}
		}
		h.history.forget(collection)
		return true
	})
}

// Lose drops the whole history and continues at a version, which may be any: the changes in
// between are unknown. So every reader expires, even one that has seen the whole history.
func (h *Hub[P]) Lose(version uint64) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.history.reset(version)
	h.history.losses++
	h.reachedLocked(version)
	h.signalLocked()
}

// Signal wakes all readers and followers, and closes the channel that Head has returned.
func (h *Hub[P]) Signal() {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.signalLocked()
}

func (h *Hub[P]) signalLocked() {
	h.nextLocked()
	for _, group := range h.groups {
		for _, r := range group {
			r.Signal()
		}
	}
	for _, f := range h.followers {
		signal(f.wake)
	}
}

// signal puts a value into a channel of capacity 1, unless it has one.
func signal(wake chan struct{}) {
	select {
	case wake <- struct{}{}:
	default: // a wake-up is already pending
	}
}

// Readers returns how many readers are open.
func (h *Hub[P]) Readers() int {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.readers
}

// Follows reports whether a reader is open that sees the changes of an object, which o names.
func (h *Hub[P]) Follows(o Scope) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	return len(h.groups[Scope{Collection: o.Collection}]) > 0 ||
		len(h.groups[Scope{Collection: o.Collection, Namespace: o.Namespace}]) > 0 || len(h.groups[o]) > 0
}

// Close closes Done, which ends all present and future readers, and wakes the present
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
	if h.history.head >= version {
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

// Head returns the last version of the history, and a channel that the next change or Signal closes.
func (h *Hub[P]) Head() (version uint64, nextChange <-chan struct{}) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.nextChange == nil {
		h.nextChange = make(chan struct{})
	}
	return h.history.head, h.nextChange
}
