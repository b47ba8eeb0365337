package managedfields

import "sort"

// set is a set of fields as a tree. Nil is the empty set. A set has at least one
// node, and each node is a member or has a sub.
//
// A set does not change, so it may be shared. Operations return an operand where it is the
// result.
type set struct {
	nodes []node // sorted by step
}

type node struct {
	step   step
	member bool // whether the field itself is in the set
	sub    *set // of the fields within
}

// get returns the node of a step, or the zero node. Most steps are members of small sets, which are compared for equality: that takes a
// tenth of a comparison for order.
func (s *set) get(st step) node {
	switch {
	case s == nil:
	case st.kind == memberStep && len(s.nodes) <= 16:
		for i := range s.nodes {
			if have := &s.nodes[i].step; have.kind == memberStep && have.name == st.name {
				return s.nodes[i]
			}
		}
	default:
		if i, found := sort.Find(len(s.nodes), func(i int) int { return compareSteps(&st, &s.nodes[i].step) }); found {
			return s.nodes[i]
		}
	}
	return node{}
}

func (s *set) has(path []step) bool {
	var n node
	for _, st := range path {
		n = s.get(st)
		s = n.sub
	}
	return n.member
}

// hasMember is has for a path of members.
func (s *set) hasMember(path []string) (has bool) {
	for _, name := range path {
		n := s.get(member(name))
		s, has = n.sub, n.member
	}
	return has
}

func union(a, b *set) *set {
	switch {
	case a == nil:
		return b
	case b == nil:
		return a
	}
	if a.covers(b) {
		return a
	}
	out := make([]node, 0, max(len(a.nodes), len(b.nodes)))
	x, y := a.nodes, b.nodes
	for len(x) > 0 && len(y) > 0 {
		switch c := compareSteps(&x[0].step, &y[0].step); {
		case c < 0:
			out, x = append(out, x[0]), x[1:]
		case c > 0:
			out, y = append(out, y[0]), y[1:]
		default:
			out = append(out, node{x[0].step, x[0].member || y[0].member, union(x[0].sub, y[0].sub)})
			x, y = x[1:], y[1:]
		}
	}
	return newSet(append(append(out, x...), y...))
}

// covers reports whether all fields of b are in a.
func (a *set) covers(b *set) bool {
	if a == b || b == nil {
		return true
	}
	for _, y := range b.nodes {
		if x := a.get(y.step); y.member && !x.member || !x.sub.covers(y.sub) {
			return false
		}
	}
	return true
}

// unionOf returns the union of at least one set.
func unionOf(sets []*set) *set {
	n := len(sets)
	if n == 1 {
		return sets[0]
	}
	return union(unionOf(sets[:n/2]), unionOf(sets[n/2:])) // by halves, as there may be many sets
}

// difference returns the fields of a that are not in b. Parents and
// children of a field are compared separately. It is cheap if a is much smaller than b.
func difference(a, b *set) *set {
	if b == nil {
		return a
	}
	return a.mapNodes(func(x node) node {
		y := b.get(x.step)
		return node{x.step, x.member && !y.member, difference(x.sub, y.sub)}
	})
}

// intersection returns the fields that are in both.
func intersection(a, b *set) *set {
	return a.mapNodes(func(x node) node {
		y := b.get(x.step)
		return node{x.step, x.member && y.member, intersection(x.sub, y.sub)}
	})
}

// mapNodes returns the set of the nodes that f returns. f may return an empty node
// to leave a node out. It returns s if f changes none.
func (s *set) mapNodes(f func(n node) node) *set {
	if s == nil {
		return nil
	}
	var nodes []node
	same := true // so far
	for i, n := range s.nodes {
		now := f(n)
		if same && now.member == n.member && now.sub == n.sub {
			continue
		}
		if same {
			nodes, same = append(make([]node, 0, len(s.nodes)), s.nodes[:i]...), false
		}
		if now.member || now.sub != nil {
			nodes = append(nodes, now)
		}
	}
	if same {
		return s
	}
	return newSet(nodes)
}

// newSet returns the set of sorted nodes.
func newSet(nodes []node) *set {
	if len(nodes) == 0 {
		return nil
	}
	return &set{nodes}
}

// walk calls f for each field. It visits all nodes of a set before their children. f
// must not keep the path.
func (s *set) walk(f func(path []step)) { s.walkFrom(nil, f) }

func (s *set) walkFrom(path []step, f func(path []step)) {
	if s == nil {
		return
	}
	for _, n := range s.nodes {
		if n.member {
			f(append(path, n.step))
		}
	}
	for _, n := range s.nodes {
		n.sub.walkFrom(append(path, n.step), f)
	}
}
