package validation

import (
	"fmt"
	"strings"

	apivalidation "k8s.io/apimachinery/pkg/api/validation"
	"k8s.io/apimachinery/pkg/runtime"
	utilvalidation "k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
	apiregistrationv1 "k8s.io/kube-aggregator/pkg/apis/apiregistration/v1"
)

// validateAPIRegistration checks an APIService (upstream: kube-aggregator, apis/apiregistration/validation, which needs all of
// k8s.io/apiserver).
func validateAPIRegistration(e *errs, subresource string, obj, old runtime.Object) bool {
	s, ok := obj.(*apiregistrationv1.APIService)
	if !ok {
		return false
	}
	if subresource == "status" {
		for i, c := range s.Status.Conditions {
			oneOf(e, field.NewPath("status", "conditions").Index(i).Child("status"), c.Status,
				apiregistrationv1.ConditionTrue, apiregistrationv1.ConditionFalse, apiregistrationv1.ConditionUnknown)
		}
		return true
	}
	add := func(err *field.Error) { e.ErrorList = append(e.ErrorList, err) }
	if old != nil { // as ValidateAPIServiceUpdate calls the rules of a create after its own
		e.add(apivalidation.ValidateObjectMeta(&s.ObjectMeta, false, func(string, bool) []string { return nil }, field.NewPath("metadata"))...)
	}
	spec := field.NewPath("spec")
	if name := s.Spec.Version + "." + s.Spec.Group; s.Name != name {
		add(field.Invalid(field.NewPath("metadata", "name"), s.Name, fmt.Sprintf("must be `spec.version+\".\"+spec.group`: %q", name)))
	}
	if s.Spec.Group == "" && s.Spec.Version != "v1" {
		add(field.Required(spec.Child("group"), "only v1 may have an empty group and it better be legacy kube"))
	}
	if s.Spec.Group != "" {
		for _, problem := range utilvalidation.IsDNS1123Subdomain(s.Spec.Group) {
			add(field.Invalid(spec.Child("group"), s.Spec.Group, problem))
		}
	}
	for _, problem := range utilvalidation.IsDNS1035Label(s.Spec.Version) {
		add(field.Invalid(spec.Child("version"), s.Spec.Version, problem))
	}
	if p := s.Spec.GroupPriorityMinimum; p <= 0 || p > 20000 {
		add(field.Invalid(spec.Child("groupPriorityMinimum"), p, "must be positive and less than 20000"))
	}
	if p := s.Spec.VersionPriority; p <= 0 || p > 1000 {
		add(field.Invalid(spec.Child("versionPriority"), p, "must be positive and less than 1000"))
	}
	if s.Spec.Service == nil {
		if n := len(s.Spec.CABundle); n > 0 {
			add(field.Invalid(spec.Child("caBundle"), fmt.Sprintf("%d bytes", n), "local APIServices may not have a caBundle"))
		}
		if s.Spec.InsecureSkipTLSVerify {
			add(field.Invalid(spec.Child("insecureSkipTLSVerify"), true, "local APIServices may not have insecureSkipTLSVerify"))
		}
		return true
	}
	service := spec.Child("service")
	if s.Spec.Service.Namespace == "" {
		add(field.Required(service.Child("namespace"), ""))
	}
	if s.Spec.Service.Name == "" {
		add(field.Required(service.Child("name"), ""))
	}
	port := deref(s.Spec.Service.Port)
	if problems := utilvalidation.IsValidPortNum(int(port)); problems != nil {
		add(field.Invalid(service.Child("port"), port, "port is not valid: "+strings.Join(problems, ", ")))
	}
	if s.Spec.InsecureSkipTLSVerify && len(s.Spec.CABundle) > 0 {
		add(field.Invalid(spec.Child("insecureSkipTLSVerify"), true, "may not be true if caBundle is present"))
	}
	return true
}
