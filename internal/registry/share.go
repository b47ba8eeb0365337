package registry

import (
	"hash/maphash"
	"maps"
	"strings"
	"sync/atomic"

	"github.com/kubecoord/kubecoord/store/meta"
)

// A map takes as much memory as the rest of a Lease, and many objects carry the
// same labels. Stored objects never change, so equal maps can be one, and so
// can the strings that most objects have in common.

// sharedMaps and sharedStrings are how many different ones are remembered. One
// that is crowded out is no longer found, which costs memory and nothing else.
const (
	sharedMaps    = 512
	sharedStrings = 512
)

// shareTable finds maps and strings by their content.
type shareTable struct {
	seed  maphash.Seed
	slots atomic.Pointer[shareSlots] // nil until the first use
}

type shareSlots struct {
	maps    [sharedMaps]atomic.Pointer[map[string]string]
	strings [sharedStrings]atomic.Pointer[string]
}

// table returns the slots, which are made when they are first needed.
func (t *shareTable) table() *shareSlots {
	if have := t.slots.Load(); have != nil {
		return have
	}
	t.slots.CompareAndSwap(nil, new(shareSlots))
	return t.slots.Load()
}

// joinFork makes the table of a new store that of another one. What is equal may
// be one in all stores.
func (t *shareTable) joinFork(parent *shareTable) {
	t.seed = parent.seed
	t.slots.Store(parent.slots.Load())
}

// share makes the maps and strings of an object that is about to be stored the
// same as those of another one, where they are equal. old is the object before,
// or nil.
func (t *shareTable) share(o, old Object) {
	m := o.GetObjectMeta()
	if old == nil {
		// It may be a part of a whole request.
		m.Namespace = t.text(m.Namespace)
		m.Name = strings.Clone(m.Name)
	} else {
		m.Namespace, m.Name, m.UID = old.GetObjectMeta().Namespace, old.GetObjectMeta().Name, old.GetObjectMeta().UID
	}
	if old == nil || !sameEntries(m.ManagedFields, old.GetObjectMeta().ManagedFields) {
		t.shareManagers(m.ManagedFields)
	}
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

func (t *shareTable) one(m map[string]string) map[string]string {
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
	slot := &t.table().maps[sum%sharedMaps]
	if have := slot.Load(); have != nil && maps.Equal(*have, m) {
		return *have
	}
	slot.Store(&m)
	return m
}

// sameEntries reports whether two lists are one, which is then stored already
// and must not be written to.
func sameEntries(a, b []meta.ManagedFieldsEntry) bool {
	return len(a) == len(b) && (len(a) == 0 || &a[0] == &b[0])
}

func (t *shareTable) shareManagers(entries []meta.ManagedFieldsEntry) {
	for i := range entries {
		e := &entries[i]
		e.Manager, e.APIVersion = t.text(e.Manager), t.text(e.APIVersion)
		e.Operation = meta.ManagedFieldsOperationType(t.text(string(e.Operation)))
		e.FieldsType, e.Subresource = t.text(e.FieldsType), t.text(e.Subresource)
	}
}

// text returns a string that is equal, mostly one that others have too.
func (t *shareTable) text(s string) string {
	if s == "" || len(s) > maxSharedText {
		return s
	}
	slot := &t.table().strings[maphash.String(t.seed, s)%sharedStrings]
	if have := slot.Load(); have != nil && *have == s {
		return *have
	}
	s = strings.Clone(s)
	slot.Store(&s)
	return s
}

// maxSharedText is the longest string that is looked for.
const maxSharedText = 64
