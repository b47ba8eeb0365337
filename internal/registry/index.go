package registry

import "hash/maphash"

// index finds the items of a tree by the hashes of their keys: one or two lines of memory where a walk down the tree touches a dozen
// keys. BenchmarkGet has the figures. The nil index finds nothing, for certain or not.
type index struct {
	seed  maphash.Seed
	items map[uint64]*Item
	// collided is set once two keys had the same hash, of which items has the later one.
	collided bool
	most     int // the largest number of items since items was made
}

// shrinkFrom is the number of items from which an index gives memory back.
const shrinkFrom = 1 << 10

func newIndex() *index { return &index{seed: maphash.MakeSeed(), items: map[uint64]*Item{}} }

func (x *index) hash(k key) uint64 {
	return maphash.String(x.seed, k.namespace)*31 + maphash.String(x.seed, k.name)
}

// find returns the item of a key, or nil. It returns false if only the tree knows it.
func (x *index) find(k key) (it *Item, certain bool) {
	if x == nil {
		return nil, false
	}
	if it = x.items[x.hash(k)]; it == nil {
		return nil, !x.collided
	}
	return it, it.key() == k
}

// put adds an item, or replaces the last state of its object.
func (x *index) put(k key, it *Item) {
	if x == nil {
		return
	}
	h := x.hash(k)
	if last := x.items[h]; last != nil && last.key() != k {
		x.collided = true
	}
	x.items[h] = it
	x.most = max(x.most, len(x.items))
}

// remove removes the item of a key.
func (x *index) remove(k key) {
	if x == nil {
		return
	}
	h := x.hash(k)
	if last := x.items[h]; last == nil || last.key() != k {
		return
	}
	delete(x.items, h)
	if x.most < shrinkFrom || len(x.items) > x.most/8 {
		return
	}
	items := make(map[uint64]*Item, len(x.items))
	for h, it := range x.items {
		items[h] = it
	}
	x.items, x.most = items, len(items)
}
