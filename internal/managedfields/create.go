package managedfields

import (
	"bytes"
	"time"

	"github.com/kubecoord/kubecoord/internal/codec"
	"github.com/kubecoord/kubecoord/store/meta"
)

// created returns the managedFields of a new object, which are none if it has only system fields. The
// result is the same as by a comparison with the empty object, at a fraction of its cost: nearly every
// object has only leaves, structs and maps of strings. It returns false for other members.
func (k *FieldManager) created(version int, obj Object, manager string, now time.Time) (_ []meta.ManagedFieldsEntry, ok bool) {
	var room [512]byte
	var path [8]step
	text, typ := append(room[:0], '{'), k.Versions[version].Type
	if text, ok = k.appendCreated(text, k.schema(version), typ.Value(obj), k.Versions[version].zero(), path[:0]); !ok || len(text) == 1 {
		return nil, ok
	}
	text = append(text, '}')
	id := updater(manager, k.Versions[version].APIVersion, "")
	_, p := k.Versions[version].slot(text)
	if p == nil {
		var err error
		if p, err = k.parse(id.APIVersion, bytes.Clone(text)); err != nil {
			return nil, false
		}
	}
	return []meta.ManagedFieldsEntry{{
		Manager: id.Manager, Operation: id.Operation, APIVersion: id.APIVersion, Time: new(meta.NewTime(now)), FieldsType: "FieldsV1", FieldsV1: p.encoded,
	}}, true
}

// appendCreated appends the nodes, in FieldsV1, of the members of v that empty lacks or has with
// another value. path is theirs.
func (k *FieldManager) appendCreated(dst []byte, s schema, v, empty codec.Value, path []step) (_ []byte, ok bool) {
	var room [8]string
	if keys, isMap := v.Keys(room[:0]); isMap && !empty.Exists() {
		for _, key := range keys {
			if !k.resets(path, key) {
				dst = append(appendHead(dst, key), '}')
			}
		}
		return dst, true
	}
	m := v.Members(empty)
	for m.Next() {
		if k.resets(path, m.Name) {
			continue
		}
		below, at := s.below(m.Name, m.Field), append(path, member(m.Name))
		switch {
		case below.untyped() || !m.X.Exists():
			return dst, false
		case below.isLeaf(m.X, m.Y):
			if !m.X.Equal(m.Y) && !isSystemField(at) && !isMetadata(at) {
				dst = append(appendHead(dst, m.Name), '}')
			}
			continue
		case m.X.IsTree() || m.Y.IsTree() && m.Y.Exists():
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

// appendHead appends the name of a node after the nodes before it.
func appendHead(dst []byte, name string) []byte {
	if dst[len(dst)-1] == '}' {
		dst = append(dst, ',')
	}
	return append(appendEscaped(append(dst, `"f:`...), name, false), `":{`...)
}
