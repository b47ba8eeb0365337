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
	slots [hotItems]atomic.Pointer[Item]
}

func (t *hotTable) slot(k key) *atomic.Pointer[Item] {
	return &t.slots[(maphash.String(t.seed, k.namespace)*31+maphash.String(t.seed, k.name))%hotItems]
}

// get returns the current state of an object if it is at hand, or nil.
func (t *hotTable) get(k key) *Item {
	it := t.slot(k).Load()
	if it == nil || it.replaced.Load() || it.key() != k {
		return nil
	}
	return it
}

func (t *hotTable) put(k key, it *Item) { t.slot(k).Store(it) }
