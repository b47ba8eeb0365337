package store

import (
	"hash/maphash"
	"maps"
	"sync/atomic"
)

// A map takes as much memory as the rest of a Lease, and many objects carry the
// same labels. Stored objects never change, so equal maps can be one.

// sharedMaps is how many different maps are remembered. A map that is crowded
// out is no longer found, which costs memory and nothing else.
const sharedMaps = 512

// mapTable finds maps by their content.
type mapTable struct {
	seed  maphash.Seed
	slots [sharedMaps]atomic.Pointer[map[string]string]
}

// share makes the labels and annotations of an object that is about to be
// stored the same maps as those of another one, where they are equal. old is
// the object before, or nil.
func (t *mapTable) share(o, old Object) {
	m := o.GetObjectMeta()
	if old == nil || !sameMap(m.Labels, old.GetObjectMeta().Labels) {
		m.Labels = t.one(m.Labels)
	}
	if old == nil || !sameMap(m.Annotations, old.GetObjectMeta().Annotations) {
		m.Annotations = t.one(m.Annotations)
	}
}

// maxShared keeps large maps from being held by the table when no object has
// them any more.
const maxShared = 8

func (t *mapTable) one(m map[string]string) map[string]string {
	if len(m) == 0 || len(m) > maxShared {
		return m
	}
	var sum uint64 // of all entries, whatever their order
	for k, v := range m {
		if len(v) > 256 {
			return m
		}
		sum += maphash.String(t.seed, k) ^ 3*maphash.String(t.seed, v)
	}
	slot := &t.slots[sum%sharedMaps]
	if have := slot.Load(); have != nil && maps.Equal(*have, m) {
		return *have
	}
	slot.Store(&m)
	return m
}
