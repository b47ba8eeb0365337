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
	terms []fieldTerm // sorted by their canonical text
	rules []fieldRule // for Matches: one for each field
}

// fieldTerm is one comparison of a field with a value.
type fieldTerm struct {
	field, value string
	differs      bool // field!=value
}

// ParseFields parses a field selector, such as "metadata.name=a,metadata.namespace!=kube-system". The empty text selects
// every object. In a value, a backslash escapes commas, equals signs and backslashes. Blanks are part of names and values.
//
// Errors have the texts of apimachinery's pkg/fields ParseSelector. Unknown fields are no error; see Check.
func ParseFields(s string) (Fields, error) {
	texts := splitTerms(s)
	slices.Sort(texts) // upstream sorts first, so the order decides which of two errors is returned
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
	// Sort again: "==" and "=" are the same now, and String must not depend on which was written.
	slices.SortFunc(terms, func(a, b fieldTerm) int { return cmp.Compare(a.text(), b.text()) })
	return newFields(terms), nil
}

// fieldRule joins the terms of one field.
type fieldRule struct {
	field  string
	values valueRule
}

func newFields(terms []fieldTerm) Fields {
	f := Fields{terms: terms}
	byField := slices.Clone(terms)
	slices.SortStableFunc(byField, func(a, b fieldTerm) int { return cmp.Compare(a.field, b.field) })
	for i, term := range byField {
		if i == 0 || byField[i-1].field != term.field {
			f.rules = append(f.rules, fieldRule{field: term.field})
		}
		values := &f.rules[len(f.rules)-1].values
		if term.differs {
			values.exclude(term.value)
		} else {
			values.require(term.value)
		}
	}
	for i := range f.rules {
		f.rules[i].values.finish()
	}
	return f
}

// FieldEquals returns the selector field=value. The value is not escaped. The field must not contain commas, equals signs
// or backslashes, because a selector cannot escape them there.
func FieldEquals(field, value string) Fields {
	return newFields([]fieldTerm{{field: field, value: value}})
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
	for _, term := range f.terms {
		if !slices.Contains(known, term.field) {
			return term.field, true
		}
	}
	return "", false
}

// Empty reports whether the selector selects every object.
func (f Fields) Empty() bool {
	return len(f.terms) == 0
}

// Matches reports whether an object is selected. Get must return the object's value of a field, and the empty string for a
// field that it does not have. Matches calls it at most once for each field.
func (f Fields) Matches(get func(field string) string) bool {
	for i := range f.rules {
		if !f.rules[i].values.holds(get(f.rules[i].field)) {
			return false
		}
	}
	return true
}

// Exact returns the value that the selector requires a field to have, and reports whether it requires one. If it requires
// two values, which no object has, Exact returns the first: the caller must still call Matches.
func (f Fields) Exact(field string) (value string, ok bool) {
	for _, term := range f.terms {
		if term.field == field && !term.differs {
			return term.value, true
		}
	}
	return "", false
}

// String returns the canonical form: terms sorted and joined by commas, "=" for "==", values escaped. It is empty if the
// selector selects every object.
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

// splitTerm splits a term at its first operator. It returns field and value as written.
func splitTerm(s string) (term fieldTerm, value string, ok bool) {
	at := strings.IndexByte(s, '=')
	if at < 0 {
		return fieldTerm{}, "", false
	}
	field, value := s[:at], s[at+1:]
	if name, differs := strings.CutSuffix(field, "!"); differs {
		return fieldTerm{field: name, differs: true}, value, true
	}
	return fieldTerm{field: field}, strings.TrimPrefix(value, "="), true
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

// escapeValue returns a value as it must be written in a selector.
func escapeValue(s string) string {
	if !strings.ContainsAny(s, `\,=`) {
		return s
	}
	return strings.NewReplacer(`\`, `\\`, `,`, `\,`, `=`, `\=`).Replace(s)
}
