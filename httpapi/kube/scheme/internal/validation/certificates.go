package validation

import (
	"bytes"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"
	"slices"
	"strings"

	certificatesv1 "k8s.io/api/certificates/v1"
	corev1 "k8s.io/api/core/v1"
	apiequality "k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
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

func validateCertificates(e *errs, subresource string, obj, old runtime.Object) bool {
	o, ok := obj.(*certificatesv1.CertificateSigningRequest)
	if !ok {
		return false
	}
	was := kindOf[certificatesv1.CertificateSigningRequest](old)
	signingRequest(e, field.NewPath("spec"), &o.Spec, was)
	requestConditions(e, field.NewPath("status", "conditions"), o.Status.Conditions, was)
	kept := was != nil && (bytes.Equal(o.Status.Certificate, was.Status.Certificate) || certificate(was.Status.Certificate) != nil)
	if err := certificate(o.Status.Certificate); err != nil && !kept {
		e.invalid(field.NewPath("status", "certificate"), "<certificate data>", err.Error())
	}
	if was != nil {
		requestUpdate(e, subresource, o, was)
	}
	return true
}

func usages() []certificatesv1.KeyUsage {
	return []certificatesv1.KeyUsage{certificatesv1.UsageAny, certificatesv1.UsageCRLSign, certificatesv1.UsageCertSign, certificatesv1.UsageClientAuth,
		certificatesv1.UsageCodeSigning, certificatesv1.UsageContentCommitment, certificatesv1.UsageDataEncipherment, certificatesv1.UsageDecipherOnly,
		certificatesv1.UsageDigitalSignature, certificatesv1.UsageEmailProtection, certificatesv1.UsageEncipherOnly, certificatesv1.UsageIPsecEndSystem,
		certificatesv1.UsageIPsecTunnel, certificatesv1.UsageIPsecUser, certificatesv1.UsageKeyAgreement, certificatesv1.UsageKeyEncipherment,
		certificatesv1.UsageMicrosoftSGC, certificatesv1.UsageNetscapeSGC, certificatesv1.UsageOCSPSigning, certificatesv1.UsageSMIME,
		certificatesv1.UsageServerAuth, certificatesv1.UsageSigning, certificatesv1.UsageTimestamping}
}

func signingRequest(e *errs, p loc, s *certificatesv1.CertificateSigningRequestSpec, old *certificatesv1.CertificateSigningRequest) {
	if err := parseRequest(s.Request); err != nil {
		e.invalid(p.Child("request"), s.Request, err.Error())
	}
	if len(s.Usages) == 0 {
		e.required(p.Child("usages"), "")
	}
	valid := usages()
	slices.Sort(valid)
	unknown, twice := wrongUsages(deref(old).Spec.Usages)
	for i, usage := range s.Usages {
		if !unknown {
			oneOf(e, p.Child("usages").Index(i), usage, valid...)
		}
	}
	known := seen[certificatesv1.KeyUsage]{}
	for i, usage := range s.Usages {
		if known.again(usage) && !twice {
			e.duplicate(p.Child("usages").Index(i), usage)
		}
	}
	const legacy = "kubernetes.io/legacy-unknown"
	if s.SignerName == legacy && (old == nil || old.Spec.SignerName != legacy) {
		e.invalid(p.Child("signerName"), s.SignerName, "the legacy signerName is not allowed via this API version")
	} else {
		signerName(e, p.Child("signerName"), s.SignerName)
	}
	if seconds := s.ExpirationSeconds; seconds != nil && *seconds < 600 {
		e.invalid(p.Child("expirationSeconds"), *seconds, "may not specify a duration less than 600 seconds (10 minutes)")
	}
}

// wrongUsages reports whether usages are unknown, and whether one is there twice.
func wrongUsages(list []certificatesv1.KeyUsage) (unknown, twice bool) {
	known, valid := seen[certificatesv1.KeyUsage]{}, usages()
	for _, usage := range list {
		unknown = unknown || !slices.Contains(valid, usage)
		twice = known.again(usage) || twice
	}
	return unknown, twice
}

func parseRequest(data []byte) error {
	block, _ := pem.Decode(data)
	if block == nil || block.Type != "CERTIFICATE REQUEST" {
		return errors.New("PEM block type must be CERTIFICATE REQUEST")
	}
	request, err := x509.ParseCertificateRequest(block.Bytes)
	if err != nil {
		return err
	}
	return request.CheckSignature()
}

// certificate returns what is wrong with a chain of certificates; none is fine.
func certificate(data []byte) error {
	if len(data) == 0 {
		return nil
	}
	blocks := 0
	for {
		block, rest := pem.Decode(data)
		if block == nil {
			break
		}
		if block.Type != "CERTIFICATE" {
			return fmt.Errorf("only CERTIFICATE PEM blocks are allowed, found %q", block.Type)
		}
		if len(block.Headers) > 0 {
			return errors.New("no PEM block headers are permitted")
		}
		blocks++
		list, err := x509.ParseCertificates(block.Bytes)
		if err != nil {
			return err
		}
		if len(list) == 0 {
			return errors.New("found CERTIFICATE PEM block containing 0 certificates")
		}
		data = rest
	}
	if blocks == 0 {
		return errors.New("must contain at least one CERTIFICATE PEM block")
	}
	return nil
}

func requestConditions(e *errs, p loc, list []certificatesv1.CertificateSigningRequestCondition, old *certificatesv1.CertificateSigningRequest) {
	has := func(list []certificatesv1.CertificateSigningRequestCondition, kind certificatesv1.RequestConditionType) bool {
		return slices.ContainsFunc(list, func(c certificatesv1.CertificateSigningRequestCondition) bool { return c.Type == kind })
	}
	was := deref(old).Status.Conditions
	twiceBefore, types := false, seen[certificatesv1.RequestConditionType]{}
	for _, c := range was {
		twiceBefore = types.again(c.Type) || twiceBefore
	}
	clear(types)
	for i, c := range list {
		p := p.Index(i)
		if c.Type == "" && !has(was, "") {
			e.required(p.Child("type"), "")
		}
		statuses := []corev1.ConditionStatus{corev1.ConditionFalse, corev1.ConditionTrue, corev1.ConditionUnknown}
		switch c.Type {
		case certificatesv1.CertificateApproved, certificatesv1.CertificateDenied, certificatesv1.CertificateFailed:
			statuses = statuses[1:2]
		}
		requiredOneOf(e, p.Child("status"), c.Status, statuses...)
		if types.again(c.Type) && !twiceBefore {
			e.duplicate(p.Child("type"), c.Type)
		}
	}
}

// requestUpdate checks that approval and certificate change by way of their subresources only.
func requestUpdate(e *errs, subresource string, o, old *certificatesv1.CertificateSigningRequest) {
	of := func(o *certificatesv1.CertificateSigningRequest, kind certificatesv1.RequestConditionType) (list []certificatesv1.CertificateSigningRequestCondition) {
		for _, c := range o.Status.Conditions {
			if c.Type == kind {
				list = append(list, c)
			}
		}
		return list
	}
	p := field.NewPath("status", "conditions")
	for _, kind := range []certificatesv1.RequestConditionType{certificatesv1.CertificateApproved, certificatesv1.CertificateDenied, certificatesv1.CertificateFailed} {
		if len(of(o, kind)) < len(of(old, kind)) {
			e.forbidden(p, fmt.Sprintf("updates may not remove a condition of type %q", kind))
		}
	}
	for _, kind := range []certificatesv1.RequestConditionType{certificatesv1.CertificateApproved, certificatesv1.CertificateDenied} {
		switch now, was := of(o, kind), of(old, kind); {
		case subresource == "approval" || len(now) < len(was):
		case len(now) > len(was):
			e.forbidden(p, fmt.Sprintf("updates may not add a condition of type %q", kind))
		case !apiequality.Semantic.DeepEqual(was, now):
			e.forbidden(p, fmt.Sprintf("updates may not modify a condition of type %q\n%v", kind, difference(was, now)))
		}
	}
	if p := field.NewPath("status", "certificate"); !bytes.Equal(o.Status.Certificate, old.Status.Certificate) {
		if subresource != "status" {
			e.forbidden(p, "updates may not set certificate content")
		} else if len(old.Status.Certificate) > 0 {
			e.forbidden(p, "updates may not modify existing certificate content")
		}
	}
}
