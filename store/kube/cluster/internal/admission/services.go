package admission

import (
	"net/url"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apiserver/pkg/util/proxy"
	"k8s.io/apiserver/pkg/util/webhook"
	corelisters "k8s.io/client-go/listers/core/v1"

	"github.com/kubecoord/kubecoord/httpapi"
)

// Services returns the resolver of a server that does not route to endpoints itself: a service has its cluster IP.
func Services(api *httpapi.API) webhook.ServiceResolver { return services{&objects{api: api}} }

type services struct{ objects *objects }

// ResolveEndpoint implements webhook.ServiceResolver.
func (s services) ResolveEndpoint(namespace, name string, port int32) (*url.URL, error) {
	return proxy.ResolveCluster(serviceLister{objects: s.objects}, namespace, name, port)
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
