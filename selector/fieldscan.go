package selector

import (
	"fmt"
	"strings"
)

// splitTerms cuts a field selector at its commas, except those behind a backslash.
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

// splitTerm cuts a term at its first operator. The field in front of it is taken as it is, without unescaping; the value
// behind it is returned as written.
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

// unescapeValue removes the backslashes in front of commas, equals signs and backslashes. Outside of values with such
// characters nothing is touched; inside, bytes which are not UTF-8 turn into U+FFFD, as upstream.
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
		return "", fmt.Errorf(`invalid escape sequence: \`)
	}
	return b.String(), nil
}

// escapeValue makes a value safe to stand in a selector.
func escapeValue(s string) string {
	if !strings.ContainsAny(s, `\,=`) {
		return s
	}
	var b strings.Builder
	for i := range len(s) {
		if c := s[i]; c == '\\' || c == ',' || c == '=' {
			b.WriteByte('\\')
		}
		b.WriteByte(s[i])
	}
	return b.String()
}
