package access

import (
	admissionv1 "k8s.io/api/admissionregistration/v1"
	authenticationv1 "k8s.io/api/authentication/v1"
	"k8s.io/apimachinery/pkg/util/validation"
	apifield "k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/kubecoord/kubecoord/httpapi/kube/internal/boxes"
	"github.com/kubecoord/kubecoord/store/field"
)

const minExpiration = 10 * 60

// validateRequest returns the problems of the spec of a TokenRequest for a time in seconds (upstream: pkg/apis/authentication/validation,
// ValidateTokenRequest).
func validateRequest(s *authenticationv1.TokenRequestSpec, seconds int64) field.Errors {
	var errs apifield.ErrorList
	spec := apifield.NewPath("spec")
	if seconds < minExpiration {
		errs = append(errs, apifield.Invalid(spec.Child("expirationSeconds"), seconds, "may not specify a duration less than 10 minutes"))
	}
	if seconds > 1<<32 {
		errs = append(errs, apifield.Invalid(spec.Child("expirationSeconds"), seconds, "may not specify a duration larger than 2^32 seconds"))
	}
	at := spec.Child("attestations")
	switch {
	case isWebhooks(s.BoundObjectRef):
		if len(s.Audiences) != 1 {
			errs = append(errs, apifield.Invalid(spec.Child("audiences"), s.Audiences, "must be length 1 when bound to a webhook config"))
		}
		errs = append(errs, validateAttestations(at, s.Attestations)...)
	case len(s.Attestations) > 0:
		errs = apifield.ErrorList{apifield.Invalid(at, s.Attestations, "attestations may only be specified with a webhook bound object reference")}
	}
	return boxes.Problems(errs)
}

// validateAttestations returns the problems of what the bearer of a token of webhooks may ask them about.
func validateAttestations(at *apifield.Path, all map[string]authenticationv1.AttestationValue) (errs apifield.ErrorList) {
	const known = authenticationv1.AttestationAdmissionReviewAPIGroups
	if len(all) != 1 {
		return apifield.ErrorList{apifield.Invalid(at, all, "webhook bound requests require exactly one admissionReviewAPIGroups attestation")}
	}
	for key, groups := range all {
		at = at.Key(key)
		switch {
		case key != known:
			errs = append(errs, apifield.NotSupported(at, key, []string{known}))
		case len(groups) != 1:
			errs = append(errs, apifield.Invalid(at, groups, "must specify a single value"))
		case groups[0] == "":
			errs = append(errs, apifield.Invalid(at.Index(0), "", "may not be an empty string"))
		case groups[0] != "*":
			for _, problem := range validation.IsDNS1123Subdomain(groups[0]) {
				errs = append(errs, apifield.Invalid(at.Index(0), groups[0], "must specify a valid API Group: "+problem))
			}
		}
	}
	return errs
}

// isWebhooks reports whether a token is to be bound to the configuration of webhooks.
func isWebhooks(to *authenticationv1.BoundObjectReference) bool {
	return to != nil && to.APIVersion == admissionv1.SchemeGroupVersion.String() &&
		(to.Kind == "ValidatingWebhookConfiguration" || to.Kind == "MutatingWebhookConfiguration")
}
