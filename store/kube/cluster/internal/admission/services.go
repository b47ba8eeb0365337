package admission

import (
	"net/url"

	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apiserver/pkg/util/proxy"
	"k8s.io/apiserver/pkg/util/webhook"
	corelisters "k8s.io/client-go/listers/core/v1"

	"github.com/kubecoord/kubecoord/httpapi"
)

// Services returns the resolver of an API. A service has the cluster IP that its writer gave it, and other services their endpoints, as with
// --enable-aggregator-routing of a kube-apiserver. If dials is set, somebody else knows the way: a service without endpoints has its DNS
// name. If allocated is set, each service has a cluster IP, which nothing routes: nobody calls it.
func Services(api *httpapi.API, dials, allocated bool) webhook.ServiceResolver {
	return services{&objects{api: api}, dials, allocated}
}

type services struct {
	objects          *objects
	dials, allocated bool
}

// ResolveEndpoint implements webhook.ServiceResolver.
func (s services) ResolveEndpoint(namespace, name string, port int32) (*url.URL, error) {
	lister := serviceLister{objects: s.objects}
	cluster, err := proxy.ResolveCluster(lister, namespace, name, port)
	if err != nil || cluster.Hostname() != "" && !(s.allocated && s.isAllocated(namespace, name)) {
		return cluster, err
	}
	u, err := proxy.ResolveEndpoint(lister, s, namespace, name, port)
	if err != nil && s.dials {
		return webhook.NewDefaultServiceResolver().ResolveEndpoint(namespace, name, port)
	}
	return u, err
}

// isAllocated reports whether a service has an address of a range.
func (s services) isAllocated(namespace, name string) bool {
	service, err := serviceLister{objects: s.objects}.Services(namespace).Get(name)
	return err == nil && service.Spec.Type != corev1.ServiceTypeExternalName && service.Spec.ClusterIP != ""
}

// GetEndpointSlices implements proxy.EndpointSliceGetter.
func (s services) GetEndpointSlices(namespace, name string) (slices []*discoveryv1.EndpointSlice, err error) {
	r, version := s.objects.resource(discoveryv1.SchemeGroupVersion.WithResource("endpointslices"))
	if r == nil {
		return nil, nil
	}
	all, err := s.objects.list(r, version, namespace)
	for _, o := range all {
		if slice := o.(*discoveryv1.EndpointSlice); slice.Labels[discoveryv1.LabelServiceName] == name {
			slices = append(slices, slice)
		}
	}
	return slices, err
}

// serviceLister reads services from the store.
type serviceLister struct {
	corelisters.ServiceLister
	objects *objects
}

// Services implements corelisters.ServiceLister.
func (l serviceLister) Services(namespace string) corelisters.ServiceNamespaceLister {
	return namespacedServices{objects: l.objects, namespace: namespace}
}

type namespacedServices struct {
	corelisters.ServiceNamespaceLister
	objects   *objects
	namespace string
}

// Get implements corelisters.ServiceNamespaceLister.
func (l namespacedServices) Get(name string) (*corev1.Service, error) {
	o, err := l.objects.get(corev1.SchemeGroupVersion.WithResource("services"), l.namespace, name)
	if err != nil {
		return nil, apierrors.NewNotFound(corev1.Resource("service"), name) // the text of a lister
	}
	return o.(*corev1.Service), nil
}
