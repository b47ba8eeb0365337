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
	steps, inL, errL := s.items(l)
	more, inR, errR := s.items(r)
	if err := cmp.Or(errL, errR); err != nil {
		c.err = cmp.Or(c.err, err)
		return delta{}
	}
	steps = append(steps, more...)
	slices.SortFunc(steps, func(a, b step) int { return compareSteps(&a, &b) })
	steps = slices.CompactFunc(steps, func(a, b step) bool { return compareSteps(&a, &b) == 0 })
	var ds deltas
	for _, st := range steps {
		text := st.text()
		x, y := itemsAt(l, inL[text]), itemsAt(r, inR[text])
		repeated := len(x) > 1 || len(y) > 1 // then the item is owned as a whole
		var d delta
		if !repeated || len(x) == 1 || len(y) == 1 {
			d = c.compare(s.item(), singleItem(x), singleItem(y))
		}
		switch {
		case !repeated:
		case len(y) < 2:
			d.removed.member = true
		case !slices.EqualFunc(x, y, codec.Value.Equal):
			d.gained.member = true
		}
		ds.add(st, d)
	}
	return ds.within()
}

// itemsAt returns the items at the given places.
func itemsAt(list codec.Value, at []int) []codec.Value {
	var out []codec.Value
	for _, i := range at {
		out = append(out, list.Item(i))
	}
	return out
}

// singleItem returns the item of a list with one item, and none for other lists.
func singleItem(list []codec.Value) codec.Value {
	if len(list) == 1 {
		return list[0]
	}
	return codec.Value{}
}
