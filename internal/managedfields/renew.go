package managedfields

import (
	"bytes"
	"slices"
	"time"

	"github.com/kubecoord/kubecoord/internal/codec"
	"github.com/kubecoord/kubecoord/store/meta"
)

// renewal is a write that only changes leaves that the writer and no other owner has in its set, so that it changes no set. Nearly
// all writes are renewals; see BenchmarkUpdate.
type renewal struct {
	kind   *FieldManager
	sets   []*set // of the owners
	writer int    // the index of its set; -1 if it owns nothing
	gained bool   // whether a leaf of the writer changes
}

// renewed returns the managedFields after an update that changes no set: the present ones, with the times that the request has, and the
// time of the write for the writer. It may return false although the update is such.
func (k *FieldManager) renewed(version int, live, obj Object, manager string, now time.Time) (_ []meta.ManagedFieldsEntry, ok bool) {
	v := &k.Versions[version]
	had, times := live.GetObjectMeta().ManagedFields, obj.GetObjectMeta().ManagedFields
	if k.Subresource != "" || times == nil {
		times = had
	}
	if len(had) == 0 || len(had) > maxUpdaters || !SameOwners(times, had) {
		return nil, false
	}
	var room [4]*set // nearly all objects have fewer owners
	r := renewal{kind: k, sets: room[:0], writer: -1}
	manager = managerName(manager)
	for i := range had {
		e := &had[i]
		if e.APIVersion != v.APIVersion || e.FieldsV1 == nil {
			return nil, false
		}
		p, err := k.parse(e.APIVersion, e.FieldsV1.Raw)
		if err != nil || p.fields == nil || p.ownsManagedFields || !p.plain {
			return nil, false
		}
		if e.Operation == meta.ManagedFieldsOperationUpdate && e.Manager == manager && e.Subresource == k.Subresource {
			r.writer = i
		}
		r.sets = append(r.sets, p.fields)
	}
	var path [8]string
	x, y := v.Type.Value(live), v.Type.Value(obj)
	if !r.members(schema{typ: v.Type}, &x, &y, path[:0]) || r.gained && r.writer < 0 {
		return nil, false
	}
	at := meta.NewTime(now)
	same := !r.gained || at.Equal(had[r.writer].Time)
	for i := range had {
		same = same && (r.gained && i == r.writer || times[i].Time.Equal(had[i].Time))
	}
	if same {
		return had, true
	}
	entries := slices.Clone(had)
	for i := range entries {
		entries[i].Time = times[i].Time
	}
	if r.gained {
		entries[r.writer].Time = new(at)
	}
	sortEntries(entries)
	return entries, true
}

// members compares the members of two objects or structs. path has the names of the members that lead to them.
func (r *renewal) members(s schema, x, y *codec.Value, path []string) bool {
	var m codec.Members
	for m.Walk(*x, *y); m.Next(); {
		if m.X.IsSame(m.Y) || r.kind.resets(path, m.Name) {
			continue
		}
		below, at, ok := s.below(m.Name, m.Field), append(path, m.Name), true
		switch {
		case below.isList() && !below.atomic() && !below.identifiesItems():
			ok = false // a comparison may fail
		case !below.atomic() && !m.X.IsTree() && !m.Y.IsTree(): // structs and maps of strings
			ok = r.members(below, &m.X, &m.Y, at)
		case m.X.Equal(m.Y):
		case isSystemField(at):
			ok = r.owned(at, -1)
		default:
			r.gained = true
			ok = below.atomic() && m.X.Exists() && m.Y.Exists() && r.owned(at, r.writer)
		}
		if !ok {
			return false
		}
	}
	return true
}

// owned reports whether a field is in the set of one owner, or of none for -1, and in no other.
func (r *renewal) owned(path []string, by int) bool {
	for i, s := range r.sets {
		if s.hasMember(path) != (i == by) {
			return false
		}
	}
	return true
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
