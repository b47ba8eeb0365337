package watch

import (
	"sync/atomic"
	"time"
)

// ring holds the last changes by version. One writer appends; readers take no
// lock: a slot that no longer holds the version asked for has been overwritten.
type ring[P any] struct {
	slots  []atomic.Pointer[Change[P]]
	maxAge time.Duration // 0: limited by count only
	head   atomic.Uint64 // the last version appended
	oldest atomic.Uint64 // the first version that is still kept
}

func newRing[P any](size int, maxAge time.Duration, start uint64) *ring[P] {
	r := &ring[P]{slots: make([]atomic.Pointer[Change[P]], size), maxAge: maxAge}
	r.head.Store(start)
	r.oldest.Store(start + 1)
	return r
}

func (r *ring[P]) slot(version uint64) *atomic.Pointer[Change[P]] {
	return &r.slots[version%uint64(len(r.slots))]
}

// append publishes c, whose version follows the head.
func (r *ring[P]) append(c *Change[P]) {
	size := uint64(len(r.slots))
	if c.Version >= size && r.oldest.Load() <= c.Version-size {
		r.oldest.Store(c.Version - size + 1)
	}
	r.slot(c.Version).Store(c)
	r.head.Store(c.Version)
	if r.maxAge > 0 {
		r.dropBefore(c.At.Add(-r.maxAge))
	}
}

// skip lets the versions up to one pass without a change. The writer is about to
// reach the version last, so that there is no need to tell of what will have been
// overwritten by then.
func (r *ring[P]) skip(to, last uint64, at time.Time) {
	size := uint64(len(r.slots))
	from := r.head.Load() + 1
	if to >= size {
		r.oldest.Store(max(r.oldest.Load(), to-size+1))
	}
	if last >= size {
		from = max(from, last-size+1)
	}
	entry := &Change[P]{Version: to, Collection: noCollection, At: at, skipped: from}
	for v := from; v <= to; v++ {
		r.slot(v).Store(entry)
	}
	r.head.Store(to)
}

// dropBefore lets go of the changes made before t. Only the writer calls it.
func (r *ring[P]) dropBefore(t time.Time) {
	for v := r.oldest.Load(); v <= r.head.Load(); v++ {
		c := r.get(v)
		if c != nil && !c.At.Before(t) {
			return
		}
		r.oldest.Store(v + 1)
		r.slot(v).Store(nil)
	}
}

// get returns the change of a version, or nil if it is no longer kept.
func (r *ring[P]) get(version uint64) *Change[P] {
	if c := r.slot(version).Load(); c != nil && c.holds(version) {
		return c
	}
	return nil
}

// first returns the oldest version that is kept and not too old at now.
func (r *ring[P]) first(now time.Time) uint64 {
	v := r.oldest.Load()
	if r.maxAge <= 0 {
		return v
	}
	for head := r.head.Load(); v <= head; v++ {
		if c := r.get(v); c != nil && !c.At.Before(now.Add(-r.maxAge)) {
			break
		}
	}
	return v
}
