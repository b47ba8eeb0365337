package patch

import (
	"cmp"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"github.com/kubecoord/kubecoord/store/meta"
)

const (
	// maxOperations is how many operations one JSON patch may hold.
	maxOperations = 10000
	// maxCopied is how many bytes all copy operations of a patch may add.
	maxCopied = 3 << 20
)

// JSON applies a JSON patch (RFC 6902) like the library that the API server uses:
// replace adds a missing member, copying a missing member gives null, negative
// indexes count from the end, and test compares numbers and strings by their text.
// JSON returns warnings only for Warn.
func JSON(o Object, body []byte, v Validation) (obj any, warnings []string, err error) {
	return o.edit(body, v, new([]jsonPatchOp), "json patch ", func(current, text []byte) ([]byte, error) {
		patch, _ := parse(text) // read refuses documents that are too deep
		ops, err := operations(patch)
		if err != nil {
			return nil, err
		}
		return applyOperations(current, ops)
	})
}

// jsonPatchOp has the members of an operation. Error texts contain the name of the type.
type jsonPatchOp struct {
	Op    string `json:"op"`
	Path  string `json:"path"`
	From  string `json:"from"`
	Value any    `json:"value"`
}

// operations returns the operations of a patch. A null becomes an operation without members.
func operations(patch *node) ([]*node, error) {
	if patch == nil {
		return nil, nil
	}
	if patch.kind != array {
		return nil, notDecodable(patch, "jsonpatch.Patch")
	}
	for i, op := range patch.items {
		switch {
		case op == nil:
			patch.items[i] = &node{kind: object}
		case op.kind != object:
			return nil, notDecodable(op, "jsonpatch.Operation")
		}
	}
	if n := len(patch.items); n > maxOperations {
		return nil, meta.NewStatusError(http.StatusRequestEntityTooLarge, meta.ReasonRequestEntityTooLarge, nil, fmt.Sprintf(
			"Request entity too large: The allowed maximum operations in a JSON patch is %d, got %d", maxOperations, n))
	}
	return patch.items, nil
}

// notDecodable returns the 400 for a value that does not fit a Go type, as encoding/json words it.
func notDecodable(n *node, goType string) error {
	found := map[byte]string{'{': "object", '[': "array", '"': "string", 't': "bool", 'f': "bool"}[n.text[0]]
	return meta.NewBadRequest("json: cannot unmarshal %s into Go value of type %s", cmp.Or(found, "number"), goType)
}

// applyOperations returns a compact document after all operations. Clients do not learn why one fails.
func applyOperations(doc []byte, ops []*node) ([]byte, error) {
	root, ok := parse(doc)
	if !ok || root == nil {
		return nil, rejected()
	}
	root.opened = true
	e := editor{root: root}
	for _, op := range ops {
		if !e.apply(op) {
			return nil, rejected()
		}
	}
	return e.root.encode()
}

// editor applies operations to a document.
type editor struct {
	root   *node
	copied int // bytes that copy operations have added
}

// apply applies an operation and reports whether that was possible.
func (e *editor) apply(op *node) bool {
	path, ok := stringMember(op, "path")
	name, hasName := stringMember(op, "op")
	value, hasValue := op.members["value"]
	if hasValue && value == nil {
		value = &node{text: []byte("null")} // unlike a missing value
	}
	switch {
	case !ok || !hasName:
		return false
	case name == "replace" && path == "":
		if value == nil || value.kind == scalar {
			return false
		}
		value.opened = true
		e.root = value
		return true
	case name == "test" && path == "":
		return value != nil && e.root.equal(value)
	case name == "move" || name == "copy":
		return e.transfer(op, name, path)
	}
	at, ok := e.find(path)
	switch {
	case !ok:
		return false
	case name == "add":
		return at.add(value)
	case name == "remove":
		return at.remove()
	case name == "replace":
		return at.replace(value)
	case name == "test":
		return at.test(value)
	}
	return false
}

// stringMember returns a member of an operation. The member must be a string.
func stringMember(op *node, name string) (string, bool) {
	n := op.members[name]
	if n == nil || n.text[0] != '"' {
		return "", false
	}
	return unquote(n.text), true
}

// find returns the place that a path names. It opens all nodes on the path.
func (e *editor) find(path string) (place, bool) {
	// Text before the first slash is ignored.
	_, steps, more := strings.Cut(path, "/")
	if !more {
		return place{}, false
	}
	for n := e.root; ; {
		var step string
		step, steps, more = strings.Cut(steps, "/")
		at := place{n, strings.ReplaceAll(strings.ReplaceAll(step, "~1", "/"), "~0", "~")}
		if !more {
			return at, true
		}
		n, _ = at.get()
		if n == nil || n.kind == scalar {
			return place{}, false
		}
		n.opened = true
	}
}

func (e *editor) transfer(op *node, name, path string) bool {
	source, ok := stringMember(op, "from")
	if !ok {
		return false
	}
	from, ok := e.find(source)
	if !ok {
		return false
	}
	n, ok := from.get()
	if !ok || name == "move" && !from.remove() {
		return false
	}
	// Find the place before copying, as copying is expensive.
	to, ok := e.find(path)
	if !ok {
		return false
	}
	if name == "copy" {
		var size int
		n, size, ok = n.clone()
		if e.copied += size; !ok || e.copied > maxCopied {
			return false
		}
	}
	return to.add(n)
}

// place is a member of an object or an item of an array, which may be missing.
type place struct {
	in  *node
	key string
}

// get returns the value at the place, or nil for a missing member. It returns false for a missing item.
func (p place) get() (*node, bool) {
	if p.in.kind == object {
		return p.in.members[p.key], true
	}
	i, ok := p.index(len(p.in.items))
	if !ok {
		return nil, false
	}
	return p.in.items[i], true
}

func (p place) test(want *node) bool {
	got, ok := p.get()
	isNull := want == nil || string(want.text) == "null"
	return ok && (got == nil && isNull || got.equal(want))
}

func (p place) add(value *node) bool {
	if p.in.kind == object {
		return p.replace(value)
	}
	i, ok := len(p.in.items), p.key == "-"
	if !ok {
		i, ok = p.index(len(p.in.items) + 1)
	}
	if ok {
		p.in.items = slices.Insert(p.in.items, i, value)
	}
	return ok
}

func (p place) replace(value *node) bool {
	if p.in.kind == object {
		if p.in.members == nil {
			return false // a copied null
		}
		p.in.members[p.key] = value
		return true
	}
	i, ok := p.index(len(p.in.items))
	if ok {
		p.in.items[i] = value
	}
	return ok
}

func (p place) remove() bool {
	if p.in.kind == object {
		_, ok := p.in.members[p.key]
		delete(p.in.members, p.key)
		return ok
	}
	i, ok := p.index(len(p.in.items))
	if ok {
		p.in.items = slices.Delete(p.in.items, i, i+1)
	}
	return ok
}

// index returns the index of an item below length. A negative index counts from the end.
func (p place) index(length int) (int, bool) {
	i, err := strconv.Atoi(p.key)
	if i < 0 {
		i += length
	}
	return i, err == nil && 0 <= i && i < length
}
