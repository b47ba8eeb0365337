package validation

import (
	"fmt"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation"
)

// signerName checks a name of the form example.com/signer.
func signerName(e *errs, p loc, name string) {
	if name == "" {
		e.required(p, "")
		return
	}
	domain, rest, ok := strings.Cut(name, "/")
	if !ok || strings.Contains(rest, "/") {
		e.invalid(p, name, "must be a fully qualified domain and path of the form 'example.com/signer-name'")
		return
	}
	if len(domain) > validation.DNS1123SubdomainMaxLength {
		e.tooLong(p, validation.DNS1123SubdomainMaxLength)
	}
	segments(e, p, domain, validation.IsDNS1123Label)
	if !strings.Contains(domain, ".") {
		e.invalid(p, domain, "should be a domain with at least two segments separated by dots")
	}
	segments(e, p, rest, validation.IsDNS1123Subdomain)
	limit := 2*validation.DNS1123SubdomainMaxLength + validation.DNS1123LabelMaxLength + 2
	if len(name) > limit {
		e.tooLong(p, limit)
	}
}

// segments checks the parts between dots, up to the first that is wrong.
func segments(e *errs, p loc, s string, rule func(string) []string) {
	for part := range strings.SplitSeq(s, ".") {
		messages := rule(part)
		for _, message := range messages {
			e.invalid(p, s, fmt.Sprintf("validating label %q: %s", part, message))
		}
		if len(messages) > 0 {
			return
		}
	}
}
