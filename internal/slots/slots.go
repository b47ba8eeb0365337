// Package slots is a cache of pointers that costs little until it is used much.
package slots

import "sync/atomic"

// Table is a table of pointers. A hash gives the place of a pointer; what was there before
// is lost. It begins small, so that the store of a test costs little, and grows when it is
// used much. It is empty after it has grown.
type Table[T any] struct {
	table atomic.Pointer[[]atomic.Pointer[T]] // nil until the first use
	uses  atomic.Int32                        // for writing, of a table that may grow
}

const (
	small  = 8
	growth = 32 // the factor by which a table grows
	// usesOfASlot is how often each slot is used for writing before a table grows.
	usesOfASlot = 4
)

// At returns the place for a hash, to write to it. full is the size up to which the table
// grows, a power of two.
func (s *Table[T]) At(hash uint64, full int) *atomic.Pointer[T] {
	t := s.table.Load()
	if t == nil {
		s.table.CompareAndSwap(nil, newTable[T](small))
		t = s.table.Load()
	}
	if n := len(*t); n < full && int(s.uses.Add(1)) > usesOfASlot*n {
		s.uses.Store(0)
		s.table.CompareAndSwap(t, newTable[T](min(growth*n, full)))
		t = s.table.Load()
	}
	return &(*t)[hash%uint64(len(*t))]
}

func newTable[T any](n int) *[]atomic.Pointer[T] {
	if n > small {
		return new(make([]atomic.Pointer[T], n))
	}
	t := new(struct { // one piece of memory instead of two
		slots []atomic.Pointer[T]
		room  [small]atomic.Pointer[T]
	})
	t.slots = t.room[:]
	return &t.slots
}
