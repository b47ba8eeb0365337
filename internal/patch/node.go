package patch

import (
	"bytes"
	"encoding/json"
	"maps"
	"slices"

	"github.com/kubecoord/kubecoord/internal/codec"
)

// maxDepth is the limit of encoding/json for the nesting of documents.
const maxDepth = 10000

type nodeKind uint8

const (
	scalar nodeKind = iota
	object
	array
)

// node is a value in a JSON document. A nil node is null.
type node struct {
	kind nodeKind
	// opened reports whether encode uses members or items, and not text.
	opened  bool
	text    []byte           // compact
	members map[string]*node // of an object; of duplicates the last one
	items   []*node          // of an array
}

// parse reads a valid and compact document. It returns false for one that is nested too deeply.
func parse(text []byte) (*node, bool) {
	p := parser{Scanner: codec.Scanner{Text: text}}
	n := p.value(0)
	return n, !p.tooDeep
}

type parser struct {
	codec.Scanner
	tooDeep bool
}

func (p *parser) value(depth int) *node {
	c, n := p.Next(), &node{}
	start := p.At
	switch {
	case depth > maxDepth:
		p.tooDeep = true
		p.Value()
		return nil
	case c == '{':
		n.kind, n.members = object, map[string]*node{}
		for p.At++; p.Next() != '}'; {
			key := unquote(p.Value())
			n.members[key] = p.value(depth + 1)
		}
		p.At++
	case c == '[':
		n.kind, n.items = array, []*node{}
		for p.At++; p.Next() != ']'; {
			n.items = append(n.items, p.value(depth+1))
		}
		p.At++
	default:
		if p.Value(); c == 'n' {
			return nil
		}
	}
	n.text = p.Text[start:p.At]
	return n
}

func unquote(text []byte) string {
	if !slices.ContainsFunc(text, func(c byte) bool { return c == '\\' || c >= 0x80 }) {
		return string(text[1 : len(text)-1])
	}
	var s string
	_ = json.Unmarshal(text, &s) // cannot fail for a valid string
	return s
}

// encode returns the compact JSON of n, escaped for HTML, or an error if n is nested too deeply.
func (n *node) encode() ([]byte, error) {
	raw, ok := n.append(nil, 0)
	if !ok {
		return nil, rejected()
	}
	var out bytes.Buffer
	out.Grow(len(raw))
	json.HTMLEscape(&out, raw)
	return out.Bytes(), nil
}

func (n *node) append(dst []byte, depth int) (_ []byte, ok bool) {
	switch {
	case n == nil:
		return append(dst, "null"...), true
	case !n.opened:
		return append(dst, n.text...), true
	case depth > maxDepth:
		return nil, false
	case n.kind == array:
		dst = append(dst, '[')
		for i, item := range n.items {
			if i > 0 {
				dst = append(dst, ',')
			}
			if dst, ok = item.append(dst, depth+1); !ok {
				return nil, false
			}
		}
		return append(dst, ']'), true
	case n.members == nil:
		return append(dst, "null"...), true
	}
	dst = append(dst, '{')
	for i, key := range slices.Sorted(maps.Keys(n.members)) {
		if i > 0 {
			dst = append(dst, ',')
		}
		quoted, _ := json.Marshal(key) // cannot fail for a string
		dst = append(append(dst, quoted...), ':')
		if dst, ok = n.members[key].append(dst, depth+1); !ok {
			return nil, false
		}
	}
	return append(dst, '}'), true
}

// clone returns a copy of n, parsed from its JSON, and the length of that JSON.
func (n *node) clone() (_ *node, size int, ok bool) {
	if n == nil {
		return nil, 0, true
	}
	text, err := n.encode()
	if err != nil {
		return nil, 0, false
	}
	if string(text) == "null" {
		// As upstream: operations treat a copied null as an object without members.
		return &node{kind: object, text: text}, len(text), true
	}
	c, ok := parse(text)
	return c, len(text), ok
}

// equal compares like the test operation: numbers and strings by their text. It opens
// the nodes in n that it compares.
func (n *node) equal(o *node) bool {
	if n == nil || o == nil {
		return n == o
	}
	if n.kind != scalar {
		n.opened = true
	}
	if n.kind != o.kind {
		return false
	}
	switch n.kind {
	case object:
		return maps.EqualFunc(n.members, o.members, (*node).equal)
	case array:
		return slices.EqualFunc(n.items, o.items, (*node).equal)
	}
	return bytes.Equal(n.text, o.text)
}
