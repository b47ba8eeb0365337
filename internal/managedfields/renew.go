package managedfields

import (
	"bytes"
	"slices"

	"github.com/kubecoord/kubecoord/internal/codec"
	"github.com/kubecoord/kubecoord/store/meta"
)

// renewal is a write that only changes leaves that no other writer has in its set. Nearly
// all writes are renewals; see BenchmarkUpdate.
type renewal struct {
	kind   *FieldManager
	owners owners
	writer *owner // nil if it owns nothing
	gained bool
}

// renews reports whether an update changes no set, and whether the writer gains fields that it
// has. It may return false although that is so.
func (k *FieldManager) renews(version int, live, obj Object, os owners, writer *owner) (gained, ok bool) {
	v := &k.Versions[version]
	for i := range os {
		if os[i].version != v.APIVersion || os[i].fields == nil || os[i].from.ownsManagedFields {
			return false, false
		}
	}
	r := renewal{kind: k, owners: os, writer: writer}
	var path [8]string
	ok = r.members(schema{typ: v.Type}, v.Type.Value(live), v.Type.Value(obj), path[:0])
	return r.gained, ok && (r.writer != nil || !r.gained)
}

// members compares the members of two objects or structs. path has the names of the members that lead to them.
func (r *renewal) members(s schema, l, v codec.Value, path []string) bool {
	var m codec.Members
	for m.Walk(l, v); m.Next(); {
		if m.X.IsSame(m.Y) || r.kind.resets(path, m.Name) {
			continue
		}
		below, at, ok := s.below(m.Name, m.Field), append(path, m.Name), true
		switch {
		case below.isList() && !below.atomic() && !below.identifiesItems():
			ok = false // a comparison may fail
		case !below.atomic() && !m.X.IsTree() && !m.Y.IsTree(): // structs and maps of strings
			ok = r.members(below, m.X, m.Y, at)
		case m.X.Equal(m.Y):
		case isSystemField(at):
			ok = r.owned(at, nil)
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

// owned reports whether a field is in the set of one owner, or of none, and in no other.
func (r *renewal) owned(path []string, by *owner) bool {
	for i := range r.owners {
		if o := &r.owners[i]; o.fields.hasMember(path) != (o == by) {
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
