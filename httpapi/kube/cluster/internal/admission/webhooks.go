package admission

import (
	"sync"

	admissionv1 "k8s.io/api/admissionregistration/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apiserver/pkg/admission"
	"k8s.io/apiserver/pkg/admission/plugin/webhook/generic"
	"k8s.io/apiserver/pkg/admission/plugin/webhook/mutating"
	"k8s.io/apiserver/pkg/admission/plugin/webhook/validating"
	utilfeature "k8s.io/apiserver/pkg/util/feature"
)

// The plugins for webhooks get their configurations from informers. Here an informer is a collection of the store: its lister
// reads the store, and its events come when a write finds that the store has changed.

// mutatingWebhooks returns the plugin MutatingAdmissionWebhook.
func (c *Chain) mutatingWebhooks() plugin {
	configurations := newInformer[*admissionv1.MutatingWebhookConfiguration](c.objects, "mutatingwebhookconfigurations")
	return plugin{configurations.refresh, sync.OnceValue(func() admission.Interface {
		p, err := mutating.NewMutatingWebhook(nil)
		if err == nil {
			err = c.initialize(p.Webhook, &informerFactory{namespaces: namespaceReader{c.objects}, mutating: configurations})
		}
		if err != nil {
			panic(err) // cannot be: it reads no configuration file and gets all that it needs
		}
		return p
	})}
}

// validatingWebhooks returns the plugin ValidatingAdmissionWebhook.
func (c *Chain) validatingWebhooks() plugin {
	configurations := newInformer[*admissionv1.ValidatingWebhookConfiguration](c.objects, "validatingwebhookconfigurations")
	return plugin{configurations.refresh, sync.OnceValue(func() admission.Interface {
		p, err := validating.NewValidatingAdmissionWebhook(nil)
		if err == nil {
			err = c.initialize(p.Webhook, &informerFactory{namespaces: namespaceReader{c.objects}, validating: configurations})
		}
		if err != nil {
			panic(err) // cannot be, as above
		}
		return p
	})}
}

// initialize sets what a plugin for webhooks needs.
func (c *Chain) initialize(w *generic.Webhook, f *informerFactory) error {
	w.SetExternalKubeInformerFactory(f)
	w.SetExternalKubeClientSet(client{namespaces: f.namespaces})
	w.SetUnconditionalAuthorizer(authorizer{c.opts.Authorize})
	w.SetServiceResolver(c.opts.Calls)
	w.SetExcludedAdmissionResources(reviews())
	w.InspectFeatureGates(utilfeature.DefaultFeatureGate)
	w.SetAuthenticationInfoResolverWrapper(c.opts.Calls.Resolver)
	return w.ValidateInitialization()
}

// reviews are the resources that no webhook is asked about: it could shut everybody out (upstream: kubeapiserver/admission/exclusion).
func reviews() []schema.GroupResource {
	return []schema.GroupResource{
		{Group: "authentication.k8s.io", Resource: "selfsubjectreviews"}, {Group: "authentication.k8s.io", Resource: "tokenreviews"},
		{Group: "authorization.k8s.io", Resource: "localsubjectaccessreviews"}, {Group: "authorization.k8s.io", Resource: "selfsubjectaccessreviews"},
		{Group: "authorization.k8s.io", Resource: "selfsubjectrulesreviews"}, {Group: "authorization.k8s.io", Resource: "subjectaccessreviews"},
	}
}
