package managedfields

import (
	"bytes"
	"slices"

	"github.com/kubecoord/kubecoord/internal/codec"
	"github.com/kubecoord/kubecoord/store/meta"
)

// renewal is a write that only changes leaves that no set has, except that of the writer. The
// walk compares objects along with the sets, so it takes no memory.
type renewal struct {
	kind   *FieldManager
	own    int // the index of the writer's set, or -1
	gained bool
}

// sets are the sets of all managers below a place.
type sets [maxUpdaters]*set

func (ss sets) below(st step) sets {
	for i, s := range ss {
		ss[i] = s.get(st).sub
	}
	return ss
}

// renews reports whether an update changes no set, and whether the writer gains fields that it
// has. It may return false although that is so.
func (k *FieldManager) renews(before, after document, os owners, id identity) (gained, ok bool) {
	r, all, s := renewal{kind: k, own: -1}, sets{}, before.schema()
	if len(os) > len(all) {
		return false, false
	}
	for i, o := range os {
		managedFields := o.fields.get(member("metadata")).sub.get(member("managedFields"))
		if o.version != id.APIVersion || o.fields == nil || managedFields.member || managedFields.sub != nil || s.reconcile(o.fields) != o.fields {
			return false, false
		}
		if all[i] = o.fields; o.identity == id {
			r.own = i
		}
	}
	ok = r.members(s, before.value(), after.value(), all, inObject)
	return r.gained, ok && (r.own >= 0 || !r.gained)
}

// members compares the members of two objects or structs.
func (r *renewal) members(s schema, l, v codec.Value, all sets, at place) bool {
	return l.Each(v, func(name string, f *codec.Field, x, y codec.Value) bool {
		below := s.below(name, f)
		switch {
		case x.IsSame(y), at == inObject && slices.Contains(r.kind.Reset, name):
		case below.typ != nil && below.typ.Kind == codec.Struct && !below.typ.Atomic && !x.IsTree() && !y.IsTree():
			next := elsewhere
			if at == inObject && name == "metadata" {
				next = inMetadata
			}
			return r.members(below, x, y, all.below(member(name)), next)
		case x.Equal(y):
		case at == inMetadata && isSystemField(name):
			return r.owned(name, all, -1)
		default:
			r.gained = true
			return below.atomic() && x.Exists() && y.Exists() && r.owned(name, all, r.own)
		}
		return true
	})
}

// owned reports whether a member is in the set with an index, and in no other.
func (r *renewal) owned(name string, all sets, by int) bool {
	for i, s := range all {
		if s.get(member(name)).member != (i == by) {
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
