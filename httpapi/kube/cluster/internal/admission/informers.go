package admission

import (
	"context"
	"slices"

	admissionv1 "k8s.io/api/admissionregistration/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/informers"
	registration "k8s.io/client-go/informers/admissionregistration"
	registrationv1 "k8s.io/client-go/informers/admissionregistration/v1"
	core "k8s.io/client-go/informers/core"
	coreinformersv1 "k8s.io/client-go/informers/core/v1"
	"k8s.io/client-go/kubernetes"
	typedcorev1 "k8s.io/client-go/kubernetes/typed/core/v1"
	registrationlisters "k8s.io/client-go/listers/admissionregistration/v1"
	corelisters "k8s.io/client-go/listers/core/v1"
	"k8s.io/client-go/tools/cache"

	"github.com/kubecoord/kubecoord/httpapi/kube/cluster/internal/typed"
)

// informer is a collection as an informer that is always in sync. Its events come with refresh. Methods that the plugins do
// not call panic.
type informer[T runtime.Object] struct {
	cache.SharedIndexInformer
	*typed.Collection[T]
	handler cache.ResourceEventHandler
}

func newInformer[T runtime.Object](o *objects, resource string) *informer[T] {
	return &informer[T]{Collection: collection[T](o, admissionv1.SchemeGroupVersion.WithResource(resource))}
}

// refresh passes what has changed to the handler, and reports whether there are objects.
func (i *informer[T]) refresh() bool {
	if isEmpty(i.Collection) && len(i.Last().All) == 0 {
		return false
	}
	return len(read(i.Collection, func(old, now []T) {
		if i.handler == nil {
			return // the plugin will list them
		}
		for _, o := range old {
			i.handler.OnDelete(o)
		}
		for _, o := range now {
			i.handler.OnAdd(o, false)
		}
	})) > 0
}

// AddEventHandler implements cache.SharedInformer for the one handler of a plugin.
func (i *informer[T]) AddEventHandler(h cache.ResourceEventHandler) (cache.ResourceEventHandlerRegistration, error) {
	i.handler = h
	return inSync{}, nil
}

// inSync is the registration of a handler.
type inSync struct {
	cache.ResourceEventHandlerRegistration
}

// HasSynced implements cache.ResourceEventHandlerRegistration.
func (inSync) HasSynced() bool { return true }

// list returns the objects of the last refresh.
func (i *informer[T]) list() ([]T, error) { return slices.Clone(i.Last().All), nil } // a plugin sorts them

type mutatingInformer struct {
	registrationv1.TypedMutatingWebhookConfigurationInformer
	of *informer[*admissionv1.MutatingWebhookConfiguration]
}

// Informer implements registrationv1.MutatingWebhookConfigurationInformer.
func (i mutatingInformer) Informer() cache.SharedIndexInformer { return i.of }

// Lister implements registrationv1.MutatingWebhookConfigurationInformer.
func (i mutatingInformer) Lister() registrationlisters.MutatingWebhookConfigurationLister {
	return mutatingLister{of: i.of}
}

type mutatingLister struct {
	registrationlisters.MutatingWebhookConfigurationLister
	of *informer[*admissionv1.MutatingWebhookConfiguration]
}

// List implements registrationlisters.MutatingWebhookConfigurationLister.
func (l mutatingLister) List(labels.Selector) ([]*admissionv1.MutatingWebhookConfiguration, error) {
	return l.of.list()
}

type validatingInformer struct {
	registrationv1.TypedValidatingWebhookConfigurationInformer
	of *informer[*admissionv1.ValidatingWebhookConfiguration]
}

// Informer implements registrationv1.ValidatingWebhookConfigurationInformer.
func (i validatingInformer) Informer() cache.SharedIndexInformer { return i.of }

// Lister implements registrationv1.ValidatingWebhookConfigurationInformer.
func (i validatingInformer) Lister() registrationlisters.ValidatingWebhookConfigurationLister {
	return validatingLister{of: i.of}
}

type validatingLister struct {
	registrationlisters.ValidatingWebhookConfigurationLister
	of *informer[*admissionv1.ValidatingWebhookConfiguration]
}

// List implements registrationlisters.ValidatingWebhookConfigurationLister.
func (l validatingLister) List(labels.Selector) ([]*admissionv1.ValidatingWebhookConfiguration, error) {
	return l.of.list()
}

// informerFactory has the informers of a plugin for webhooks.
type informerFactory struct {
	informers.SharedInformerFactory
	namespaces namespaceReader
	mutating   *informer[*admissionv1.MutatingWebhookConfiguration]
	validating *informer[*admissionv1.ValidatingWebhookConfiguration]
}

// Admissionregistration implements informers.SharedInformerFactory.
func (f *informerFactory) Admissionregistration() registration.Interface {
	return registrationGroup{factory: f}
}

type registrationGroup struct {
	registration.Interface
	factory *informerFactory
}

// V1 implements registration.Interface.
func (g registrationGroup) V1() registrationv1.Interface {
	return registrationVersion{factory: g.factory}
}

type registrationVersion struct {
	registrationv1.Interface
	factory *informerFactory
}

// MutatingWebhookConfigurations implements registrationv1.Interface.
func (v registrationVersion) MutatingWebhookConfigurations() registrationv1.TypedMutatingWebhookConfigurationInformer {
	return mutatingInformer{of: v.factory.mutating}
}

// ValidatingWebhookConfigurations implements registrationv1.Interface.
func (v registrationVersion) ValidatingWebhookConfigurations() registrationv1.TypedValidatingWebhookConfigurationInformer {
	return validatingInformer{of: v.factory.validating}
}

// Core implements informers.SharedInformerFactory.
func (f *informerFactory) Core() core.Interface { return coreGroup{namespaces: f.namespaces} }

type coreGroup struct {
	core.Interface
	namespaces namespaceReader
}

// V1 implements core.Interface.
func (g coreGroup) V1() coreinformersv1.Interface { return coreVersion{namespaces: g.namespaces} }

type coreVersion struct {
	coreinformersv1.Interface
	namespaces namespaceReader
}

// Namespaces implements coreinformersv1.Interface.
func (v coreVersion) Namespaces() coreinformersv1.TypedNamespaceInformer {
	return namespaceInformer{namespaces: v.namespaces}
}

type namespaceInformer struct {
	coreinformersv1.TypedNamespaceInformer
	namespaces namespaceReader
}

// Informer implements coreinformersv1.NamespaceInformer.
func (i namespaceInformer) Informer() cache.SharedIndexInformer {
	return &informer[*corev1.Namespace]{}
}

// HasSynced implements cache.SharedInformer.
func (i *informer[T]) HasSynced() bool { return true }

// Lister implements coreinformersv1.NamespaceInformer.
func (i namespaceInformer) Lister() corelisters.NamespaceLister {
	return namespaceLister{namespaces: i.namespaces}
}

// namespaceReader reads namespaces from the store.
type namespaceReader struct{ objects *objects }

func (r namespaceReader) get(name string) (*corev1.Namespace, error) {
	o, err := r.objects.get(namespaces, "", name)
	if err != nil {
		return nil, err
	}
	return o.(*corev1.Namespace), nil
}

type namespaceLister struct {
	corelisters.NamespaceLister
	namespaces namespaceReader
}

// Get implements corelisters.NamespaceLister.
func (l namespaceLister) Get(name string) (*corev1.Namespace, error) { return l.namespaces.get(name) }

// client is the client that a plugin asks for a namespace that its lister does not have.
type client struct {
	kubernetes.Interface
	namespaces namespaceReader
}

// CoreV1 implements kubernetes.Interface.
func (c client) CoreV1() typedcorev1.CoreV1Interface { return coreClient{namespaces: c.namespaces} }

type coreClient struct {
	typedcorev1.CoreV1Interface
	namespaces namespaceReader
}

// Namespaces implements typedcorev1.CoreV1Interface.
func (c coreClient) Namespaces() typedcorev1.NamespaceInterface {
	return namespaceClient{namespaces: c.namespaces}
}

type namespaceClient struct {
	typedcorev1.NamespaceInterface
	namespaces namespaceReader
}

// Get implements typedcorev1.NamespaceInterface.
func (c namespaceClient) Get(_ context.Context, name string, _ metav1.GetOptions) (*corev1.Namespace, error) {
	return c.namespaces.get(name)
}
