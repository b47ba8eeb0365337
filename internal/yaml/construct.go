package yaml

import (
	"errors"
	"fmt"
)

// maxAliasText is the size of the scalars that aliases may add to a document,
// in bytes. Upstream has no such limit.
const maxAliasText = 16 << 20

// The number of nodes decides which part of them may come from aliases: 99%
// up to the first figure, 10% from the second one on, and linearly less in
// between.
const (
	manyAliasesUntil = 400_000
	fewAliasesFrom   = 4_000_000
)

// constructor makes values of nodes: nil, bool, int, int64, uint64, float64,
// string, []any and *object.
type constructor struct {
	duplicates []error

	nodes      int // all nodes so far
	aliased    int // those inside of aliases
	aliasText  int // size of the scalars inside of aliases
	aliasDepth int
	open       map[*node]bool // aliases around the current node
}

// duplicateKey is the error that a key was set before.
type duplicateKey struct {
	line int32 // of the value, from zero
	key  any
}

// Error returns upstream's text.
func (e *duplicateKey) Error() string {
	return fmt.Sprintf("line %d: key %#v already set in map", e.line+1, e.key)
}

// construct returns the value of a document and an error for each duplicate
// key in it. Of duplicates, the last value wins.
func construct(root *node) (value any, duplicates []error, err error) {
	if root == nil {
		return nil, nil, nil
	}
	c := constructor{nodes: 1} // the document itself
	value, err = c.value(root)
	return value, c.duplicates, err
}

// count notes that a node is looked at and keeps aliases within their limits.
func (c *constructor) count(n *node) error {
	c.nodes++
	if c.aliasDepth == 0 {
		return nil
	}
	c.aliased++
	c.aliasText += len(n.value)
	if c.aliased > 100 && c.nodes > 1000 && float64(c.aliased)/float64(c.nodes) > allowedAliasRatio(c.nodes) || c.aliasText > maxAliasText {
		return errors.New("yaml: document contains excessive aliasing")
	}
	return nil
}

func allowedAliasRatio(nodes int) float64 {
	const most, least = 0.99, 0.10
	switch {
	case nodes <= manyAliasesUntil:
		return most
	case nodes >= fewAliasesFrom:
		return least
	}
	return most - (most-least)*(float64(nodes-manyAliasesUntil)/(fewAliasesFrom-manyAliasesUntil))
}

// value returns the value of a node.
func (c *constructor) value(n *node) (any, error) {
	if err := c.count(n); err != nil {
		return nil, err
	}
	switch n.kind {
	case aliasNode:
		var v any
		err := c.follow(n, func(target *node) (err error) {
			v, err = c.value(target)
			return err
		})
		return v, err
	case sequenceNode:
		return c.sequence(n)
	case mappingNode:
		o := &object{entries: make([]entry, 0, min(len(n.children)/2, fewEntries))}
		return o, c.fill(o, n)
	}
	return scalarValue(n)
}

// follow calls f with what an alias stands for.
func (c *constructor) follow(n *node, f func(target *node) error) error {
	if c.open[n] {
		return fmt.Errorf("yaml: anchor '%s' value contains itself", n.value)
	}
	if c.open == nil {
		c.open = make(map[*node]bool)
	}
	c.open[n] = true
	c.aliasDepth++
	err := f(n.children[0])
	c.aliasDepth--
	delete(c.open, n)
	return err
}

func (c *constructor) sequence(n *node) (any, error) {
	items := make([]any, len(n.children))
	for i, child := range n.children {
		item, err := c.value(child)
		if err != nil {
			return nil, err
		}
		items[i] = item
	}
	return items, nil
}

// fill sets the keys of a mapping in an object.
func (c *constructor) fill(o *object, n *node) error {
	for i := 0; i < len(n.children); i += 2 {
		if n.children[i].isMerge() {
			if err := c.merge(o, n.children[i+1]); err != nil {
				return err
			}
			continue
		}
		key, err := c.value(n.children[i])
		if err != nil {
			return err
		}
		switch key.(type) {
		case []any, *object:
			return fmt.Errorf("yaml: invalid map key: %#v", native(key))
		}
		value, err := c.value(n.children[i+1])
		if err != nil {
			return err
		}
		if o.set(key, value) {
			c.duplicates = append(c.duplicates, &duplicateKey{line: n.children[i+1].line, key: key})
		}
	}
	return nil
}

// merge sets the keys of a mapping, or of several of which the first ones have
// precedence. It replaces what the object has already and is a duplicate there,
// as it is upstream.
func (c *constructor) merge(o *object, n *node) error {
	if n.kind != sequenceNode {
		return c.mergeOne(o, n)
	}
	for i := len(n.children) - 1; i >= 0; i-- {
		if err := c.mergeOne(o, n.children[i]); err != nil {
			return err
		}
	}
	return nil
}

func (c *constructor) mergeOne(o *object, n *node) error {
	target := n
	if n.kind == aliasNode {
		target = n.children[0]
	}
	if target.kind != mappingNode {
		return errors.New("yaml: map merge requires map or sequence of maps as the value")
	}
	if err := c.count(n); err != nil {
		return err
	}
	if n.kind != aliasNode {
		return c.fill(o, n)
	}
	return c.follow(n, func(target *node) error {
		if err := c.count(target); err != nil {
			return err
		}
		return c.fill(o, target)
	})
}
