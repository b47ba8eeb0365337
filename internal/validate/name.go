package validate

import "strings"

// DNS1123Subdomain returns the problems of a value as a DNS subdomain in lower
// case: labels joined by dots, at most 253 bytes (RFC 1123; apimachinery,
// util/validation IsDNS1123Subdomain). A label in it may be longer than 63 bytes.
func DNS1123Subdomain(value string) []string {
	return problems("", value, maxSubdomain, "characters", isSubdomain(value), subdomainText)
}

// DNS1123Label returns the problems of a value as one DNS label in lower case, at
// most 63 bytes (RFC 1123; apimachinery, util/validation IsDNS1123Label). If the
// value is a subdomain, the problem is its dots.
func DNS1123Label(value string) []string {
	ok, text := isLabel(value), labelText
	if !ok && isSubdomain(value) {
		text = "must not contain dots"
	}
	return problems("", value, maxLabel, "characters", ok, text)
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

// NameIsDNSSubdomain is the name rule of kinds whose names are DNS subdomains
// (Lease, Endpoints). If prefix is set, name is a generateName and may end in a
// dash (apimachinery, api/validation NameIsDNSSubdomain).
func NameIsDNSSubdomain(name string, prefix bool) []string {
	return DNS1123Subdomain(forPrefix(name, prefix))
}

// NameIsDNSLabel is the name rule of kinds whose names are DNS labels, and of
// namespaces. If prefix is set, name is a generateName and may end in a dash
// (apimachinery, api/validation NameIsDNSLabel).
func NameIsDNSLabel(name string, prefix bool) []string { return DNS1123Label(forPrefix(name, prefix)) }

// forPrefix replaces the dash at the end of a generateName. As upstream (maskTrailingDash)
// it removes two bytes and adds one, so "a.-" passes; the generated name is checked again.
func forPrefix(name string, prefix bool) string {
	if prefix && len(name) > 1 && strings.HasSuffix(name, "-") {
		return name[:len(name)-2] + "a"
	}
	return name
}

// NameIsPathSegment is the rule of a name as one segment of a URL path. The empty name and
// names of any length are allowed. If prefix is set, name is a generateName and may be "." or
// ".." (apimachinery, api/validate/content IsPathSegmentName and IsPathSegmentPrefix).
func NameIsPathSegment(name string, prefix bool) (out []string) {
	if !prefix && (name == "." || name == "..") {
		return []string{"may not be '" + name + "'"}
	}
	for _, part := range [...]string{"/", "%"} {
		if strings.Contains(name, part) {
			out = append(out, "may not contain '"+part+"'")
		}
	}
	return out
}

// NameIsConfigMapKey is the name rule of LeaseCandidate, the keys of a ConfigMap: at most
// 253 bytes, not "." or "..", and not starting with ".." (apimachinery, util/validation
// IsConfigMapKey). A generateName has the same rule, as a key may end in a dash.
func NameIsConfigMapKey(value string, prefix bool) []string {
	out := problems("", value, maxSubdomain, "characters", isConfigKey(value), configKeyText)
	switch {
	case value == "." || value == "..":
		out = append(out, "must not be '"+value+"'")
	case strings.HasPrefix(value, ".."):
		out = append(out, "must not start with '..'")
	}
	return out
}

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
