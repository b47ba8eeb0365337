package store

import (
	"hash/maphash"
	"sync/atomic"
)

// hotItems is how many objects of a kind are found without the tree and its
// lock. Leases are renewed again and again, mostly few of them.
const hotItems = 1024

// hotTable holds objects that were read or written lately. An item in it may
// have been replaced, which it knows itself.
type hotTable struct {
	seed  maphash.Seed
	slots atomic.Pointer[hotSlots] // nil until the first put
}

type hotSlots [hotItems]atomic.Pointer[Item]

func (t *hotTable) index(k key) uint64 {
	return (maphash.String(t.seed, k.namespace)*31 + maphash.String(t.seed, k.name)) % hotItems
}

// get returns the current state of an object if it is at hand, or nil.
func (t *hotTable) get(k key) *Item {
	slots := t.slots.Load()
	if slots == nil {
		return nil
	}
	it := slots[t.index(k)].Load()
	if it == nil || it.replaced.Load() || it.key() != k {
		return nil
	}
	return it
}

func (t *hotTable) put(k key, it *Item) {
	slots := t.slots.Load()
	if slots == nil {
		t.slots.CompareAndSwap(nil, new(hotSlots))
		slots = t.slots.Load()
	}
	slots[t.index(k)].Store(it)
}
