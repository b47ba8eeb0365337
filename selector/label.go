package selector

import (
	"slices"
	"strings"
)

// Labels selects objects by their labels: every requirement must hold. The zero value selects everything.
type Labels struct {
	requirements []requirement // sorted by key; requirements of one key stay in the order written
}

// labelOperator is how a requirement relates a key to values. The two spellings of equality are kept apart to be printed
// as they were written, as upstream does.
type labelOperator uint8

const (
	labelExists labelOperator = iota
	labelAbsent
	labelEquals
	labelDoubleEquals
	labelNotEquals
	labelIn
	labelNotIn
	labelGreater
	labelLess
)

// requirement is one term of a label selector.
type requirement struct {
	key      string
	operator labelOperator
	value    string   // of =, ==, !=, > and <
	values   []string // of in and notin: sorted, distinct, at least one
	number   int64    // value as number, of > and <
}

// Empty reports whether the selector takes every object whatever its labels.
func (l Labels) Empty() bool {
	return len(l.requirements) == 0
}

// Matches reports whether an object with these labels is selected. Labels may be nil. An object without the key of a
// requirement satisfies !=, notin and !key; > and < hold for labels that are 64-bit integers only.
func (l Labels) Matches(labels map[string]string) bool {
	for i := range l.requirements {
		if !l.requirements[i].matches(labels) {
			return false
		}
	}
	return true
}

// String returns the selector in canonical form: requirements sorted by key and joined by commas, values of in and notin
// sorted. It is empty for the selector that takes everything.
func (l Labels) String() string {
	var b strings.Builder
	for i := range l.requirements {
		if i > 0 {
			b.WriteByte(',')
		}
		l.requirements[i].write(&b)
	}
	return b.String()
}

func (r *requirement) matches(labels map[string]string) bool {
	value, exists := labels[r.key]
	switch r.operator {
	case labelExists:
		return exists
	case labelAbsent:
		return !exists
	case labelEquals, labelDoubleEquals:
		return exists && value == r.value
	case labelNotEquals:
		return !exists || value != r.value
	case labelIn:
		return exists && r.has(value)
	case labelNotIn:
		return !exists || !r.has(value)
	case labelGreater, labelLess:
		number, ok := parseInteger(value)
		if !exists || !ok {
			return false
		}
		if r.operator == labelGreater {
			return number > r.number
		}
		return number < r.number
	}
	return false
}

func (r *requirement) has(value string) bool {
	_, found := slices.BinarySearch(r.values, value)
	return found
}

func (r *requirement) write(b *strings.Builder) {
	if r.operator == labelAbsent {
		b.WriteByte('!')
	}
	b.WriteString(r.key)
	switch r.operator {
	case labelEquals:
		b.WriteByte('=')
	case labelDoubleEquals:
		b.WriteString("==")
	case labelNotEquals:
		b.WriteString("!=")
	case labelGreater:
		b.WriteByte('>')
	case labelLess:
		b.WriteByte('<')
	case labelIn:
		b.WriteString(" in (" + strings.Join(r.values, ",") + ")")
	case labelNotIn:
		b.WriteString(" notin (" + strings.Join(r.values, ",") + ")")
	}
	b.WriteString(r.value)
}

// parseInteger reads a decimal 64-bit integer with optional sign. It accepts what strconv.ParseInt(s, 10, 64) accepts, but
// makes no error value: labels that are no numbers are common, and matching must not allocate.
func parseInteger(s string) (int64, bool) {
	digits := s
	if s != "" && (s[0] == '-' || s[0] == '+') {
		digits = s[1:]
	}
	if digits == "" {
		return 0, false
	}
	const lowest = -1 << 63
	var n int64 // kept negative, where there is room for one number more
	for i := range len(digits) {
		digit := int64(digits[i]) - '0'
		if digit < 0 || digit > 9 || n < lowest/10 || n*10 < lowest+digit {
			return 0, false
		}
		n = n*10 - digit
	}
	if s[0] == '-' {
		return n, true
	}
	return -n, n != lowest
}
