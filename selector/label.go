package selector

import (
	"cmp"
	"slices"
)

// Labels selects objects by their labels: every requirement must hold. The zero value selects every object.
type Labels struct {
	rules   []rule // one for each key, sorted by key
	present int    // how many of the rules demand a label
}

// Empty reports whether the selector selects every object.
func (l Labels) Empty() bool { return len(l.rules) == 0 }

// Matches reports whether an object with these labels is selected. Labels may be nil. An object without the key satisfies
// !=, notin and !key. The operators > and < hold only for labels that are 64-bit integers.
//
// Matches looks at each key of the selector or at each label, whichever are fewer.
func (l Labels) Matches(labels map[string]string) bool {
	if len(l.rules) <= len(labels)+1 {
		for i := range l.rules {
			value, exists := labels[l.rules[i].key]
			if !l.rules[i].holds(value, exists) {
				return false
			}
		}
		return true
	}
	present := 0
	for key, value := range labels {
		i, found := slices.BinarySearchFunc(l.rules, key, func(r rule, key string) int { return cmp.Compare(r.key, key) })
		if !found {
			continue
		}
		if !l.rules[i].holds(value, true) {
			return false
		}
		if l.rules[i].present {
			present++
		}
	}
	return present == l.present
}
