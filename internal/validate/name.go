package validate

import "strings"

// NameIsDNSSubdomain is the name rule of kinds whose names are DNS subdomains
// (Lease, Endpoints). If prefix is set, name is a generateName and may end in a
// dash (apimachinery, api/validation NameIsDNSSubdomain).
func NameIsDNSSubdomain(name string, prefix bool) []string {
	return DNS1123Subdomain(forPrefix(name, prefix))
}

// NameIsDNSLabel is the name rule of kinds whose names are DNS labels, and of
// namespaces. If prefix is set, name is a generateName and may end in a dash
// (apimachinery, api/validation NameIsDNSLabel).
func NameIsDNSLabel(name string, prefix bool) []string {
	return DNS1123Label(forPrefix(name, prefix))
}

// forPrefix replaces the dash at the end of a generateName. As upstream
// (maskTrailingDash) it removes two bytes and adds one, so that a prefix of one
// byte too many passes, and "a.-" too; the generated name is checked again.
func forPrefix(name string, prefix bool) string {
	if prefix && len(name) > 1 && strings.HasSuffix(name, "-") {
		return name[:len(name)-2] + "a"
	}
	return name
}

// PathSegmentName returns the problems of a name as one segment of a URL path. The
// empty name and names of any length are allowed (apimachinery,
// api/validate/content IsPathSegmentName).
func PathSegmentName(name string) []string { return NameIsPathSegment(name, false) }

// NameIsPathSegment is PathSegmentName as the name rule of a kind. If prefix is set, name
// is a generateName and may be "." or ".." (apimachinery, api/validate/content
// IsPathSegmentPrefix).
func NameIsPathSegment(name string, prefix bool) (problems []string) {
	if !prefix && (name == "." || name == "..") {
		return []string{"may not be '" + name + "'"}
	}
	for _, part := range [...]string{"/", "%"} {
		if strings.Contains(name, part) {
			problems = append(problems, "may not contain '"+part+"'")
		}
	}
	return problems
}

// NameIsConfigMapKey is the name rule of LeaseCandidate, the keys of a ConfigMap: at most
// 253 bytes, not "." or "..", and not starting with ".." (apimachinery, util/validation
// IsConfigMapKey). A generateName has the same rule, as a key may end in a dash.
func NameIsConfigMapKey(value string, prefix bool) (problems []string) {
	if len(value) > maxSubdomain {
		problems = append(problems, maxCharacters(maxSubdomain))
	}
	if !isConfigKey(value) {
		problems = append(problems, patternError(configKeyText, configKeyPattern, "key.name", "KEY_NAME", "key-name"))
	}
	switch {
	case value == "." || value == "..":
		problems = append(problems, "must not be '"+value+"'")
	case strings.HasPrefix(value, ".."):
		problems = append(problems, "must not start with '..'")
	}
	return problems
}

func isConfigKey(value string) bool {
	for i := range len(value) {
		if !isKeyByte(value[i]) {
			return false
		}
	}
	return value != ""
}
