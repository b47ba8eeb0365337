package kind

import "github.com/kubecoord/kubecoord/internal/validate"

// DNSSubdomainName is a rule for Strategy.ValidateName, and its default: at most 253 bytes of lower case letters,
// digits, '-' and '.', with a letter or digit at both ends (RFC 1123). It returns the problems of a name, or of a
// prefix, which may end in '-'.
func DNSSubdomainName(name string, prefix bool) []string {
	return validate.NameIsDNSSubdomain(name, prefix)
}

// DNSLabelName is a rule for Strategy.ValidateName: at most 63 bytes of lower case letters, digits and '-', with a
// letter or digit at both ends (RFC 1123).
func DNSLabelName(name string, prefix bool) []string { return validate.NameIsDNSLabel(name, prefix) }

// ConfigKeyName is a rule for Strategy.ValidateName, which LeaseCandidates use: at most 253 bytes of letters, digits,
// '-', '_' and '.', but not "." and nothing that begins with "..".
func ConfigKeyName(name string, prefix bool) []string {
	return validate.NameIsConfigMapKey(name, prefix)
}

// PathSegmentName is a rule for Strategy.ValidateName, which roles use: anything that may stand between two slashes of a path, but not
// "." and "..", and nothing with "/" or "%" in it.
func PathSegmentName(name string, prefix bool) []string {
	return validate.NameIsPathSegment(name, prefix)
}
