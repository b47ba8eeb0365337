package validate

import "strings"

// Longest names, in bytes.
const (
	maxSubdomain = 253
	maxLabel     = 63
)

// DNS1123Subdomain returns the problems of a value as a DNS subdomain in lower
// case: labels joined by dots, at most 253 bytes (RFC 1123; apimachinery,
// util/validation IsDNS1123Subdomain). A label in it may be longer than 63 bytes.
func DNS1123Subdomain(value string) []string {
	var problems []string
	if len(value) > maxSubdomain {
		problems = append(problems, maxCharacters(maxSubdomain))
	}
	if !isSubdomain(value) {
		problems = append(problems, subdomainProblem())
	}
	return problems
}

// DNS1123Label returns the problems of a value as one DNS label in lower case, at
// most 63 bytes (RFC 1123; apimachinery, util/validation IsDNS1123Label). If the
// value is a subdomain, the problem is its dots.
func DNS1123Label(value string) []string {
	var problems []string
	if len(value) > maxLabel {
		problems = append(problems, maxCharacters(maxLabel))
	}
	switch {
	case isLabel(value):
	case isSubdomain(value):
		problems = append(problems, noDotsText)
	default:
		problems = append(problems, patternError(labelText, labelPattern, "my-name", "123-abc"))
	}
	return problems
}

func subdomainProblem() string {
	return patternError(subdomainText, subdomainPattern, "example.com")
}

func isSubdomain(value string) bool {
	for {
		label, rest, more := strings.Cut(value, ".")
		if !isLabel(label) {
			return false
		}
		if !more {
			return true
		}
		value = rest
	}
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
