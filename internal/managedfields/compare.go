package managedfields

import (
	"cmp"
	"slices"
)

// comparison is the fields in which two documents differ.
type comparison struct {
	gained  *set // fields that were added or changed, and added containers
	removed *set // fields that were removed, and removed containers
}

// compare returns the fields in which r differs from l.
func (s schema) compare(l, r map[string]any) (comparison, error) {
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
func (d *delta) record(r any) {
	if isAbsent(r) {
		d.removed.member = true
	} else {
		d.gained.member = true
	}
}

// deltas are those of the members or items of a value, in the order of their steps.
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

// compare compares two values. One of them may be absent.
func (c *comparer) compare(s schema, l, r any) (d delta) {
	switch {
	case s.untyped():
		return c.compareUntyped(s, l, r)
	case s.isLeaf(l, r):
		if !equalValues(l, r) {
			d.record(r)
		}
		return d
	case s.isList():
		x, _ := l.([]any)
		y, _ := r.([]any)
		d = c.compareItems(s, x, y)
	default:
		x, _ := l.(map[string]any)
		y, _ := r.(map[string]any)
		d = c.compareMembers(s, x, y)
	}
	if isAbsent(l) || isAbsent(r) {
		d.record(r)
	}
	return d
}

// compareUntyped compares two values that may have different forms. If only one of
// them is an object, its members differ and the value as a whole does too.
func (c *comparer) compareUntyped(s schema, l, r any) delta {
	x, y := members(l), members(r)
	d := c.compareMembers(s, x, y)
	whole := func(v any) bool { return !isAbsent(v) && !isObjectOrNull(v) }
	leaf := len(x) == 0 && len(y) == 0 || whole(l) || whole(r)
	if leaf && !equalValues(l, r) || !leaf && (isAbsent(l) || isAbsent(r)) {
		d.record(r)
	}
	return d
}

func (c *comparer) compareMembers(s schema, l, r map[string]any) delta {
	var ds deltas
	for _, name := range sortedNames(l, r) {
		below, _ := s.member(name)
		ds.add(member(name), c.compare(below, memberOrAbsent(l, name), memberOrAbsent(r, name)))
	}
	return ds.within()
}

func memberOrAbsent(object map[string]any, name string) any {
	if v, ok := object[name]; ok {
		return v
	}
	return absent{}
}

func (c *comparer) compareItems(s schema, l, r []any) delta {
	steps, inL, errL := s.items(l)
	more, inR, errR := s.items(r)
	if err := cmp.Or(errL, errR); err != nil {
		c.err = cmp.Or(c.err, err)
		return delta{}
	}
	steps = append(steps, more...)
	slices.SortFunc(steps, compareSteps)
	steps = slices.CompactFunc(steps, func(a, b step) bool { return compareSteps(a, b) == 0 })
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
		case !slices.EqualFunc(x, y, equalValues):
			d.gained.member = true
		}
		ds.add(st, d)
	}
	return ds.within()
}

// itemsAt returns the items at the given places.
func itemsAt(list []any, at []int) []any {
	var out []any
	for _, i := range at {
		out = append(out, list[i])
	}
	return out
}

// singleItem returns the item of a list with one item, and absent for other lists.
func singleItem(list []any) any {
	if len(list) == 1 {
		return list[0]
	}
	return absent{}
}
