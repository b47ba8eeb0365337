package watch

import "sync/atomic"

// batchSize bounds what one Poll returns, so that a watcher far behind starts
// to write before it has read all.
const batchSize = 256

// Watcher is a position in the history. Its methods are for one goroutine.
type Watcher[P any] struct {
	hub   *Hub[P]
	scope Scope
	index int // in its group, guarded by hub.mu; -1 once removed

	wake chan struct{} // capacity 1: something was marked
	// marked is the version of the first change of the scope since it was
	// last taken, or 0. It is the only thing a writer touches.
	marked atomic.Uint64

	next uint64 // where to go on reading; 0: nothing is known to be there
	seen uint64 // all changes of the scope up to here have been returned
}

// mark is how a writer tells of a change. The version is marked before the
// wake-up is sent, and taken after it is received, so none is lost.
func (w *Watcher[P]) mark(version uint64) {
	if w.marked.CompareAndSwap(0, version) {
		select {
		case w.wake <- struct{}{}:
		default: // it is awake or about to be
		}
	}
}

// Wake delivers a value when Poll may have something to return.
func (w *Watcher[P]) Wake() <-chan struct{} { return w.wake }

// Poll appends the changes that are ready to dst, at most a batch of them, and
// returns it. It does not block. more tells that a further call will find
// more. The error is an *ExpiredError: the watcher fell out of history.
func (w *Watcher[P]) Poll(dst []*Change[P]) (_ []*Change[P], more bool, err error) {
	marked := w.marked.Swap(0)
	if w.next == 0 {
		if marked == 0 {
			return dst, false, nil
		}
		// A mark may come late for a change that an earlier Poll has met.
		w.next = max(marked, w.seen+1)
	}
	head := w.hub.ring.head.Load()
	for n := 0; w.next <= head; w.next++ {
		c := w.hub.ring.get(w.next)
		if c == nil {
			return dst, false, &ExpiredError{Requested: w.next - 1, Oldest: w.hub.ring.oldest.Load() - 1}
		}
		if !contains(w.scope, c) {
			continue
		}
		if n == batchSize {
			return dst, true, nil
		}
		dst = append(dst, c)
		w.seen = w.next
		n++
	}
	w.next = 0
	w.seen = max(w.seen, head)
	return dst, false, nil
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
	return max(version, w.seen), true
}

// Close takes the watcher out of the hub. It may be called more than once.
func (w *Watcher[P]) Close() { w.hub.remove(w) }
