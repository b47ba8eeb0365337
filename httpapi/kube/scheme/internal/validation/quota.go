package validation

import (
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

func limitRange(e *errs, r *corev1.LimitRange) {
	seen := map[corev1.LimitType]bool{}
	for i := range r.Spec.Limits {
		l, p := &r.Spec.Limits[i], field.NewPath("spec", "limits").Index(i)
		limitType(e, p.Child("type"), l.Type)
		if seen[l.Type] {
			e.duplicate(p.Child("type"), l.Type)
		}
		seen[l.Type] = true
		limits(e, p, l)
	}
}

func limitType(e *errs, p loc, t corev1.LimitType) {
	if messages := validation.IsQualifiedName(string(t)); len(messages) > 0 {
		e.invalids(p, t, messages)
		return
	}
	switch t {
	case corev1.LimitTypePod, corev1.LimitTypeContainer, corev1.LimitTypePersistentVolumeClaim:
	default:
		if !strings.Contains(string(t), "/") {
			e.invalid(p, t, "must be a standard limit type or fully qualified")
		}
	}
}

func limits(e *errs, p loc, l *corev1.LimitRangeItem) {
	rule := resourceName
	if l.Type == corev1.LimitTypePod || l.Type == corev1.LimitTypeContainer {
		rule = containerResourceName
	}
	names := map[corev1.ResourceName]bool{}
	list := func(name string, list corev1.ResourceList) {
		for _, resource := range sorted(list) {
			rule(e, p.Child(name).Key(string(resource)), resource)
			names[resource] = true
		}
	}
	list("max", l.Max)
	list("min", l.Min)
	defaults, requests := l.Default, l.DefaultRequest
	if l.Type == corev1.LimitTypePod {
		if len(l.Default) > 0 {
			e.forbidden(p.Child("default"), "may not be specified when `type` is 'Pod'")
		}
		if len(l.DefaultRequest) > 0 {
			e.forbidden(p.Child("defaultRequest"), "may not be specified when `type` is 'Pod'")
		}
		defaults, requests = nil, nil
	}
	list("default", defaults)
	list("defaultRequest", requests)
	if l.Type == corev1.LimitTypePersistentVolumeClaim && !hasAny(l.Min, corev1.ResourceStorage) && !hasAny(l.Max, corev1.ResourceStorage) {
		e.required(p.Child("limits"), "either minimum or maximum storage value is required, but neither was provided")
	}
	list("maxLimitRequestRatio", l.MaxLimitRequestRatio)
	for _, name := range sorted(names) {
		limit(e, p, name, l, defaults[name], requests[name], hasAny(defaults, name), hasAny(requests, name))
	}
}

// limit checks that the limits for a resource are in order: min, default request, default, max.
func limit(e *errs, p loc, name corev1.ResourceName, l *corev1.LimitRangeItem, def, req resource.Quantity, hasDef, hasReq bool) {
	low, hasMin := l.Min[name]
	high, hasMax := l.Max[name]
	ratio, hasRatio := l.MaxLimitRequestRatio[name]
	above := func(both bool, a, b resource.Quantity, member string, value resource.Quantity, aName, bName string) {
		if both && a.Cmp(b) > 0 {
			e.invalid(p.Child(member).Key(string(name)), value, fmt.Sprintf("%s %s is greater than %s %s", aName, a.String(), bName, b.String()))
		}
	}
	above(hasMin && hasMax, low, high, "min", low, "min value", "max value")
	above(hasReq && hasMin, low, req, "defaultRequest", req, "min value", "default request value")
	above(hasReq && hasMax, req, high, "defaultRequest", req, "default request value", "max value")
	above(hasReq && hasDef, req, def, "defaultRequest", req, "default request value", "default limit value")
	above(hasDef && hasMin, low, def, "default", low, "min value", "default value")
	above(hasDef && hasMax, def, high, "default", high, "default value", "max value")
	at := p.Child("maxLimitRequestRatio").Key(string(name))
	if hasRatio && ratio.Cmp(*resource.NewQuantity(1, resource.DecimalSI)) < 0 {
		e.invalid(at, ratio, fmt.Sprintf("ratio %s is less than 1", ratio.String()))
	}
	if hasRatio && hasMin && hasMax {
		if most := high.AsApproximateFloat64() / low.AsApproximateFloat64(); ratio.AsApproximateFloat64() > most {
			e.invalid(at, ratio, fmt.Sprintf("ratio %s is greater than max/min = %f", ratio.String(), most))
		}
	}
	if !overcommit(name) && hasDef && hasReq && def.Cmp(req) != 0 {
		e.invalid(p.Child("defaultRequest").Key(string(name)), req,
			fmt.Sprintf("default value %s must equal to defaultRequest value %s in %s", def.String(), req.String(), name))
	}
}

func resourceQuota(e *errs, subresource string, q, old *corev1.ResourceQuota) {
	spec, status := field.NewPath("spec"), field.NewPath("status")
	hard := func(p loc, list corev1.ResourceList) {
		for _, name := range sorted(list) {
			quotaName(e, p.Key(string(name)), name)
			resourceQuantity(e, p.Key(string(name)), name, list[name])
		}
	}
	if subresource != "status" {
		hard(spec.Child("hard"), q.Spec.Hard)
		quotaScopes(e, spec.Child("scopes"), &q.Spec)
		scopeSelector(e, spec.Child("scopeSelector", "matchExpressions"), &q.Spec)
	}
	if subresource == "status" || old == nil {
		hard(status.Child("hard"), q.Status.Hard)
		hard(status.Child("used"), q.Status.Used)
	}
	if subresource == "" && old != nil {
		same := func(a, b []corev1.ResourceQuotaScope) bool {
			return !slices.ContainsFunc(a, func(s corev1.ResourceQuotaScope) bool { return !slices.Contains(b, s) })
		}
		if now, was := q.Spec.Scopes, old.Spec.Scopes; !same(now, was) || !same(was, now) {
			e.invalid(spec.Child("scopes"), now, "field is immutable")
		}
	}
}

func quotaName(e *errs, p loc, name corev1.ResourceName) {
	resourceName(e, p, name)
	if !strings.Contains(string(name), "/") && !quotaResource(name) {
		e.invalid(p, name, "must be a standard resource for quota")
	}
}

func standardScope(s corev1.ResourceQuotaScope) bool {
	switch s {
	case corev1.ResourceQuotaScopeTerminating, corev1.ResourceQuotaScopeNotTerminating, corev1.ResourceQuotaScopeBestEffort, corev1.ResourceQuotaScopeNotBestEffort,
		corev1.ResourceQuotaScopePriorityClass, corev1.ResourceQuotaScopeVolumeAttributesClass, corev1.ResourceQuotaScopeCrossNamespacePodAffinity:
		return true
	}
	return false
}

// scopeFits reports whether a scope makes sense for a resource.
func scopeFits(s corev1.ResourceQuotaScope, name corev1.ResourceName) bool {
	compute := false
	switch name {
	case corev1.ResourceCPU, corev1.ResourceMemory, corev1.ResourceLimitsCPU, corev1.ResourceLimitsMemory, corev1.ResourceRequestsCPU, corev1.ResourceRequestsMemory:
		compute = true
	}
	switch s {
	case corev1.ResourceQuotaScopeTerminating, corev1.ResourceQuotaScopeNotTerminating, corev1.ResourceQuotaScopeNotBestEffort,
		corev1.ResourceQuotaScopePriorityClass, corev1.ResourceQuotaScopeCrossNamespacePodAffinity:
		return compute || name == corev1.ResourcePods
	case corev1.ResourceQuotaScopeBestEffort:
		return name == corev1.ResourcePods
	case corev1.ResourceQuotaScopeVolumeAttributesClass:
		return name == corev1.ResourcePersistentVolumeClaims || name == corev1.ResourceRequestsStorage
	}
	return true
}

// misfits returns how many of the limited resources a scope does not fit.
func misfits(s corev1.ResourceQuotaScope, hard corev1.ResourceList) (n int) {
	for name := range hard {
		if quotaResource(name) && !scopeFits(s, name) {
			n++
		}
	}
	return n
}

func conflicting(e *errs, p loc, scopes []corev1.ResourceQuotaScope, value any) {
	for _, pair := range [][2]corev1.ResourceQuotaScope{
		{corev1.ResourceQuotaScopeBestEffort, corev1.ResourceQuotaScopeNotBestEffort},
		{corev1.ResourceQuotaScopeTerminating, corev1.ResourceQuotaScopeNotTerminating},
	} {
		if slices.Contains(scopes, pair[0]) && slices.Contains(scopes, pair[1]) {
			e.invalid(p, value, "conflicting scopes")
		}
	}
}

func quotaScopes(e *errs, p loc, s *corev1.ResourceQuotaSpec) {
	for _, scope := range s.Scopes {
		if !standardScope(scope) {
			e.invalid(p, s.Scopes, "unsupported scope")
		}
		for range misfits(scope, s.Hard) {
			e.invalid(p, s.Scopes, "unsupported scope applied to resource")
		}
	}
	conflicting(e, p, s.Scopes, s.Scopes)
}

func scopeSelector(e *errs, p loc, s *corev1.ResourceQuotaSpec) {
	if s.ScopeSelector == nil {
		return
	}
	var scopes []corev1.ResourceQuotaScope
	for _, r := range s.ScopeSelector.MatchExpressions {
		if !standardScope(r.ScopeName) {
			e.invalid(p.Child("scopeName"), r.ScopeName, "unsupported scope")
		}
		for range misfits(r.ScopeName, s.Hard) {
			e.invalid(p, internal{s.ScopeSelector}, "unsupported scope applied to resource")
		}
		switch r.ScopeName {
		case corev1.ResourceQuotaScopePriorityClass, corev1.ResourceQuotaScopeVolumeAttributesClass:
		default:
			if standardScope(r.ScopeName) && r.Operator != corev1.ScopeSelectorOpExists {
				e.invalid(p.Child("operator"), r.Operator, "must be 'Exists' when scope is any of ResourceQuotaScopeTerminating, ResourceQuotaScopeNotTerminating, "+
					"ResourceQuotaScopeBestEffort, ResourceQuotaScopeNotBestEffort or ResourceQuotaScopeCrossNamespacePodAffinity")
			}
		}
		switch r.Operator {
		case corev1.ScopeSelectorOpIn, corev1.ScopeSelectorOpNotIn:
			if len(r.Values) == 0 {
				e.required(p.Child("values"), "must be at least one value when `operator` is 'In' or 'NotIn' for scope selector")
			}
		case corev1.ScopeSelectorOpExists, corev1.ScopeSelectorOpDoesNotExist:
			if len(r.Values) > 0 {
				e.invalid(p.Child("values"), r.Values, "must be no value when `operator` is 'Exist' or 'DoesNotExist' for scope selector")
			}
		default:
			e.invalid(p.Child("operator"), r.Operator, "not a valid selector operator")
		}
		scopes = append(scopes, r.ScopeName)
	}
	conflicting(e, p, scopes, s.Scopes)
}

func replicationController(e *errs, subresource string, o, old *corev1.ReplicationController) {
	if p, s := field.NewPath("status"), &o.Status; subresource == "status" {
		replicaCounts(e, p, count{"replicas", s.Replicas}, count{"fullyLabeledReplicas", s.FullyLabeledReplicas},
			count{"readyReplicas", s.ReadyReplicas}, count{"availableReplicas", s.AvailableReplicas})
		e.nonNegative(p.Child("observedGeneration"), s.ObservedGeneration)
		notAbove(e, p, s.Replicas, count{"fullyLabeledReplicas", s.FullyLabeledReplicas}, count{"readyReplicas", s.ReadyReplicas}, count{"availableReplicas", s.AvailableReplicas})
		availableAboveReady(e, p, s.AvailableReplicas, s.ReadyReplicas, "cannot be greater than readyReplicas")
		return
	}
	p, s := field.NewPath("spec"), &o.Spec
	if len(s.Selector) == 0 {
		e.required(p.Child("selector"), "")
	}
	if s.Replicas == nil {
		e.required(p.Child("replicas"), "")
	}
	template, t := p.Child("template"), s.Template
	if t == nil {
		e.required(template, "")
		return
	}
	for _, key := range sorted(s.Selector) {
		if value, ok := t.Labels[key]; !ok || value != s.Selector[key] {
			e.invalid(template.Child("metadata", "labels"), t.Labels, "`selector` does not match template `labels`")
			break
		}
	}
	podTemplate(e, template, t)
	runsAlways(e, template, t, "ReplicationController")
}
