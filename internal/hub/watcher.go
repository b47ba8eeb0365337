package hub

import (
	"math"
	"sync/atomic"
)

// batchSize bounds what one Poll returns, so that a watcher far behind starts
// to write before it has read all.
const batchSize = 256

// Watcher is a position in the history. Its methods are for one goroutine.
type Watcher[P any] struct {
	hub   *Hub[P]
	scope Scope
	index int // in its group, guarded by hub.mu; -1 once removed

	wake  chan struct{} // capacity 1: something was marked
	woken func()        // called before, unless nil
	// marked is the version of the first change of the scope since it was
	// last taken, or 0. It is the only thing a writer touches.
	marked atomic.Uint64

	// seen is set by the reader: all changes of the scope up to here have been
	// returned.
	seen atomic.Uint64
	next uint64 // where to go on reading; 0: nothing is known to be there
}

// start has the watcher read from a version on, if there is more already.
func (w *Watcher[P]) start(after uint64) {
	if after < w.hub.ring.head.Load() {
		w.next = after + 1 // whatever has been marked meanwhile comes later
		w.signal()
	}
}

// mark is how a writer tells of a change. The version is marked before the
// wake-up is sent, and taken after it is received, so none is lost. A mark for
// a change that the reader has met already must not stay: it would hide the
// next one, and point to where history may be gone by then. So whichever of
// the two is second, the writer with its mark or the reader with what it has
// seen, takes it back.
func (w *Watcher[P]) mark(version uint64) {
	if version <= w.seen.Load() || !w.marked.CompareAndSwap(0, version) {
		return
	}
	if version <= w.seen.Load() {
		w.marked.CompareAndSwap(version, 0)
		return
	}
	if w.woken != nil {
		w.woken()
	}
	w.signal()
}

func (w *Watcher[P]) signal() {
	select {
	case w.wake <- struct{}{}:
	default: // it is awake or about to be
	}
}

// Wake delivers a value when Poll may have something to return.
func (w *Watcher[P]) Wake() <-chan struct{} { return w.wake }

// Poll appends the changes that are ready to dst, at most a batch of them, and
// returns it. It does not block. more tells that a further call will find
// more. The error is an *ExpiredError: the watcher fell out of history.
func (w *Watcher[P]) Poll(dst []*Change[P]) (_ []*Change[P], more bool, err error) {
	return w.PollUntil(dst, math.MaxUint64)
}

// PollUntil is Poll for changes up to a version. Those after it are held back:
// Wake does not tell of them again.
func (w *Watcher[P]) PollUntil(dst []*Change[P], last uint64) (_ []*Change[P], more bool, err error) {
	marked := w.marked.Swap(0)
	if w.next == 0 {
		if marked <= w.seen.Load() {
			return dst, false, nil
		}
		w.next = marked
	}
	for end := len(dst) + batchSize; ; {
		head := min(w.hub.ring.head.Load(), last)
		for ; w.next <= head; w.next++ {
			c := w.hub.ring.get(w.next)
			if c == nil {
				return dst, false, &ExpiredError{Requested: w.next - 1, Oldest: w.hub.ring.oldest.Load() - 1}
			}
			if !contains(w.scope, c) {
				continue
			}
			if len(dst) == end {
				return dst, true, nil
			}
			dst = append(dst, c)
			w.seen.Store(w.next)
		}
		w.seen.Store(max(w.seen.Load(), head))
		if w.hub.ring.head.Load() > last {
			return dst, false, nil // next stays where the rest begins
		}
		if !w.dropStaleMark() || w.hub.ring.head.Load() == head {
			w.next = 0
			return dst, false, nil
		}
		// The mark may have hidden one for a change after the head.
	}
}

// dropStaleMark takes back a mark for a change that has been returned.
func (w *Watcher[P]) dropStaleMark() bool {
	marked := w.marked.Load()
	return marked != 0 && marked <= w.seen.Load() && w.marked.CompareAndSwap(marked, 0)
}

// Settled returns a version up to which every change of the scope has been
// returned by Poll, and false where there is more to read first. It is what a
// bookmark may say.
func (w *Watcher[P]) Settled() (uint64, bool) {
	// All marks up to this version were made before it was stored.
	version := w.hub.settled.Load()
	if w.next != 0 || w.marked.Load() != 0 {
		return 0, false
	}
	return max(version, w.seen.Load()), true
}

// SettledUntil is Settled for who reads up to a version: it returns how far, up
// to there, every change of the scope has been returned.
func (w *Watcher[P]) SettledUntil(last uint64) uint64 {
	version, ok := w.Settled()
	if !ok {
		version = w.seen.Load()
	}
	return min(version, last)
}

// Close takes the watcher out of the hub. It may be called more than once.
func (w *Watcher[P]) Close() { w.hub.remove(w) }
