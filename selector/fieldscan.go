package selector

import (
	"errors"
	"fmt"
	"strings"
)

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
