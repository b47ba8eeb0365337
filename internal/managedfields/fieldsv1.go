package managedfields

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"hash/crc32"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"

	"github.com/kubecoord/kubecoord/internal/codec"
	"github.com/kubecoord/kubecoord/store/meta"
)

var errFieldsV1 = errors.New("fieldsV1 is not a tree of fields")

func appendFields(dst []byte, s *set) []byte {
	dst = append(dst, '{')
	if s != nil {
		dst, _ = appendNodes(dst, nil, s)
	}
	return append(dst, '}')
}

// appendNodes appends the nodes of s as members of an object. name is a buffer for
// their names; it is returned for the next call.
func appendNodes(dst, name []byte, s *set) (_, buf []byte) {
	for i, n := range s.nodes {
		if i > 0 {
			dst = append(dst, ',')
		}
		name = n.step.appendText(name[:0])
		dst = append(appendString(dst, name), ":{"...)
		if n.sub != nil {
			if n.member {
				dst = append(dst, `".":{},`...)
			}
			dst, name = appendNodes(dst, name, n.sub)
		}
		dst = append(dst, '}')
	}
	return dst, name
}

// parsedSet is a set and its FieldsV1 form.
type parsedSet struct {
	encoded *meta.FieldsV1
	fields  *set
	plain   bool // whether appendFields returns encoded

	ownsManagedFields bool // whether it has a field of managedFields
}

// maxParsed is the length up to which sets are kept, in bytes.
const maxParsed = 4096

// parse is parseFields for an owner in an API version, whose schema the set gets. It reads most texts
// only once: the objects of a kind have few.
func (k *FieldManager) parse(apiVersion string, text []byte) (*parsedSet, error) {
	version, noVersion := k.version(apiVersion)
	var slot *atomic.Pointer[parsedSet]
	if noVersion == nil && len(text) <= maxParsed {
		parsed := &k.Versions[version].parsed
		slot = &parsed[crc32.ChecksumIEEE(text)%uint32(len(parsed))]
		if have := slot.Load(); have != nil && bytes.Equal(have.encoded.Raw, text) {
			return have, nil
		}
	}
	fields, err := parseFields(text)
	if err != nil {
		return nil, err
	}
	if noVersion == nil {
		fields = k.schema(version).reconcile(fields)
	}
	p := &parsedSet{encoded: &meta.FieldsV1{Raw: bytes.Clone(text)}, fields: fields, plain: bytes.Equal(appendFields(nil, fields), text)}
	record := fields.get(member("metadata")).sub.get(member("managedFields"))
	p.ownsManagedFields = record.member || record.sub != nil
	if slot != nil {
		slot.Store(p)
	}
	return p, nil
}

// parseFields reads the FieldsV1 form of a set. As upstream, it drops steps of an
// unknown kind, and of duplicate fields the last one is used.
func parseFields(text []byte) (*set, error) {
	p, err := newFieldsParser(text)
	if err != nil {
		return nil, err
	}
	s, _, err := p.object()
	return s, err
}

// fieldsParser reads a text that is valid JSON.
type fieldsParser struct{ codec.Scanner }

func newFieldsParser(text []byte) (*fieldsParser, error) {
	if !json.Valid(text) {
		return nil, errFieldsV1
	}
	return &fieldsParser{codec.Scanner{Text: text}}, nil
}

// object reads the tree of one field. member reports whether the field itself is in
// the set.
func (p *fieldsParser) object() (s *set, member bool, err error) {
	if p.Next() == 'n' {
		p.Value()
		return nil, true, nil
	}
	var nodes []node
	err = p.members(func(name string) error {
		if name == "." {
			member = true
			p.Value()
			return nil
		}
		st, known, err := parseStep(name)
		if err != nil {
			return err
		}
		if !known {
			p.Value()
			return nil
		}
		sub, is, err := p.object()
		if is || sub != nil {
			nodes = append(nodes, node{st, is, sub})
		}
		return err
	})
	s = newSet(sortNodes(nodes))
	return s, member || s == nil, err
}

// members reads an object and calls f before the value of each member.
func (p *fieldsParser) members(f func(name string) error) error {
	if p.Next() != '{' {
		return errFieldsV1
	}
	for p.At++; p.Next() != '}'; {
		if err := f(p.string()); err != nil {
			return err
		}
	}
	p.At++
	return nil
}

// sortNodes sorts nodes and merges nodes with equal steps.
func sortNodes(nodes []node) []node {
	order := func(a, b node) int { return compareSteps(&a.step, &b.step) }
	for i := 1; i < len(nodes); i++ {
		if order(nodes[i-1], nodes[i]) < 0 {
			continue
		}
		slices.SortStableFunc(nodes, order)
		kept := nodes[:1]
		for _, n := range nodes[1:] {
			last := &kept[len(kept)-1]
			if order(*last, n) != 0 {
				kept = append(kept, n)
				continue
			}
			last.member = last.member || n.member
			if n.sub != nil {
				last.sub = n.sub
			}
		}
		return kept
	}
	return nodes
}

func (p *fieldsParser) string() (s string) {
	text := p.Value()
	if bytes.IndexByte(text, '\\') < 0 {
		return string(text[1 : len(text)-1])
	}
	_ = json.Unmarshal(text, &s) // cannot fail for a valid string
	return s
}

// parseStep reads a member name of FieldsV1. known is false for an unknown kind of
// step, which a later version of the format may have.
func parseStep(text string) (s step, known bool, err error) {
	if len(text) < 2 || text[1] != ':' {
		return step{}, false, fmt.Errorf("fieldsV1: got field %q, want a letter and a colon first", text)
	}
	rest := text[2:]
	switch text[0] {
	case 'f':
		return member(rest), true, nil
	case 'v':
		var value any
		err := codec.Unmarshal([]byte(rest), &value)
		return step{kind: valueStep, value: value}, true, err
	case 'k':
		ks, err := parseKeys(rest)
		return step{kind: keyStep, value: ks}, true, err
	case 'i':
		i, err := strconv.Atoi(rest)
		return step{kind: indexStep, value: i}, true, err
	}
	return step{}, false, nil
}

func parseKeys(text string) (keys, error) {
	p, err := newFieldsParser([]byte(text))
	ks := keys{}
	if err != nil || p.Next() == 'n' {
		return ks, err
	}
	err = p.members(func(name string) error {
		var value any
		err := codec.Unmarshal(p.Value(), &value)
		ks = append(ks, key{name, value})
		return err
	})
	slices.SortStableFunc(ks, func(a, b key) int { return strings.Compare(a.name, b.name) })
	return ks, err
}
