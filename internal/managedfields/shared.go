package managedfields

import (
	"bytes"
	"hash/maphash"
	"strings"

	"github.com/kubecoord/kubecoord/internal/slots"
	"github.com/kubecoord/kubecoord/store/meta"
)

// Shared finds managedFields and sets of stored objects, so that many objects share one
// copy of them. Most objects of a kind are written by the same manager,
// and many within the same second. A slot that was reused costs only memory.
//
// The results of its methods must not be changed. The methods may be called from any
// goroutine. A nil Shared shares nothing.
type Shared struct {
	seed  maphash.Seed
	lists slots.Table[single]
	sets  slots.Table[meta.FieldsV1]
}

// The sizes of the tables, and a bound.
const (
	sharedLists = 64
	sharedSets  = 256
	// maxShared bounds a set in the table, in bytes.
	maxShared = 1024
)

// single is a list of one entry, with the time of the entry.
type single struct {
	entry [1]meta.ManagedFieldsEntry
	time  meta.Time
}

// NewShared returns an empty table.
func NewShared() *Shared { return &Shared{seed: maphash.MakeSeed()} }

// Share replaces the sets of a list that is about to be stored by sets in the table. A list
// of one entry may be replaced as a whole. The caller must own the list, unless it is from
// the table.
func (s *Shared) Share(entries []meta.ManagedFieldsEntry) []meta.ManagedFieldsEntry {
	if len(entries) == 1 && entries[0].Time != nil && entries[0].FieldsV1 != nil {
		return s.list(entries[0], *entries[0].Time, entries[0].FieldsV1.Raw)
	}
	for i := range entries {
		if e := &entries[i]; e.FieldsV1 != nil {
			e.FieldsV1 = s.set(e.FieldsV1.Raw)
		}
	}
	return entries
}

// list returns a list with one entry: e with a time and a set. The list shares no memory
// with the text of the set and the name of the manager.
func (s *Shared) list(e meta.ManagedFieldsEntry, at meta.Time, set []byte) []meta.ManagedFieldsEntry {
	if s == nil {
		return s.newSingle(e, at, set).entry[:]
	}
	slot := s.lists.At(maphash.String(s.seed, e.Manager)+uint64(at.Unix()), sharedLists)
	if have := slot.Load(); have != nil && have.is(&e, at, set) {
		return have.entry[:]
	}
	made := s.newSingle(e, at, set)
	slot.Store(made)
	return made.entry[:]
}

func (s *Shared) newSingle(e meta.ManagedFieldsEntry, at meta.Time, set []byte) *single {
	made := &single{time: at}
	e.Manager, e.Time, e.FieldsV1 = strings.Clone(e.Manager), &made.time, s.set(set)
	made.entry[0] = e
	return made
}

// is reports whether the list has the entry e with a time and a set.
func (l *single) is(e *meta.ManagedFieldsEntry, at meta.Time, set []byte) bool {
	have := &l.entry[0]
	return have.Manager == e.Manager && have.Operation == e.Operation && have.APIVersion == e.APIVersion &&
		have.FieldsType == e.FieldsType && have.Subresource == e.Subresource &&
		l.time.Unix() == at.Unix() && bytes.Equal(have.FieldsV1.Raw, set)
}

// set returns the set with a text.
func (s *Shared) set(text []byte) *meta.FieldsV1 {
	if s == nil || len(text) > maxShared {
		return &meta.FieldsV1{Raw: bytes.Clone(text)}
	}
	slot := s.sets.At(maphash.Bytes(s.seed, text), sharedSets)
	if have := slot.Load(); have != nil && bytes.Equal(have.Raw, text) {
		return have
	}
	made := &meta.FieldsV1{Raw: bytes.Clone(text)}
	slot.Store(made)
	return made
}
