// Package quota says what objects use of a ResourceQuota: the evaluators of a kube-apiserver for its quota library (upstream:
// pkg/quota/v1/evaluator/core).
package quota

import (
	"errors"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/selection"
	"k8s.io/apiserver/pkg/admission"
	library "k8s.io/apiserver/pkg/quota/v1"
	"k8s.io/apiserver/pkg/quota/v1/generic"

	"github.com/kubecoord/kubecoord/store/clock"
)

// Options are what evaluators need.
type Options struct {
	// Clock says when a Pod that is being deleted ceases to count.
	Clock clock.Clock
	// DeviceClasses returns all DeviceClasses.
	DeviceClasses func() []*resourcev1.DeviceClass
	// Pod returns a Pod, or nil, and ResourceClaims the claims in a namespace.
	Pod            func(namespace, name string) *corev1.Pod
	ResourceClaims func(namespace string) []*resourcev1.ResourceClaim
	// List returns the objects of a resource in a namespace, for the usage of a whole namespace. It is nil for admission, which needs none.
	List func(resource schema.GroupResource, namespace string) []runtime.Object
}

// Evaluators are the evaluators by resource.
type Evaluators struct {
	all  map[schema.GroupResource]library.Evaluator
	list func(resource schema.GroupResource, namespace string) []runtime.Object
}

// New returns the evaluators.
func New(opts Options) *Evaluators {
	e := &Evaluators{all: map[schema.GroupResource]library.Evaluator{}, list: opts.List}
	for _, own := range []*evaluator{pods(opts.Clock), services(), claims(), deviceClaims(opts)} {
		own.list = e.lister(own.resource)
		e.all[own.resource] = own
	}
	for plural, alias := range map[string]corev1.ResourceName{
		"configmaps": corev1.ResourceConfigMaps, "resourcequotas": corev1.ResourceQuotas, "secrets": corev1.ResourceSecrets,
		"replicationcontrollers": corev1.ResourceReplicationControllers,
	} {
		gr := corev1.Resource(plural)
		e.all[gr] = generic.NewObjectCountEvaluator(gr, e.lister(gr), alias)
	}
	return e
}

// lister returns the function that lists the objects of a resource.
func (e *Evaluators) lister(gr schema.GroupResource) generic.ListFuncByNamespace {
	return func(namespace string) ([]runtime.Object, error) {
		if e.list == nil {
			return nil, errors.New("the evaluators of admission list no objects")
		}
		return e.list(gr, namespace), nil
	}
}

// Of returns the evaluator of a resource, or nil for what no quota counts. Most objects are only counted.
func (e *Evaluators) Of(gr schema.GroupResource) library.Evaluator {
	if own := e.all[gr]; own != nil {
		return own
	}
	switch gr.Group {
	case "authentication.k8s.io", "authorization.k8s.io":
		return nil
	case "", "events.k8s.io":
		if gr.Resource == "events" || gr.Resource == "bindings" || gr.Resource == "componentstatuses" {
			return nil
		}
	}
	return generic.NewObjectCountEvaluator(gr, e.lister(gr), "")
}

// Changed reports whether an update changes what an object uses. Objects that are only counted always use the same.
func (e *Evaluators) Changed(gr schema.GroupResource, old, now runtime.Object) bool {
	own, ok := e.all[gr].(*evaluator)
	if !ok {
		return false
	}
	if p, is := now.(*corev1.Pod); is && isTerminating(old.(*corev1.Pod)) != isTerminating(p) {
		return true
	}
	before, err := own.usage(old)
	after, afterErr := own.usage(now)
	return err == nil && afterErr == nil && !library.Equals(before, after)
}

// evaluator evaluates the objects of one resource. It implements library.Evaluator.
type evaluator struct {
	resource schema.GroupResource
	// handles reports whether a create or an update may change what is used.
	handles func(admission.Attributes) bool
	// counts reports whether a quota for a name is about the resource.
	counts func(corev1.ResourceName) bool
	// inScope reports whether an object is in a scope.
	inScope generic.MatchesScopeFunc
	usage   func(runtime.Object) (corev1.ResourceList, error)
	list    generic.ListFuncByNamespace
	// requires returns why an object lacks what a quota for names requires. Nil requires nothing.
	requires func(names []corev1.ResourceName, o runtime.Object) error
}

// Constraints implements library.Evaluator.
func (e *evaluator) Constraints(names []corev1.ResourceName, o runtime.Object) error {
	if e.requires == nil {
		return nil
	}
	return e.requires(names, o)
}

// GroupResource implements library.Evaluator.
func (e *evaluator) GroupResource() schema.GroupResource { return e.resource }

// Handles implements library.Evaluator.
func (e *evaluator) Handles(a admission.Attributes) bool { return e.handles(a) }

// Matches implements library.Evaluator.
func (e *evaluator) Matches(q *corev1.ResourceQuota, o runtime.Object) (bool, error) {
	return generic.Matches(q, o, e.MatchingResources, e.inScope)
}

// MatchingScopes implements library.Evaluator.
func (e *evaluator) MatchingScopes(o runtime.Object, scopes []corev1.ScopedResourceSelectorRequirement) (in []corev1.ScopedResourceSelectorRequirement, err error) {
	for _, s := range scopes {
		is, err := e.inScope(s, o)
		if err != nil {
			return nil, fmt.Errorf("error on matching scope %v: %w", s, err)
		}
		if is {
			in = append(in, s)
		}
	}
	return in, nil
}

// UncoveredQuotaScopes implements library.Evaluator. A server without a configuration of the plugin limits no scopes.
func (e *evaluator) UncoveredQuotaScopes(limited, _ []corev1.ScopedResourceSelectorRequirement) ([]corev1.ScopedResourceSelectorRequirement, error) {
	return limited, nil
}

// MatchingResources implements library.Evaluator.
func (e *evaluator) MatchingResources(names []corev1.ResourceName) (out []corev1.ResourceName) {
	for _, name := range names {
		if e.counts(name) {
			out = append(out, name)
		}
	}
	return out
}

// Usage implements library.Evaluator.
func (e *evaluator) Usage(o runtime.Object) (corev1.ResourceList, error) { return e.usage(o) }

// UsageStats implements library.Evaluator.
func (e *evaluator) UsageStats(o library.UsageStatsOptions) (library.UsageStats, error) {
	return generic.CalculateUsageStats(o, e.list, e.inScope, e.usage)
}

// isWrite reports whether a write makes or changes an object, and not through a subresource.
func isWrite(a admission.Attributes) bool {
	return a.GetSubresource() == "" && (a.GetOperation() == admission.Create || a.GetOperation() == admission.Update)
}

// typed returns the usage of objects of the Go type *T.
func typed[T runtime.Object](usage func(T) corev1.ResourceList) func(runtime.Object) (corev1.ResourceList, error) {
	return func(o runtime.Object) (corev1.ResourceList, error) {
		t, ok := o.(T)
		if !ok {
			return nil, fmt.Errorf("unexpected type %T", o)
		}
		return usage(t), nil
	}
}

// selects reports whether a selector of a scope selects one of the values that an object has for the scope.
func selects(s corev1.ScopedResourceSelectorRequirement, values ...string) (bool, error) {
	if s.Operator == corev1.ScopeSelectorOpExists {
		return len(values) > 0, nil
	}
	op, ok := map[corev1.ScopeSelectorOperator]selection.Operator{
		corev1.ScopeSelectorOpIn: selection.In, corev1.ScopeSelectorOpNotIn: selection.NotIn, corev1.ScopeSelectorOpDoesNotExist: selection.DoesNotExist,
	}[s.Operator]
	if !ok {
		return false, fmt.Errorf("failed to parse and convert selector: %q is not a valid scope selector operator", s.Operator)
	}
	r, err := labels.NewRequirement(string(s.ScopeName), op, s.Values)
	if err != nil {
		return false, fmt.Errorf("failed to parse and convert selector: %w", err)
	}
	if len(values) == 0 {
		return r.Matches(labels.Set{}), nil
	}
	for _, v := range values {
		if r.Matches(labels.Set{string(s.ScopeName): v}) {
			return true, nil
		}
	}
	return false, nil
}
