package validation

import (
	"fmt"
	"net/url"
	"slices"
	"strings"

	admissionv1 "k8s.io/api/admissionregistration/v1"
	apivalidation "k8s.io/apimachinery/pkg/api/validation"
	"k8s.io/apimachinery/pkg/api/validation/path"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	metavalidation "k8s.io/apimachinery/pkg/apis/meta/v1/validation"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/client-go/util/jsonpath"
)

func validateAdmission(e *errs, subresource string, obj, old runtime.Object) bool {
	p := field.NewPath("spec")
	switch o := obj.(type) {
	case *admissionv1.ValidatingWebhookConfiguration:
		var hooks, was []webhook
		for i := range o.Webhooks {
			hooks = append(hooks, validatingHook(&o.Webhooks[i]))
		}
		if old := kindOf[admissionv1.ValidatingWebhookConfiguration](old); old != nil {
			for i := range old.Webhooks {
				was = append(was, validatingHook(&old.Webhooks[i]))
			}
		}
		webhooks(e, hooks, was)
	case *admissionv1.MutatingWebhookConfiguration:
		var hooks, was []webhook
		for i := range o.Webhooks {
			hooks = append(hooks, mutatingHook(&o.Webhooks[i]))
		}
		if old := kindOf[admissionv1.MutatingWebhookConfiguration](old); old != nil {
			for i := range old.Webhooks {
				was = append(was, mutatingHook(&old.Webhooks[i]))
			}
		}
		webhooks(e, hooks, was)
	case *admissionv1.ValidatingAdmissionPolicy:
		if subresource == "status" {
			policyStatus(e, field.NewPath("status"), &o.Status)
		} else {
			validatingPolicy(e, p, o, kindOf[admissionv1.ValidatingAdmissionPolicy](old))
		}
	case *admissionv1.MutatingAdmissionPolicy:
		mutatingPolicy(e, p, &o.Spec, kindOf[admissionv1.MutatingAdmissionPolicy](old))
	case *admissionv1.ValidatingAdmissionPolicyBinding:
		s := &o.Spec
		policyName(e, p.Child("policyName"), s.PolicyName)
		paramRef(e, p.Child("paramRef"), s.ParamRef)
		matchResources(e, p.Child("matchResources"), s.MatchResources)
		actions(e, p.Child("validationActions"), s.ValidationActions)
	case *admissionv1.MutatingAdmissionPolicyBinding:
		s := &o.Spec
		e.present(p.Child("policyName"), s.PolicyName)
		policyName(e, p.Child("policyName"), s.PolicyName)
		paramRef(e, p.Child("paramRef"), s.ParamRef)
		matchResources(e, p.Child("matchResources"), s.MatchResources)
	default:
		return false
	}
	if old == nil {
		staticName(e, obj)
	}
	return true
}

// staticName refuses new objects with a name that is reserved for files of the server.
func staticName(e *errs, obj runtime.Object) {
	const suffix = ".static.k8s.io"
	if m, is := obj.(metav1.Object); is && strings.HasSuffix(m.GetName(), suffix) {
		e.invalid(field.NewPath("metadata", "name"), m.GetName(),
			fmt.Sprintf("names ending with %q are reserved for static manifest-based configurations and cannot be managed via the API", suffix))
	}
}

// A webhook has the members of both sorts; reinvocation is nil for a validating one.
type webhook struct {
	*admissionv1.ValidatingWebhook
	reinvocation *admissionv1.ReinvocationPolicyType
}

func validatingHook(h *admissionv1.ValidatingWebhook) webhook { return webhook{h, nil} }

func mutatingHook(h *admissionv1.MutatingWebhook) webhook {
	return webhook{&admissionv1.ValidatingWebhook{
		Name: h.Name, ClientConfig: h.ClientConfig, Rules: h.Rules, FailurePolicy: h.FailurePolicy, MatchPolicy: h.MatchPolicy,
		NamespaceSelector: h.NamespaceSelector, ObjectSelector: h.ObjectSelector, SideEffects: h.SideEffects, TimeoutSeconds: h.TimeoutSeconds,
		AdmissionReviewVersions: h.AdmissionReviewVersions, MatchConditions: h.MatchConditions,
	}, h.ReinvocationPolicy}
}

func knownReview(version string) bool { return version == "v1" || version == "v1beta1" }

func effectless(h webhook) bool {
	effects := deref(h.SideEffects)
	return effects == admissionv1.SideEffectClassNone || effects == admissionv1.SideEffectClassNoneOnDryRun
}

// webhooks checks the webhooks of a configuration. What the old configuration had wrong, the new one may have too.
func webhooks(e *errs, hooks, old []webhook) {
	names := map[string]bool{}
	oldNames, uniqueBefore := map[string]bool{}, true
	for _, h := range old {
		uniqueBefore = uniqueBefore && !oldNames[h.Name]
		oldNames[h.Name] = true
	}
	reviewed := !slices.ContainsFunc(old, func(h webhook) bool {
		return len(h.AdmissionReviewVersions) > 0 && !slices.ContainsFunc(h.AdmissionReviewVersions, knownReview)
	})
	pure := !slices.ContainsFunc(old, func(h webhook) bool { return !effectless(h) })
	before := texts{}
	for _, h := range old {
		before.addConditions(h.MatchConditions)
	}
	sameConditions := slices.EqualFunc(hooks, old, func(a, b webhook) bool { return slices.Equal(a.MatchConditions, b.MatchConditions) })
	for i, h := range hooks {
		p := field.NewPath("webhooks").Index(i)
		hook(e, p, h, pure)
		if !sameConditions {
			matchConditions(e, p.Child("matchConditions"), h.MatchConditions, false, before)
		}
		reviewVersions(e, p.Child("admissionReviewVersions"), h.AdmissionReviewVersions, reviewed)
		if uniqueBefore && h.Name != "" {
			if names[h.Name] {
				e.duplicate(p.Child("name"), h.Name)
			}
			names[h.Name] = true
		}
	}
}

func hook(e *errs, p loc, h webhook, pure bool) {
	e.add(validation.IsFullyQualifiedName(p.Child("name"), h.Name)...)
	for i := range h.Rules {
		ruleWithOperations(e, p.Child("rules").Index(i), &h.Rules[i])
	}
	optionalOneOf(e, p.Child("failurePolicy"), h.FailurePolicy, admissionv1.Fail, admissionv1.Ignore)
	optionalOneOf(e, p.Child("matchPolicy"), h.MatchPolicy, admissionv1.Equivalent, admissionv1.Exact)
	effects := []admissionv1.SideEffectClass{admissionv1.SideEffectClassNone, admissionv1.SideEffectClassNoneOnDryRun}
	if !pure {
		effects = append(effects, admissionv1.SideEffectClassSome, admissionv1.SideEffectClassUnknown)
	}
	if h.SideEffects == nil {
		var names []string
		for _, name := range effects {
			names = append(names, string(name))
		}
		e.required(p.Child("sideEffects"), "must specify one of "+strings.Join(names, ", "))
	}
	optionalOneOf(e, p.Child("sideEffects"), h.SideEffects, effects...)
	if seconds := h.TimeoutSeconds; seconds != nil && (*seconds < 1 || *seconds > 30) {
		e.invalid(p.Child("timeoutSeconds"), *seconds, "the timeout value must be between 1 and 30 seconds")
	}
	e.selector(p.Child("namespaceSelector"), h.NamespaceSelector)
	e.selector(p.Child("objectSelector"), h.ObjectSelector)
	optionalOneOf(e, p.Child("reinvocationPolicy"), h.reinvocation, admissionv1.IfNeededReinvocationPolicy, admissionv1.NeverReinvocationPolicy)
	client := p.Child("clientConfig")
	switch c := h.ClientConfig; {
	case (c.URL == nil) == (c.Service == nil):
		e.required(client, "exactly one of url or service is required")
	case c.URL != nil:
		hookURL(e, client.Child("url"), *c.URL)
	default:
		hookService(e, client.Child("service"), c.Service)
	}
}

func hookURL(e *errs, p loc, s string) {
	const form = "; desired format: https://host[/path]"
	u, err := url.Parse(s)
	if err != nil {
		e.required(p, "url must be a valid URL: "+err.Error()+form)
		return
	}
	if u.Scheme != "https" {
		e.invalid(p, u.Scheme, "'https' is the only allowed URL scheme"+form)
	}
	if u.Host == "" {
		e.invalid(p, u.Host, "host must be specified"+form)
	}
	if u.User != nil {
		e.invalid(p, u.User.String(), "user information is not permitted in the URL")
	}
	if u.Fragment != "" {
		e.invalid(p, u.Fragment, "fragments are not permitted in the URL")
	}
	if u.RawQuery != "" {
		e.invalid(p, u.RawQuery, "query parameters are not permitted in the URL")
	}
}

func hookService(e *errs, p loc, s *admissionv1.ServiceReference) {
	// Upstream calls its function with these two exchanged.
	e.present(p.Child("name"), s.Namespace)
	e.present(p.Child("namespace"), s.Name)
	port := deref(s.Port)
	if messages := validation.IsValidPortNum(int(port)); len(messages) > 0 {
		e.invalid(p.Child("port"), port, "port is not valid: "+strings.Join(messages, ", "))
	}
	route := deref(s.Path)
	if p = p.Child("path"); route == "" || route == "/" {
		return
	}
	if route == "//" {
		e.invalid(p, route, "segment[0] may not be empty")
		return
	}
	if !strings.HasPrefix(route, "/") {
		e.invalid(p, route, "must start with a '/'")
	}
	for i, step := range strings.Split(strings.TrimSuffix(route[1:], "/"), "/") {
		if step == "" {
			e.invalid(p, route, fmt.Sprintf("segment[%d] may not be empty", i))
			continue
		}
		for _, message := range validation.IsDNS1123Subdomain(step) {
			e.invalid(p, route, fmt.Sprintf("segment[%d]: %v", i, message))
		}
	}
}

func reviewVersions(e *errs, p loc, versions []string, reviewed bool) {
	if len(versions) == 0 {
		e.required(p, "must specify one of v1, v1beta1")
		return
	}
	known := seen[string]{}
	for i, v := range versions {
		if known.again(v) {
			e.invalid(p.Index(i), v, "duplicate version")
			continue
		}
		e.invalids(p.Index(i), v, validation.IsDNS1035Label(v))
	}
	if reviewed && !slices.ContainsFunc(versions, knownReview) {
		e.invalid(p, versions, "must include at least one of v1, v1beta1")
	}
}

func ruleWithOperations(e *errs, p loc, r *admissionv1.RuleWithOperations) {
	if len(r.Operations) == 0 {
		e.required(p.Child("operations"), "")
	}
	if len(r.Operations) > 1 && slices.Contains(r.Operations, admissionv1.OperationAll) {
		e.invalid(p.Child("operations"), r.Operations, "if '*' is present, must not specify other operations")
	}
	for i, operation := range r.Operations {
		oneOf(e, p.Child("operations").Index(i), operation, admissionv1.OperationAll, admissionv1.Connect, admissionv1.Create, admissionv1.Delete, admissionv1.Update)
	}
	list := func(name, what string, values []string) {
		if len(values) == 0 {
			e.required(p.Child(name), "")
		}
		if len(values) > 1 && slices.Contains(values, "*") {
			e.invalid(p.Child(name), values, "if '*' is present, must not specify other "+what)
		}
	}
	list("apiGroups", "API groups", r.APIGroups)
	list("apiVersions", "API versions", r.APIVersions)
	for i, version := range r.APIVersions {
		e.present(p.Child("apiVersions").Index(i), version)
	}
	ruleResources(e, p.Child("resources"), r.Resources)
	optionalOneOf(e, p.Child("scope"), r.Scope, admissionv1.AllScopes, admissionv1.ClusterScope, admissionv1.NamespacedScope)
}

// ruleResources checks that no entry of resources and subresources is covered by one before it.
func ruleResources(e *errs, p loc, list []string) {
	if len(list) == 0 {
		e.required(p, "")
	}
	allOf, everywhere, plain := map[string]bool{}, map[string]bool{}, false
	for i, entry := range list {
		if entry == "" {
			e.required(p.Index(i), "")
			continue
		}
		resource, sub, ok := strings.Cut(entry, "/")
		if !ok {
			plain = entry != "*"
			continue
		}
		if allOf[resource] {
			e.invalid(p.Index(i), entry, fmt.Sprintf("if '%s/*' is present, must not specify %s", resource, entry))
		}
		if everywhere[sub] {
			e.invalid(p.Index(i), entry, fmt.Sprintf("if '*/%s' is present, must not specify %s", sub, entry))
		}
		allOf[resource] = allOf[resource] || sub == "*"
		everywhere[sub] = everywhere[sub] || resource == "*"
	}
	if len(list) > 1 && slices.Contains(list, "*/*") {
		e.invalid(p, list, "if '*/*' is present, must not specify other resources")
	}
	if plain && slices.Contains(list, "*") {
		e.invalid(p, list, "if '*' is present, must not specify other resources without subresources")
	}
}

func paramKind(e *errs, p loc, k *admissionv1.ParamKind) {
	at := p.Child("apiVersion")
	group, version, ok := strings.Cut(k.APIVersion, "/")
	if !ok {
		group, version = "", k.APIVersion
	}
	switch {
	case k.APIVersion == "":
		e.required(at, "")
	case strings.Contains(version, "/"):
		e.invalid(at, k.APIVersion, "unexpected GroupVersion string: "+k.APIVersion)
	default:
		if messages := validation.IsDNS1123Subdomain(group); group != "" && len(messages) > 0 {
			e.invalid(at, group, strings.Join(messages, ","))
		}
		if version == "" {
			e.invalid(at, k.APIVersion, "version must be specified")
		} else if messages := validation.IsDNS1035Label(version); len(messages) > 0 {
			e.invalid(at, version, strings.Join(messages, ","))
		}
	}
	if k.Kind == "" {
		e.required(p.Child("kind"), "")
	} else if messages := validation.IsDNS1035Label(strings.ToLower(k.Kind)); len(messages) > 0 {
		e.invalid(p.Child("kind"), k.Kind, "may have mixed case, but should otherwise match: "+strings.Join(messages, ","))
	}
}

func policyName(e *errs, p loc, name string) {
	if name != "" {
		e.invalids(p, name, apivalidation.NameIsDNSSubdomain(name, false))
	}
}

func paramRef(e *errs, p loc, ref *admissionv1.ParamRef) {
	if ref == nil {
		return
	}
	const exclusive = "name and selector are mutually exclusive"
	if ref.Name != "" {
		e.invalids(p.Child("name"), ref.Name, path.IsValidPathSegmentName(ref.Name))
		if ref.Selector != nil {
			e.forbidden(p.Child("name"), exclusive)
		}
	}
	if ref.Selector != nil {
		e.selector(p.Child("selector"), ref.Selector)
		if ref.Name != "" {
			e.forbidden(p.Child("selector"), exclusive)
		}
	}
	if ref.Name == "" && ref.Selector == nil {
		e.required(p, "one of name or selector must be specified")
	}
	requiredOneOf(e, p.Child("parameterNotFoundAction"), deref(ref.ParameterNotFoundAction), admissionv1.DenyAction, admissionv1.AllowAction)
}

func matchResources(e *errs, p loc, m *admissionv1.MatchResources) {
	if m == nil {
		return
	}
	if m.MatchPolicy == nil {
		e.required(p.Child("matchPolicy"), "")
	}
	optionalOneOf(e, p.Child("matchPolicy"), m.MatchPolicy, admissionv1.Equivalent, admissionv1.Exact)
	for _, member := range []struct {
		name     string
		selector *metav1.LabelSelector
	}{{"namespaceSelector", m.NamespaceSelector}, {"objectSelector", m.ObjectSelector}} {
		if member.selector == nil {
			e.required(p.Child(member.name), "")
		} else {
			e.selector(p.Child(member.name), member.selector)
		}
	}
	namedRules(e, p.Child("resourceRules"), m.ResourceRules)
	namedRules(e, p.Child("excludeResourceRules"), m.ExcludeResourceRules)
}

func namedRules(e *errs, p loc, rules []admissionv1.NamedRuleWithOperations) {
	for i := range rules {
		p, names := p.Index(i), seen[string]{}
		for j, name := range rules[i].ResourceNames {
			e.invalids(p.Child("resourceNames").Index(j), name, path.IsValidPathSegmentName(name))
			if names.again(name) {
				e.duplicate(p.Child("resourceNames").Index(j), name)
			}
		}
		ruleWithOperations(e, p, &rules[i].RuleWithOperations)
	}
}

func actions(e *errs, p loc, list []admissionv1.ValidationAction) {
	known := seen[admissionv1.ValidationAction]{}
	for i, action := range list {
		oneOf(e, p.Index(i), action, admissionv1.Audit, admissionv1.Deny, admissionv1.Warn)
		if known.again(action) {
			e.duplicate(p.Index(i), action)
		}
	}
	if slices.Contains(list, admissionv1.Deny) && slices.Contains(list, admissionv1.Warn) {
		e.invalid(p, list, "must not contain both Deny and Warn (repeating the same validation failure information in the API response and headers serves no purpose)")
	}
}

func policyStatus(e *errs, p loc, s *admissionv1.ValidatingAdmissionPolicyStatus) {
	for i, w := range deref(s.TypeChecking).ExpressionWarnings {
		p := p.Child("typeChecking", "expressionWarnings").Index(i)
		e.present(p.Child("warning"), w.Warning)
		ref := strings.TrimSpace(w.FieldRef)
		if ref == "" {
			e.required(p.Child("fieldRef"), "")
		} else if err := jsonpath.New("spec").Parse("{" + ref + "}"); err != nil {
			e.invalid(p.Child("fieldRef"), ref, "invalid JSONPath: "+err.Error())
		}
	}
	e.add(metavalidation.ValidateConditions(s.Conditions, p.Child("conditions"))...)
}
