package managedfields

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"hash/adler32"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"

	"github.com/kubecoord/kubecoord/internal/codec"
	"github.com/kubecoord/kubecoord/store/meta"
)

// maxDepth is how deep documents may be nested. It is upstream's limit.
const maxDepth = 10000

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

// slot returns the place of a text among the kept sets of a version, or nil if it is too long. It also
// returns the set of the text, if it is there.
func (v *Version) slot(text []byte) (*atomic.Pointer[parsedSet], *parsedSet) {
	if len(text) > maxParsed {
		return nil, nil
	}
	sum := adler32.Checksum(text)
	slot := &v.parsed[(sum^sum>>16)%uint32(len(v.parsed))]
	if have := slot.Load(); have != nil && bytes.Equal(have.encoded.Raw, text) {
		return slot, have
	}
	return slot, nil
}

// parse is parseFields for an owner in an API version, whose schema the set gets. It reads most texts
// only once: the objects of a kind have few.
func (k *FieldManager) parse(apiVersion string, text []byte) (*parsedSet, error) {
	version, noVersion := k.version(apiVersion)
	var slot *atomic.Pointer[parsedSet]
	if noVersion == nil {
		var have *parsedSet
		if slot, have = k.Versions[version].slot(text); have != nil {
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
	p := fieldsParser{text: text}
	s, _, err := p.object(0)
	if err == nil && p.next() != 0 {
		err = errFieldsV1
	}
	if err != nil {
		return nil, err
	}
	return s, nil
}

type fieldsParser struct {
	text []byte
	at   int
}

// next skips spaces and returns the next byte, or 0 at the end.
func (p *fieldsParser) next() byte {
	for ; p.at < len(p.text); p.at++ {
		switch c := p.text[p.at]; c {
		case ' ', '\t', '\n', '\r':
		default:
			return c
		}
	}
	return 0
}

// accept skips c if it is next.
func (p *fieldsParser) accept(c byte) bool {
	if p.next() != c {
		return false
	}
	p.at++
	return true
}

// null skips a null if it is next.
func (p *fieldsParser) null() bool {
	if p.next(); bytes.HasPrefix(p.text[p.at:], []byte("null")) {
		p.at += len("null")
		return true
	}
	return false
}

// object reads the tree of one field. member reports whether the field itself is in
// the set.
func (p *fieldsParser) object(depth int) (s *set, member bool, err error) {
	if p.null() {
		return nil, true, nil
	}
	if depth >= maxDepth {
		return nil, false, errFieldsV1
	}
	var nodes []node
	err = p.members(func(name string) error {
		if name == "." {
			member = true
			_, err := p.raw()
			return err
		}
		st, known, err := parseStep(name)
		if err != nil {
			return err
		}
		if !known {
			_, err := p.raw()
			return err
		}
		sub, is, err := p.object(depth + 1)
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
	if !p.accept('{') {
		return errFieldsV1
	}
	for first := true; ; first = false {
		if p.accept('}') {
			if !first {
				return errFieldsV1 // after a comma
			}
			return nil
		}
		name, err := p.string()
		if err != nil {
			return err
		}
		if !p.accept(':') {
			return errFieldsV1
		}
		if err := f(name); err != nil {
			return err
		}
		switch {
		case p.accept('}'):
			return nil
		case !p.accept(','):
			return errFieldsV1
		}
	}
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

// skipString skips a string and returns it with its quotes.
func (p *fieldsParser) skipString() ([]byte, error) {
	if p.next() != '"' {
		return nil, errFieldsV1
	}
	start := p.at
	for p.at++; p.at < len(p.text); p.at++ {
		switch p.text[p.at] {
		case '"':
			p.at++
			return p.text[start:p.at], nil
		case '\\':
			p.at++
		}
	}
	return nil, errFieldsV1
}

func (p *fieldsParser) string() (string, error) {
	text, err := p.skipString()
	if err != nil {
		return "", err
	}
	plain := !slices.ContainsFunc(text, func(c byte) bool { return c == '\\' || c < ' ' })
	if plain {
		return string(text[1 : len(text)-1]), nil
	}
	var s string
	err = codec.Unmarshal(text, &s)
	return s, err
}

// raw skips a value of any form and returns it.
func (p *fieldsParser) raw() ([]byte, error) {
	start := p.at
	for depth := 0; ; {
		switch c := p.next(); c {
		case 0:
			return nil, errFieldsV1
		case '"':
			if _, err := p.skipString(); err != nil {
				return nil, err
			}
		case '{', '[':
			depth++
			p.at++
		case '}', ']':
			depth--
			p.at++
		case ',', ':':
			p.at++
		default:
			for p.at < len(p.text) && strings.IndexByte(",:]} \t\r\n", p.text[p.at]) < 0 {
				p.at++
			}
		}
		if depth <= 0 {
			break
		}
	}
	text := p.text[start:p.at]
	if !json.Valid(text) {
		return nil, errFieldsV1
	}
	return text, nil
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
	p := fieldsParser{text: []byte(text)}
	ks := keys{}
	if !p.null() {
		err := p.members(func(name string) error {
			text, err := p.raw()
			if err != nil {
				return err
			}
			var value any
			err = codec.Unmarshal(text, &value)
			ks = append(ks, key{name, value})
			return err
		})
		if err != nil {
			return nil, err
		}
	}
	if p.next() != 0 {
		return nil, errFieldsV1
	}
	slices.SortStableFunc(ks, func(a, b key) int { return strings.Compare(a.name, b.name) })
	return ks, nil
}
