package registry

import (
	"hash/maphash"
	"sync/atomic"
)

// hotItems is how many objects of a kind are found without the tree and its
// lock. Leases are renewed again and again, mostly few of them.
const hotItems = 1024

// hotTable holds objects that were read or written lately, in their current
// state: every change puts its own here or takes the old one away.
type hotTable struct {
	seed  maphash.Seed
	slots atomic.Pointer[hotSlots] // nil until the first put
}

type hotSlots [hotItems]atomic.Pointer[Item]

func (t *hotTable) index(k key) uint16 {
	return uint16((maphash.String(t.seed, k.namespace)*31 + maphash.String(t.seed, k.name)) % hotItems)
}

// get returns the current state of an object if it is at hand, or nil.
func (t *hotTable) get(k key) *Item {
	slots := t.slots.Load()
	if slots == nil {
		return nil
	}
	it := slots[t.index(k)].Load()
	if it == nil || it.key() != k {
		return nil
	}
	return it
}

// has reports whether an item is at hand, and so is the current state of its
// object.
func (t *hotTable) has(it *Item) bool {
	slots := t.slots.Load()
	return slots != nil && slots[it.slot].Load() == it
}

// put remembers the current state of an object. It is called with the store's
// lock held, for reading at least, so that no older state is left here.
func (t *hotTable) put(it *Item) {
	slots := t.slots.Load()
	if slots == nil {
		t.slots.CompareAndSwap(nil, new(hotSlots))
		slots = t.slots.Load()
	}
	slots[it.slot].Store(it)
}

// drop forgets the state of an object that is gone.
func (t *hotTable) drop(it *Item) {
	if slots := t.slots.Load(); slots != nil {
		slots[it.slot].CompareAndSwap(it, nil)
	}
}
