package selector

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// Fields selects objects by the values of a few fields: every term must hold. The zero value selects everything.
type Fields struct {
	terms []fieldTerm // sorted by their canonical text
}

// fieldTerm is one comparison of a field with a value.
type fieldTerm struct {
	field, value string
	differs      bool // the term is field!=value
}

// ParseFields reads a field selector, such as "metadata.name=a,metadata.namespace!=kube-system". The empty text selects
// everything. In values, commas, equals signs and backslashes are escaped by a backslash; blanks count.
//
// Errors are the texts of apimachinery's pkg/fields ParseSelector. Which fields exist is not looked at: see Check.
func ParseFields(s string) (Fields, error) {
	texts := splitTerms(s)
	slices.Sort(texts) // upstream sorts first, so that decides which of two errors is told
	var terms []fieldTerm
	for _, text := range texts {
		if text == "" {
			continue
		}
		term, value, ok := splitTerm(text)
		if !ok {
			return Fields{}, fmt.Errorf("invalid selector: '%s'; can't understand '%s'", s, text)
		}
		var err error
		if term.value, err = unescapeValue(value); err != nil {
			return Fields{}, fmt.Errorf("invalid field selector: %w", err)
		}
		// Upstream drops a term like "=", with neither field nor value, instead of refusing it.
		if term.field != "" || term.value != "" {
			terms = append(terms, term)
		}
	}
	// Sorted anew, because "==" and "=" are one now and String shall not depend on which was written.
	slices.SortFunc(terms, func(a, b fieldTerm) int { return cmp.Compare(a.text(), b.text()) })
	return Fields{terms}, nil
}

// FieldEquals returns the selector of objects whose field has the given value, which needs no escaping. The name of the
// field cannot be escaped in a selector: it must not contain commas, equals signs or backslashes.
func FieldEquals(field, value string) Fields {
	return Fields{[]fieldTerm{{field: field, value: value}}}
}

// Check returns an error unless every field of the selector is among the known ones, which the text lists in the order
// given. The text is that of apimachinery's runtime DefaultMetaV1FieldSelectorConversion, which knows metadata.name and
// metadata.namespace.
func (f Fields) Check(known []string) error {
	field, found := f.Unknown(known)
	if !found {
		return nil
	}
	quoted := make([]string, len(known))
	for i, field := range known {
		quoted[i] = strconv.Quote(field)
	}
	return fmt.Errorf("%q is not a known field selector: only %s", field, strings.Join(quoted, ", "))
}

// Unknown returns the first field of the selector that is not among the known ones, and whether there is one.
func (f Fields) Unknown(known []string) (field string, found bool) {
	for _, term := range f.terms {
		if !slices.Contains(known, term.field) {
			return term.field, true
		}
	}
	return "", false
}

// Empty reports whether the selector takes every object.
func (f Fields) Empty() bool {
	return len(f.terms) == 0
}

// Matches reports whether an object is selected. Get returns the object's value of a field, the empty string for a field
// it does not have; it is called once per term until one does not hold.
func (f Fields) Matches(get func(field string) string) bool {
	for i := range f.terms {
		term := &f.terms[i]
		if (get(term.field) == term.value) == term.differs {
			return false
		}
	}
	return true
}

// Exact returns the value which the selector requires a field to have, and false when it requires no single one. Given
// two different values, which no object can have at once, it returns the first; the selector still has to be matched.
func (f Fields) Exact(field string) (value string, ok bool) {
	for _, term := range f.terms {
		if term.field == field && !term.differs {
			return term.value, true
		}
	}
	return "", false
}

// String returns the selector in canonical form: terms sorted and joined by commas, "=" for "==", values escaped. It is
// empty for the selector that takes everything.
func (f Fields) String() string {
	texts := make([]string, len(f.terms))
	for i, term := range f.terms {
		texts[i] = term.text()
	}
	return strings.Join(texts, ",")
}

func (t fieldTerm) text() string {
	if t.differs {
		return t.field + "!=" + escapeValue(t.value)
	}
	return t.field + "=" + escapeValue(t.value)
}
