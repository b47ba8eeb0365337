package validation

import (
	"regexp"
	"slices"
	"strings"

	admissionv1 "k8s.io/api/admissionregistration/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apiserver/pkg/admission/plugin/cel"
)

// addConditions adds the expressions of match conditions.
func (t texts) addConditions(list []admissionv1.MatchCondition) {
	for _, c := range list {
		t[c.Expression] = true
	}
}

// matchConditions checks the conditions of a webhook or policy. stored are expressions of the old object.
func matchConditions(e *errs, p loc, list []admissionv1.MatchCondition, params bool, stored texts) {
	names := map[string]bool{}
	if len(list) > 64 {
		e.tooMany(p, len(list), 64)
	}
	for i, c := range list {
		p := p.Index(i)
		if text := strings.TrimSpace(c.Expression); text == "" {
			e.required(p.Child("expression"), "")
		} else {
			declared := cel.OptionalVariableDeclarations{HasParams: params, HasAuthorizer: true}
			e.compiled(p.Child("expression"), text, stateless().CompileCELExpression(condition(text), declared, stored.mode(text)).Error)
		}
		if c.Name == "" {
			e.required(p.Child("name"), "")
			continue
		}
		e.qualified(p.Child("name"), c.Name)
		if names[c.Name] {
			e.duplicate(p.Child("name"), c.Name)
		}
		names[c.Name] = true
	}
}

// A policy of either sort while its expressions are compiled. The variables know only the ones before them.
type policy struct {
	cel.Compiler
	params bool
	// The expressions that the old policy has, by the members that upstream looks for them in: variables are among the validations,
	// JSON patches among the configurations.
	conditions, validations, messages, annotations, configurations texts
}

func newPolicy(kind *admissionv1.ParamKind) *policy {
	return &policy{
		params: kind != nil, conditions: texts{}, validations: texts{}, messages: texts{}, annotations: texts{}, configurations: texts{},
	}
}

func validatingPolicy(e *errs, p loc, o, old *admissionv1.ValidatingAdmissionPolicy) {
	s, c, sameConditions := &o.Spec, newPolicy(o.Spec.ParamKind), false
	if old != nil {
		was := &old.Spec
		sameConditions = equality.Semantic.DeepEqual(s.ParamKind, was.ParamKind) && equality.Semantic.DeepEqual(s.MatchConditions, was.MatchConditions)
		c.conditions.addConditions(was.MatchConditions)
		for _, v := range was.Validations {
			c.validations[v.Expression], c.messages[v.MessageExpression] = true, true
		}
		for _, a := range was.AuditAnnotations {
			c.annotations[a.ValueExpression] = true
		}
	}
	policyMatching(e, p, s.FailurePolicy, s.ParamKind, s.MatchConstraints)
	if !sameConditions {
		matchConditions(e, p.Child("matchConditions"), s.MatchConditions, c.params, c.conditions)
	}
	c.Compiler = stateless()
	if len(s.Variables) > 0 {
		c.variables(e, p.Child("variables"), s.Variables)
	}
	if len(s.Validations)+len(s.AuditAnnotations) == 0 {
		const detail = "validations or auditAnnotations must contain at least one item"
		e.required(p.Child("validations"), detail)
		e.required(p.Child("auditAnnotations"), detail)
		return
	}
	for i := range s.Validations {
		c.validation(e, p.Child("validations").Index(i), &s.Validations[i])
	}
	c.auditAnnotations(e, p.Child("auditAnnotations"), o.Name, s.AuditAnnotations)
}

// policyMatching checks what policies of both sorts have first.
func policyMatching(e *errs, p loc, failure *admissionv1.FailurePolicyType, kind *admissionv1.ParamKind, constraints *admissionv1.MatchResources) {
	if failure == nil {
		e.required(p.Child("failurePolicy"), "")
	}
	optionalOneOf(e, p.Child("failurePolicy"), failure, admissionv1.Fail, admissionv1.Ignore)
	if kind != nil {
		paramKind(e, p.Child("paramKind"), kind)
	}
	if p = p.Child("matchConstraints"); constraints == nil {
		e.required(p, "")
		return
	}
	matchResources(e, p, constraints)
	if len(constraints.ResourceRules) == 0 {
		e.required(p.Child("resourceRules"), "")
	}
}

// variables makes the compiler of the policy one that knows variables, and checks them.
func (c *policy) variables(e *errs, p loc, list []admissionv1.Variable) {
	compiler := withVariables(e, p)
	if compiler == nil {
		return
	}
	c.Compiler = compiler
	declared := cel.OptionalVariableDeclarations{HasParams: c.params, HasAuthorizer: true}
	for i, v := range list {
		p := p.Index(i)
		if strings.TrimSpace(v.Name) == "" {
			e.required(p.Child("name"), "name is not specified")
		} else if !celIdentifier(v.Name) {
			e.invalid(p.Child("name"), v.Name, "must be a valid CEL identifier")
		}
		if strings.TrimSpace(v.Expression) == "" {
			e.required(p.Child("expression"), "expression is not specified")
			continue
		}
		result := compiler.CompileAndStoreVariable(variableValue(v.Name, v.Expression), declared, c.validations.mode(v.Expression))
		e.compiled(p.Child("expression"), v.Expression, result.Error)
	}
}

func mutatingPolicy(e *errs, p loc, s *admissionv1.MutatingAdmissionPolicySpec, old *admissionv1.MutatingAdmissionPolicy) {
	c, sameConditions := newPolicy(s.ParamKind), false
	if old != nil {
		was := &old.Spec
		sameConditions = equality.Semantic.DeepEqual(s.ParamKind, was.ParamKind) && equality.Semantic.DeepEqual(s.MatchConditions, was.MatchConditions)
		c.conditions.addConditions(was.MatchConditions)
		for _, m := range was.Mutations {
			if m.ApplyConfiguration != nil {
				c.configurations[m.ApplyConfiguration.Expression] = true
			}
		}
	}
	policyMatching(e, p, s.FailurePolicy, s.ParamKind, s.MatchConstraints)
	for _, r := range deref(s.MatchConstraints).ResourceRules {
		for _, operation := range r.Operations {
			oneOf(e, p.Child("matchConstraints", "resourceRules", "operations"), operation,
				admissionv1.OperationAll, admissionv1.Connect, admissionv1.Create, admissionv1.Update)
		}
	}
	if !sameConditions {
		matchConditions(e, p.Child("matchConditions"), s.MatchConditions, c.params, c.conditions)
	}
	c.Compiler = stateless()
	c.variables(e, p.Child("variables"), s.Variables)
	if len(s.Mutations) == 0 {
		e.required(p.Child("mutations"), "mutations must contain at least one item")
	}
	for i := range s.Mutations {
		c.mutation(e, p.Child("mutations").Index(i), &s.Mutations[i])
	}
	requiredOneOf(e, p.Child("reinvocationPolicy"), s.ReinvocationPolicy, admissionv1.IfNeededReinvocationPolicy, admissionv1.NeverReinvocationPolicy)
}

// mutated checks the expression of a mutation.
func (c *policy) mutated(e *errs, p loc, text string, of func(string) *expression) {
	trimmed := strings.TrimSpace(text)
	if trimmed == "" {
		e.required(p, "")
		return
	}
	declared := cel.OptionalVariableDeclarations{HasParams: c.params, HasAuthorizer: true, HasPatchTypes: true}
	e.compiled(p, trimmed, c.CompileCELExpression(of(trimmed), declared, c.configurations.mode(text)).Error)
}

// mutation checks that a mutation has the member of its type.
func (c *policy) mutation(e *errs, p loc, m *admissionv1.Mutation) {
	apply, patch := p.Child("applyConfiguration"), p.Child("jsonPatch")
	switch m.PatchType {
	case admissionv1.PatchTypeJSONPatch:
		if m.JSONPatch == nil {
			e.required(patch, "must be specified when patchType is JSONPatch")
		} else {
			c.mutated(e, patch.Child("expression"), m.JSONPatch.Expression, jsonPatchValue)
		}
		if m.ApplyConfiguration != nil {
			e.invalid(apply, "{applyConfiguration}", "must not be specified when patchType is JSONPatch")
		}
	case admissionv1.PatchTypeApplyConfiguration:
		if m.ApplyConfiguration == nil {
			e.required(apply, "must be specified when patchType is ApplyConfiguration")
		} else {
			c.mutated(e, apply.Child("expression"), m.ApplyConfiguration.Expression, configurationValue)
		}
		if m.JSONPatch != nil {
			e.invalid(patch, "{jsonPatch}", "must not be specified when patchType is ApplyConfiguration")
		}
	default:
		requiredOneOf(e, p.Child("patchType"), m.PatchType, admissionv1.PatchTypeApplyConfiguration, admissionv1.PatchTypeJSONPatch)
	}
}

// celIdentifier reports whether a variable of CEL may have a name.
func celIdentifier(name string) bool {
	const reserved = "true false null in as break const continue else for function if import let loop package namespace return var void while"
	good, err := regexp.MatchString(`^[_a-zA-Z][_a-zA-Z0-9]*$`, name)
	return good && err == nil && !slices.Contains(strings.Fields(reserved), name)
}

func (c *policy) validation(e *errs, p loc, v *admissionv1.Validation) {
	if strings.TrimSpace(v.Expression) == "" {
		e.required(p.Child("expression"), "expression is not specified")
	} else {
		declared := cel.OptionalVariableDeclarations{HasParams: c.params, HasAuthorizer: true}
		e.compiled(p.Child("expression"), v.Expression, c.CompileCELExpression(condition(v.Expression), declared, c.validations.mode(v.Expression)).Error)
	}
	blank := func(s string) bool { return s != "" && strings.TrimSpace(s) == "" }
	if blank(v.MessageExpression) {
		e.invalid(p.Child("messageExpression"), v.MessageExpression, "must be non-empty if specified")
	} else if v.MessageExpression != "" {
		declared := cel.OptionalVariableDeclarations{HasParams: c.params}
		e.compiled(p.Child("messageExpression"), v.MessageExpression,
			c.CompileCELExpression(message(v.MessageExpression), declared, c.messages.mode(v.MessageExpression)).Error)
	}
	if blank(v.Message) {
		e.invalid(p.Child("message"), v.Message, "must be non-empty if specified")
	} else if strings.ContainsAny(strings.TrimSpace(v.Message), "\n\r") {
		e.invalid(p.Child("message"), v.Message, "must not contain line breaks")
	}
	optionalOneOf(e, p.Child("reason"), v.Reason, metav1.StatusReasonForbidden, metav1.StatusReasonInvalid, metav1.StatusReasonRequestEntityTooLarge)
}

func (c *policy) auditAnnotations(e *errs, p loc, name string, list []admissionv1.AuditAnnotation) {
	keys := map[string]bool{}
	if len(list) > 20 {
		e.invalid(p, internal{list}, "must not have more than 20 auditAnnotations")
	}
	for i, a := range list {
		p := p.Index(i)
		if name == "" {
			e.invalid(p.Child("key"), a.Key, "requires metadata.name be non-empty")
		} else {
			key := name + "/" + a.Key
			e.qualified(p.Child("key"), key)
		}
		if value := strings.TrimSpace(a.ValueExpression); value == "" {
			e.required(p.Child("valueExpression"), "valueExpression is not specified")
		} else if len(value) > 5<<10 {
			e.required(p.Child("valueExpression"), "must not exceed 5120 bytes in length")
		} else {
			declared := cel.OptionalVariableDeclarations{HasParams: c.params, HasAuthorizer: true}
			e.compiled(p.Child("valueExpression"), a.ValueExpression,
				c.CompileCELExpression(annotationValue(value), declared, c.annotations.mode(a.ValueExpression)).Error)
		}
		if keys[a.Key] {
			e.duplicate(p.Child("key"), a.Key)
		}
		keys[a.Key] = true
	}
}
