package validate

import "strings"

// QualifiedName returns the problems of a key of a label or annotation, or of a
// finalizer: a name of at most 63 bytes, which may follow a DNS subdomain and a
// slash (apimachinery, api/validate/content IsLabelKey).
func QualifiedName(value string) (out []string) {
	prefix, name, prefixed := strings.Cut(value, "/")
	switch {
	case !prefixed:
		name = value
	case strings.Contains(name, "/"):
		return []string{"a valid label key " + keyText + " with an optional DNS subdomain prefix and '/' (e.g. 'example.com/MyName')"}
	case prefix == "":
		out = []string{"prefix part must be non-empty"}
	default:
		out = problems("prefix part ", prefix, maxSubdomain, "bytes", isSubdomain(prefix), subdomainText)
	}
	if name == "" {
		out = append(out, "name part must be non-empty")
	}
	return append(out, problems("name part ", name, maxLabel, "bytes", isKeyName(name), keyText)...)
}

// LabelValue returns the problems of the value of a label: empty, or at most 63
// bytes of the characters of a key (apimachinery, api/validate/content
// IsLabelValue).
func LabelValue(value string) []string {
	return problems("", value, maxLabel, "bytes", value == "" || isKeyName(value), valueText)
}
