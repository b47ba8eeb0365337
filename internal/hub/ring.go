package hub

import (
	"sync/atomic"
	"time"
)

// ring holds the last changes by version. There is one writer. Readers take no lock: if a
// slot has another version, the change was overwritten. A page is allocated at the first
// write to it, so a short history costs little. Forks share pages; see pages.
type ring[P any] struct {
	size   uint64
	pages  pages[P]
	maxAge time.Duration // 0: no limit by age
	bytes  byteLimit
	head   atomic.Uint64 // the last version appended
	oldest atomic.Uint64 // the oldest version that is kept
}

func newRing[P any](size int, maxAge time.Duration, start uint64) *ring[P] {
	r := &ring[P]{size: uint64(size), maxAge: maxAge}
	r.pages.table.Store(newTable[P]((size-1)/pageSlots + 1))
	r.head.Store(start)
	r.oldest.Store(start + 1)
	return r
}

// fork returns an independent ring with the same changes. Only the writer calls it.
func (r *ring[P]) fork() *ring[P] {
	f := &ring[P]{size: r.size, maxAge: r.maxAge, bytes: r.bytes}
	r.pages.shareWith(&f.pages)
	f.head.Store(r.head.Load())
	f.oldest.Store(r.oldest.Load())
	return f
}

// slot returns the slot of a version. Only the writer calls it.
func (r *ring[P]) slot(version uint64) *atomic.Pointer[Change[P]] {
	i := version % r.size
	return &r.pages.own(i / pageSlots)[i%pageSlots]
}

// append adds c, whose version must be one greater than the head.
func (r *ring[P]) append(c *Change[P]) {
	if c.Version >= r.size && r.oldest.Load() <= c.Version-r.size {
		r.oldest.Store(c.Version - r.size + 1)
		r.bytes.stale = true
	}
	r.slot(c.Version).Store(c)
	r.head.Store(c.Version)
	if r.maxAge > 0 {
		r.dropBefore(c.At.Add(-r.maxAge))
	}
	if r.bytes.used += c.Size; r.bytes.most > 0 && r.bytes.used > r.bytes.most {
		r.dropBytes()
	}
}

// byteLimit bounds the sizes of the changes that are kept. Only the writer uses it.
type byteLimit struct {
	most int64 // 0: no limit
	// used is the sum of the sizes. It is too high while it is stale: it may then count
	// changes that others have overwritten, whose sizes nobody looked up.
	used  int64
	stale bool
}

// dropBytes drops the oldest changes until the rest fits, and keeps the last one.
func (r *ring[P]) dropBytes() {
	head := r.head.Load()
	if r.bytes.stale {
		r.bytes.used, r.bytes.stale = 0, false
		for v := r.oldest.Load(); v <= head; v++ {
			r.bytes.used += r.sizeOf(v)
		}
	}
	for v := r.oldest.Load(); v < head && r.bytes.used > r.bytes.most; v++ {
		r.drop(v)
	}
}

// sizeOf returns the size of a change that is kept, or else 0.
func (r *ring[P]) sizeOf(version uint64) int64 {
	if c := r.get(version); c != nil && c.Version == version {
		return c.Size
	}
	return 0
}

// skip advances to a version without changes. The writer will continue up to the version
// last, so skip leaves out the entries that will be overwritten by then.
func (r *ring[P]) skip(to, last uint64, at time.Time) {
	size := r.size
	r.bytes.stale = true
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

// dropBefore drops the changes made before t. Only the writer calls it.
func (r *ring[P]) dropBefore(t time.Time) {
	for v := r.oldest.Load(); v <= r.head.Load(); v++ {
		c := r.get(v)
		if c != nil && !c.At.Before(t) {
			return
		}
		r.drop(v)
	}
}

// dropAll drops all changes. Only the writer calls it.
func (r *ring[P]) dropAll() {
	for v := r.oldest.Load(); v <= r.head.Load(); v++ {
		r.drop(v)
	}
}

// drop drops v, which must be the oldest version that is kept.
func (r *ring[P]) drop(v uint64) {
	r.bytes.used -= r.sizeOf(v)
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

// pageSlots is the number of changes in a page of the ring.
const pageSlots = 64

// page is a part of a ring. A page that two rings share is never written to.
type page[P any] [pageSlots]atomic.Pointer[Change[P]]

// pages are the pages of a ring. A fork starts with the table of its parent. After that
// neither ring writes to that table or its pages: before a write, each copies the table and
// the page that it writes to.
//
// Only the ring's writer writes. A reader may find the original or the copy: both hold
// all changes up to the head that the reader has loaded.
type pages[P any] struct {
	table  atomic.Pointer[table[P]]
	shared bool // whether another ring may use the table; only the writer reads shared
}

type table[P any] struct {
	pages []atomic.Pointer[page[P]]
	own   []bool // own[i]: page i belongs to this ring alone; only the writer uses own
}

func newTable[P any](n int) *table[P] {
	return &table[P]{make([]atomic.Pointer[page[P]], n), make([]bool, n)}
}

// shareWith gives the table to another ring, which must not have one yet. The caller must
// be the writer of both rings.
func (p *pages[P]) shareWith(other *pages[P]) {
	p.shared, other.shared = true, true
	other.table.Store(p.table.Load())
}

// get returns a page, or nil if it was never written to.
func (p *pages[P]) get(i uint64) *page[P] { return p.table.Load().pages[i].Load() }

// own returns a page that belongs to this ring alone, so that it may be written to.
func (p *pages[P]) own(i uint64) *page[P] {
	t := p.table.Load()
	if p.shared {
		t = t.copy()
		p.table.Store(t)
		p.shared = false
	}
	pg := t.pages[i].Load()
	if t.own[i] {
		return pg
	}
	if pg == nil {
		pg = new(page[P])
	} else {
		pg = pg.copy()
	}
	t.pages[i].Store(pg)
	t.own[i] = true
	return pg
}

// copy returns a table with the same pages, all of which other rings may have. No ring
// writes to the original any more, so the pointers need no atomic loads.
func (t *table[P]) copy() *table[P] {
	c := newTable[P](len(t.pages))
	copy(c.pages, t.pages)
	return c
}

func (pg *page[P]) copy() *page[P] {
	c := new(page[P])
	copy(c[:], pg[:])
	return c
}
