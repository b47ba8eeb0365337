package managedfields

import (
	"bytes"
	"slices"
	"time"

	"github.com/kubecoord/kubecoord/internal/codec"
	"github.com/kubecoord/kubecoord/store/meta"
)

// renew is Update for the most frequent write: a manager changes values of fields
// that no other manager owns. Such a write only changes times in the record. renew
// returns false if more may change. It neither decodes nor encodes a set.
func (k *Kind) renew(version int, live, obj Object, manager string, now time.Time) ([]meta.ManagedFieldsEntry, bool) {
	r := renewal{entries: live.GetObjectMeta().ManagedFields, own: -1, reset: k.Reset}
	if k.Subresource == "" {
		r.sent = obj.GetObjectMeta().ManagedFields
	}
	if r.sent != nil && !SameOwners(r.sent, r.entries) {
		return nil, false
	}
	if !r.findWriter(updater(manager, k.Versions[version].APIVersion, k.Subresource)) {
		return nil, false
	}
	if !k.Versions[version].Type.Diff(live, obj, r.keepsOwners) {
		return nil, false
	}
	return r.after(now), true
}

type renewal struct {
	entries []meta.ManagedFieldsEntry
	sent    []meta.ManagedFieldsEntry // by the client: nil, or entries with other times
	own     int                       // the index of the writer's entry
	gained  bool                      // whether a field changed that the writer owns
	reset   []string                  // members that the write does not change
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
	case slices.Contains(r.reset, top):
		return true
	case inMetadata && name == "managedFields":
		return true // they have the same owners, or the write does not change them
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

// after returns the record after the write. A client that sends the record decides about
// its times, except that the writer's entry has the time now if it gained a field.
func (r *renewal) after(now time.Time) []meta.ManagedFieldsEntry {
	changed := false
	for i := range r.entries {
		at, has := r.timeOf(i, now)
		had := r.entries[i].Time
		changed = changed || has != (had != nil) || has && at.Unix() != had.Unix()
	}
	if !changed {
		return r.entries
	}
	entries := slices.Clone(r.entries)
	for i := range entries {
		entries[i].Time = nil
		if at, has := r.timeOf(i, now); has {
			entries[i].Time = &at
		}
	}
	slices.SortFunc(entries, func(a, b meta.ManagedFieldsEntry) int { return compareEntries(&a, &b) })
	return entries
}

// timeOf returns the time of an entry after the write. It returns false if it has none.
func (r *renewal) timeOf(i int, now time.Time) (meta.Time, bool) {
	at := r.entries[i].Time
	if i == r.own && r.gained {
		return meta.NewTime(now), true
	}
	if r.sent != nil {
		at = r.sent[i].Time
	}
	if at == nil {
		return meta.Time{}, false
	}
	return *at, true
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
