package selector

import (
	"math"
	"slices"
	"strconv"
	"strings"
)

// The operators of a term, as written.
const (
	opExists       = ""
	opAbsent       = "!" // before the key
	opEquals       = "="
	opDoubleEquals = "=="
	opNotEquals    = "!="
	opIn           = "in"
	opNotIn        = "notin"
	opGreater      = ">"
	opLess         = "<"
)

// term is one requirement of a label selector, or one comparison of a field selector.
type term struct {
	key      string // of a label, or the path of a field
	operator string
	value    string   // of =, ==, !=, > and <
	values   []string // of in and notin: sorted, distinct, at least one
	number   int64    // of > and <: the value as a number
}

// rule joins the terms of one key, so that the time of a match does not grow with their number.
type rule struct {
	key             string
	present, absent bool     // the label must exist, or must not
	limited         bool     // the value must be one of allowed
	allowed, denied []string // sorted
	numeric         bool     // the value must be an integer from lowest to highest
	lowest, highest int64
}

// join returns a rule for each key. terms are sorted by key.
func join(terms []term) (rules []rule) {
	for i := range terms {
		t := &terms[i]
		if i == 0 || terms[i-1].key != t.key {
			rules = append(rules, rule{key: t.key, lowest: math.MinInt64, highest: math.MaxInt64})
		}
		rules[len(rules)-1].add(t)
	}
	for i := range rules {
		slices.Sort(rules[i].denied)
	}
	return rules
}

func (r *rule) add(t *term) {
	switch t.operator {
	case opAbsent:
		r.absent = true
		return
	case opNotEquals:
		r.denied = append(r.denied, t.value)
		return
	case opNotIn:
		r.denied = append(r.denied, t.values...)
		return
	case opEquals, opDoubleEquals:
		r.require(t.value)
	case opIn:
		r.require(t.values...)
	case opGreater:
		if t.number == math.MaxInt64 {
			r.absent = true // and present: nothing matches
		} else {
			r.lowest = max(r.lowest, t.number+1)
		}
		r.numeric = true
	case opLess:
		r.highest = min(r.highest, t.number-1) // a value begins with a digit
		r.numeric = true
	}
	r.present = true
}

// require demands that the value is one of these, which are sorted and distinct.
func (r *rule) require(values ...string) {
	if r.limited {
		values = slices.Clone(values)
		values = slices.DeleteFunc(values, func(v string) bool { return !contains(r.allowed, v) })
	}
	r.limited, r.allowed = true, values
}

// holds reports whether a label or a field satisfies the rule. Every field exists.
func (r *rule) holds(value string, exists bool) bool {
	switch {
	case !exists:
		return !r.present
	case r.absent, r.limited && !contains(r.allowed, value), contains(r.denied, value):
		return false
	case !r.numeric:
		return true
	}
	number, ok := parseInteger(value)
	return ok && r.lowest <= number && number <= r.highest
}

func contains(sorted []string, value string) bool {
	if len(sorted) == 1 {
		return sorted[0] == value
	}
	_, found := slices.BinarySearch(sorted, value)
	return found
}

// parseInteger parses a 64-bit integer. Labels that are no numbers are common, and an error of strconv would allocate.
func parseInteger(s string) (int64, bool) {
	if strings.Trim(s, "+-0123456789") != "" {
		return 0, false
	}
	n, err := strconv.ParseInt(s, 10, 64)
	return n, err == nil
}
