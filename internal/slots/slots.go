// Package slots is a cache of pointers that costs little until it is used much.
package slots

import "sync/atomic"

// Table is a table of pointers. A hash gives the place of a pointer; what was there before
// is lost. It begins small, so that the store of a test costs little, and grows once. The
// pointers in the small table are then lost too.
type Table[T any] struct {
	table atomic.Pointer[[]atomic.Pointer[T]] // nil until the first use
	uses  atomic.Int32                        // of the small table
}

const (
	small = 32
	// smallUses is how often the small table is used for writing.
	smallUses = 4 * small
)

// At returns the place for a hash, to write to it. full is the size of the table once it has
// grown. Both sizes are powers of two.
func (s *Table[T]) At(hash uint64, full int) *atomic.Pointer[T] {
	t := s.table.Load()
	if t == nil {
		s.table.CompareAndSwap(nil, newTable[T](small))
		t = s.table.Load()
	}
	if len(*t) == small && s.uses.Add(1) > smallUses {
		s.table.CompareAndSwap(t, newTable[T](full))
		t = s.table.Load()
	}
	return &(*t)[hash%uint64(len(*t))]
}

// Peek returns the place for a hash, to read it. It is nil if nothing was written yet.
func (s *Table[T]) Peek(hash uint64) *atomic.Pointer[T] {
	t := s.table.Load()
	if t == nil {
		return nil
	}
	return &(*t)[hash%uint64(len(*t))]
}

// Clear forgets all pointers.
func (s *Table[T]) Clear() { s.table.Store(nil) }

func newTable[T any](n int) *[]atomic.Pointer[T] {
	t := make([]atomic.Pointer[T], n)
	return &t
}
