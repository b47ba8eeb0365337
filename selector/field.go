package selector

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// Fields selects objects by the values of fields: every term must hold. The zero value selects every object.
type Fields struct {
	terms []term // in the order of their texts; the operator is = or !=
	rules []rule // one for each field
}

// ParseFields parses a field selector, such as "metadata.name=a,metadata.namespace!=kube-system". The empty text selects
// every object. In a value, a backslash escapes commas, equals signs and backslashes. Blanks are part of names and values.
//
// Errors have the texts of apimachinery's pkg/fields ParseSelector. Unknown fields are no error; see Check.
func ParseFields(s string) (Fields, error) {
	texts := splitTerms(s)
	slices.Sort(texts) // upstream sorts first, so the order decides which of two errors is returned
	var terms []term
	for _, text := range texts {
		if text == "" {
			continue
		}
		t, ok := splitTerm(text)
		if !ok {
			return Fields{}, fmt.Errorf("invalid selector: '%s'; can't understand '%s'", s, text)
		}
		var err error
		if t.value, err = unescapeValue(t.value); err != nil {
			return Fields{}, fmt.Errorf("invalid field selector: %w", err)
		}
		// Upstream drops a term like "=", with neither field nor value, instead of refusing it.
		if t.key != "" || t.value != "" {
			terms = append(terms, t)
		}
	}
	byField := slices.Clone(terms)
	slices.SortStableFunc(byField, func(a, b term) int { return cmp.Compare(a.key, b.key) })
	return Fields{terms, join(byField)}, nil
}

// FieldEquals returns the selector field=value. The value is not escaped.
func FieldEquals(field, value string) Fields {
	terms := []term{{key: field, operator: opEquals, value: value}}
	return Fields{terms, join(terms)}
}

// Check returns an error unless all fields of the selector are known. The error lists the known fields in the order given,
// with the text of apimachinery's runtime DefaultMetaV1FieldSelectorConversion.
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

// Unknown returns the first field of the selector that is not known, and reports whether there is one.
func (f Fields) Unknown(known []string) (field string, found bool) {
	for _, t := range f.terms {
		if !slices.Contains(known, t.key) {
			return t.key, true
		}
	}
	return "", false
}

// Empty reports whether the selector selects every object.
func (f Fields) Empty() bool { return len(f.terms) == 0 }

// Matches reports whether an object is selected. The function get must return the object's value of a field, and the empty string for a
// field that it does not have. Matches calls it at most once for each field.
func (f Fields) Matches(get func(field string) string) bool {
	for i := range f.rules {
		if !f.rules[i].holds(get(f.rules[i].key), true) {
			return false
		}
	}
	return true
}

// Exact returns the value that the selector requires a field to have, and reports whether it requires one. If it requires
// two values, which no object has, Exact returns the first: the caller must still call Matches.
func (f Fields) Exact(field string) (value string, ok bool) {
	for _, t := range f.terms {
		if t.key == field && t.operator == opEquals {
			return t.value, true
		}
	}
	return "", false
}

// splitTerms splits a field selector at the commas that no backslash escapes.
func splitTerms(s string) []string {
	var terms []string
	start, escaped := 0, false
	for i := range len(s) {
		switch {
		case escaped:
			escaped = false
		case s[i] == '\\':
			escaped = true
		case s[i] == ',':
			terms = append(terms, s[start:i])
			start = i + 1
		}
	}
	return append(terms, s[start:])
}

// splitTerm splits a term at its first operator. Its value is as written.
func splitTerm(s string) (t term, ok bool) {
	key, value, found := strings.Cut(s, "=")
	if name, differs := strings.CutSuffix(key, "!"); differs {
		return term{key: name, operator: opNotEquals, value: value}, found
	}
	return term{key: key, operator: opEquals, value: strings.TrimPrefix(value, "=")}, found
}

// unescapeValue removes the backslashes before commas, equals signs and backslashes. As upstream, it replaces invalid UTF-8
// by U+FFFD, but only in a value that has such characters.
func unescapeValue(s string) (string, error) {
	if !strings.ContainsAny(s, `\,=`) {
		return s, nil
	}
	var b strings.Builder
	escaped := false
	for _, r := range s {
		special := r == '\\' || r == ',' || r == '='
		switch {
		case escaped && !special:
			return "", fmt.Errorf(`invalid escape sequence: \%c`, r)
		case escaped:
			b.WriteRune(r)
			escaped = false
		case r == '\\':
			escaped = true
		case special:
			return "", fmt.Errorf("unescaped character in value: %d", r)
		default:
			b.WriteRune(r)
		}
	}
	if escaped {
		return "", errors.New(`invalid escape sequence: \`)
	}
	return b.String(), nil
}
