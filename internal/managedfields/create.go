package managedfields

import (
	"slices"
	"time"

	"github.com/kubecoord/kubecoord/internal/codec"
	"github.com/kubecoord/kubecoord/store/meta"
)

// created returns the owner of a new object, or none if it has only system fields. It is what a
// comparison with the empty object finds, at a fraction of its cost: nearly every object has only
// leaves, structs and maps of strings. It returns false for other members.
func (k *FieldManager) created(version int, obj Object, id identity, now time.Time) (_ owners, ok bool) {
	text := make([]byte, 1, 512)
	text[0] = '{'
	if text, ok = k.appendCreated(text, k.schema(version), k.of(version, obj).value(), k.Versions[version].Type.ZeroValue(), inObject); !ok {
		return nil, false
	}
	if len(text) == 1 {
		return nil, true
	}
	p, err := k.parse(append(text, '}'))
	return owners{{
		identity: id, version: id.APIVersion, fields: p.fields, decoded: p.fields,
		encoded: &meta.FieldsV1{Raw: p.text}, time: new(meta.NewTime(now)),
	}}, err == nil
}

// place is where a member is. In the object and in its metadata some members have no owner.
type place uint8

const (
	inObject place = iota
	inMetadata
	elsewhere
)

// appendCreated appends the nodes, in FieldsV1, of the members of v that empty lacks or has with
// another value.
func (k *FieldManager) appendCreated(dst []byte, s schema, v, empty codec.Value, at place) (_ []byte, ok bool) {
	ok = v.Each(empty, func(name string, f *codec.Field, in, before codec.Value) bool {
		below, recorded, atBelow := s.below(name, f), at != inMetadata || !isSystemField(name), elsewhere
		switch {
		case at == inObject && slices.Contains(k.Reset, name):
			return true
		case at == inObject && name == "metadata":
			recorded, atBelow = false, inMetadata
		}
		switch {
		case below.untyped() || !in.Exists():
			return false
		case below.isLeaf(in, before):
			if recorded && !in.Equal(before) {
				dst = append(appendHead(dst, name), '}')
			}
			return true
		case in.IsTree() || before.IsTree() && before.Exists():
			return false
		}
		start := len(dst)
		dst = appendHead(dst, name)
		inside := len(dst)
		self := recorded && !before.Exists()
		if self {
			dst = append(dst, `".":{},`...)
		}
		content := len(dst)
		if dst, ok = k.appendCreated(dst, below, in, before, atBelow); !ok {
			return false
		}
		switch {
		case len(dst) > content:
		case self:
			dst = dst[:inside] // a node without nodes below it has no "."
		default:
			dst = dst[:start]
			return true
		}
		dst = append(dst, '}')
		return true
	})
	return dst, ok
}

// appendHead appends the name of a node after the nodes before it.
func appendHead(dst []byte, name string) []byte {
	if dst[len(dst)-1] == '}' {
		dst = append(dst, ',')
	}
	return append(appendEscaped(append(dst, `"f:`...), name, false), `":{`...)
}
