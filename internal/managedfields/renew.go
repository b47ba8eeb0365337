package managedfields

import (
	"bytes"
	"slices"
	"time"

	"github.com/kubecoord/kubecoord/internal/codec"
	"github.com/kubecoord/kubecoord/store/meta"
)

// renew is Update for the most frequent write: a manager changes values of fields
// that no other manager owns. Such a write only changes a time in the record. renew
// returns false if more may change. It neither decodes nor encodes a set.
func (k *Kind) renew(version int, live, obj Object, manager string, now time.Time) ([]meta.ManagedFieldsEntry, bool) {
	entries := live.GetObjectMeta().ManagedFields
	r := renewal{entries: entries, own: -1, sent: obj.GetObjectMeta().ManagedFields != nil, reset: k.Reset}
	if !r.findWriter(updater(manager, k.Versions[version].APIVersion, k.Subresource)) {
		return nil, false
	}
	if !k.Versions[version].Type.Diff(live, obj, r.keepsOwners) {
		return nil, false
	}
	if own := entries[r.own]; !r.gained || own.Time != nil && own.Time.Unix() == now.Unix() {
		return entries, true
	}
	return r.withTime(meta.NewTime(now)), true
}

type renewal struct {
	entries []meta.ManagedFieldsEntry
	own     int      // the index of the writer's entry
	sent    bool     // whether the request has managedFields
	gained  bool     // whether a field changed that the writer owns
	reset   []string // members that the write does not change
}

// findWriter finds the writer's entry. It returns false if there is none, or if other
// entries may have to change.
func (r *renewal) findWriter(id identity) bool {
	updaters := 0
	for i := range r.entries {
		e := &r.entries[i]
		if e.APIVersion != id.APIVersion || e.FieldsV1 == nil || bytes.Contains(e.FieldsV1.Raw, []byte("managedFields")) {
			return false
		}
		if e.Operation != meta.ManagedFieldsOperationUpdate {
			continue
		}
		updaters++
		if e.Manager == id.Manager && e.Subresource == id.Subresource {
			r.own = i
		}
	}
	return r.own >= 0 && updaters <= maxUpdaters
}

// keepsOwners is called for each member in which the objects differ. It returns false
// if a manager may gain or lose a field.
func (r *renewal) keepsOwners(at codec.Path, leaf bool) bool {
	name := at.At(at.Len() - 1).Name
	top := at.At(0).Name
	inMetadata := top == "metadata" && at.Len() == 2
	switch {
	case top == "apiVersion" || top == "kind":
		return true // the server sets them
	case len(r.reset) > 0 && slices.Contains(r.reset, top):
		return true
	case inMetadata && name == "managedFields":
		return !r.sent
	case inMetadata && isSystemField(name):
		// No manager should own it, and its name rarely occurs in an entry.
		for i := range r.entries {
			raw := r.entries[i].FieldsV1.Raw
			if !bytes.Contains(raw, []byte(name)) {
				continue
			}
			if owned, ok := owns(raw, at); owned || !ok {
				return false
			}
		}
		return true
	case !leaf:
		return false
	}
	for i := range r.entries {
		if owned, ok := owns(r.entries[i].FieldsV1.Raw, at); !ok || owned != (i == r.own) {
			return false
		}
	}
	r.gained = true
	return true
}

// withTime returns the sorted entries, where the writer's entry has the time now.
func (r *renewal) withTime(now meta.Time) []meta.ManagedFieldsEntry {
	entries := slices.Clone(r.entries)
	entries[r.own].Time = &now
	for i := r.own; i+1 < len(entries) && compareEntries(&entries[i], &entries[i+1]) > 0; i++ {
		entries[i], entries[i+1] = entries[i+1], entries[i]
	}
	for i := r.own; i > 0 && compareEntries(&entries[i-1], &entries[i]) > 0; i-- {
		entries[i-1], entries[i] = entries[i], entries[i-1]
	}
	return entries
}

func sameOwner(a, b *meta.ManagedFieldsEntry) bool {
	if a.Manager != b.Manager || a.Operation != b.Operation || a.APIVersion != b.APIVersion ||
		a.FieldsType != b.FieldsType || a.Subresource != b.Subresource || (a.FieldsV1 == nil) != (b.FieldsV1 == nil) {
		return false
	}
	return a.FieldsV1 == b.FieldsV1 || bytes.Equal(a.FieldsV1.Raw, b.FieldsV1.Raw)
}

// SameOwners reports whether two managedFields are equal except for their times. A
// write that would only change these times does not change the object (upstream:
// apiserver, fieldmanager/equality.go).
func SameOwners(a, b []meta.ManagedFieldsEntry) bool {
	if len(a) == len(b) && (len(a) == 0 || &a[0] == &b[0]) {
		return true
	}
	return slices.EqualFunc(a, b, func(x, y meta.ManagedFieldsEntry) bool { return sameOwner(&x, &y) })
}
