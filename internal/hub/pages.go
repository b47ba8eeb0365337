package hub

import "sync/atomic"

// pageSlots is how many changes a page of the ring has room for.
const pageSlots = 64

// page is a part of a ring. Once more than one ring has it, it is written to no
// more.
type page[P any] [pageSlots]atomic.Pointer[Change[P]]

// pages are the pages of a ring. A fork has the table of its parent at first:
// from then on neither writes to it, nor to a page in it. Whichever of the two
// has something to write makes a table of its own first, and a copy of each page
// that it is about to write to.
//
// The ring's writer alone writes. A reader may find a table or a page that has
// just been copied: all that had been written by the time at which it looked at
// the ring's head is in either.
type pages[P any] struct {
	table  atomic.Pointer[table[P]]
	shared bool // another ring may have the table; for the writer
}

type table[P any] struct {
	pages []atomic.Pointer[page[P]]
	own   []bool // by page: no other ring has it; for the writer
}

func newTable[P any](n int) *table[P] {
	return &table[P]{make([]atomic.Pointer[page[P]], n), make([]bool, n)}
}

// shareWith gives the table to another ring, which has none. The caller is the
// writer of both.
func (p *pages[P]) shareWith(other *pages[P]) {
	p.shared, other.shared = true, true
	other.table.Store(p.table.Load())
}

// get returns a page, or nil if there never was a change in it.
func (p *pages[P]) get(i uint64) *page[P] { return p.table.Load().pages[i].Load() }

// own returns a page that may be written to.
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

// copy returns a table with the same pages, of which it owns none. Nobody writes
// to what is copied any more, so there is no need to load it bit by bit.
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
