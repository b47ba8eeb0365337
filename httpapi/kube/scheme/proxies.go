package scheme

import (
	"cmp"
	"context"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"reflect"
	"strconv"

	corev1 "k8s.io/api/core/v1"
	utilnet "k8s.io/apimachinery/pkg/util/net"

	"github.com/kubecoord/kubecoord/httpapi/kube/internal/ask"
	"github.com/kubecoord/kubecoord/store/kind"
	"github.com/kubecoord/kubecoord/store/meta"
)

// This file has the paths proxy of nodes, pods and services, and what they share with the streams of a pod (upstream:
// registry/core, ResourceLocation of each of the three).

// defaultKubeletPort is the default of the kubelet's flag --port.
const defaultKubeletPort = 10250

// unreachable is the error of a request that nobody passes on.
func unreachable() error { return unavailable("error trying to reach service: there is no network") }

func unavailable(message string) error {
	return meta.NewStatusError(http.StatusServiceUnavailable, "ServiceUnavailable", nil, message)
}

// locate returns the scheme and the host of a request. The parts of its name are "scheme:name:port", "name:port" or "name".
type locate func(ctx context.Context, to kind.Connection, name part, parent func(string) (meta.Object, error)) (url.URL, error)

// part is a part of the path that names an object, a port and a scheme. The last two may be "".
type part struct{ scheme, name, port string }

// at returns the URL of a port.
func (p part) at(host, port string) url.URL {
	return url.URL{Scheme: p.scheme, Host: net.JoinHostPort(host, port)}
}

// proxy returns the subresource proxy of a kind. Its options are an O, in which path returns the path.
func proxy[O any](of string, path func(*O) *string, find locate) kind.Subresource[meta.Object] {
	return kind.Subresource[meta.Object]{Name: "proxy", Verbs: []string{"create", "delete", "get", "patch", "update"}, Native: &kind.NativeSubresource[meta.Object]{
		ConnectKind: reflect.TypeFor[O]().Name(), ConnectPaths: true,
		Options: func(to kind.Connection) (any, error) {
			o := new(O)
			*path(o) = to.Path
			return o, nil
		},
		Connect: func(ctx context.Context, to kind.Connection, parent func(string) (meta.Object, error)) (http.Handler, error) {
			var name part
			var valid bool
			if name.scheme, name.name, name.port, valid = utilnet.SplitSchemeNamePort(to.Name); !valid {
				return nil, meta.NewBadRequest("invalid %s request %q", of, to.Name)
			}
			at, err := find(ctx, to, name, parent)
			if err != nil {
				return nil, err
			}
			p := ask.Of[ask.Proxier](ctx)
			if p == nil {
				return nil, unreachable()
			}
			at.Path = *path(to.Options.(*O))
			return p.Handler(ask.Target{URL: at}), nil
		},
	}}
}

func podProxy() kind.Subresource[meta.Object] {
	return proxy("pod", func(o *corev1.PodProxyOptions) *string { return &o.Path }, func(_ context.Context, _ kind.Connection, name part, parent func(string) (meta.Object, error)) (url.URL, error) {
		o, err := parent(name.name)
		if err != nil {
			return url.URL{}, err
		}
		p := value[corev1.Pod](o)
		ip, err := netip.ParseAddr(podIP(p))
		if err != nil || !net.IP(ip.AsSlice()).IsGlobalUnicast() {
			return url.URL{}, meta.NewBadRequest("address not allowed")
		}
		if port := cmp.Or(name.port, firstPort(p)); port != "" {
			return name.at(ip.String(), port), nil
		}
		host := ip.String()
		if ip.Is6() {
			host = "[" + host + "]"
		}
		return url.URL{Scheme: name.scheme, Host: host}, nil
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
	return []kind.Subresource[meta.Object]{proxy("service", func(o *corev1.ServiceProxyOptions) *string { return &o.Path }, func(ctx context.Context, to kind.Connection, name part, parent func(string) (meta.Object, error)) (url.URL, error) {
		port := name.port
		if number, err := strconv.ParseInt(port, 10, 64); err == nil {
			o, err := parent(name.name)
			if err != nil {
				return url.URL{}, err
			}
			declared, ok := portName(value[corev1.Service](o), number)
			if !ok {
				return url.URL{}, unavailable(fmt.Sprintf("no service port %d found for service %q", number, name.name))
			}
			port = declared
		}
		p := ask.Of[ask.Proxier](ctx)
		if p == nil {
			return url.URL{}, unreachable()
		}
		host, err := p.Endpoint(to.Namespace, name.name, port)
		return url.URL{Scheme: name.scheme, Host: host}, err
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
	return []kind.Subresource[meta.Object]{proxy("node", func(o *corev1.NodeProxyOptions) *string { return &o.Path }, func(ctx context.Context, _ kind.Connection, name part, parent func(string) (meta.Object, error)) (url.URL, error) {
		o, err := parent(name.name)
		if err != nil {
			return url.URL{}, err
		}
		host, kubelet, err := kubeletOf(value[corev1.Node](o))
		if err != nil {
			return url.URL{}, err
		}
		if err := checkHostname(ctx, host); err != nil {
			return url.URL{}, meta.NewBadRequest("%v", err)
		}
		if name.port == "" || name.port == kubelet {
			name.scheme = "https"
			return name.at(host, kubelet), nil
		}
		return name.at(host, name.port), nil
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

// toKubelet returns the handler that passes a request on to the kubelet of a pod's node, and reads the logs of a pod if logs is its name. A
// node that does not exist is named as a pod, as upstream does.
func toKubelet(ctx context.Context, node, path string, query url.Values, logs string) (http.Handler, error) {
	p := ask.Of[ask.Proxier](ctx)
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
	return p.Handler(ask.Target{URL: to, Upgrade: logs == "", Logs: logs}), nil
}
