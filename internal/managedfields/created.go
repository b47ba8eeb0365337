package managedfields

import (
	"bytes"
	"cmp"
	"slices"
	"time"

	"github.com/kubecoord/kubecoord/internal/codec"
	"github.com/kubecoord/kubecoord/internal/scratch"
	"github.com/kubecoord/kubecoord/store/meta"
)

// This file is Update for a create, without trees and sets: it writes the set of the fields
// of a new object from the object itself. TestCreatedIsTrack holds it against track.

// create returns the managedFields of a new object, whose manager owns all fields that an
// empty object does not have. It returns false if the object has a member of a kind that
// only track can handle.
func (k *Kind) create(version int, obj Object, manager string, now time.Time) (entries []meta.ManagedFieldsEntry, ok bool) {
	if k.Subresource != "" {
		return nil, false
	}
	v := &k.Versions[version]
	plan := v.created.Load()
	if plan == nil {
		plan = v.planCreated()
		v.created.Store(plan)
	}
	plan.buffers.Use(func(buf []byte) []byte {
		if buf, ok = plan.appendMembers(append(buf, '{'), v.Type.Value(obj), v.Type.Value(plan.empty), k.Reset); !ok || len(buf) == 1 {
			return buf
		}
		buf = append(buf, '}')
		entries = []meta.ManagedFieldsEntry{{
			Manager: managerName(manager), Operation: meta.ManagedFieldsOperationUpdate, APIVersion: v.APIVersion, FieldsType: "FieldsV1",
			Time: new(meta.NewTime(now)), FieldsV1: &meta.FieldsV1{Raw: bytes.Clone(buf)},
		}}
		return buf
	})
	return entries, ok
}

// createdPlan is how the members of a struct are recorded.
type createdPlan struct {
	members []createdMember
	empty   Object       // only for the object itself
	buffers scratch.Pool // for the text of the set
}

// createdMember is how one member is recorded.
type createdMember struct {
	field *codec.Field
	head  string // of its node: the name and an opening brace
	form  createdForm
	// recorded is false for a member that is never in a set itself.
	recorded bool
	below    *createdPlan // of a struct
}

type createdForm uint8

const (
	createdLeaf createdForm = iota
	createdStruct
	createdStrings // a map of strings
	createdOther   // only absent members are handled
)

func (v *Version) planCreated() *createdPlan {
	plan := planMembers(v.Type, 1)
	plan.empty = v.Type.New().(Object)
	plan.members = slices.DeleteFunc(plan.members, func(m createdMember) bool {
		return m.field.Name == "apiVersion" || m.field.Name == "kind"
	})
	for i := range plan.members {
		m := &plan.members[i]
		if m.field.Name != "metadata" {
			continue
		}
		for j := range m.below.members {
			in := &m.below.members[j]
			in.recorded = !isSystemField(in.field.Name)
		}
	}
	return plan
}

// maxPlanned is how deep plans go. Types may hold themselves.
const maxPlanned = 8

func planMembers(t *codec.Type, depth int) *createdPlan {
	plan := &createdPlan{members: make([]createdMember, 0, len(t.Fields)+1)}
	var head []byte
	for _, f := range t.Fields {
		head = append(appendEscaped(append(head[:0], `"f:`...), f.Name, false), `":{`...)
		m := createdMember{field: f, recorded: true, head: string(head)}
		s := schemaOf(f)
		switch {
		case f.Type.Custom || f.Pointer && !f.OmitEmpty:
			m.form = createdOther
		case s.atomic():
		case f.Type.Kind == codec.Struct && f.Type.Rest == nil && depth < maxPlanned:
			m.form, m.below = createdStruct, planMembers(f.Type, depth+1)
		case f.Type.IsStringMap() && f.OmitEmpty:
			m.form = createdStrings
		default:
			m.form = createdOther
		}
		plan.members = append(plan.members, m)
	}
	if t.Rest != nil {
		plan.members = append(plan.members, createdMember{field: t.Rest, form: createdOther})
	}
	slices.SortFunc(plan.members, func(a, b createdMember) int { return cmp.Compare(a.field.Name, b.field.Name) })
	return plan
}

// appendMembers appends the nodes of the members of v that are absent from empty or differ
// there. It leaves out the members named in reset. empty may be the zero Value, which has no
// members.
func (p *createdPlan) appendMembers(dst []byte, v, empty codec.Value, reset []string) ([]byte, bool) {
	for i := range p.members {
		m := &p.members[i]
		if len(reset) > 0 && slices.Contains(reset, m.field.Name) {
			continue
		}
		in, has := v.Member(m.field)
		before, had := empty.Member(m.field)
		if !has && !had {
			continue
		}
		if !has || m.form == createdOther {
			return nil, false
		}
		ok := true
		switch m.form {
		case createdLeaf:
			if m.recorded && !(had && in.Equal(before)) {
				dst = append(appendHead(dst, m.head), '}')
			}
		case createdStrings:
			dst = appendStrings(appendHead(dst, m.head), in.Strings())
		case createdStruct:
			dst, ok = m.appendStruct(dst, in, before, had)
		}
		if !ok {
			return nil, false
		}
	}
	return dst, true
}

// appendStruct appends the node of a struct, unless it is not in the set and has no nodes
// below it.
func (m *createdMember) appendStruct(dst []byte, v, empty codec.Value, had bool) ([]byte, bool) {
	before := len(dst)
	dst = appendHead(dst, m.head)
	inside := len(dst)
	self := m.recorded && !had
	if self {
		dst = append(dst, `".":{},`...)
	}
	below := len(dst)
	dst, ok := m.below.appendMembers(dst, v, empty, nil)
	switch {
	case !ok:
		return nil, false
	case len(dst) > below:
	case self:
		dst = dst[:inside] // a node without nodes below it has no "."
	default:
		return dst[:before], true
	}
	return append(dst, '}'), true
}

// appendHead appends the name of a node after the nodes before it.
func appendHead(dst []byte, head string) []byte {
	if dst[len(dst)-1] == '}' {
		dst = append(dst, ',')
	}
	return append(dst, head...)
}

// appendStrings appends the nodes of a map that is not empty, and closes its own node.
func appendStrings(dst []byte, m map[string]string) []byte {
	dst = append(dst, `".":{}`...)
	var room [8]string
	names := room[:0]
	for name := range m {
		names = append(names, name)
	}
	slices.Sort(names)
	for _, name := range names {
		dst = append(dst, `,"f:`...)
		dst = append(appendEscaped(dst, name, false), `":{}`...)
	}
	return append(dst, '}')
}
