package managedfields

import (
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
	if err := c.compare(s, l, r); err != nil {
		return comparison{}, err
	}
	return comparison{c.gained.built(), c.removed.built()}, nil
}

type comparer struct {
	gained, removed set
	path            []step
}

// mark records that the value at the current path became r.
func (c *comparer) mark(r any) {
	switch {
	case len(c.path) == 0: // nobody owns the whole object
	case isAbsent(r):
		c.removed.insert(c.path)
	default:
		c.gained.insert(c.path)
	}
}

// compare compares two values, of which one may be absent.
func (c *comparer) compare(s schema, l, r any) error {
	if s.untyped() {
		return c.compareUntyped(s, l, r)
	}
	if s.isLeaf(l, r) {
		if !equalValues(l, r) {
			c.mark(r)
		}
		return nil
	}
	if isAbsent(l) || isAbsent(r) {
		c.mark(r)
	}
	if s.isList() {
		x, _ := l.([]any)
		y, _ := r.([]any)
		return c.compareItems(s, x, y)
	}
	x, _ := l.(map[string]any)
	y, _ := r.(map[string]any)
	for _, name := range sortedNames(x, y) {
		below, _ := s.member(name)
		if err := c.under(member(name), below, get(x, name), get(y, name)); err != nil {
			return err
		}
	}
	return nil
}

// compareUntyped compares two values that may have different forms. If they do,
// the members of one and the place as a whole differ.
func (c *comparer) compareUntyped(s schema, l, r any) error {
	x, y := members(l), members(r)
	open := len(x) > 0 || len(y) > 0
	for _, name := range sortedNames(x, y) {
		if err := c.under(member(name), s, get(x, name), get(y, name)); err != nil {
			return err
		}
	}
	whole := func(v any) bool { return !isAbsent(v) && !isObjectOrNull(v) }
	leaf := !open || whole(l) || whole(r)
	if leaf && !equalValues(l, r) || !leaf && (isAbsent(l) || isAbsent(r)) {
		c.mark(r)
	}
	return nil
}

func get(object map[string]any, name string) any {
	if v, ok := object[name]; ok {
		return v
	}
	return absent{}
}

func (c *comparer) under(st step, s schema, l, r any) error {
	c.path = append(c.path, st)
	err := c.compare(s, l, r)
	c.path = c.path[:len(c.path)-1]
	return err
}

func (c *comparer) compareItems(s schema, l, r []any) error {
	steps, inL, err := s.items(l)
	if err != nil {
		return err
	}
	more, inR, err := s.items(r)
	if err != nil {
		return err
	}
	steps = append(steps, more...)
	slices.SortStableFunc(steps, compareSteps)
	steps = slices.CompactFunc(steps, func(a, b step) bool { return compareSteps(a, b) == 0 })
	for _, st := range steps {
		text := st.text()
		x, y := pick(l, inL[text]), pick(r, inR[text])
		if len(x) <= 1 && len(y) <= 1 {
			if err := c.under(st, s.item(), only(x), only(y)); err != nil {
				return err
			}
			continue
		}
		// A duplicate is owned as a whole.
		if len(x) == 1 || len(y) == 1 {
			if err := c.under(st, s.item(), only(x), only(y)); err != nil {
				return err
			}
		}
		at := append(c.path, st)
		switch {
		case len(y) < 2:
			c.removed.insert(at)
		case !slices.EqualFunc(x, y, equalValues):
			c.gained.insert(at)
		}
	}
	return nil
}

// pick returns the items at the given places.
func pick(list []any, at []int) []any {
	var out []any
	for _, i := range at {
		out = append(out, list[i])
	}
	return out
}

// only returns the item of a list of one, and absent for other lists.
func only(list []any) any {
	if len(list) == 1 {
		return list[0]
	}
	return absent{}
}
