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
	if c.compare(s, l, r); c.err != nil {
		return comparison{}, c.err
	}
	return comparison{c.gained.orNil(), c.removed.orNil()}, nil
}

type comparer struct {
	gained, removed set
	path            []step
	err             error // the first one
}

// record records that the value at the current path became r.
func (c *comparer) record(r any) {
	if isAbsent(r) {
		c.removed.insert(c.path)
	} else {
		c.gained.insert(c.path)
	}
}

// compare compares two values. One of them may be absent.
func (c *comparer) compare(s schema, l, r any) {
	if s.untyped() {
		c.compareUntyped(s, l, r)
		return
	}
	if s.isLeaf(l, r) {
		if !equalValues(l, r) {
			c.record(r)
		}
		return
	}
	if isAbsent(l) || isAbsent(r) {
		c.record(r)
	}
	if s.isList() {
		x, _ := l.([]any)
		y, _ := r.([]any)
		c.compareItems(s, x, y)
		return
	}
	x, _ := l.(map[string]any)
	y, _ := r.(map[string]any)
	for _, name := range sortedNames(x, y) {
		below, _ := s.member(name)
		c.compareAt(member(name), below, memberOrAbsent(x, name), memberOrAbsent(y, name))
	}
}

// compareUntyped compares two values that may have different forms. If only one of
// them is an object, its members differ and the value as a whole does too.
func (c *comparer) compareUntyped(s schema, l, r any) {
	x, y := members(l), members(r)
	open := len(x) > 0 || len(y) > 0
	for _, name := range sortedNames(x, y) {
		c.compareAt(member(name), s, memberOrAbsent(x, name), memberOrAbsent(y, name))
	}
	whole := func(v any) bool { return !isAbsent(v) && !isObjectOrNull(v) }
	leaf := !open || whole(l) || whole(r)
	if leaf && !equalValues(l, r) || !leaf && (isAbsent(l) || isAbsent(r)) {
		c.record(r)
	}
}

func memberOrAbsent(object map[string]any, name string) any {
	if v, ok := object[name]; ok {
		return v
	}
	return absent{}
}

func (c *comparer) compareAt(st step, s schema, l, r any) {
	c.path = append(c.path, st)
	c.compare(s, l, r)
	c.path = c.path[:len(c.path)-1]
}

func (c *comparer) compareItems(s schema, l, r []any) {
	steps, inL, errL := s.items(l)
	more, inR, errR := s.items(r)
	if err := cmp.Or(errL, errR); err != nil {
		c.err = cmp.Or(c.err, err)
		return
	}
	for _, st := range append(steps, more...) { // a common item twice, to the same result
		text := st.text()
		x, y := itemsAt(l, inL[text]), itemsAt(r, inR[text])
		repeated := len(x) > 1 || len(y) > 1 // then the item is owned as a whole
		if !repeated || len(x) == 1 || len(y) == 1 {
			c.compareAt(st, s.item(), singleItem(x), singleItem(y))
		}
		at := append(c.path, st)
		switch {
		case !repeated:
		case len(y) < 2:
			c.removed.insert(at)
		case !slices.EqualFunc(x, y, equalValues):
			c.gained.insert(at)
		}
	}
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
