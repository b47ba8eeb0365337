package admission

import (
	"errors"
	"fmt"
	"net"
	"net/url"
	"slices"
	"strconv"

	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apiserver/pkg/util/webhook"

	"github.com/kubecoord/kubecoord/httpapi"
	"github.com/kubecoord/kubecoord/httpapi/kube/cluster/internal/proxies"
)

// Services returns the resolver of an API. A service has the cluster IP that its writer gave it, and other services their endpoints, as
// with --enable-aggregator-routing of a kube-apiserver. If dials is set, somebody else knows the way: a service without endpoints has its
// DNS name. If allocated is set, each service has a cluster IP, which nothing routes: nobody calls it.
func Services(api *httpapi.API, dials, allocated bool) webhook.ServiceResolver {
	return services{&objects{api: api}, dials, allocated}
}

type services struct {
	objects          *objects
	dials, allocated bool
}

// ResolveEndpoint implements webhook.ServiceResolver, as ResolveCluster and ResolveEndpoint of upstream's util/proxy/proxy.go. That package
// brings the protocols of exec, attach and port-forward.
func (s services) ResolveEndpoint(namespace, name string, port int32) (*url.URL, error) {
	o, err := s.objects.get(corev1.SchemeGroupVersion.WithResource("services"), namespace, name)
	if err != nil {
		return nil, apierrors.NewNotFound(corev1.Resource("service"), name) // the text of a lister
	}
	service := o.(*corev1.Service)
	spec := &service.Spec
	switch {
	case spec.Type == corev1.ServiceTypeClusterIP && spec.ClusterIP == corev1.ClusterIPNone:
		return nil, errors.New(`cannot route to service with ClusterIP "None"`)
	case spec.Type == corev1.ServiceTypeExternalName:
		return to(spec.ExternalName, port), nil
	case spec.Type != corev1.ServiceTypeClusterIP && spec.Type != corev1.ServiceTypeLoadBalancer && spec.Type != corev1.ServiceTypeNodePort:
		return nil, fmt.Errorf("unsupported service type %q", spec.Type)
	}
	i := slices.IndexFunc(spec.Ports, func(p corev1.ServicePort) bool { return p.Port == port })
	if i < 0 {
		return nil, apierrors.NewServiceUnavailable(fmt.Sprintf("no service port %d found for service %q", port, name))
	}
	if spec.ClusterIP != "" && !s.allocated {
		return to(spec.ClusterIP, port), nil
	}
	u, err := s.endpoint(service, spec.Ports[i].Name)
	if err != nil && s.dials {
		return webhook.NewDefaultServiceResolver().ResolveEndpoint(namespace, name, port)
	}
	return u, err
}

func to(host string, port int32) *url.URL {
	return &url.URL{Scheme: "https", Host: net.JoinHostPort(host, strconv.Itoa(int(port)))}
}

// endpoint returns the address of an endpoint, rather of the first family of the service.
func (s services) endpoint(service *corev1.Service, port string) (*url.URL, error) {
	all, err := s.slices(service.Namespace, service.Name)
	if err != nil {
		return nil, err
	}
	host, err := proxies.RandomEndpoint(service.Name, all, port, slices.Concat(service.Spec.IPFamilies, []corev1.IPFamily{corev1.IPFamilyUnknown})[0], nil)
	if err != nil {
		return nil, err
	}
	return &url.URL{Scheme: "https", Host: host}, nil
}

// slices returns the EndpointSlices of a service.
func (s services) slices(namespace, name string) (of []*discoveryv1.EndpointSlice, err error) {
	r, version := s.objects.resource(discoveryv1.SchemeGroupVersion.WithResource("endpointslices"))
	if r == nil {
		return nil, nil
	}
	all, err := s.objects.list(r, version, namespace)
	for _, o := range all {
		if slice := o.(*discoveryv1.EndpointSlice); slice.Labels[discoveryv1.LabelServiceName] == name {
			of = append(of, slice)
		}
	}
	return of, err
}
