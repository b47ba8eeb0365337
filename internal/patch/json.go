package patch

import (
	"errors"
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
func JSON(t Target, body []byte, v Validation) (obj any, warnings []string, err error) {
	text, faults, err := read(body, new([]jsonPatchOp), v)
	if err != nil {
		return nil, nil, err
	}
	for i, fault := range faults {
		faults[i] = fmt.Errorf("json patch %w", fault)
	}
	patch, _ := parse(text) // read refuses documents that are too deep
	ops, err := operations(patch)
	if err != nil {
		return nil, nil, err
	}
	current, err := t.Type.AppendJSON(nil, t.Current)
	if err != nil {
		return nil, nil, err
	}
	patched, err := applyOperations(current, ops)
	if err != nil {
		return nil, nil, err
	}
	return t.decode(patched, faults, v)
}

// jsonPatchOp has the members of an operation. Error texts contain the name of the
// type.
type jsonPatchOp struct {
	Op    string `json:"op"`
	Path  string `json:"path"`
	From  string `json:"from"`
	Value any    `json:"value"`
}

// operations returns the operations of a patch. A null becomes an operation without
// members.
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

// notDecodable returns the 400 for a value that does not fit a Go type, with the text
// of encoding/json.
func notDecodable(n *node, goType string) error {
	found := "number"
	switch n.text[0] {
	case '{':
		found = "object"
	case '[':
		found = "array"
	case '"':
		found = "string"
	case 't', 'f':
		found = "bool"
	}
	return meta.NewBadRequest("json: cannot unmarshal %s into Go value of type %s", found, goType)
}

// applyOperations returns a compact document after all operations. It returns an error
// if one of them fails.
func applyOperations(doc []byte, ops []*node) ([]byte, error) {
	root, ok := parse(doc)
	if !ok || root == nil {
		return nil, rejected()
	}
	root.opened = true
	d := document{root: root}
	for _, op := range ops {
		if d.apply(op) != nil {
			return nil, rejected()
		}
	}
	out, ok := d.root.encode()
	if !ok {
		return nil, rejected()
	}
	return out, nil
}

// errOperation means that an operation fails. Clients do not learn why.
var errOperation = errors.New("the operation fails")

// document is the document that operations change.
type document struct {
	root   *node
	copied int // bytes that copy operations have added
}

func (d *document) apply(op *node) error {
	path, err := stringMember(op, "path")
	if err != nil {
		return err
	}
	kind, err := stringMember(op, "op")
	if err != nil {
		return err
	}
	switch {
	case kind == "replace" && path == "":
		return d.replaceAll(value(op))
	case kind == "test" && path == "":
		if want := value(op); want == nil || !d.root.equal(want) {
			return errOperation
		}
		return nil
	case kind == "move" || kind == "copy":
		return d.transfer(op, kind, path)
	}
	in, key, err := d.find(path)
	if err != nil {
		return err
	}
	switch kind {
	case "add":
		return in.add(key, value(op))
	case "remove":
		return in.remove(key)
	case "replace":
		return in.replace(key, value(op))
	case "test":
		return in.test(key, value(op))
	}
	return errOperation
}

// stringMember returns a member of an operation. The member must be a string.
func stringMember(op *node, name string) (string, error) {
	n := op.members[name]
	if n == nil || n.text[0] != '"' {
		return "", errOperation
	}
	return unquote(n.text), nil
}

// value returns the value of an operation. It is nil if the value is missing, and a
// scalar if it is null.
func value(op *node) *node {
	n, ok := op.members["value"]
	if ok && n == nil {
		return &node{text: []byte("null")}
	}
	return n
}

// find returns the container of the value at path, and the last step of the path.
// It opens all nodes on the path.
func (d *document) find(path string) (*node, string, error) {
	// Text before the first slash is ignored.
	_, steps, found := strings.Cut(path, "/")
	if !found {
		return nil, "", errOperation
	}
	n := d.root
	for {
		step, rest, more := strings.Cut(steps, "/")
		step = strings.ReplaceAll(strings.ReplaceAll(step, "~1", "/"), "~0", "~")
		if !more {
			return n, step, nil
		}
		next, err := n.get(step)
		if err != nil {
			return nil, "", err
		}
		if next == nil || next.kind == scalar {
			return nil, "", errOperation
		}
		next.opened = true
		n, steps = next, rest
	}
}

func (d *document) replaceAll(value *node) error {
	if value == nil || value.kind == scalar {
		return errOperation
	}
	value.opened = true
	d.root = value
	return nil
}

// transfer moves or copies a value to path.
func (d *document) transfer(op *node, kind, path string) error {
	from, err := stringMember(op, "from")
	if err != nil {
		return err
	}
	in, key, err := d.find(from)
	if err != nil {
		return err
	}
	n, err := in.get(key)
	if err != nil {
		return err
	}
	if kind == "move" {
		if err := in.remove(key); err != nil {
			return err
		}
	}
	// Find the place before copying, as copying is expensive.
	if in, key, err = d.find(path); err != nil {
		return err
	}
	if kind == "copy" {
		var size int
		var ok bool
		n, size, ok = n.clone()
		if d.copied += size; !ok || d.copied > maxCopied {
			return errOperation
		}
	}
	return in.add(key, n)
}

func (n *node) test(key string, want *node) error {
	got, err := n.get(key)
	if err != nil {
		return err
	}
	isNull := want == nil || string(want.text) == "null"
	if got == nil && isNull || got.equal(want) {
		return nil
	}
	return errOperation
}

// get returns a member of an object, or nil if it is missing, or an item of an array.
func (n *node) get(key string) (*node, error) {
	if n.kind == object {
		return n.members[key], nil
	}
	i, err := index(key, len(n.items))
	if err != nil {
		return nil, err
	}
	return n.items[i], nil
}

func (n *node) add(key string, value *node) error {
	if n.kind == object {
		return n.replace(key, value)
	}
	i := len(n.items)
	if key != "-" {
		var err error
		if i, err = index(key, len(n.items)+1); err != nil {
			return err
		}
	}
	n.items = slices.Insert(n.items, i, value)
	return nil
}

func (n *node) replace(key string, value *node) error {
	if n.kind == object {
		if n.members == nil {
			return errOperation // a copied null
		}
		n.members[key] = value
		return nil
	}
	i, err := index(key, len(n.items))
	if err != nil {
		return err
	}
	n.items[i] = value
	return nil
}

func (n *node) remove(key string) error {
	if n.kind == object {
		if _, ok := n.members[key]; !ok {
			return errOperation
		}
		delete(n.members, key)
		return nil
	}
	i, err := index(key, len(n.items))
	if err != nil {
		return err
	}
	n.items = slices.Delete(n.items, i, i+1)
	return nil
}

// index parses an index, which must be below length. A negative index counts from the
// end.
func index(key string, length int) (int, error) {
	i, err := strconv.Atoi(key)
	if err != nil {
		return 0, errOperation
	}
	if i < 0 {
		i += length
	}
	if i < 0 || i >= length {
		return 0, errOperation
	}
	return i, nil
}
