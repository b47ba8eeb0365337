package validate

import "strings"

// QualifiedName returns the problems of a key of a label or annotation, or of a
// finalizer: a name of at most 63 bytes, which may follow a DNS subdomain and a
// slash (apimachinery, api/validate/content IsLabelKey).
func QualifiedName(value string) []string {
	prefix, name, prefixed := strings.Cut(value, "/")
	if !prefixed {
		return nameProblems(nil, value)
	}
	if strings.Contains(name, "/") {
		return []string{"a valid label key " + keyProblem() +
			" with an optional DNS subdomain prefix and '/' (e.g. 'example.com/MyName')"}
	}

	var problems []string
	if prefix == "" {
		problems = append(problems, "prefix part "+emptyText)
	} else {
		// This text says bytes; DNS1123Subdomain says characters.
		if len(prefix) > maxSubdomain {
			problems = append(problems, "prefix part "+maxBytes(maxSubdomain))
		}
		if !isSubdomain(prefix) {
			problems = append(problems, "prefix part "+subdomainProblem())
		}
	}
	return nameProblems(problems, name)
}

// LabelValue returns the problems of the value of a label: empty, or at most 63
// bytes of the characters of a key (apimachinery, api/validate/content
// IsLabelValue).
func LabelValue(value string) []string {
	var problems []string
	if len(value) > maxLabel {
		problems = append(problems, maxBytes(maxLabel))
	}
	if value != "" && !isKeyName(value) {
		problems = append(problems, patternError(valueText, "("+keyPattern+")?", "MyValue", "my_value", "12345"))
	}
	return problems
}

// nameProblems adds the problems of the name in a qualified name. An empty name
// has two: it is empty, and it does not match the pattern.
func nameProblems(problems []string, name string) []string {
	if name == "" {
		problems = append(problems, "name part "+emptyText)
	} else if len(name) > maxLabel {
		problems = append(problems, "name part "+maxBytes(maxLabel))
	}
	if !isKeyName(name) {
		problems = append(problems, "name part "+keyProblem())
	}
	return problems
}

func keyProblem() string {
	return patternError(keyText, keyPattern, "MyName", "my.name", "123-abc")
}

func isKeyName(value string) bool {
	if value == "" || !isAlphanumeric(value[0]) || !isAlphanumeric(value[len(value)-1]) {
		return false
	}
	for i := range len(value) {
		if !isKeyByte(value[i]) {
			return false
		}
	}
	return true
}

func isKeyByte(c byte) bool {
	return isAlphanumeric(c) || c == '-' || c == '_' || c == '.'
}
