package validation

import (
	rbacv1 "k8s.io/api/rbac/v1"
	apivalidation "k8s.io/apimachinery/pkg/api/validation"
	"k8s.io/apimachinery/pkg/api/validation/path"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

func validateRBAC(e *errs, _ string, obj, old runtime.Object) bool {
	switch o := obj.(type) {
	case *rbacv1.Role:
		policyRules(e, o.Rules, true)
	case *rbacv1.ClusterRole:
		policyRules(e, o.Rules, false)
		if o.AggregationRule != nil {
			aggregation(e, field.NewPath("aggregationRule", "clusterRoleSelectors"), o.AggregationRule.ClusterRoleSelectors)
		}
	case *rbacv1.RoleBinding:
		roleRef(e, field.NewPath("roleRef"), &o.RoleRef, "Role", "ClusterRole")
		subjects(e, field.NewPath("subjects"), o.Subjects, true)
		if was := kindOf[rbacv1.RoleBinding](old); was != nil {
			frozenMember(e, field.NewPath("roleRef"), o.RoleRef, was.RoleRef)
		}
	case *rbacv1.ClusterRoleBinding:
		roleRef(e, field.NewPath("roleRef"), &o.RoleRef, "ClusterRole")
		subjects(e, field.NewPath("subjects"), o.Subjects, false)
		if was := kindOf[rbacv1.ClusterRoleBinding](old); was != nil {
			frozenMember(e, field.NewPath("roleRef"), o.RoleRef, was.RoleRef)
		}
	default:
		return false
	}
	return true
}

func policyRules(e *errs, rules []rbacv1.PolicyRule, namespaced bool) {
	for i, r := range rules {
		p := field.NewPath("rules").Index(i)
		if urls := p.Child("nonResourceURLs"); len(r.NonResourceURLs) > 0 {
			if namespaced {
				e.invalid(urls, r.NonResourceURLs, "namespaced rules cannot apply to non-resource URLs")
			}
			if len(r.APIGroups)+len(r.Resources)+len(r.ResourceNames) > 0 {
				e.invalid(urls, r.NonResourceURLs, "rules cannot apply to both regular resources and non-resource URLs")
			}
			continue
		}
		if len(r.APIGroups) == 0 {
			e.required(p.Child("apiGroups"), "resource rules must supply at least one api group")
		}
		if len(r.Resources) == 0 {
			e.required(p.Child("resources"), "resource rules must supply at least one resource")
		}
	}
}

func aggregation(e *errs, p loc, selectors []metav1.LabelSelector) {
	if len(selectors) == 0 {
		e.required(p, "at least one clusterRoleSelector required if aggregationRule is non-nil")
	}
	for i := range selectors {
		e.selector(p.Index(i), &selectors[i])
		if _, err := metav1.LabelSelectorAsSelector(&selectors[i]); err != nil {
			e.invalid(p.Index(i), nil, "invalid label selector.")
		}
	}
}

func roleRef(e *errs, p loc, ref *rbacv1.RoleRef, kinds ...string) {
	oneOf(e, p.Child("apiGroup"), ref.APIGroup, rbacv1.GroupName)
	oneOf(e, p.Child("kind"), ref.Kind, kinds...)
	e.covered("", func(e *errs) { e.present(p.Child("name"), ref.Name) })
	segment(e, p.Child("name"), ref.Name)
}

func subjects(e *errs, p loc, list []rbacv1.Subject, namespaced bool) {
	for i, s := range list {
		p := p.Index(i)
		switch s.Kind {
		case rbacv1.ServiceAccountKind:
			if s.Name != "" {
				e.invalids(p.Child("name"), s.Name, apivalidation.ValidateServiceAccountName(s.Name, false))
			}
			if s.APIGroup != "" {
				unsupported(e, p.Child("apiGroup"), s.APIGroup, "")
			}
			if !namespaced {
				e.present(p.Child("namespace"), s.Namespace)
			}
		case rbacv1.UserKind, rbacv1.GroupKind:
			oneOf(e, p.Child("apiGroup"), s.APIGroup, rbacv1.GroupName)
		default:
			unsupported(e, p.Child("kind"), s.Kind, rbacv1.ServiceAccountKind, rbacv1.UserKind, rbacv1.GroupKind)
		}
	}
}

// pathSegment is the rule for names that may be anything in a URL's path.
func pathSegment(name string, _ bool) []string { return path.IsValidPathSegmentName(name) }
