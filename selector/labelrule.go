package selector

import (
	"cmp"
	"math"
	"slices"
	"strconv"
	"strings"
)

// labelRule joins the requirements of one key.
type labelRule struct {
	key             string
	present, absent bool // the label must exist, or must not
	numeric         bool // the value must be an integer from lowest to highest
	lowest, highest int64
	values          valueRule
}

// newLabelRules returns a rule for each key, sorted by key, and how many of them demand a label.
func newLabelRules(requirements []requirement) (rules []labelRule, present int) {
	for i := range requirements {
		r := &requirements[i]
		if i == 0 || requirements[i-1].key != r.key {
			rules = append(rules, labelRule{key: r.key, lowest: math.MinInt64, highest: math.MaxInt64})
		}
		rules[len(rules)-1].add(r)
	}
	for i := range rules {
		rules[i].values.finish()
		if rules[i].present {
			present++
		}
	}
	return rules, present
}

func (l *labelRule) add(r *requirement) {
	switch r.operator {
	case labelAbsent:
		l.absent = true
		return
	case labelNotEquals:
		l.values.exclude(r.value)
		return
	case labelNotIn:
		l.values.exclude(r.values...)
		return
	case labelEquals, labelDoubleEquals:
		l.values.require(r.value)
	case labelIn:
		l.values.require(r.values...)
	case labelGreater:
		if r.number == math.MaxInt64 {
			l.absent = true // and present: nothing matches
		} else {
			l.lowest = max(l.lowest, r.number+1)
		}
		l.numeric = true
	case labelLess:
		l.highest = min(l.highest, r.number-1) // a value begins with a digit
		l.numeric = true
	}
	l.present = true
}

// parseInteger parses a 64-bit integer. Labels that are no numbers are common, and an error of strconv would allocate.
func parseInteger(s string) (int64, bool) {
	if strings.Trim(s, "+-0123456789") != "" {
		return 0, false
	}
	n, err := strconv.ParseInt(s, 10, 64)
	return n, err == nil
}

// holds reports whether a label satisfies the rule.
func (l *labelRule) holds(value string, exists bool) bool {
	if !exists {
		return !l.present
	}
	if l.absent || !l.values.holds(value) {
		return false
	}
	if !l.numeric {
		return true
	}
	number, ok := parseInteger(value)
	return ok && l.lowest <= number && number <= l.highest
}

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
		i, found := slices.BinarySearchFunc(l.rules, key, func(r labelRule, key string) int { return cmp.Compare(r.key, key) })
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
