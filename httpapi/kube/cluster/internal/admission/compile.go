package admission

import (
	"fmt"

	admissionv1 "k8s.io/api/admissionregistration/v1"
	"k8s.io/apiserver/pkg/admission/plugin/cel"
	"k8s.io/apiserver/pkg/admission/plugin/policy/mutating"
	"k8s.io/apiserver/pkg/admission/plugin/policy/mutating/patch"
	"k8s.io/apiserver/pkg/admission/plugin/policy/validating"
	"k8s.io/apiserver/pkg/admission/plugin/webhook/matchconditions"
	apiservercel "k8s.io/apiserver/pkg/cel"
	"k8s.io/apiserver/pkg/cel/environment"
)

// The expressions of policies are compiled with the variables that the plugins of the library declare (upstream: the functions
// compilePolicy of plugin/policy/validating and mutating, which are not exported).

// expressions compiles the expressions of one policy.
type expressions struct {
	*cel.CompositedCompiler
	declared cel.OptionalVariableDeclarations
}

// newExpressions returns the compiler of a policy with its variables.
func newExpressions(params bool, variables []admissionv1.Variable) (expressions, error) {
	compiler, err := cel.NewCompositedCompiler(environment.MustBaseEnvSet(environment.DefaultCompatibilityVersion()))
	if err != nil {
		return expressions{}, err
	}
	e := expressions{compiler, cel.OptionalVariableDeclarations{HasParams: params, HasAuthorizer: true}}
	var named []cel.NamedExpressionAccessor
	for _, v := range variables {
		named = append(named, &validating.Variable{Name: v.Name, Expression: v.Expression})
	}
	compiler.CompileAndStoreVariables(named, e.declared, environment.StoredExpressions)
	return e, nil
}

// conditions compiles expressions that are evaluated together.
func (e expressions) conditions(all []cel.ExpressionAccessor) cel.ConditionEvaluator {
	return e.CompileCondition(all, e.declared, environment.StoredExpressions)
}

// matcher compiles the matchConditions of a policy. It returns nil if there are none.
func (e expressions) matcher(conditions []admissionv1.MatchCondition, fails *admissionv1.FailurePolicyType, policy string) matchconditions.Matcher {
	if len(conditions) == 0 {
		return nil
	}
	all := make([]cel.ExpressionAccessor, len(conditions))
	for i := range conditions {
		all[i] = (*matchconditions.MatchCondition)(&conditions[i])
	}
	return matchconditions.NewMatcher(e.conditions(all), fails, "policy", "validate", policy)
}

// compileValidating compiles a ValidatingAdmissionPolicy. The evaluator returns the errors of expressions that do not compile.
func compileValidating(p *validating.Policy) validating.Validator {
	e, err := newExpressions(p.Spec.ParamKind != nil, p.Spec.Variables)
	if err != nil {
		return validating.NewValidator(nil, nil, nil, nil, p.Spec.FailurePolicy, err)
	}
	rules := make([]cel.ExpressionAccessor, len(p.Spec.Validations))
	messages := make([]cel.ExpressionAccessor, len(p.Spec.Validations)) // nil for a rule without one
	for i, v := range p.Spec.Validations {
		rules[i] = &validating.ValidationCondition{Expression: v.Expression, Message: v.Message, Reason: v.Reason}
		if v.MessageExpression != "" {
			messages[i] = &validating.MessageExpressionCondition{MessageExpression: v.MessageExpression}
		}
	}
	annotations := make([]cel.ExpressionAccessor, len(p.Spec.AuditAnnotations))
	for i, a := range p.Spec.AuditAnnotations {
		annotations[i] = &validating.AuditAnnotationCondition{Key: a.Key, ValueExpression: a.ValueExpression}
	}
	ofMessages := e
	ofMessages.declared.HasAuthorizer = false
	return validating.NewValidator(e.conditions(rules), e.matcher(p.Spec.MatchConditions, p.Spec.FailurePolicy, p.Name),
		e.conditions(annotations), ofMessages.conditions(messages), p.Spec.FailurePolicy, nil)
}

// compileMutating compiles a MutatingAdmissionPolicy, with an evaluator for each of its mutations.
func compileMutating(p *mutating.Policy) mutating.PolicyEvaluator {
	e, err := newExpressions(p.Spec.ParamKind != nil, p.Spec.Variables)
	if err != nil {
		return mutating.PolicyEvaluator{Error: &apiservercel.Error{
			Type: apiservercel.ErrorTypeInternal, Detail: fmt.Sprintf("failed to initialize CEL compiler: %v", err),
		}}
	}
	out := mutating.PolicyEvaluator{CompositedCompiler: e.CompositedCompiler, Matcher: e.matcher(p.Spec.MatchConditions, p.Spec.FailurePolicy, p.Name)}
	e.declared.HasPatchTypes = true
	for _, m := range p.Spec.Mutations {
		switch {
		case m.PatchType == admissionv1.PatchTypeJSONPatch && m.JSONPatch != nil:
			expression := &patch.JSONPatchCondition{Expression: m.JSONPatch.Expression}
			out.Mutators = append(out.Mutators, patch.NewJSONPatcher(e.CompileMutatingEvaluator(expression, e.declared, environment.StoredExpressions)))
		case m.PatchType == admissionv1.PatchTypeApplyConfiguration && m.ApplyConfiguration != nil:
			expression := &patch.ApplyConfigurationCondition{Expression: m.ApplyConfiguration.Expression}
			out.Mutators = append(out.Mutators, patch.NewApplyConfigurationPatcher(e.CompileMutatingEvaluator(expression, e.declared, environment.StoredExpressions)))
		}
	}
	return out
}
