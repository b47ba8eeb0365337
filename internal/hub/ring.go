package hub

import (
	"sync/atomic"
	"time"
)

// ring holds the last changes by version. One writer appends; readers take no
// lock: a slot that no longer holds the version asked for has been overwritten.
// Its pages are made when they are first written to, so that a history which
// stays short costs little. pages.go says how forks share them.
type ring[P any] struct {
	size   uint64
	pages  pages[P]
	maxAge time.Duration // 0: limited by count only
	head   atomic.Uint64 // the last version appended
	oldest atomic.Uint64 // the first version that is still kept
}

func newRing[P any](size int, maxAge time.Duration, start uint64) *ring[P] {
	r := &ring[P]{size: uint64(size), maxAge: maxAge}
	r.pages.table.Store(newTable[P]((size-1)/pageSlots + 1))
	r.head.Store(start)
	r.oldest.Store(start + 1)
	return r
}

// fork returns a ring that holds the same changes, and from here on goes its own
// way. Only the writer calls it.
func (r *ring[P]) fork() *ring[P] {
	f := &ring[P]{size: r.size, maxAge: r.maxAge}
	r.pages.shareWith(&f.pages)
	f.head.Store(r.head.Load())
	f.oldest.Store(r.oldest.Load())
	return f
}

// slot returns where the change of a version belongs. Only the writer calls it.
func (r *ring[P]) slot(version uint64) *atomic.Pointer[Change[P]] {
	i := version % r.size
	return &r.pages.own(i / pageSlots)[i%pageSlots]
}

// append publishes c, whose version follows the head.
func (r *ring[P]) append(c *Change[P]) {
	if c.Version >= r.size && r.oldest.Load() <= c.Version-r.size {
		r.oldest.Store(c.Version - r.size + 1)
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
	size := r.size
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
		r.drop(v)
	}
}

// dropAll lets go of all changes. Only the writer calls it.
func (r *ring[P]) dropAll() {
	for v := r.oldest.Load(); v <= r.head.Load(); v++ {
		r.drop(v)
	}
}

// drop lets go of the oldest change.
func (r *ring[P]) drop(v uint64) {
	r.oldest.Store(v + 1)
	r.slot(v).Store(nil)
}

// get returns the change of a version, or nil if it is no longer kept.
func (r *ring[P]) get(version uint64) *Change[P] {
	i := version % r.size
	pg := r.pages.get(i / pageSlots)
	if pg == nil {
		return nil
	}
	if c := pg[i%pageSlots].Load(); c != nil && c.holds(version) {
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
