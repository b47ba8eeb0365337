package validate

import "strings"

// NameIsDNSSubdomain is the name rule of kinds whose names are DNS subdomains (Lease, Endpoints). With prefix set, name is
// a generateName and may end in a dash (apimachinery, api/validation NameIsDNSSubdomain).
func NameIsDNSSubdomain(name string, prefix bool) []string {
	return DNS1123Subdomain(forPrefix(name, prefix))
}

// NameIsDNSLabel is the name rule of kinds whose names are DNS labels, and the rule for namespaces. With prefix set, name
// is a generateName and may end in a dash (apimachinery, api/validation NameIsDNSLabel).
func NameIsDNSLabel(name string, prefix bool) []string {
	return DNS1123Label(forPrefix(name, prefix))
}

// NameIsConfigMapKey is the name rule of LeaseCandidate. Prefix changes nothing: a key may end in a dash anyway.
func NameIsConfigMapKey(name string, prefix bool) []string {
	return ConfigMapKey(name)
}

// forPrefix gives a name in prefix mode the end it will get later. As upstream (maskTrailingDash) it takes two bytes off
// and puts one on, so a prefix one byte too long passes and "a.-" is fine; the generated name is checked again.
func forPrefix(name string, prefix bool) string {
	if prefix && len(name) > 1 && strings.HasSuffix(name, "-") {
		return name[:len(name)-2] + "a"
	}
	return name
}
