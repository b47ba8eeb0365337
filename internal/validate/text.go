package validate

import "strconv"

// Longest names, in bytes.
const (
	maxSubdomain = 253
	maxLabel     = 63
)

// Patterns in texts. They are never compiled: the functions of this package accept
// the same strings.
const (
	labelPattern     = `[a-z0-9]([-a-z0-9]*[a-z0-9])?`
	subdomainPattern = labelPattern + `(\.` + labelPattern + `)*`
	keyPattern       = `([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]`
	configKeyPattern = `[-._a-zA-Z0-9]+`
)

// Texts for values that do not match a pattern. As upstream, a comma and a space follow
// every example (apimachinery, util/validation RegexError).
const (
	subdomainText = "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must " +
		"start and end with an alphanumeric character (e.g. 'example.com', regex used for validation is '" + subdomainPattern + "')"
	labelText = "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must start and end " +
		"with an alphanumeric character (e.g. 'my-name',  or '123-abc', regex used for validation is '" + labelPattern + "')"
	keyText = "must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character " +
		"(e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is '" + keyPattern + "')"
	valueText = "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and must start " +
		"and end with an alphanumeric character (e.g. 'MyValue',  or 'my_value',  or '12345', regex used for validation is '(" + keyPattern + ")?')"
	configKeyText = "a valid config key must consist of alphanumeric characters, '-', '_' or '.' " +
		"(e.g. 'key.name',  or 'KEY_NAME',  or 'key-name', regex used for validation is '" + configKeyPattern + "')"
)

// problems returns the problems of a part of a value: too many bytes, and the text if it is not ok.
func problems(part, value string, most int, unit string, ok bool, text string) (out []string) {
	if len(value) > most {
		out = append(out, part+"must be no more than "+strconv.Itoa(most)+" "+unit)
	}
	if !ok {
		out = append(out, part+text)
	}
	return out
}

func isLabel(value string) bool {
	if value == "" || value[0] == '-' || value[len(value)-1] == '-' {
		return false
	}
	for i := range len(value) {
		if !isLower(value[i]) && value[i] != '-' {
			return false
		}
	}
	return true
}

func isKeyName(value string) bool {
	return isConfigKey(value) && isAlphanumeric(value[0]) && isAlphanumeric(value[len(value)-1])
}

func isConfigKey(value string) bool {
	for i := range len(value) {
		if c := value[i]; !isAlphanumeric(c) && c != '-' && c != '_' && c != '.' {
			return false
		}
	}
	return value != ""
}

func isLower(c byte) bool { return 'a' <= c && c <= 'z' || '0' <= c && c <= '9' }

func isAlphanumeric(c byte) bool { return isLower(c) || 'A' <= c && c <= 'Z' }
