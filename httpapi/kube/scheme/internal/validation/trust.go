package validation

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/rsa"
	"crypto/x509"
	"encoding/pem"
	"fmt"
	"net/mail"
	"slices"
	"strings"
	"time"

	certificatesv1 "k8s.io/api/certificates/v1"
	apiequality "k8s.io/apimachinery/pkg/api/equality"
	apivalidation "k8s.io/apimachinery/pkg/api/validation"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	metavalidation "k8s.io/apimachinery/pkg/apis/meta/v1/validation"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// This file checks the kinds by which pods get certificates (upstream: pkg/apis/certificates/validation).

const (
	trustBundleLimit      = 1 << 20
	certificateChainLimit = 100 << 10
	keyLimit              = 10 << 10
)

func validateTrust(e *errs, subresource string, obj, old runtime.Object) bool {
	switch o := obj.(type) {
	case *certificatesv1.ClusterTrustBundle:
		trustBundle(e, o, kindOf[certificatesv1.ClusterTrustBundle](old))
	case *certificatesv1.PodCertificateRequest:
		switch was := kindOf[certificatesv1.PodCertificateRequest](old); {
		case was == nil:
			podRequest(e, field.NewPath("spec"), &o.Spec)
		case subresource == "status":
			podRequestStatus(e, o, was)
		default:
			frozenMember(e, field.NewPath("spec"), o.Spec, was.Spec)
		}
	default:
		return false
	}
	return true
}

func trustBundle(e *errs, o, old *certificatesv1.ClusterTrustBundle) {
	p := field.NewPath("spec")
	name := field.NewPath("metadata")
	if o.GenerateName != "" {
		e.invalids(name.Child("generateName"), o.GenerateName, bundleName(o.Spec.SignerName, o.GenerateName, true))
	}
	if o.Name != "" {
		e.invalids(name.Child("name"), o.Name, bundleName(o.Spec.SignerName, o.Name, false))
	}
	if o.Spec.SignerName != "" {
		signerName(e, p.Child("signerName"), o.Spec.SignerName)
	}
	if old == nil || o.Spec.TrustBundle != old.Spec.TrustBundle {
		anchors(e, p.Child("trustBundle"), o.Spec.TrustBundle)
	}
	if old != nil {
		e.immutable(p.Child("signerName"), o.Spec.SignerName, old.Spec.SignerName)
	}
}

// anchors checks the certificates of a bundle.
func anchors(e *errs, p loc, bundle string) {
	if len(bundle) > trustBundleLimit {
		e.tooLong(p, trustBundleLimit)
		return
	}
	invalid := func(detail string) { e.invalid(p, "<value omitted>", detail) }
	at, order, before := map[string][]int{}, []string{}, len(e.ErrorList)
	for i, rest := 0, []byte(bundle); ; i++ {
		var block *pem.Block
		if block, rest = pem.Decode(rest); block == nil {
			break
		}
		if problem := anchor(block); problem != "" {
			invalid(fmt.Sprintf("entry %d %s", i, problem))
			continue
		}
		key := string(block.Bytes)
		if at[key] == nil {
			order = append(order, key)
		}
		at[key] = append(at[key], i)
	}
	if len(e.ErrorList) > before {
		return
	}
	if len(order) == 0 {
		invalid("at least one trust anchor must be provided")
	}
	for _, key := range order {
		if len(at[key]) > 1 {
			invalid(fmt.Sprintf("duplicate trust anchor (indices %v)", at[key]))
		}
	}
}

// anchor returns what is wrong with a block of a bundle.
func anchor(block *pem.Block) string {
	if block.Type != "CERTIFICATE" {
		return "has bad block type: " + block.Type
	}
	if len(block.Headers) > 0 {
		return "has PEM block headers"
	}
	switch cert, err := x509.ParseCertificate(block.Bytes); {
	case err != nil:
		return "does not parse as X.509"
	case !cert.IsCA:
		return "does not have the CA bit set"
	case !cert.BasicConstraintsValid:
		return "has invalid basic constraints"
	}
	return ""
}

func podRequest(e *errs, p loc, s *certificatesv1.PodCertificateRequestSpec) {
	signerName(e, p.Child("signerName"), s.SignerName)
	userAnnotations(e, p.Child("unverifiedUserAnnotations"), s.UnverifiedUserAnnotations)
	uid := func(p loc, uid string) {
		if uid == "" {
			e.invalid(p, uid, "must not be empty")
		}
		if len(uid) > 128 {
			e.tooLong(p, 128)
		}
	}
	e.invalids(p.Child("podName"), s.PodName, apivalidation.NameIsDNSSubdomain(s.PodName, false))
	uid(p.Child("podUID"), string(s.PodUID))
	e.invalids(p.Child("serviceAccountName"), s.ServiceAccountName, apivalidation.ValidateServiceAccountName(s.ServiceAccountName, false))
	uid(p.Child("serviceAccountUID"), string(s.ServiceAccountUID))
	e.invalids(p.Child("nodeName"), s.NodeName, apivalidation.NameIsDNSSubdomain(string(s.NodeName), false))
	uid(p.Child("nodeUID"), string(s.NodeUID))
	seconds, most := s.MaxExpirationSeconds, longestCertificate(s.SignerName)
	if seconds == nil {
		e.required(p.Child("maxExpirationSeconds"), "must be set")
		return
	}
	if *seconds < 60*60 || *seconds > most {
		e.invalid(p.Child("maxExpirationSeconds"), *seconds, fmt.Sprintf("must be in the range [%d, %d]", 60*60, most))
	}
	if len(s.StubPKCS10Request) == 0 { // v1 has no other form of a key
		e.invalid(p, field.OmitValueType{}, "exactly one of (stubPKCS10Request) or (pkixPublicKey, proofOfPossession) must be set")
		return
	}
	stubRequest(e, p.Child("stubPKCS10Request"), s.StubPKCS10Request)
}

// supportedKey checks the type and the size of a key.
func supportedKey(e *errs, p loc, key any) bool {
	switch key := key.(type) {
	case ed25519.PublicKey:
		return true
	case *ecdsa.PublicKey:
		if slices.Contains([]elliptic.Curve{elliptic.P256(), elliptic.P384(), elliptic.P521()}, key.Curve) {
			return true
		}
		e.invalid(p, "curve "+key.Curve.Params().Name, "elliptic public keys must use curve P256, P384, or P521")
	case *rsa.PublicKey:
		bits := key.Size() * 8
		if bits == 3072 || bits == 4096 {
			return true
		}
		e.invalid(p, fmt.Sprintf("%d-bit modulus", bits), "RSA keys must have modulus size 3072 or 4096")
	default:
		e.invalid(p, field.OmitValueType{}, "unknown public key type; supported types are Ed25519, ECDSA, and RSA")
	}
	return false
}

func stubRequest(e *errs, p loc, data []byte) {
	if len(data) > keyLimit {
		e.tooLong(p, keyLimit)
		return
	}
	request, err := x509.ParseCertificateRequest(data)
	if err != nil {
		e.invalid(p, field.OmitValueType{}, "must be a valid PKCS#10 CSR")
		return
	}
	if supportedKey(e, p, request.PublicKey) && request.CheckSignature() != nil {
		e.invalid(p, field.OmitValueType{}, "invalid signature")
	}
}

// podRequestStatus checks the one change of a status: a request is issued, denied or failed, and then never changes again.
func podRequestStatus(e *errs, o, old *certificatesv1.PodCertificateRequest) {
	const issued, denied, failed = certificatesv1.PodCertificateRequestConditionTypeIssued, certificatesv1.PodCertificateRequestConditionTypeDenied,
		certificatesv1.PodCertificateRequestConditionTypeFailed
	p := field.NewPath("status")
	known, before := 0, len(e.ErrorList)
	for i, c := range o.Status.Conditions {
		at := func(member string) loc { return p.Child("conditions", fmt.Sprintf("[%d]", i), member) }
		if c.Type != issued && c.Type != denied && c.Type != failed {
			unsupported(e, at("type"), c.Type, issued, denied, failed)
			continue
		}
		if known++; known > 1 {
			e.invalid(at("type"), c.Type, `There may be at most one condition with type "Issued", "Denied", or "Failed"`)
		}
		oneOf(e, at("status"), c.Status, metav1.ConditionTrue)
	}
	e.add(metavalidation.ValidateConditions(o.Status.Conditions, p.Child("conditions"))...)
	if len(e.ErrorList) > before {
		return
	}
	equal := func(status certificatesv1.PodCertificateRequestStatus, detail string) {
		if !apiequality.Semantic.DeepEqual(o.Status, status) {
			e.invalid(p, field.OmitValueType{}, detail)
		}
	}
	is := func(r *certificatesv1.PodCertificateRequest, types ...string) bool {
		return slices.ContainsFunc(r.Status.Conditions, func(c metav1.Condition) bool {
			return c.Status == metav1.ConditionTrue && slices.Contains(types, c.Type)
		})
	}
	switch {
	case is(old, issued, denied, failed):
		equal(old.Status, "immutable after PodCertificateRequest is issued, denied, or failed")
	case is(o, denied, failed):
		equal(certificatesv1.PodCertificateRequestStatus{Conditions: o.Status.Conditions},
			"non-condition status fields must be empty when denying or failing the PodCertificateRequest")
	case is(o, issued):
		issue(e, p, o, old)
	default:
		equal(old.Status, `status is immutable unless transitioning to "Issued", "Denied", or "Failed"`)
	}
}

// issue checks the certificates that a signer has issued.
func issue(e *errs, p loc, o, old *certificatesv1.PodCertificateRequest) {
	at, chain, before := p.Child("certificateChain"), o.Status.CertificateChain, len(e.ErrorList)
	if len(chain) > certificateChainLimit {
		e.tooLong(at, certificateChainLimit)
		return
	}
	block, rest := pem.Decode([]byte(chain))
	if block == nil {
		e.invalid(at, chain, "issued certificate chain must contain at least one certificate")
		return
	}
	if block.Type != "CERTIFICATE" {
		e.invalid(at, chain, "issued certificate chain must consist entirely of CERTIFICATE PEM blocks")
		return
	}
	leaf, err := x509.ParseCertificate(block.Bytes)
	if err != nil {
		e.invalid(at, chain, "leaf certificate does not parse as valid X.509")
		return
	}
	leafNames(e, at, leaf)
	if !issuedToKey(e, at, leaf, chain, &old.Spec) {
		return
	}
	for _, m := range []struct {
		name, detail string
		value        *metav1.Time
	}{
		{"notBefore", "must be present and consistent with the issued certificate", o.Status.NotBefore},
		{"notAfter", "must be present and consistent with the issued certificate", o.Status.NotAfter},
		{"beginRefreshAt", "must be present and in the range [notbefore+10min, notafter-10min]", o.Status.BeginRefreshAt},
	} {
		if m.value == nil {
			e.required(p.Child(m.name), m.detail)
		}
	}
	if len(e.ErrorList) > before || !leafTimes(e, p, leaf, o) {
		return
	}
	for block, rest = pem.Decode(rest); block != nil; block, rest = pem.Decode(rest) {
		if block.Type != "CERTIFICATE" {
			e.invalid(at, chain, "issued certificate chain must consist entirely of CERTFICATE PEM blocks")
			return
		}
		if _, err := x509.ParseCertificate(block.Bytes); err != nil {
			e.invalid(at, chain, "intermediate certificate does not parse as valid X.509")
			return
		}
	}
}

func leafNames(e *errs, p loc, leaf *x509.Certificate) {
	for _, name := range leaf.DNSNames {
		if name == "" {
			e.invalid(p, name, "leaf certificate should not contain empty DNSName")
		}
		if strings.Contains(name, "..") {
			e.invalid(p, name, "leaf certificate's DNSName should not contain '..'")
		}
		if strings.HasPrefix(name, ".") || strings.HasSuffix(name, ".") {
			e.invalid(p, name, "leaf certificate's DNSName should not start or end with '.'")
		}
	}
	for _, address := range leaf.EmailAddresses {
		if _, err := mail.ParseAddress(address); err != nil {
			e.invalid(p, address, "leaf certificate should not contain invalid EmailAddress")
		}
	}
}

// issuedToKey checks that a certificate is for the key of the request.
func issuedToKey(e *errs, p loc, leaf *x509.Certificate, chain string, s *certificatesv1.PodCertificateRequestSpec) bool {
	request, err := x509.ParseCertificateRequest(s.StubPKCS10Request)
	if err != nil {
		e.invalid(field.NewPath("spec", "stubPKCS10Request"), field.OmitValueType{}, "must be a valid PKCS#10 CSR")
		return false
	}
	if want, is := request.PublicKey.(interface{ Equal(crypto.PublicKey) bool }); is && !want.Equal(leaf.PublicKey) {
		e.invalid(p, chain, "leaf certificate was not issued to the requested public key")
		return false
	}
	return true
}

// leafTimes compares the times of the status with the certificate. It stops at the first that is wrong.
func leafTimes(e *errs, p loc, leaf *x509.Certificate, o *certificatesv1.PodCertificateRequest) bool {
	from, until, refresh := o.Status.NotBefore.Time, o.Status.NotAfter.Time, o.Status.BeginRefreshAt.Time
	lifetime, now := leaf.NotAfter.Sub(leaf.NotBefore), time.Now()
	most := deref(o.Spec.MaxExpirationSeconds)
	switch {
	case !from.Equal(leaf.NotBefore):
		e.invalid(p.Child("notBefore"), from, "must be set to the NotBefore time encoded in the leaf certificate")
	case !from.After(now.Add(-5*time.Minute)) || !from.Before(now.Add(5*time.Minute)):
		e.invalid(p.Child("notBefore"), from, "must be set to within 5 minutes of kube-apiserver's current time")
	case !until.Equal(leaf.NotAfter):
		e.invalid(p.Child("notAfter"), until, "must be set to the NotAfter time encoded in the leaf certificate")
	case lifetime < time.Hour:
		e.invalid(p.Child("certificateChain"), lifetime, "leaf certificate lifetime must be >= 1 hour")
	case lifetime > time.Duration(most)*time.Second:
		e.invalid(p.Child("certificateChain"), lifetime, fmt.Sprintf("leaf certificate lifetime must be <= spec.maxExpirationSeconds (%v)", most))
	case refresh.Before(from.Add(10 * time.Minute)):
		e.invalid(p.Child("beginRefreshAt"), refresh, "must be at least 10 minutes after status.notBefore")
	case refresh.After(until.Add(-10 * time.Minute)):
		e.invalid(p.Child("beginRefreshAt"), refresh, "must be at least 10 minutes before status.notAfter")
	default:
		return true
	}
	return false
}
