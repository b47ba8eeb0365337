package validate

import (
	"strconv"
	"strings"
)

// Patterns in texts. They are never compiled: the functions of this package accept
// the same strings.
const (
	labelPattern     = `[a-z0-9]([-a-z0-9]*[a-z0-9])?`
	subdomainPattern = labelPattern + `(\.` + labelPattern + `)*`
	keyPattern       = `([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]`
	configKeyPattern = `[-._a-zA-Z0-9]+`
)

// Texts of the patterns.
const (
	subdomainText = "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must " +
		"start and end with an alphanumeric character"
	labelText = "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must start and end " +
		"with an alphanumeric character"
	keyText   = "must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character"
	valueText = "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and must start " +
		"and end with an alphanumeric character"
	configKeyText = "a valid config key must consist of alphanumeric characters, '-', '_' or '.'"
	noDotsText    = "must not contain dots"
	emptyText     = "must be non-empty"
)

// patternError returns the text for a value that does not match a pattern. Each
// example but the last is followed by two spaces, as upstream ends every example
// with a comma and a space (apimachinery, util/validation RegexError).
func patternError(rule, pattern string, examples ...string) string {
	var b strings.Builder
	b.WriteString(rule)
	b.WriteString(" (e.g. ")
	for i, example := range examples {
		if i > 0 {
			b.WriteString(" or ")
		}
		b.WriteString("'" + example + "', ")
	}
	b.WriteString("regex used for validation is '" + pattern + "')")
	return b.String()
}

func maxCharacters(n int) string {
	return "must be no more than " + strconv.Itoa(n) + " characters"
}

func maxBytes(n int) string {
	return "must be no more than " + strconv.Itoa(n) + " bytes"
}

func isLower(c byte) bool {
	return 'a' <= c && c <= 'z' || isDigit(c)
}

func isDigit(c byte) bool {
	return '0' <= c && c <= '9'
}

func isAlphanumeric(c byte) bool {
	return isLower(c) || 'A' <= c && c <= 'Z'
}
