package validation

import (
	policyv1 "k8s.io/api/policy/v1"
	metavalidation "k8s.io/apimachinery/pkg/apis/meta/v1/validation"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

func validatePolicy(e *errs, subresource string, obj, _ runtime.Object) bool {
	o, ok := obj.(*policyv1.PodDisruptionBudget)
	if !ok {
		return false
	}
	if p, s := field.NewPath("status"), &o.Status; subresource == "status" {
		e.add(metavalidation.ValidateConditions(s.Conditions, p.Child("conditions"))...)
		for _, c := range []count{
			{"disruptionsAllowed", s.DisruptionsAllowed}, {"currentHealthy", s.CurrentHealthy}, {"desiredHealthy", s.DesiredHealthy}, {"expectedPods", s.ExpectedPods},
		} {
			e.nonNegative(p.Child(c.name), int64(c.n))
		}
		return true
	}
	p, s := field.NewPath("spec"), &o.Spec
	if s.MinAvailable != nil && s.MaxUnavailable != nil {
		e.invalid(p, internal{s}, "minAvailable and maxUnavailable cannot be both set")
	}
	for _, member := range []struct {
		name  string
		value *intstr.IntOrString
	}{{"minAvailable", s.MinAvailable}, {"maxUnavailable", s.MaxUnavailable}} {
		if member.value != nil {
			e.intOrPercent(p.Child(member.name), *member.value)
			e.notMoreThanAll(p.Child(member.name), *member.value)
		}
	}
	e.selector(p.Child("selector"), s.Selector)
	optionalOneOf(e, p.Child("unhealthyPodEvictionPolicy"), s.UnhealthyPodEvictionPolicy, policyv1.AlwaysAllow, policyv1.IfHealthyBudget)
	return true
}
