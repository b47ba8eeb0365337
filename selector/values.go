package selector

import "slices"

// valueRule joins all comparisons of one label or field, so that the time of a match does not grow with their number.
type valueRule struct {
	limited bool     // the value must be one of allowed
	allowed []string // sorted
	denied  []string // sorted after finish
}

// require demands that the value is one of these, which are sorted and distinct.
func (r *valueRule) require(values ...string) {
	if r.limited {
		values = slices.Clone(values)
		values = slices.DeleteFunc(values, func(v string) bool { return !contains(r.allowed, v) })
	}
	r.limited, r.allowed = true, values
}

// exclude demands that the value is none of these.
func (r *valueRule) exclude(values ...string) { r.denied = append(r.denied, values...) }

// finish must be called before holds.
func (r *valueRule) finish() { slices.Sort(r.denied) }

func (r *valueRule) holds(value string) bool {
	return (!r.limited || contains(r.allowed, value)) && !contains(r.denied, value)
}

func contains(sorted []string, value string) bool {
	if len(sorted) == 1 {
		return sorted[0] == value
	}
	_, found := slices.BinarySearch(sorted, value)
	return found
}
