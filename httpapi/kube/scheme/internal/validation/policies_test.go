package validation

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	admissionv1 "k8s.io/api/admissionregistration/v1"
	resourcev1 "k8s.io/api/resource/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/kubecoord/kubecoord/httpapi/kube/internal/gates"
)

// late is an expression that only stored objects may have: a function of it is newer than what a server may let in. The refusals of
// new expressions are compared with recorded ones (internal/test/kube/cluster, expressions.go).
const late = "[1].includes(1)"

func constraints() *admissionv1.MatchResources {
	return &admissionv1.MatchResources{
		MatchPolicy: new(admissionv1.Equivalent), NamespaceSelector: &metav1.LabelSelector{}, ObjectSelector: &metav1.LabelSelector{},
		ResourceRules: []admissionv1.NamedRuleWithOperations{{RuleWithOperations: admissionv1.RuleWithOperations{
			Operations: []admissionv1.OperationType{admissionv1.Create},
			Rule:       admissionv1.Rule{APIGroups: []string{"a"}, APIVersions: []string{"v1"}, Resources: []string{"as"}},
		}}},
	}
}

func lateValidating() *admissionv1.ValidatingAdmissionPolicy {
	return &admissionv1.ValidatingAdmissionPolicy{ObjectMeta: metav1.ObjectMeta{Name: "a"}, Spec: admissionv1.ValidatingAdmissionPolicySpec{
		FailurePolicy: new(admissionv1.Fail), MatchConstraints: constraints(),
		MatchConditions:  []admissionv1.MatchCondition{{Name: "a", Expression: late}},
		Variables:        []admissionv1.Variable{{Name: "a", Expression: late}},
		Validations:      []admissionv1.Validation{{Expression: late, MessageExpression: "string(" + late + ")"}},
		AuditAnnotations: []admissionv1.AuditAnnotation{{Key: "a", ValueExpression: "string(" + late + ")"}},
	}}
}

func lateMutating(patches bool) *admissionv1.MutatingAdmissionPolicy {
	m := admissionv1.Mutation{PatchType: admissionv1.PatchTypeApplyConfiguration, ApplyConfiguration: &admissionv1.ApplyConfiguration{
		Expression: late + " ? Object{} : Object{}",
	}}
	if patches {
		m = admissionv1.Mutation{PatchType: admissionv1.PatchTypeJSONPatch, JSONPatch: &admissionv1.JSONPatch{
			Expression: late + " ? [JSONPatch{op: 'remove', path: '/a'}] : [JSONPatch{op: 'remove', path: '/b'}]",
		}}
	}
	return &admissionv1.MutatingAdmissionPolicy{ObjectMeta: metav1.ObjectMeta{Name: "a"}, Spec: admissionv1.MutatingAdmissionPolicySpec{
		FailurePolicy: new(admissionv1.Fail), MatchConstraints: constraints(), ReinvocationPolicy: admissionv1.NeverReinvocationPolicy,
		Mutations: []admissionv1.Mutation{m},
	}}
}

func lateHooks(more ...admissionv1.MatchCondition) *admissionv1.ValidatingWebhookConfiguration {
	return &admissionv1.ValidatingWebhookConfiguration{Webhooks: []admissionv1.ValidatingWebhook{{
		Name: "a.example.com", SideEffects: new(admissionv1.SideEffectClassNone), AdmissionReviewVersions: []string{"v1"},
		ClientConfig:    admissionv1.WebhookClientConfig{URL: new("https://a")},
		MatchConditions: append([]admissionv1.MatchCondition{{Name: "a", Expression: late}}, more...),
	}}}
}

func lateClass(more ...resourcev1.DeviceSelector) *resourcev1.DeviceClass {
	return &resourcev1.DeviceClass{Spec: resourcev1.DeviceClassSpec{
		Selectors: append([]resourcev1.DeviceSelector{{CEL: &resourcev1.CELDeviceSelector{Expression: late}}}, more...),
	}}
}

// paths returns the members of the errors.
func paths(obj, old runtime.Object) (out []string) {
	for _, e := range New(gates.Default()).Validate("", obj, old) {
		out = append(out, e.Field)
	}
	return out
}

func TestExpressionsOfTheOldObjectStayAllowed(t *testing.T) {
	other := admissionv1.MatchCondition{Name: "b", Expression: "true"}
	moved := lateValidating()
	moved.Spec.MatchConditions = append(moved.Spec.MatchConditions, other)
	moved.Spec.Validations = append([]admissionv1.Validation{{Expression: "true"}}, moved.Spec.Validations...)
	for _, c := range []struct {
		name                 string
		obj, old             runtime.Object
		refusedNew, refusals []string
	}{
		{"a policy", lateValidating(), lateValidating(), []string{
			"spec.matchConditions[0].expression", "spec.variables[0].expression", "spec.validations[0].expression",
			"spec.validations[0].messageExpression", "spec.auditAnnotations[0].valueExpression",
		}, nil},
		{"a policy whose lists change", moved, lateValidating(), []string{
			"spec.matchConditions[0].expression", "spec.variables[0].expression", "spec.validations[1].expression",
			"spec.validations[1].messageExpression", "spec.auditAnnotations[0].valueExpression",
		}, nil},
		{"a configuration", lateMutating(false), lateMutating(false), []string{"spec.mutations[0].applyConfiguration.expression"}, nil},
		// Upstream looks for a JSON patch among the configurations, where it is not.
		{"a patch", lateMutating(true), lateMutating(true), []string{"spec.mutations[0].jsonPatch.expression"}, []string{"spec.mutations[0].jsonPatch.expression"}},
		{"webhooks", lateHooks(), lateHooks(), []string{"webhooks[0].matchConditions[0].expression"}, nil},
		{"webhooks with another condition", lateHooks(other), lateHooks(), []string{"webhooks[0].matchConditions[0].expression"}, nil},
		{"a class", lateClass(), lateClass(), []string{"spec.selectors[0].cel.expression"}, nil},
		// The selectors of devices count as stored only together.
		{"a class with another selector", lateClass(resourcev1.DeviceSelector{CEL: &resourcev1.CELDeviceSelector{Expression: "true"}}), lateClass(),
			[]string{"spec.selectors[0].cel.expression"}, []string{"spec.selectors[0].cel.expression"}},
	} {
		assert.Equal(t, c.refusedNew, paths(c.obj, nil), c.name)
		assert.Equal(t, c.refusals, paths(c.obj, c.old), c.name)
	}
}

// Conditions that are as before are not checked at all, not even against a kind of parameters that is as before.
func TestConditionsThatStayAreNotChecked(t *testing.T) {
	bad := lateValidating()
	bad.Spec.MatchConditions = []admissionv1.MatchCondition{{Name: "a b", Expression: "1 +"}, {Name: "c", Expression: "params.x == 1"}}
	require.Empty(t, paths(bad, bad))

	with := bad.DeepCopy()
	with.Spec.ParamKind = &admissionv1.ParamKind{APIVersion: "v1", Kind: "ConfigMap"}
	assert.Equal(t, []string{"spec.matchConditions[0].expression", "spec.matchConditions[0].name"}, paths(with, bad))

	hooks := lateHooks(admissionv1.MatchCondition{Name: "a b", Expression: "1 +"})
	assert.Empty(t, paths(hooks, hooks))
}
