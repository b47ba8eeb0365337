package validation

import (
	"fmt"
	"math"
	"slices"
	"strings"

	flowcontrolv1 "k8s.io/api/flowcontrol/v1"
	apiequality "k8s.io/apimachinery/pkg/api/equality"
	apivalidation "k8s.io/apimachinery/pkg/api/validation"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/apiserver/pkg/apis/flowcontrol/bootstrap"
)

func validateFlowcontrol(e *errs, subresource string, obj, _ runtime.Object) bool {
	var types []string
	switch o := obj.(type) {
	case *flowcontrolv1.FlowSchema:
		if subresource != "status" {
			flowSchema(e, field.NewPath("spec"), o.Name, &o.Spec)
			for _, m := range bootstrap.MandatoryFlowSchemas {
				fixed(e, m.Name == o.Name, o.Name, o.Spec, m.Spec, "")
			}
		}
		for _, c := range o.Status.Conditions {
			types = append(types, string(c.Type))
		}
	case *flowcontrolv1.PriorityLevelConfiguration:
		if subresource != "status" {
			const zero = "flowcontrol.k8s.io/v1beta3-preserve-zero-concurrency-shares"
			if _, ok := o.Annotations[zero]; ok {
				e.forbidden(field.NewPath("metadata", "annotations"), fmt.Sprintf("annotation '%s' is forbidden", zero))
			}
			priorityLevel(e, field.NewPath("spec"), o.Name, &o.Spec)
			for _, m := range bootstrap.MandatoryPriorityLevelConfigurations {
				want, except := m.Spec, ""
				if m.Spec.Type == flowcontrolv1.PriorityLevelEnablementExempt {
					want.Exempt, except = o.Spec.Exempt, " except the 'spec.exempt' field"
				}
				fixed(e, m.Name == o.Name, o.Name, o.Spec, want, except)
			}
		}
		for _, c := range o.Status.Conditions {
			types = append(types, string(c.Type))
		}
	default:
		return false
	}
	known := seen[string]{}
	for i, kind := range types {
		p := field.NewPath("status", "conditions").Index(i).Child("type")
		if known.again(kind) {
			e.duplicate(p, kind)
		}
		e.present(p, kind)
	}
	return true
}

// fixed checks a spec that nobody may change.
func fixed(e *errs, is bool, name string, spec, want any, except string) {
	if is && !apiequality.Semantic.DeepEqual(spec, want) {
		e.invalid(field.NewPath("spec"), internal{spec}, fmt.Sprintf("spec of '%s'%s must equal the fixed value", name, except))
	}
}

func flowSchema(e *errs, p loc, name string, s *flowcontrolv1.FlowSchemaSpec) {
	precedence := p.Child("matchingPrecedence")
	if n := s.MatchingPrecedence; n <= 0 {
		e.invalid(precedence, n, "must be a positive value")
	} else if n > 10000 {
		e.invalid(precedence, n, "must not be greater than 10000")
	} else if n == 1 && name != "exempt" {
		e.invalid(precedence, n, "only the schema named 'exempt' may have matchingPrecedence 1")
	}
	if m := s.DistinguisherMethod; m != nil && m.Type != flowcontrolv1.FlowDistinguisherMethodByNamespaceType && m.Type != flowcontrolv1.FlowDistinguisherMethodByUserType {
		unsupported(e, p.Child("distinguisherMethod", "type"), internal{m}, flowcontrolv1.FlowDistinguisherMethodByNamespaceType, flowcontrolv1.FlowDistinguisherMethodByUserType)
	}
	if name := s.PriorityLevelConfiguration.Name; name == "" {
		e.required(p.Child("priorityLevelConfiguration", "name"), "must reference a priority level")
	} else {
		e.invalids(p.Child("priorityLevelConfiguration", "name"), name, apivalidation.NameIsDNSSubdomain(name, false))
	}
	for i, r := range s.Rules {
		p := p.Child("rules").Index(i)
		for j := range r.Subjects {
			flowSubject(e, p.Child("subjects").Index(j), &r.Subjects[j])
		}
		if len(r.Subjects) == 0 {
			e.required(p.Child("subjects"), "subjects must contain at least one value")
		}
		if len(r.ResourceRules)+len(r.NonResourceRules) == 0 {
			e.required(p, "at least one of resourceRules and nonResourceRules has to be non-empty")
		}
		for j := range r.ResourceRules {
			resourceRule(e, p.Child("resourceRules").Index(j), &r.ResourceRules[j])
		}
		for j := range r.NonResourceRules {
			nonResourceRule(e, p.Child("nonResourceRules").Index(j), &r.NonResourceRules[j])
		}
	}
}

func flowSubject(e *errs, p loc, s *flowcontrolv1.Subject) {
	account, user, group := p.Child("serviceAccount"), p.Child("user"), p.Child("group")
	forbid := func(p loc, set bool, name, kind string) {
		if set {
			e.forbidden(p, fmt.Sprintf("%s is forbidden when subject kind is not '%s'", name, kind))
		}
	}
	named := func(p loc, set bool, name, kind, value string) {
		if !set {
			e.required(p, fmt.Sprintf("%s is required when subject kind is '%s'", name, kind))
		} else {
			e.present(p.Child("name"), value)
		}
	}
	switch s.Kind {
	case flowcontrolv1.SubjectKindServiceAccount:
		flowAccount(e, account, s.ServiceAccount)
		forbid(user, s.User != nil, "user", "User")
		forbid(group, s.Group != nil, "group", "Group")
	case flowcontrolv1.SubjectKindUser:
		named(user, s.User != nil, "user", "User", deref(s.User).Name)
		forbid(account, s.ServiceAccount != nil, "serviceAccount", "ServiceAccount")
		forbid(group, s.Group != nil, "group", "Group")
	case flowcontrolv1.SubjectKindGroup:
		named(group, s.Group != nil, "group", "Group", deref(s.Group).Name)
		forbid(account, s.ServiceAccount != nil, "serviceAccount", "ServiceAccount")
		forbid(user, s.User != nil, "user", "User")
	default:
		unsupported(e, p.Child("kind"), s.Kind, flowcontrolv1.SubjectKindGroup, flowcontrolv1.SubjectKindServiceAccount, flowcontrolv1.SubjectKindUser)
	}
}

func flowAccount(e *errs, p loc, s *flowcontrolv1.ServiceAccountSubject) {
	if s == nil {
		e.required(p, "serviceAccount is required when subject kind is 'ServiceAccount'")
		return
	}
	if s.Name == "" {
		e.required(p.Child("name"), "")
	} else if s.Name != "*" {
		e.invalids(p.Child("name"), s.Name, apivalidation.ValidateServiceAccountName(s.Name, false))
	}
	if s.Namespace == "" {
		e.required(p.Child("namespace"), "must specify namespace for service account")
	} else {
		e.invalids(p.Child("namespace"), s.Namespace, apivalidation.ValidateNamespaceName(s.Namespace, false))
	}
}

func flowVerbs(e *errs, p loc, verbs []string) {
	valid := []string{"create", "delete", "deletecollection", "get", "list", "patch", "proxy", "update", "watch"}
	switch {
	case len(verbs) == 0:
		e.required(p, "verbs must contain at least one value")
	case slices.Contains(verbs, "*"):
		if len(verbs) > 1 {
			e.invalid(p, verbs, "if '*' is present, must not specify other verbs")
		}
	case slices.ContainsFunc(verbs, func(v string) bool { return !slices.Contains(valid, v) }):
		unsupported(e, p, verbs, valid...)
	}
}

func resourceRule(e *errs, p loc, r *flowcontrolv1.ResourcePolicyRule) {
	flowVerbs(e, p.Child("verbs"), r.Verbs)
	list := func(name string, values []string, missing, what string) {
		if len(values) == 0 {
			e.required(p.Child(name), missing)
		} else if len(values) > 1 && slices.Contains(values, "*") {
			e.invalid(p.Child(name), values, "if '*' is present, must not specify other "+what)
		}
	}
	list("apiGroups", r.APIGroups, "resource rules must supply at least one api group", "api groups")
	list("resources", r.Resources, "resource rules must supply at least one resource", "resources")
	namespaces := p.Child("namespaces")
	switch {
	case len(r.Namespaces) == 0 && !r.ClusterScope:
		e.required(namespaces, "resource rules that are not cluster scoped must supply at least one namespace")
	case slices.Contains(r.Namespaces, "*"):
		if len(r.Namespaces) > 1 {
			e.invalid(namespaces, r.Namespaces, "if '*' is present, must not specify other namespaces")
		}
	default:
		for i, name := range r.Namespaces {
			for _, message := range apivalidation.ValidateNamespaceName(name, false) {
				e.invalid(namespaces.Index(i), name, "each member of this list must be '*' or a DNS-1123 label; "+message)
			}
		}
	}
}

func nonResourceRule(e *errs, p loc, r *flowcontrolv1.NonResourcePolicyRule) {
	flowVerbs(e, p.Child("verbs"), r.Verbs)
	p = p.Child("nonResourceURLs")
	switch {
	case len(r.NonResourceURLs) == 0:
		e.required(p, "nonResourceURLs must contain at least one value")
	case slices.Contains(r.NonResourceURLs, "*"):
		if len(r.NonResourceURLs) > 1 {
			e.invalid(p, r.NonResourceURLs, "if '*' is present, must not specify other non-resource URLs")
		}
	default:
		for i, route := range r.NonResourceURLs {
			if problem := routeProblem(route); problem != "" {
				e.invalid(p.Index(i), route, problem)
			}
		}
	}
}

func routeProblem(route string) string {
	switch stars := strings.Count(route, "*"); {
	case route == "":
		return "must not be empty"
	case route == "/":
		return ""
	case !strings.HasPrefix(route, "/"):
		return "must start with slash"
	case strings.Contains(route, " "):
		return "must not contain white-space"
	case strings.Contains(route, "//"):
		return "must not contain double slash"
	case stars > 1 || stars == 1 && !strings.HasSuffix(route, "/*"):
		return "wildcard can only do suffix matching"
	}
	return ""
}

func priorityLevel(e *errs, p loc, name string, s *flowcontrolv1.PriorityLevelConfigurationSpec) {
	if (name == "exempt") != (s.Type == flowcontrolv1.PriorityLevelEnablementExempt) {
		e.invalid(p.Child("type"), s.Type, "must be 'Exempt' if and only if `name` is 'exempt'")
	}
	limited, exempt := p.Child("limited"), p.Child("exempt")
	switch s.Type {
	case flowcontrolv1.PriorityLevelEnablementExempt:
		if s.Exempt != nil {
			shares(e, exempt, s.Exempt.NominalConcurrencyShares)
			lendable(e, exempt, s.Exempt.LendablePercent)
		}
	case flowcontrolv1.PriorityLevelEnablementLimited:
		if s.Limited == nil {
			return
		}
		shares(e, limited, s.Limited.NominalConcurrencyShares)
		limitResponse(e, limited.Child("limitResponse"), &s.Limited.LimitResponse)
		lendable(e, limited, s.Limited.LendablePercent)
		if n := s.Limited.BorrowingLimitPercent; n != nil && *n < 0 {
			e.invalid(limited.Child("borrowingLimitPercent"), *n, "if specified, must be a non-negative integer")
		}
	case "":
	default:
		unsupported(e, p.Child("type"), s.Type, flowcontrolv1.PriorityLevelEnablementExempt, flowcontrolv1.PriorityLevelEnablementLimited)
	}
}

func shares(e *errs, p loc, n *int32) {
	if n != nil && *n < 0 {
		e.invalid(p.Child("nominalConcurrencyShares"), *n, "must be a non-negative integer")
	}
}

func lendable(e *errs, p loc, n *int32) {
	if n != nil && (*n < 0 || *n > 100) {
		e.invalid(p.Child("lendablePercent"), *n, "must be between 0 and 100, inclusive")
	}
}

func limitResponse(e *errs, p loc, r *flowcontrolv1.LimitResponse) {
	at, q := p.Child("queuing"), r.Queuing
	switch r.Type {
	case flowcontrolv1.LimitResponseTypeReject, "":
		return
	case flowcontrolv1.LimitResponseTypeQueue:
	default:
		unsupported(e, p.Child("type"), r.Type, flowcontrolv1.LimitResponseTypeQueue, flowcontrolv1.LimitResponseTypeReject)
		return
	}
	if q == nil {
		return
	}
	if q.QueueLengthLimit <= 0 {
		e.invalid(at.Child("queueLengthLimit"), q.QueueLengthLimit, "must be positive")
	}
	if q.Queues <= 0 {
		e.invalid(at.Child("queues"), q.Queues, "must be positive")
	} else if q.Queues > 10_000_000 {
		e.invalid(at.Child("queues"), q.Queues, "must not be greater than 10000000")
	}
	hand := at.Child("handSize")
	if q.HandSize <= 0 {
		e.invalid(hand, q.HandSize, "must be positive")
	} else if q.HandSize > q.Queues {
		e.invalid(hand, q.HandSize, fmt.Sprintf("should not be greater than queues (%d)", q.Queues))
	} else if bits := math.Ceil(math.Log2(float64(q.Queues)) * float64(q.HandSize)); bits > 60 {
		e.invalid(hand, q.HandSize, fmt.Sprintf("required entropy bits of deckSize %d and handSize %d should not be greater than 60", q.Queues, q.HandSize))
	}
}
