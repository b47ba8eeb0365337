package store

import "github.com/kubecoord/kubecoord/internal/validate"

// DNSSubdomainName is the name rule of most kinds: at most 253 bytes of lower
// case letters, digits, '-' and '.', with a letter or digit at both ends (RFC
// 1123). A prefix may end in '-'.
func DNSSubdomainName(name string, prefix bool) []string {
	return validate.NameIsDNSSubdomain(name, prefix)
}

// DNSLabelName is the rule of namespaces: at most 63 bytes of lower case
// letters, digits and '-', with a letter or digit at both ends (RFC 1123).
func DNSLabelName(name string, prefix bool) []string {
	return validate.NameIsDNSLabel(name, prefix)
}

// ConfigKeyName is the rule of LeaseCandidates: at most 253 bytes of letters,
// digits, '-', '_' and '.'.
func ConfigKeyName(name string, prefix bool) []string {
	return validate.NameIsConfigMapKey(name, prefix)
}
