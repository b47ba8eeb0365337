// Package intern lets stored objects, which never change, share equal strings, maps and
// managedFields. Most objects of a kind have the labels and the manager of many others.
package intern

import (
	"bytes"
	"hash/maphash"
	"maps"
	"strings"
	"sync/atomic"

	"github.com/kubecoord/kubecoord/internal/codec"
	"github.com/kubecoord/kubecoord/store/meta"
)

// Table finds values that were stored before. A value whose slot was reused is stored once
// more, which costs only memory. Any goroutine may use a Table.
type Table struct {
	seed  maphash.Seed
	slots atomic.Pointer[[slots]atomic.Pointer[any]] // nil until the first use
}

// The size of a table, and the limits of a value in it: it stays in the table after the last
// object with it has gone.
const (
	slots      = 1024
	maxText    = 64
	maxEntries = 8
	maxValue   = 256
	maxSet     = 1024
)

// New returns an empty table.
func New() *Table { return &Table{seed: maphash.MakeSeed()} }

// find returns the value in the slot of hash, if it is the same as the wanted one. If not, it
// calls keep, and puts the result into the slot.
func find[T any](t *Table, hash uint64, same func(T) bool, keep func() T) T {
	all := t.slots.Load()
	if all == nil {
		t.slots.CompareAndSwap(nil, new([slots]atomic.Pointer[any]))
		all = t.slots.Load()
	}
	slot := &all[hash%slots]
	if have := slot.Load(); have != nil {
		if found, ok := (*have).(T); ok && same(found) {
			return found
		}
	}
	value := keep()
	var kept any = value
	slot.Store(&kept)
	return value
}

// Metadata replaces values of an object that is about to be stored by equal ones that are
// stored already. old is the metadata of the state before, or nil. It may share memory with m;
// all else that m refers to must belong to m alone.
func (t *Table) Metadata(m, old *meta.ObjectMeta) {
	if old == nil {
		// They are parts of a request, but for the uid. Both texts in one block take 16 bytes less for a name of 12 bytes or less.
		both := m.Name + string(m.UID)
		old = &meta.ObjectMeta{Namespace: t.text(m.Namespace), Name: both[:len(m.Name)], UID: meta.UID(both[len(m.Name):])}
	}
	m.Namespace, m.Name, m.UID = old.Namespace, old.Name, old.UID
	m.Labels, m.Annotations = t.entries(m.Labels, old.Labels), t.entries(m.Annotations, old.Annotations)
	if have := m.ManagedFields; len(have) > 0 && (len(old.ManagedFields) == 0 || &have[0] != &old.ManagedFields[0]) {
		m.ManagedFields = t.managers(have, old.ManagedFields)
	}
}

func (t *Table) text(s string) string {
	if s == "" || len(s) > maxText {
		return s
	}
	return find(t, maphash.String(t.seed, s), func(have string) bool { return have == s }, func() string { return strings.Clone(s) })
}

// entries returns a map that equals m, perhaps old.
func (t *Table) entries(m, old map[string]string) map[string]string {
	switch {
	case len(m) == 0 || len(m) > maxEntries:
		return m
	case codec.EqualEntries(m, old):
		return old
	}
	var hash uint64 // does not depend on the order of the entries
	for k, v := range m {
		if len(v) > maxValue {
			return m
		}
		hash += maphash.String(t.seed, k) ^ 3*maphash.String(t.seed, v)
	}
	return find(t, hash, func(have map[string]string) bool { return maps.Equal(have, m) }, func() map[string]string { return m })
}

// managers returns entries that equal the given ones. A list of one entry is shared as a whole: many
// objects are written by one manager within a second.
func (t *Table) managers(entries, old []meta.ManagedFieldsEntry) []meta.ManagedFieldsEntry {
	want := &entries[0]
	if len(entries) > 1 || want.Time == nil || want.FieldsV1 == nil || len(want.FieldsV1.Raw) > maxSet {
		return t.parts(entries, old)
	}
	same := func(have []meta.ManagedFieldsEntry) bool {
		e := &have[0]
		return e.Time.Unix() == want.Time.Unix() && e.Manager == want.Manager && e.Operation == want.Operation && e.APIVersion == want.APIVersion &&
			e.FieldsType == want.FieldsType && e.Subresource == want.Subresource && bytes.Equal(e.FieldsV1.Raw, want.FieldsV1.Raw)
	}
	return find(t, maphash.String(t.seed, want.Manager)+uint64(want.Time.Unix()), same, func() []meta.ManagedFieldsEntry { return t.parts(entries, old) })
}

// parts replaces the parts of each entry. An entry of a renewal differs from the one before in its time only.
func (t *Table) parts(entries, old []meta.ManagedFieldsEntry) []meta.ManagedFieldsEntry {
	for i := range entries {
		e := &entries[i]
		if i < len(old) && e.FieldsV1 == old[i].FieldsV1 {
			renewed := old[i]
			renewed.Time = e.Time
			if renewed == *e {
				*e = renewed
				continue
			}
		}
		e.Manager, e.APIVersion, e.FieldsType, e.Subresource = t.text(e.Manager), t.text(e.APIVersion), t.text(e.FieldsType), t.text(e.Subresource)
		e.Operation = meta.ManagedFieldsOperationType(t.text(string(e.Operation)))
		if set := e.FieldsV1; set != nil && len(set.Raw) <= maxSet {
			e.FieldsV1 = find(t, maphash.Bytes(t.seed, set.Raw),
				func(have *meta.FieldsV1) bool { return bytes.Equal(have.Raw, set.Raw) }, func() *meta.FieldsV1 { return set })
		}
	}
	return entries
}
