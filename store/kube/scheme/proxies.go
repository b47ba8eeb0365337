package scheme

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"strconv"

	corev1 "k8s.io/api/core/v1"
	utilnet "k8s.io/apimachinery/pkg/util/net"

	"github.com/kubecoord/kubecoord/store/kind"
	"github.com/kubecoord/kubecoord/store/meta"
)

// This file has the paths proxy of nodes, pods and services, and what they share with the streams of a pod (upstream:
// registry/core, ResourceLocation of each of the three).

// Proxier passes requests on to nodes, pods and services.
type Proxier interface {
	// Node returns a node, or nil if there is none.
	Node(name string) *corev1.Node
	// Endpoint returns the address of a pod that serves a port of a service, by the port's name. id is the name of the service as the
	// request has it.
	Endpoint(namespace, service, port, id string) (string, error)
	// Handler returns the handler that passes a request on.
	Handler(to Target) http.Handler
}

// Target is where a request is passed on to.
type Target struct {
	url.URL
	// Upgrade refuses requests that do not upgrade their connection, as exec needs it. Logs gives errors the text of a request for
	// logs.
	Upgrade, Logs bool
}

type proxierKey struct{}

// WithProxier returns a context for requests that p passes on. Without one no node, pod or service can be reached.
func WithProxier(ctx context.Context, p Proxier) context.Context {
	return context.WithValue(ctx, proxierKey{}, p)
}

func proxierOf(ctx context.Context) Proxier {
	p, _ := ctx.Value(proxierKey{}).(Proxier)
	return p
}

// defaultKubeletPort is the default of the kubelet's flag --port.
const defaultKubeletPort = 10250

// unreachable is the error of a request that nobody passes on.
func unreachable() error { return unavailable("error trying to reach service: there is no network") }

func unavailable(message string) error {
	return meta.NewStatusError(http.StatusServiceUnavailable, "ServiceUnavailable", nil, message)
}

// locate returns the location of a request. The parts of its name are "scheme:name:port", "name:port" or "name".
type locate func(ctx context.Context, to kind.Connection, name, port string, parent func(string) (meta.Object, error)) (host string, err error)

// proxy returns the subresource proxy of a kind.
func proxy(of, options string, find locate) kind.Subresource[meta.Object] {
	return kind.Subresource[meta.Object]{
		Name: "proxy", Verbs: []string{"create", "delete", "get", "patch", "update"}, ConnectKind: options, ConnectPaths: true,
		Connect: func(ctx context.Context, to kind.Connection, parent func(string) (meta.Object, error)) (http.Handler, error) {
			scheme, name, port, valid := utilnet.SplitSchemeNamePort(to.Name)
			if !valid {
				return nil, meta.NewBadRequest("invalid %s request %q", of, to.Name)
			}
			host, err := find(ctx, to, name, port, parent)
			if err != nil {
				return nil, err
			}
			p := proxierOf(ctx)
			if p == nil {
				return nil, unreachable()
			}
			if _, at, _ := net.SplitHostPort(host); of == "node" && (port == "" || port == at) {
				scheme = "https" // the kubelet
			}
			return p.Handler(Target{URL: url.URL{Scheme: scheme, Host: host, Path: to.Path}}), nil
		},
	}
}

func podProxy() kind.Subresource[meta.Object] {
	return proxy("pod", "PodProxyOptions", func(_ context.Context, _ kind.Connection, name, port string, parent func(string) (meta.Object, error)) (string, error) {
		o, err := parent(name)
		if err != nil {
			return "", err
		}
		p := value[corev1.Pod](o)
		if port == "" {
			port = firstPort(p)
		}
		ip, err := netip.ParseAddr(podIP(p))
		if err != nil || !net.IP(ip.AsSlice()).IsGlobalUnicast() {
			return "", meta.NewBadRequest("address not allowed")
		}
		if port == "" {
			return (&url.URL{Host: ip.String()}).Host, nil
		}
		return net.JoinHostPort(ip.String(), port), nil
	})
}

// podIP returns the first address of a pod, or "".
func podIP(p *corev1.Pod) string {
	if len(p.Status.PodIPs) == 0 {
		return ""
	}
	return p.Status.PodIPs[0].IP
}

// firstPort returns the first port of the first container that has one.
func firstPort(p *corev1.Pod) string {
	for _, c := range p.Spec.Containers {
		if len(c.Ports) > 0 {
			return strconv.Itoa(int(c.Ports[0].ContainerPort))
		}
	}
	return ""
}

func serviceSubresources(*builder) ([]kind.Subresource[meta.Object], error) {
	return []kind.Subresource[meta.Object]{proxy("service", "ServiceProxyOptions", func(ctx context.Context, to kind.Connection, name, port string, parent func(string) (meta.Object, error)) (string, error) {
		if number, err := strconv.ParseInt(port, 10, 64); err == nil {
			o, err := parent(name)
			if err != nil {
				return "", err
			}
			declared, ok := portName(value[corev1.Service](o), number)
			if !ok {
				return "", unavailable(fmt.Sprintf("no service port %d found for service %q", number, name))
			}
			port = declared
		}
		p := proxierOf(ctx)
		if p == nil {
			return "", unreachable()
		}
		return p.Endpoint(to.Namespace, name, port, to.Name)
	})}, nil
}

// portName returns the name of a port of a service.
func portName(s *corev1.Service, number int64) (name string, ok bool) {
	for _, p := range s.Spec.Ports {
		if int64(p.Port) == number {
			return p.Name, true
		}
	}
	return "", false
}

func nodeSubresources(*builder) ([]kind.Subresource[meta.Object], error) {
	return []kind.Subresource[meta.Object]{proxy("node", "NodeProxyOptions", func(ctx context.Context, _ kind.Connection, name, port string, parent func(string) (meta.Object, error)) (string, error) {
		o, err := parent(name)
		if err != nil {
			return "", err
		}
		host, kubelet, err := kubeletOf(value[corev1.Node](o))
		if err != nil {
			return "", err
		}
		if err := checkHostname(ctx, host); err != nil {
			return "", meta.NewBadRequest("%v", err)
		}
		if port == "" {
			port = kubelet
		}
		return net.JoinHostPort(host, port), nil
	})}, nil
}

// kubeletOf returns the address and the port of the kubelet of a node. The order is the default of
// --kubelet-preferred-address-types.
func kubeletOf(n *corev1.Node) (host, port string, err error) {
	port = strconv.Itoa(defaultKubeletPort)
	if p := n.Status.DaemonEndpoints.KubeletEndpoint.Port; p > 0 {
		port = strconv.Itoa(int(p))
	}
	for _, preferred := range []corev1.NodeAddressType{
		corev1.NodeHostName, corev1.NodeInternalDNS, corev1.NodeInternalIP, corev1.NodeExternalDNS, corev1.NodeExternalIP,
	} {
		for _, a := range n.Status.Addresses {
			if a.Type == preferred {
				return a.Address, port, nil
			}
		}
	}
	return "", "", fmt.Errorf("no preferred addresses found; known addresses: %v", n.Status.Addresses)
}

// checkHostname refuses the addresses of the machine itself.
func checkHostname(ctx context.Context, name string) error {
	all, err := net.DefaultResolver.LookupIPAddr(ctx, name)
	if err != nil {
		return err
	}
	for _, a := range all {
		if !a.IP.IsGlobalUnicast() {
			return fmt.Errorf("address not allowed")
		}
	}
	return nil
}

// toKubelet returns the handler that passes a request on to the kubelet of a pod's node. A node that does not exist is named as a pod,
// as upstream does.
func toKubelet(ctx context.Context, node, path string, query url.Values, logs bool) (http.Handler, error) {
	p := proxierOf(ctx)
	var n *corev1.Node
	if p != nil {
		n = p.Node(node)
	}
	if n == nil {
		return nil, meta.NewNotFound(meta.GroupResource{Resource: "pods"}, node)
	}
	host, port, err := kubeletOf(n)
	if err != nil {
		return nil, err
	}
	to := url.URL{Scheme: "https", Host: net.JoinHostPort(host, port), Path: path, RawQuery: query.Encode()}
	return p.Handler(Target{URL: to, Upgrade: !logs, Logs: logs}), nil
}
