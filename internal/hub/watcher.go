package hub

import (
	"math"
	"sync/atomic"
)

// batchSize is how many changes a Poll returns at most, and batchBytes the Size up to which it
// adds another one. With limits, a watcher that is far behind sends its first events early, and one
// that is not read keeps few changes that the history has dropped.
const (
	batchSize  = 256
	batchBytes = 256 << 10
)

// Watcher is a position in the history. Only one goroutine at a time may call its methods,
// except Signal.
type Watcher[P any] struct {
	hub   *Hub[P]
	scope Scope
	index int // in its group, guarded by hub.mu; -1 once removed

	wake   chan struct{}         // capacity 1: holds a value after a change was marked
	onWake func()                // called before wake is sent to; may be nil
	wants  func(*Change[P]) bool // of the changes that wake; nil wants all
	// marked is the version of the first change of the scope since the last Poll, or 0. It
	// is the only field that a writer changes.
	marked atomic.Uint64

	// seen is a version. Poll has returned all changes of the scope up to it. Only the
	// reader sets it.
	seen atomic.Uint64
	// next is the number of the next change to read, and after the version before it. next
	// is 0 if no later change is known.
	next, after uint64

	losses   uint64 // of the hub, at the start
	pausedAt uint64 // all changes up to this version are marked, see Pause
}

// start makes the watcher read after a version if the history has later changes.
func (w *Watcher[P]) start(after uint64) {
	if after < w.hub.ring.head.Load() {
		w.seek(after) // no change that was marked meanwhile is earlier
		w.Signal()
	}
}

// seek makes the watcher read after a version.
func (w *Watcher[P]) seek(after uint64) {
	number, ok := w.hub.ring.after(after)
	if !ok {
		number = expired
	}
	w.next, w.after = number, after
}

// expired is the next change of a watcher whose next change is no longer in the history.
const expired = math.MaxUint64

// mark is called by the writer for a change in the scope. The version is marked before the
// wake-up is sent, and taken after it is received, so none is lost. A mark for
// a change that the reader has already returned must not stay: it would hide
// the next mark, and its change may have left the history when it is read. So
// both check: the writer after it sets marked, and the reader after it sets
// seen. The later of the two removes the mark.
func (w *Watcher[P]) mark(version uint64) {
	if !w.marked.CompareAndSwap(0, version) {
		return
	}
	if version <= w.seen.Load() {
		w.marked.CompareAndSwap(version, 0)
		return
	}
	if w.onWake != nil {
		w.onWake()
	}
	w.Signal()
}

// Signal makes Wake deliver a value. It may be called from any goroutine: a reader that
// waits for other events too then needs no other channel.
func (w *Watcher[P]) Signal() {
	select {
	case w.wake <- struct{}{}:
	default: // a wake-up is already pending
	}
}

// Wake delivers a value when Poll may have something to return, after Signal, and when the
// hub is closed.
func (w *Watcher[P]) Wake() <-chan struct{} { return w.wake }

// Poll appends the next changes up to version last to dst, at most a batch, and returns
// it. It does not block. more reports whether another call will return more. Wake does not
// report the changes after last again. The error is an *ExpiredError if the next change
// is no longer in the history.
func (w *Watcher[P]) Poll(dst []*Change[P], last uint64) (_ []*Change[P], more bool, err error) {
	marked := w.marked.Swap(0)
	if w.next == 0 {
		if marked <= w.seen.Load() {
			return dst, false, w.lost()
		}
		w.seek(marked - 1)
	}
	bytes := int64(0)
	for end := len(dst) + batchSize; ; {
		head := w.hub.ring.head.Load()
		limit := min(head, last)
		if err := w.lost(); err != nil {
			return dst, false, err
		}
		next := w.hub.ring.next.Load()
		for ; w.next < next || w.next == expired; w.next++ {
			c := w.hub.ring.get(w.next)
			if c == nil && w.after >= limit {
				break // it is not asked for yet
			}
			if c == nil {
				return dst, false, &ExpiredError{Requested: w.after, Oldest: w.hub.ring.floor.Load()}
			}
			if c.Version > limit {
				break
			}
			if contains(w.scope, c) {
				if (len(dst) >= end || bytes >= batchBytes) && c.Version != w.after { // a batch has all changes of a version
					return dst, true, nil
				}
				dst, bytes = append(dst, c), bytes+c.Size
				w.seen.Store(c.Version)
			}
			w.after = c.Version
		}
		w.seen.Store(max(w.seen.Load(), limit))
		if w.hub.ring.head.Load() > last {
			w.skipOthers()
			return dst, false, nil
		}
		// A mark is of a change up to head, which was read, or of one after head.
		if w.marked.Swap(0) == 0 || w.hub.ring.head.Load() == head {
			w.next = 0
			return dst, false, nil
		}
	}
}

// lost returns the error of a watcher whose hub has lost changes.
func (w *Watcher[P]) lost() error {
	if w.hub.losses.Load() == w.losses {
		return nil
	}
	return &ExpiredError{Requested: w.seen.Load(), Oldest: w.hub.ring.floor.Load()}
}

// skipOthers moves next over the changes of other objects, whose end in the history does not
// concern the watcher.
func (w *Watcher[P]) skipOthers() {
	head := w.hub.ring.head.Load()
	for ; ; w.next++ {
		c := w.hub.ring.get(w.next)
		if c == nil || c.Version > head || contains(w.scope, c) {
			return
		}
		w.after = c.Version
	}
}

// Settled returns a version up to which Poll has returned every change of the scope, for a
// bookmark. It returns false if there are changes to read first.
func (w *Watcher[P]) Settled() (uint64, bool) {
	// All marks up to this version were set before it was stored.
	version := w.hub.settled.Load()
	if w.next != 0 || w.marked.Load() != 0 || w.lost() != nil {
		return 0, false
	}
	return max(version, w.seen.Load()), true
}

// SettledUntil is like Settled for a watcher that reads up to version last: it returns a
// version, at most last, up to which Poll has returned every change.
func (w *Watcher[P]) SettledUntil(last uint64) uint64 {
	version, ok := w.Settled()
	if !ok {
		version = w.seen.Load()
	}
	return min(version, last)
}

// Pause makes writers skip the watcher, until Resume. It is for a reader that is busy for
// long, and the only method that others may call meanwhile.
func (w *Watcher[P]) Pause() {
	w.pausedAt = w.hub.settled.Load()
	w.hub.remove(w)
	w.hub.paused.Add(1)
}

// Resume ends a Pause. Poll continues where it was: at the change that was marked before
// the Pause, if there was one, and else after it. To look further back could find that the
// history is too short, although the watcher has missed nothing.
func (w *Watcher[P]) Resume() {
	seen, marked := w.seen.Load(), w.marked.Load()
	w.hub.paused.Add(-1)
	w.hub.add(w)
	switch {
	case w.next != 0:
	case marked > seen:
		w.start(marked - 1)
	default:
		w.start(max(seen, w.pausedAt))
	}
	if w.lost() != nil {
		w.Signal()
	}
}

// Close removes the watcher from the hub. It may be called more than once.
func (w *Watcher[P]) Close() { w.hub.remove(w) }
