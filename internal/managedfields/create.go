package managedfields

import (
	"hash/crc32"
	"slices"
	"time"

	"github.com/kubecoord/kubecoord/internal/codec"
	"github.com/kubecoord/kubecoord/store/meta"
)

// created returns the managedFields of a new object, which are none if it has only system fields. The
// result is the same as by a comparison with the empty object, at a fraction of its cost: nearly every
// object has only leaves, structs and maps of strings. It returns false for other members.
func (k *FieldManager) created(version int, obj Object, manager string, now time.Time) (_ []meta.ManagedFieldsEntry, ok bool) {
	v := &k.Versions[version]
	id := updater(manager, v.APIVersion, "")
	var p *parsedSet
	v.scratch.Use(func(outline []byte) []byte {
		for _, member := range k.Reset {
			outline = append(append(outline, member...), 0)
		}
		outline, has := v.Type.Value(obj).AppendOutline(outline)
		if !has {
			p, ok = k.parseCreated(version, obj)
			return outline
		}
		slot := &v.outlined[crc32.ChecksumIEEE(outline)%uint32(len(v.outlined))]
		if have := slot.Load(); have != nil && have.outline == string(outline) {
			p, ok = have.set, true
		} else if p, ok = k.parseCreated(version, obj); ok && len(outline) <= maxOutline {
			slot.Store(&outlined{string(outline), p})
		}
		return outline
	})
	if p == nil || !ok {
		return nil, ok
	}
	made := &struct { // one block of memory
		entries [1]meta.ManagedFieldsEntry
		time    meta.Time
	}{time: meta.NewTime(now)}
	made.entries[0] = meta.ManagedFieldsEntry{
		Manager: id.Manager, Operation: id.Operation, APIVersion: id.APIVersion, Time: &made.time, FieldsType: "FieldsV1", FieldsV1: p.encoded,
	}
	return made.entries[:], true
}

// outlined is the set of the new objects with an outline, after the Reset of their manager, or nil if they have none. Nearly all
// new objects have the outline of another one.
type outlined struct {
	outline string
	set     *parsedSet
}

// maxOutline is the length up to which outlines are kept, in bytes.
const maxOutline = 1024

// parseCreated returns the set of a new object, or nil if it has only system fields.
func (k *FieldManager) parseCreated(version int, obj Object) (_ *parsedSet, ok bool) {
	v := &k.Versions[version]
	var path [8]string
	text, ok := k.appendCreated([]byte{'{'}, k.schema(version), v.Type.Value(obj), v.zero(), path[:0])
	if !ok || len(text) == 1 {
		return nil, ok
	}
	p, err := k.parse(v.APIVersion, append(text, '}'))
	return p, err == nil
}

// appendCreated appends the nodes, in FieldsV1, of the members of v that empty lacks or has with
// another value. path has the names of the steps that lead to them, "" for the items of lists.
func (k *FieldManager) appendCreated(dst []byte, s schema, v, empty codec.Value, path []string) (_ []byte, ok bool) {
	var room [8]string
	if keys, isMap := v.Keys(room[:0]); isMap && !empty.Exists() {
		for _, key := range keys {
			if !k.resets(path, key) {
				dst = append(appendHead(dst, key), '}')
			}
		}
		return dst, true
	}
	var m codec.Members
	for m.Walk(v, empty); m.Next(); {
		if k.resets(path, m.Name) {
			continue
		}
		below, at := s.below(m.Name, m.Field), append(path, m.Name)
		switch {
		case !m.X.Exists():
			return dst, false
		case below.isLeaf(m.X, m.Y) || below.untyped() && isScalar(m.X) && !m.Y.Exists():
			if !m.X.Equal(m.Y) && !isSystemField(at) && !isMetadata(at) {
				dst = append(appendHead(dst, m.Name), '}')
			}
			continue
		case below.isList() && m.Y.IsEmpty(): // a list of a Go type may always be there, as a null
			dst = appendHead(dst, m.Name)
			if !m.Y.Exists() {
				dst = append(dst, `".":{}`...)
			}
			if dst, ok = k.appendCreatedList(dst, below, m.X, at); !ok {
				return dst, false
			}
			dst = append(dst, '}')
			continue
		case m.Y.Exists() && (m.Y.IsTree() || m.X.IsTree()):
			return dst, false
		case m.X.IsTree() && !below.isMap():
			return dst, false
		}
		start := len(dst)
		dst = appendHead(dst, m.Name)
		inside := len(dst)
		self := !m.Y.Exists() && !isSystemField(at) && !isMetadata(at)
		if self {
			dst = append(dst, `".":{},`...)
		}
		content := len(dst)
		if dst, ok = k.appendCreated(dst, below, m.X, m.Y, at); !ok {
			return dst, false
		}
		switch {
		case len(dst) > content:
		case self:
			dst = dst[:inside] // a node without nodes below it has no "."
		default:
			dst = dst[:start]
			continue
		}
		dst = append(dst, '}')
	}
	return dst, true
}

// isScalar reports whether a value is neither an object nor a list nor null.
func isScalar(v codec.Value) bool {
	switch v.Tree().(type) {
	case nil, map[string]any, []any:
		return false
	}
	return true
}

// appendCreatedList appends the nodes of the items of a list that is new. It returns false if an item is there twice or is not
// identified.
func (k *FieldManager) appendCreatedList(dst []byte, s schema, list codec.Value, path []string) (_ []byte, ok bool) {
	type item struct {
		step
		v codec.Value
	}
	items := make([]item, list.Len())
	for i := range items {
		v := list.Item(i)
		st, err := s.step(v)
		if err != nil {
			return dst, false
		}
		items[i] = item{st, v}
	}
	slices.SortFunc(items, func(a, b item) int { return compareSteps(&a.step, &b.step) })
	for i, it := range items {
		below := s.item()
		if i > 0 && compareSteps(&items[i-1].step, &it.step) == 0 || below.untyped() {
			return dst, false
		}
		dst = codec.AppendEscaped(append(appendSeparator(dst), '"'), string(it.step.appendText(nil)), false, false)
		dst = append(dst, `":{`...)
		if !below.isLeaf(codec.Value{}, it.v) {
			inside := len(dst)
			dst = append(dst, `".":{},`...)
			content := len(dst)
			if dst, ok = k.appendCreated(dst, below, it.v, codec.Value{}, append(path, it.step.name)); !ok {
				return dst, false
			}
			if len(dst) == content {
				dst = dst[:inside]
			}
		}
		dst = append(dst, '}')
	}
	return dst, true
}

// appendSeparator appends the comma after a node.
func appendSeparator(dst []byte) []byte {
	if dst[len(dst)-1] == '}' {
		return append(dst, ',')
	}
	return dst
}

// appendHead appends the name of a node after the nodes before it.
func appendHead(dst []byte, name string) []byte {
	return append(codec.AppendEscaped(append(appendSeparator(dst), `"f:`...), name, false, false), `":{`...)
}
