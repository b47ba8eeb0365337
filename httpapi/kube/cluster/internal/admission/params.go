package admission

import (
	"fmt"

	admissionv1 "k8s.io/api/admissionregistration/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/tools/cache"

	"github.com/kubecoord/kubecoord/store"
	"github.com/kubecoord/kubecoord/store/kind"
)

// params returns the objects of a paramKind, or the error of a kind that is not served. All is nil for no kind.
func (o *objects) params(of *admissionv1.ParamKind) (informers.GenericInformer, meta.RESTScope, error) {
	if of == nil {
		return nil, nil, nil
	}
	gv, err := schema.ParseGroupVersion(of.APIVersion)
	if err != nil {
		return nil, nil, fmt.Errorf("failed to parse paramKind APIVersion: %w", err)
	}
	r, version := o.find(gv.Group, gv.Version, func(i *kind.Info) bool { return i.Kind == of.Kind })
	if r == nil {
		return nil, nil, fmt.Errorf("failed to find resource referenced by paramKind: '%v'", gv.WithKind(of.Kind))
	}
	scope := meta.RESTScopeNamespace
	if r.Kind().Info().ClusterScoped {
		scope = meta.RESTScopeRoot
	}
	return params{objects: o, resource: r, version: version}, scope, nil
}

// params are the objects of a kind, as an informer that is always in sync. It reads the store.
type params struct {
	objects   *objects
	resource  *store.Objects
	version   int
	namespace string
}

// Informer implements informers.GenericInformer.
func (p params) Informer() cache.SharedIndexInformer { return &informer[runtime.Object]{} }

// Lister implements informers.GenericInformer.
func (p params) Lister() cache.GenericLister { return p }

// ByNamespace implements cache.GenericLister.
func (p params) ByNamespace(namespace string) cache.GenericNamespaceLister {
	p.namespace = namespace
	return p
}

// Get implements cache.GenericLister.
func (p params) Get(name string) (runtime.Object, error) {
	found := p.resource.Get(p.namespace, name)
	if found == nil {
		gr := p.resource.Kind().GroupResource()
		return nil, apierrors.NewNotFound(schema.GroupResource{Group: gr.Group, Resource: gr.Resource}, name)
	}
	return asRead(p.resource.Kind(), p.version, found)
}

// List implements cache.GenericLister.
func (p params) List(selector labels.Selector) (all []runtime.Object, err error) {
	objects, err := p.objects.list(p.resource, p.version, p.namespace)
	for _, o := range objects {
		if m, err := meta.Accessor(o); err == nil && selector.Matches(labels.Set(m.GetLabels())) {
			all = append(all, o)
		}
	}
	return all, err
}
