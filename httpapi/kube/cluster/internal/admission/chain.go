// Package admission is the admission of a kube-apiserver: the plugins NamespaceLifecycle, MutatingAdmissionPolicy,
// MutatingAdmissionWebhook, ValidatingAdmissionPolicy and ValidatingAdmissionWebhook, in this order. All but the first
// come from k8s.io/apiserver. After the first come the plugins of package plugins, and last ResourceQuota.
//
// The plugins read their configurations from the store when a write comes, so that a configuration applies from the next
// write on. A real server reads them through a watch, and so a moment later.
package admission

import (
	"context"
	"sync"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apiserver/pkg/admission"
	"k8s.io/apiserver/pkg/warning"

	"github.com/kubecoord/kubecoord/httpapi"
	"github.com/kubecoord/kubecoord/httpapi/kube/cluster/internal/typed"
	"github.com/kubecoord/kubecoord/httpapi/kube/internal/webhooks"
	writes "github.com/kubecoord/kubecoord/store/admission"
)

// Options choose the plugins.
type Options struct {
	// Runs reports whether the plugin of a name runs.
	Runs func(name string) bool
	// Authorize answers the authorizer of CEL expressions. Nil allows all.
	Authorize httpapi.Authorizer
	// Calls sends requests to webhooks. It is needed for the plugins for webhooks.
	Calls *webhooks.Calls
	// BuiltIn, if not nil, has the plugins between NamespaceLifecycle and MutatingAdmissionPolicy.
	BuiltIn writes.Interface
	// Last, if not nil, is called after the plugins.
	Last writes.Interface
}

// Chain is the admission of one API. It implements writes.Interface.
type Chain struct {
	opts       Options
	lifecycle  bool // NamespaceLifecycle runs
	namespaces *typed.Collection[runtime.Object]
	objects    *objects
	// mutating and validating are the plugins of the two phases, in their order.
	mutating, validating []plugin
}

// plugin is a plugin of the library.
type plugin struct {
	// configured reports whether the plugin has anything to do. It is asked before each write.
	configured func() bool
	// get returns the plugin. It is made by the first call, because most APIs have no configurations.
	get func() admission.Interface
}

// New returns the admission of an API.
func New(api *httpapi.API, opts Options) *Chain {
	o := &objects{api: api}
	c := &Chain{opts: opts, lifecycle: opts.Runs("NamespaceLifecycle"), namespaces: collection[runtime.Object](o, namespaces), objects: o}
	add := func(to *[]plugin, name string, p func() plugin) {
		if opts.Runs(name) {
			*to = append(*to, p())
		}
	}
	add(&c.mutating, "MutatingAdmissionPolicy", c.mutatingPolicies)
	add(&c.mutating, "MutatingAdmissionWebhook", c.mutatingWebhooks)
	add(&c.validating, "ValidatingAdmissionPolicy", c.validatingPolicies)
	add(&c.validating, "ValidatingAdmissionWebhook", c.validatingWebhooks)
	add(&c.validating, "ResourceQuota", c.resourceQuotas)
	return c
}

// Admit implements writes.Interface.
func (c *Chain) Admit(ctx context.Context, a *writes.Attributes) (err error) {
	if c.lifecycle {
		err = c.admitNamespace(ctx, a)
	}
	if err == nil && c.opts.BuiltIn != nil {
		err = c.opts.BuiltIn.Admit(ctx, a)
	}
	if err == nil {
		err = c.mutate(ctx, a)
	}
	return c.last(err, func(last writes.Interface) error { return last.Admit(ctx, a) })
}

// mutate calls the plugins of the library that may change the object. If a webhook asks for it, all plugins are called a second time
// (upstream: admission/reinvocation.go).
func (c *Chain) mutate(ctx context.Context, a *writes.Attributes) error {
	chain := configured(c.mutating)
	if chain == nil {
		return nil
	}
	attr, err := newAttributes(ctx, a)
	if err != nil {
		return err
	}
	admit := func() error {
		if err := chain.(admission.MutationInterface).Admit(warnings(ctx, a), attr, attr.interfaces()); err != nil {
			return err
		}
		return attr.apply(ctx)
	}
	err = admit()
	again := attr.GetReinvocationContext()
	if err != nil || !again.ShouldReinvoke() {
		return err
	}
	again.SetIsReinvoke()
	if c.opts.BuiltIn != nil {
		if err := c.opts.BuiltIn.Admit(ctx, a); err != nil {
			return err
		}
		attr.read(ctx)
	}
	return admit()
}

// Validate implements writes.Interface.
func (c *Chain) Validate(ctx context.Context, a *writes.Attributes) (err error) {
	if c.lifecycle {
		err = c.checkAdminAccess(a)
	}
	if err == nil && c.opts.BuiltIn != nil {
		err = c.opts.BuiltIn.Validate(ctx, a)
	}
	if err == nil {
		err = c.validate(ctx, a)
	}
	return c.last(err, func(last writes.Interface) error { return last.Validate(ctx, a) })
}

// validate calls the plugins that may only refuse.
func (c *Chain) validate(ctx context.Context, a *writes.Attributes) error {
	chain := configured(c.validating)
	if chain == nil {
		return nil
	}
	attr, err := newAttributes(ctx, a)
	if err != nil {
		return err
	}
	return chain.(admission.ValidationInterface).Validate(warnings(ctx, a), attr, attr.interfaces())
}

// last calls the Admission after the plugins, unless one has refused.
func (c *Chain) last(err error, call func(writes.Interface) error) error {
	if err == nil && c.opts.Last != nil {
		return call(c.opts.Last)
	}
	return typed.Status(err)
}

// configured returns the plugins that have something to do as one, or nil.
func configured(plugins []plugin) admission.Interface {
	var all []admission.Interface
	for _, p := range plugins {
		if p.configured() {
			all = append(all, p.get())
		}
	}
	if all == nil {
		return nil
	}
	return admission.NewChainHandler(all...)
}

// warnings returns a context in which warnings of the library are warnings of the write. Webhooks warn at the same time.
func warnings(ctx context.Context, a *writes.Attributes) context.Context {
	return warning.WithWarningRecorder(ctx, &recorder{warn: a.Warn})
}

type recorder struct {
	mu   sync.Mutex // held while warn is called
	warn func(string)
}

// AddWarning implements warning.Recorder.
func (r *recorder) AddWarning(_, text string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.warn(text)
}

// optionsKind returns the type of the options of a write. Their group is not the group of the served versions.
func optionsKind(kind string) metav1.TypeMeta {
	return metav1.TypeMeta{Kind: kind, APIVersion: metav1.SchemeGroupVersion.String()}
}
