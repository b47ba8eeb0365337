package managedfields

import "github.com/kubecoord/kubecoord/internal/codec"

// fieldsOf returns the fields of a valid document. Null and {} count as fields.
func fieldsOf(s schema, doc codec.Value) *set {
	below, _ := fieldsIn(s, doc)
	return below
}

// fieldsIn returns the fields in a value. self reports whether the value itself is a
// field.
func fieldsIn(s schema, v codec.Value) (below *set, self bool) {
	if s.atomic() {
		return nil, true
	}
	if isObject(v) {
		return s.fieldsInObject(v), false
	}
	if s.isList() {
		return s.fieldsInList(v), false
	}
	return nil, s.untyped()
}

func (s schema) fieldsInObject(object codec.Value) *set {
	var nodes []node
	var m codec.Members
	for m.Walk(object, codec.Value{}); m.Next(); {
		below, declared := s.member(m.Name)
		sub, self := fieldsIn(below, m.X)
		null := m.X.IsTree() && m.X.Tree() == nil
		n := node{member(m.Name), self || !declared || null || isObject(m.X) && m.X.IsEmpty(), sub}
		nodes = appendNode(nodes, n.step, n)
	}
	return newSet(nodes)
}

// fieldsInList returns the fields in a list. An item that occurs twice is one field.
func (s schema) fieldsInList(list codec.Value) *set {
	items, _ := s.sortedItems(list) // none if the list is not valid
	var nodes []node
	for len(items) > 0 {
		n := node{step: items[0].step, member: true}
		var same []listItem
		same, items = cutStep(items, n.step)
		if len(same) == 1 {
			n.sub, _ = fieldsIn(s.item(), same[0].value)
		}
		nodes = append(nodes, n)
	}
	return newSet(nodes)
}

// withParents adds to a set the declared members that contain its fields. It does
// not add items of maps and lists.
func (s schema) withParents(fields *set) *set {
	return fields.mapNodes(func(n node) node {
		var below schema
		switch n.step.kind {
		case memberStep:
			var declared bool
			below, declared = s.member(n.step.name)
			n.member = n.member || declared
		case keyStep:
			if s.isList() {
				below = s.item()
			}
		}
		n.sub = below.withParents(n.sub)
		return n
	})
}

// reconcile replaces fields inside an atomic value by the value itself. A set can
// have such fields if it was made with another schema (upstream: typed,
// reconcile_schema.go).
func (s schema) reconcile(fields *set) *set {
	if s.typ == nil {
		return fields
	}
	return fields.mapNodes(func(n node) node {
		below := s.atStep(n.step)
		if n.sub != nil && (below.isList() || below.isObject()) && below.atomic() {
			return node{step: n.step, member: true}
		}
		n.sub = below.reconcile(n.sub)
		return n
	})
}
