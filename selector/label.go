package selector

import "strings"

// Labels selects objects by their labels: every requirement must hold. The zero value selects every object.
type Labels struct {
	requirements []requirement // sorted by key; requirements of one key stay in the order written
	rules        []labelRule   // for Matches: one for each key, sorted by key
	present      int           // how many of the rules demand a label
}

// labelOperator is the operator of a requirement. The two spellings of equality differ because String prints, as upstream,
// the one that was written.
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
	number   int64    // of > and <: the value as a number
}

// Empty reports whether the selector selects every object.
func (l Labels) Empty() bool {
	return len(l.requirements) == 0
}

// String returns the canonical form: requirements sorted by key and joined by commas, the values of in and notin sorted.
// It is empty if the selector selects every object.
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

// parseInteger parses an integer like strconv.ParseInt(s, 10, 64). It returns no error value, because matching must not allocate
// and labels that are no numbers are common.
func parseInteger(s string) (int64, bool) {
	digits := s
	if s != "" && (s[0] == '-' || s[0] == '+') {
		digits = s[1:]
	}
	if digits == "" {
		return 0, false
	}
	const lowest = -1 << 63
	var n int64 // negative: there is one more negative number than positive ones
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
