package admission

import (
	"context"
	"sync"

	admissionv1 "k8s.io/api/admissionregistration/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apiserver/pkg/admission"
	"k8s.io/apiserver/pkg/admission/plugin/policy/generic"
	"k8s.io/apiserver/pkg/admission/plugin/policy/matching"
	"k8s.io/apiserver/pkg/admission/plugin/policy/mutating"
	"k8s.io/apiserver/pkg/admission/plugin/policy/validating"

	"github.com/kubecoord/kubecoord/httpapi/kube/cluster/internal/typed"
)

// The plugins for policies get them from sources that watch. Here the dispatchers of these plugins get the policies and their
// bindings from the store.

// policyPlugin is ValidatingAdmissionPolicy or MutatingAdmissionPolicy. P is the type of the policies and B of their bindings.
type policyPlugin[P, B runtime.Object, E generic.Evaluator] struct {
	*admission.Handler
	objects    *objects
	policies   *typed.Collection[P]
	bindings   *typed.Collection[B]
	policyOf   func(B) string
	paramKind  func(P) *admissionv1.ParamKind
	compile    func(P) E
	dispatcher generic.Dispatcher[generic.PolicyHook[P, B, E]]

	mu       sync.Mutex // guards compiled
	compiled map[string]compiled[E]
}

// compiled is a policy in the form that is evaluated.
type compiled[E any] struct {
	of        runtime.Object // the state of the policy
	evaluator E
}

// configured reports whether there are policies with bindings.
func (p *policyPlugin[P, B, E]) configured() bool {
	return !isEmpty(p.policies) && !isEmpty(p.bindings)
}

// dispatch evaluates the policies. It skips reviews of users and of their access, and policies themselves: no policy may match
// them (upstream: kubeapiserver/admission/exclusion and plugin/policy/generic).
func (p *policyPlugin[P, B, E]) dispatch(ctx context.Context, a admission.Attributes, o admission.ObjectInterfaces) error {
	switch gr := a.GetResource().GroupResource(); gr.Group {
	case "authentication.k8s.io", "authorization.k8s.io":
		return nil
	case admissionv1.GroupName:
		switch gr.Resource {
		case "validatingadmissionpolicies", "validatingadmissionpolicybindings", "mutatingadmissionpolicies", "mutatingadmissionpolicybindings":
			return nil
		}
	}
	return p.dispatcher.Dispatch(ctx, a, o, p.hooks())
}

// hooks returns the policies that have bindings, in the order of their names.
func (p *policyPlugin[P, B, E]) hooks() (hooks []generic.PolicyHook[P, B, E]) {
	bindings := map[string][]B{}
	for _, b := range read(p.bindings, nil) {
		bindings[p.policyOf(b)] = append(bindings[p.policyOf(b)], b)
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	used := map[string]compiled[E]{}
	for _, policy := range read(p.policies, nil) {
		m, _ := meta.Accessor(policy)
		name := m.GetName()
		if bindings[name] == nil {
			continue
		}
		c := p.compiled[name]
		if c.of != runtime.Object(policy) {
			c = compiled[E]{policy, p.compile(policy)}
		}
		used[name] = c
		hook := generic.PolicyHook[P, B, E]{Policy: policy, Bindings: bindings[name], Evaluator: c.evaluator}
		hook.ParamInformer, hook.ParamScope, hook.ConfigurationError = p.objects.params(p.paramKind(policy))
		hooks = append(hooks, hook)
	}
	p.compiled = used
	return hooks
}

// validatingPolicies are the plugin ValidatingAdmissionPolicy.
type validatingPolicies struct {
	*policyPlugin[*validating.Policy, *validating.PolicyBinding, validating.Validator]
}

// Validate implements admission.ValidationInterface.
func (p validatingPolicies) Validate(ctx context.Context, a admission.Attributes, o admission.ObjectInterfaces) error {
	return p.dispatch(ctx, a, o)
}

// mutatingPolicies are the plugin MutatingAdmissionPolicy.
type mutatingPolicies struct {
	*policyPlugin[*mutating.Policy, *mutating.PolicyBinding, mutating.PolicyEvaluator]
}

// Admit implements admission.MutationInterface.
func (p mutatingPolicies) Admit(ctx context.Context, a admission.Attributes, o admission.ObjectInterfaces) error {
	return p.dispatch(ctx, a, o)
}

// validatingPolicies returns the plugin ValidatingAdmissionPolicy.
func (c *Chain) validatingPolicies() plugin {
	p := validatingPolicies{&policyPlugin[*validating.Policy, *validating.PolicyBinding, validating.Validator]{
		Handler:    admission.NewHandler(admission.Connect, admission.Create, admission.Delete, admission.Update),
		objects:    c.objects,
		policies:   collection[*validating.Policy](c.objects, policyResource("validatingadmissionpolicies")),
		bindings:   collection[*validating.PolicyBinding](c.objects, policyResource("validatingadmissionpolicybindings")),
		policyOf:   func(b *validating.PolicyBinding) string { return b.Spec.PolicyName },
		paramKind:  func(p *validating.Policy) *admissionv1.ParamKind { return p.Spec.ParamKind },
		compile:    compileValidating,
		dispatcher: validating.NewDispatcher(authorizer{c.opts.Authorize}, generic.NewPolicyMatcher(c.matcher())),
	}}
	return plugin{p.configured, func() admission.Interface { return p }}
}

// mutatingPolicies returns the plugin MutatingAdmissionPolicy.
func (c *Chain) mutatingPolicies() plugin {
	p := mutatingPolicies{&policyPlugin[*mutating.Policy, *mutating.PolicyBinding, mutating.PolicyEvaluator]{
		Handler:    admission.NewHandler(admission.Connect, admission.Create, admission.Update),
		objects:    c.objects,
		policies:   collection[*mutating.Policy](c.objects, policyResource("mutatingadmissionpolicies")),
		bindings:   collection[*mutating.PolicyBinding](c.objects, policyResource("mutatingadmissionpolicybindings")),
		policyOf:   func(b *mutating.PolicyBinding) string { return b.Spec.PolicyName },
		paramKind:  func(p *mutating.Policy) *admissionv1.ParamKind { return p.Spec.ParamKind },
		compile:    compileMutating,
		dispatcher: mutating.NewDispatcher(authorizer{c.opts.Authorize}, c.matcher(), &typeConverters{objects: c.objects}),
	}}
	return plugin{p.configured, func() admission.Interface { return p }}
}

func policyResource(plural string) schema.GroupVersionResource {
	return admissionv1.SchemeGroupVersion.WithResource(plural)
}

func (c *Chain) matcher() *matching.Matcher {
	read := namespaceReader{c.objects}
	return matching.NewMatcher(namespaceLister{namespaces: read}, client{namespaces: read})
}
