package hub

// batchSize is how many changes a Poll returns at most, and batchBytes the Size up to which it
// adds another one. With limits, a reader that is far behind sends its first events early, and one
// that is not read keeps few changes that the history has dropped.
const (
	batchSize  = 256
	batchBytes = 256 << 10
)

// Reader is a position in the history. Only one goroutine at a time may call its methods, except Signal.
type Reader[P any] struct {
	wake chan struct{} // capacity 1: holds a value after a change was marked

	// Guarded by hub.mu.
	marked uint64 // the version of the first change to read since the last Poll, or 0
	index  int    // in its group, or -1

	hub    *Hub[P]
	scope  Scope
	losses int // of the history at the start

	seen   uint64 // Poll has returned all changes up to this version
	behind bool   // there may be changes to read after the version after, marked or not
	after  uint64
}

// Read returns a reader of the changes of a scope after a version, which may lie in the future. Poll reports that it
// is too old. The caller must Close the reader.
func (h *Hub[P]) Read(s Scope, after uint64) *Reader[P] {
	r := &Reader[P]{hub: h, scope: s, wake: make(chan struct{}, 1), seen: after, after: after}
	h.mu.Lock()
	defer h.mu.Unlock()
	h.readers++
	r.losses, r.index = h.history.losses, len(h.groups[s])
	h.groups[s] = append(h.groups[s], r)
	if after < h.history.head {
		r.behind = true
		r.Signal()
	}
	return r
}

// Signal makes Wake deliver a value. It may be called from any goroutine: a reader that
// waits for other events too then needs no other channel.
func (r *Reader[P]) Signal() { signal(r.wake) }

// Wake delivers a value when Poll may have something to return, after Signal, and when the hub is closed.
func (r *Reader[P]) Wake() <-chan struct{} { return r.wake }

// Poll appends the next changes up to version last to dst, at most a batch, and returns it. It does not block. more
// reports whether another call will return more. Wake does not report the changes after last again. The error is an
// *ExpiredError if the next change is no longer in the history.
func (r *Reader[P]) Poll(dst []*Change[P], last uint64) (_ []*Change[P], more bool, err error) {
	now := r.take()
	after := max(r.after, r.seen)
	switch {
	case now.losses != r.losses:
		return dst, false, &ExpiredError{Requested: r.seen, Oldest: now.floor}
	case !r.behind, after < now.floor && after >= last: // nothing is missing that is asked for
		return dst, false, nil
	case after < now.floor:
		return dst, false, &ExpiredError{Requested: after, Oldest: now.floor}
	}
	end, bytes := len(dst)+batchSize, int64(0)
	for _, c := range now.after(after) {
		if !contains(r.scope, c) {
			continue
		}
		isFull := len(dst) >= end || bytes >= batchBytes
		if c.Version > last || isFull && c.Version != r.seen { // a batch has all changes of a version
			r.after = c.Version - 1
			more = c.Version <= last
			if !more {
				r.seen = max(r.seen, last)
			}
			return dst, more, nil
		}
		dst, bytes, r.seen = append(dst, c), bytes+c.Size, c.Version
	}
	r.behind, r.seen = false, max(r.seen, now.head)
	return dst, false, nil
}

// take returns the history, and removes the mark: the history has all changes marked so far,
// and later ones set the mark and wake the reader again.
func (r *Reader[P]) take() history[P] {
	r.hub.mu.Lock()
	defer r.hub.mu.Unlock()
	if r.marked != 0 && !r.behind {
		r.behind, r.after = true, r.marked-1
	}
	r.marked = 0
	return r.hub.history
}

// Settled returns a version up to which Poll has returned every change of the scope, for a
// bookmark. It returns false if there are changes to read first.
func (r *Reader[P]) Settled() (uint64, bool) {
	r.hub.mu.Lock()
	defer r.hub.mu.Unlock()
	if now := &r.hub.history; !r.behind && r.marked == 0 && now.losses == r.losses {
		return max(now.head, r.seen), true
	}
	return 0, false
}

// SettledUntil is like Settled for a reader that reads up to version last: it returns a
// version, at most last, up to which Poll has returned every change.
func (r *Reader[P]) SettledUntil(last uint64) uint64 {
	version, ok := r.Settled()
	if !ok {
		version = r.seen
	}
	return min(version, last)
}

// Close removes the reader from the hub. It may be called more than once.
func (r *Reader[P]) Close() {
	h := r.hub
	h.mu.Lock()
	defer h.mu.Unlock()
	if r.index < 0 {
		return
	}
	group := h.groups[r.scope]
	last := len(group) - 1
	group[r.index] = group[last]
	group[r.index].index = r.index
	group[last] = nil
	r.index = -1
	h.readers--
	h.groups[r.scope] = group[:last]
	if last == 0 {
		delete(h.groups, r.scope)
		h.forgetLocked()
	}
}
