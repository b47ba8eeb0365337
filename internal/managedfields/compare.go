package managedfields

import (
	"cmp"
	"slices"

	"github.com/kubecoord/kubecoord/internal/codec"
)

// comparison is the fields in which two documents differ.
type comparison struct {
	gained  *set // fields that were added or changed, and added containers
	removed *set // fields that were removed, and removed containers
}

// compare returns the fields in which r differs from l.
func (s schema) compare(l, r codec.Value) (comparison, error) {
	c := comparer{}
	d := c.compare(s, l, r)
	return comparison{d.gained.sub, d.removed.sub}, c.err
}

// comparer compares documents. Sets are made from their leaves up, so the depth of a document
// does not count for each of its fields.
type comparer struct {
	err error // the first one
}

// delta is how a value differs, and the fields in it. Its nodes have no step.
type delta struct{ gained, removed node }

// record records that the value became r.
func (d *delta) record(r codec.Value) {
	d.gained.member, d.removed.member = r.Exists(), !r.Exists()
}

// deltas holds the deltas of the members or items of a value, in the order of their steps.
type deltas struct{ gained, removed []node }

func (ds *deltas) add(st step, d delta) {
	ds.gained = appendNode(ds.gained, st, d.gained)
	ds.removed = appendNode(ds.removed, st, d.removed)
}

// appendNode appends a node, unless it has no field.
func appendNode(nodes []node, st step, n node) []node {
	if !n.member && n.sub == nil {
		return nodes
	}
	n.step = st
	return append(nodes, n)
}

// within returns the delta of the value that has these members or items.
func (ds *deltas) within() delta {
	return delta{gained: node{sub: newSet(ds.gained)}, removed: node{sub: newSet(ds.removed)}}
}

// compare compares two values, or none with a value.
func (c *comparer) compare(s schema, l, r codec.Value) (d delta) {
	switch {
	case s.untyped():
		return c.compareUntyped(s, l, r)
	case s.isLeaf(l, r):
		if !l.Equal(r) {
			d.record(r)
		}
		return d
	case s.isList() && s.identifiesItems() && l.IsSameList(r):
		return d
	case s.isList():
		d = c.compareItems(s, l, r)
	default:
		d = c.compareMembers(s, l, r)
	}
	if !l.Exists() || !r.Exists() {
		d.record(r)
	}
	return d
}

// compareUntyped compares two values that may have different forms. If only one of
// them is an object, its members differ and the value as a whole does too.
func (c *comparer) compareUntyped(s schema, l, r codec.Value) delta {
	d := c.compareMembers(s, l, r)
	x, y := l.Tree(), r.Tree()
	leaf := len(members(x)) == 0 && len(members(y)) == 0 || !isObjectOrNull(x) || !isObjectOrNull(y)
	if leaf && !l.Equal(r) || !leaf && (!l.Exists() || !r.Exists()) {
		d.record(r)
	}
	return d
}

func (c *comparer) compareMembers(s schema, l, r codec.Value) delta {
	var ds deltas
	if l.IsSame(r) {
		return ds.within()
	}
	var m codec.Members
	for m.Walk(l, r); m.Next(); {
		ds.add(member(m.Name), c.compare(s.below(m.Name, m.Field), m.X, m.Y))
	}
	return ds.within()
}

func (c *comparer) compareItems(s schema, l, r codec.Value) delta {
	x, errL := s.sortedItems(l)
	y, errR := s.sortedItems(r)
	if err := cmp.Or(errL, errR); err != nil {
		c.err = cmp.Or(c.err, err)
		return delta{}
	}
	var ds deltas
	for len(x)+len(y) > 0 {
		var st step
		if len(y) == 0 || len(x) > 0 && compareSteps(&x[0].step, &y[0].step) < 0 {
			st = x[0].step
		} else {
			st = y[0].step
		}
		var inL, inR []listItem
		inL, x = cutStep(x, st)
		inR, y = cutStep(y, st)
		repeated := len(inL) > 1 || len(inR) > 1 // then the item is owned as a whole
		var d delta
		if !repeated || len(inL) == 1 || len(inR) == 1 {
			d = c.compare(s.item(), singleItem(inL), singleItem(inR))
		}
		switch {
		case !repeated:
		case len(inR) < 2:
			d.removed.member = true
		case !slices.EqualFunc(inL, inR, func(a, b listItem) bool { return a.value.Equal(b.value) }):
			d.gained.member = true
		}
		ds.add(st, d)
	}
	return ds.within()
}

// singleItem returns the value of the only item, or none.
func singleItem(items []listItem) codec.Value {
	if len(items) == 1 {
		return items[0].value
	}
	return codec.Value{}
}
