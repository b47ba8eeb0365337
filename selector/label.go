package selector

import "strings"

// Labels selects objects by their labels: every requirement must hold. The zero value selects every object.
type Labels struct {
	requirements []requirement // sorted by key; requirements of one key stay in the order written
	rules        []labelRule   // for Matches: one for each key, sorted by key
	present      int           // how many of the rules demand a label
}

// The operators of a requirement, as written. As upstream, String prints the spelling of equality that was written.
const (
	labelExists       = ""
	labelAbsent       = "!" // before the key
	labelEquals       = "="
	labelDoubleEquals = "=="
	labelNotEquals    = "!="
	labelIn           = "in"
	labelNotIn        = "notin"
	labelGreater      = ">"
	labelLess         = "<"
)

// requirement is one term of a label selector.
type requirement struct {
	key      string
	operator string
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
	texts := make([]string, len(l.requirements))
	for i := range l.requirements {
		texts[i] = l.requirements[i].text()
	}
	return strings.Join(texts, ",")
}

func (r *requirement) text() string {
	switch r.operator {
	case labelAbsent:
		return labelAbsent + r.key
	case labelIn, labelNotIn:
		return r.key + " " + r.operator + " (" + strings.Join(r.values, ",") + ")"
	}
	return r.key + r.operator + r.value
}
