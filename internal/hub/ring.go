package hub

import (
	"sort"
	"sync/atomic"
	"time"
)

// ring holds the last changes. They are numbered in their order, from 1; the number gives the
// slot. Versions rise with the numbers: there are gaps, and several changes may have one
// version. There is one writer. Readers take no lock: if a slot has another number, the change
// was overwritten. A page is allocated at the first write to it, so a short history costs
// little. Forks share pages; see pages.
type ring[P any] struct {
	size   uint64
	pages  pages[P]
	maxAge time.Duration // 0: no limit by age
	bytes  byteLimit
	// The changes from low to next-1 are kept. They are all changes after version floor.
	low, next atomic.Uint64
	// From the change even on, each has the version after the one before. last is the version
	// of the last change. Only the writer uses them.
	even, last uint64
	floor      atomic.Uint64
	head       atomic.Uint64 // readers must not use changes after this version
}

func newRing[P any](size int, maxAge time.Duration, start uint64) *ring[P] {
	r := &ring[P]{size: uint64(size), maxAge: maxAge}
	r.pages.table.Store(newTable[P]((size-1)/pageSlots + 1))
	r.low.Store(1)
	r.next.Store(1)
	r.floor.Store(start)
	r.head.Store(start)
	return r
}

// fork returns an independent ring with the same changes. Only the writer calls it.
func (r *ring[P]) fork() *ring[P] {
	f := &ring[P]{size: r.size, maxAge: r.maxAge, bytes: r.bytes, even: r.even, last: r.last}
	r.pages.shareWith(&f.pages)
	f.low.Store(r.low.Load())
	f.next.Store(r.next.Load())
	f.floor.Store(r.floor.Load())
	f.head.Store(r.head.Load())
	return f
}

// slot returns the slot of a number. Only the writer calls it.
func (r *ring[P]) slot(number uint64) *atomic.Pointer[Change[P]] {
	i := number % r.size
	return &r.pages.own(i / pageSlots)[i%pageSlots]
}

// append adds c, whose version must not be less than the one before. Readers see it when the
// head has its version.
func (r *ring[P]) append(c *Change[P]) {
	n := r.next.Load()
	if n-r.low.Load() == r.size {
		r.forget()
		r.bytes.stale = true
	}
	if c.Version != r.last+1 {
		r.even = n
	}
	c.number, r.last = n, c.Version
	r.slot(n).Store(c)
	r.next.Store(n + 1)
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
	next := r.next.Load()
	if r.bytes.stale {
		r.bytes.used, r.bytes.stale = 0, false
		for n := r.low.Load(); n < next; n++ {
			r.bytes.used += r.get(n).Size
		}
	}
	for r.low.Load() < next-1 && r.bytes.used > r.bytes.most {
		r.drop()
	}
}

// dropBefore drops the changes made before t. Only the writer calls it.
func (r *ring[P]) dropBefore(t time.Time) {
	for n := r.low.Load(); n < r.next.Load() && r.get(n).At.Before(t); n++ {
		r.drop()
	}
}

// dropAll drops all changes up to the head. Only the writer calls it.
func (r *ring[P]) dropAll() {
	for r.low.Load() < r.next.Load() {
		r.drop()
	}
	r.floor.Store(r.head.Load())
}

// drop drops the oldest change.
func (r *ring[P]) drop() {
	n := r.low.Load()
	r.bytes.used -= r.get(n).Size
	r.forget()
	r.slot(n).Store(nil)
}

// forget moves low over the oldest change, before its slot changes: a reader that misses the
// change then finds the new floor.
func (r *ring[P]) forget() {
	n := r.low.Load()
	if n >= r.even { // the change itself is no longer in the processor's cache
		r.floor.Store(r.last - (r.next.Load() - 1 - n))
	} else {
		r.floor.Store(r.get(n).Version)
	}
	r.low.Store(n + 1)
}

// get returns the change of a number, or nil if it is no longer kept.
func (r *ring[P]) get(number uint64) *Change[P] {
	i := number % r.size
	pg := r.pages.get(i / pageSlots)
	if pg == nil {
		return nil
	}
	if c := pg[i%pageSlots].Load(); c != nil && c.number == number {
		return c
	}
	return nil
}

// after returns the number of the first change after a version. It returns false if the
// changes after the version are no longer kept.
func (r *ring[P]) after(version uint64) (number uint64, ok bool) {
	next := r.next.Load()
	head := r.head.Load()
	number = next
	if version < head {
		// Without gaps it is this one, else any number.
		number = next - (head - version)
		if !r.isAfter(version, number) || r.isAfter(version, number-1) {
			number = r.search(version, r.low.Load(), next)
		}
	}
	for c := r.get(number); c != nil && c.Version <= version; c = r.get(number) {
		number++ // it was added meanwhile
	}
	// A change that was overwritten meanwhile was found to be before the version.
	return number, version >= r.floor.Load()
}

// isAfter reports whether the change of a number is kept and after a version.
func (r *ring[P]) isAfter(version, number uint64) bool {
	c := r.get(number)
	return c != nil && c.Version > version
}

// search returns the number of the first change after a version, of those from low to next-1.
func (r *ring[P]) search(version, low, next uint64) uint64 {
	n := sort.Search(int(next-min(low, next)), func(i int) bool { return r.isAfter(version, low+uint64(i)) })
	return low + uint64(n)
}

// oldest returns the oldest version whose later changes are all kept and not too old at now.
func (r *ring[P]) oldest(now time.Time) uint64 {
	version := r.floor.Load()
	if r.maxAge <= 0 {
		return version
	}
	next := r.next.Load()
	for n := r.low.Load(); n < next; n++ {
		c := r.get(n)
		if c != nil && !c.At.Before(now.Add(-r.maxAge)) {
			break
		}
		if c != nil {
			version = max(version, c.Version)
		}
	}
	return version
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
