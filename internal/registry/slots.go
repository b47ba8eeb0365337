package registry

import "sync/atomic"

// slots is a table of pointers. A hash gives the place of a pointer; what was there before
// is lost. It begins small, so that the store of a test costs little, and grows once. The
// pointers in the small table are then lost too.
type slots[T any] struct {
	table atomic.Pointer[[]atomic.Pointer[T]] // nil until the first use
	uses  atomic.Int32                        // of the small table
}

const (
	smallSlots = 32
	// smallUses is how often the small table is used for writing.
	smallUses = 4 * smallSlots
)

// at returns the place for a hash, to write to it. full is the size of the table once it has
// grown. Both sizes are powers of two.
func (s *slots[T]) at(hash uint64, full int) *atomic.Pointer[T] {
	t := s.table.Load()
	if t == nil {
		s.table.CompareAndSwap(nil, newSlots[T](smallSlots))
		t = s.table.Load()
	}
	if len(*t) == smallSlots && s.uses.Add(1) > smallUses {
		s.table.CompareAndSwap(t, newSlots[T](full))
		t = s.table.Load()
	}
	return &(*t)[hash%uint64(len(*t))]
}

// peek returns the place for a hash, to read it. It is nil if nothing was written yet.
func (s *slots[T]) peek(hash uint64) *atomic.Pointer[T] {
	t := s.table.Load()
	if t == nil {
		return nil
	}
	return &(*t)[hash%uint64(len(*t))]
}

func newSlots[T any](n int) *[]atomic.Pointer[T] {
	t := make([]atomic.Pointer[T], n)
	return &t
}
