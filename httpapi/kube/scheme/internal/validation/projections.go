package validation

import (
	"fmt"
	"strings"

	corev1 "k8s.io/api/core/v1"
	apivalidation "k8s.io/apimachinery/pkg/api/validation"
	"k8s.io/apimachinery/pkg/util/validation"
)

// This file checks the projections of certificates into volumes.

func bundleProjection(e *errs, p loc, s *corev1.ClusterTrustBundleProjection) {
	switch {
	case s.Name != nil && s.SignerName != nil:
		e.invalid(p, internal{s}, "only one of name and signerName may be used")
	case s.Name != nil:
		if *s.Name == "" {
			e.required(p.Child("name"), "must be a valid object name")
		}
		signer := ""
		if at := strings.LastIndex(*s.Name, ":"); at >= 0 {
			signer = strings.ReplaceAll((*s.Name)[:at], ":", "/")
		}
		for _, message := range bundleName(signer, *s.Name, false) {
			e.invalid(p.Child("name"), *s.Name, "not a valid clustertrustbundlename: "+message)
		}
		if s.LabelSelector != nil {
			e.invalid(p.Child("labelSelector"), s.LabelSelector, "labelSelector must be unset if name is specified")
		}
	case s.SignerName != nil:
		if *s.SignerName == "" {
			e.required(p.Child("signerName"), "must be a valid signer name")
		}
		signerName(e, p.Child("signerName"), *s.SignerName)
		e.selector(p.Child("labelSelector"), s.LabelSelector)
	default:
		e.required(p, "either name or signerName must be specified")
	}
	e.present(p.Child("path"), s.Path)
	userID(e, p.Child("user"), s.User)
	projectedPath(e, p.Child("path"), s.Path)
}

// bundleName returns what is wrong with the name of a ClusterTrustBundle, which begins with the name of its signer.
func bundleName(signer, name string, prefix bool) []string {
	switch required := strings.ReplaceAll(signer, "/", ":") + ":"; {
	case signer == "" && strings.Contains(name, ":"):
		return []string{`ClusterTrustBundle without signer name must not have ":" in its name`}
	case signer == "":
		return apivalidation.NameIsDNSSubdomain(name, prefix)
	case !strings.HasPrefix(name, required):
		return []string{fmt.Sprintf("ClusterTrustBundle for signerName %s must be named with prefix %s", signer, required)}
	default:
		return apivalidation.NameIsDNSSubdomain(strings.TrimPrefix(name, required), prefix)
	}
}

func certificateProjection(e *errs, p loc, s *corev1.PodCertificateProjection, taken func(file, value string)) {
	signerName(e, p.Child("signerName"), s.SignerName)
	userAnnotations(e, p.Child("userAnnotations"), s.UserAnnotations)
	userID(e, p.Child("user"), s.User)
	oneOf(e, p.Child("keyType"), s.KeyType, "RSA3072", "RSA4096", "ECDSAP256", "ECDSAP384", "ECDSAP521", "ED25519")
	if seconds, at := s.MaxExpirationSeconds, p.Child("maxExpirationSeconds"); seconds != nil {
		if *seconds < 3600 {
			e.invalid(at, *seconds, "if provided, maxExpirationSeconds must be >= 3600")
		}
		if most := longestCertificate(s.SignerName); *seconds > most {
			e.invalid(at, *seconds, fmt.Sprintf("if provided, maxExpirationSeconds must be <= %d", most))
		}
	}
	n := 0
	for _, file := range []struct{ member, path string }{
		{"credentialBundlePath", s.CredentialBundlePath}, {"keyPath", s.KeyPath}, {"certificateChainPath", s.CertificateChainPath},
	} {
		if file.path != "" {
			n++
			projectedPath(e, p.Child(file.member), file.path)
			taken(file.path, file.path)
		}
	}
	if n == 0 {
		e.required(p, "specify at least one of credentialBundlePath, keyPath, and certificateChainPath")
	}
}

// longestCertificate returns for how many seconds a signer may issue a certificate to a pod.
func longestCertificate(signer string) int32 {
	if host, _, _ := strings.Cut(signer, "/"); host == "kubernetes.io" || strings.HasSuffix(host, ".kubernetes.io") {
		return 24 * 60 * 60
	}
	return 91 * 24 * 60 * 60
}

func userAnnotations(e *errs, p loc, annotations map[string]string) {
	for _, key := range sorted(annotations) {
		e.add(validation.IsDomainPrefixedKey(p, strings.ToLower(key))...)
	}
	if apivalidation.ValidateAnnotationsSize(annotations) != nil {
		e.tooLong(p, apivalidation.TotalAnnotationSizeLimitB)
	}
}
