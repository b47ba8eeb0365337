package validation

import (
	authorizationv1 "k8s.io/api/authorization/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	metavalidation "k8s.io/apimachinery/pkg/apis/meta/v1/validation"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// validateAuthorization has the rules of the reviews of authorization. Their metadata is validated here too, because they
// have none.
func validateAuthorization(e *errs, _ string, obj, _ runtime.Object) bool {
	switch o := obj.(type) {
	case *authorizationv1.SubjectAccessReview:
		accessReview(e, &o.Spec)
		emptyMeta(e, o.ObjectMeta, false, "must be empty")
	case *authorizationv1.SelfSubjectAccessReview:
		attributes(e, o.Spec.ResourceAttributes, o.Spec.NonResourceAttributes)
		selectors(e, o.Spec.ResourceAttributes)
		emptyMeta(e, o.ObjectMeta, false, "must be empty")
	case *authorizationv1.LocalSubjectAccessReview:
		accessReview(e, &o.Spec)
		emptyMeta(e, o.ObjectMeta, true, "must be empty except for namespace")
		if a := o.Spec.ResourceAttributes; a != nil && a.Namespace != o.Namespace {
			e.invalid(field.NewPath("spec.resourceAttributes.namespace"), a.Namespace, "must match metadata.namespace")
		}
		if a := o.Spec.NonResourceAttributes; a != nil {
			e.invalid(field.NewPath("spec.nonResourceAttributes"), internal{a}, "disallowed on this kind of request")
		}
	default:
		return false
	}
	return true
}

func accessReview(e *errs, s *authorizationv1.SubjectAccessReviewSpec) {
	attributes(e, s.ResourceAttributes, s.NonResourceAttributes)
	if s.User == "" && len(s.Groups) == 0 {
		e.invalid(field.NewPath("spec", "user"), s.User, "at least one of user or group must be specified")
	}
	selectors(e, s.ResourceAttributes)
}

// attributes checks that a review asks about a resource or about a path.
func attributes(e *errs, r *authorizationv1.ResourceAttributes, n *authorizationv1.NonResourceAttributes) {
	if (r != nil) == (n != nil) {
		e.invalid(field.NewPath("spec"), internal{n}, "exactly one of nonResourceAttributes or resourceAttributes must be specified")
	}
}

// selectors checks the selectors of a review. Operators that this version does not know are valid.
func selectors(e *errs, r *authorizationv1.ResourceAttributes) {
	if r == nil {
		return
	}
	root := field.NewPath("spec.resourceAttributes")
	if s, p := r.FieldSelector, root.Child("fieldSelector"); s != nil {
		oneSelector(e, p, s.RawSelector, len(s.Requirements))
		for i, q := range s.Requirements {
			e.add(metavalidation.ValidateFieldSelectorRequirement(q, metavalidation.FieldSelectorValidationOptions{AllowUnknownOperatorInRequirement: true}, p.Child("requirements").Index(i))...)
		}
	}
	if s, p := r.LabelSelector, root.Child("labelSelector"); s != nil {
		oneSelector(e, p, s.RawSelector, len(s.Requirements))
		for i, q := range s.Requirements {
			e.add(metavalidation.ValidateLabelSelectorRequirement(q, metavalidation.LabelSelectorValidationOptions{AllowUnknownOperatorInRequirement: true}, p.Child("requirements").Index(i))...)
		}
	}
}

func oneSelector(e *errs, p loc, raw string, count int) {
	switch {
	case raw != "" && count > 0:
		e.invalid(p.Child("rawSelector"), raw, "may not specified at the same time as requirements")
	case raw == "" && count == 0:
		e.required(p.Child("requirements"), "when "+p.String()+" is specified, requirements or rawSelector is required")
	}
}

// emptyMeta refuses metadata besides managedFields, and a namespace if namespaced is set.
func emptyMeta(e *errs, m metav1.ObjectMeta, namespaced bool, detail string) {
	rest := m
	if rest.ManagedFields = nil; namespaced {
		rest.Namespace = ""
	}
	if !equality.Semantic.DeepEqual(metav1.ObjectMeta{}, rest) {
		e.invalid(field.NewPath("metadata"), m, detail)
	}
}
