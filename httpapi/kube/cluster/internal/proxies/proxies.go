// Package proxies passes requests on to nodes, pods, services and the servers of other API groups, as a kube-apiserver does.
package proxies

import (
	"context"
	"crypto/tls"
	"io"
	"maps"
	"net"
	"net/http"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	"k8s.io/apimachinery/pkg/util/proxy"
	"k8s.io/apiserver/pkg/registry/generic/rest"
	"k8s.io/apiserver/pkg/util/flushwriter"

	"github.com/kubecoord/kubecoord/httpapi"
	"github.com/kubecoord/kubecoord/httpapi/kube/cluster/internal/typed"
	"github.com/kubecoord/kubecoord/httpapi/kube/internal/ask"
	"github.com/kubecoord/kubecoord/store"
	"github.com/kubecoord/kubecoord/store/meta"
)

// Dial connects to an address. Nil means TCP.
type Dial func(ctx context.Context, network, address string) (net.Conn, error)

// Extend changes the options of an API, from one of its httpapi.Options.Parts, so that its requests reach nodes, pods and services by
// dial: services rather at endpoints of a family than at others.
func Extend(a *httpapi.API, opts *httpapi.Options, dial Dial, family corev1.IPFamily) {
	core := func(resource string) meta.GroupResource { return meta.GroupResource{Resource: resource} }
	p := &proxier{
		api: a, transport: transport(dial), family: family, nodes: typed.In[corev1.Node](a, core("nodes")), pods: typed.In[corev1.Pod](a, core("pods")),
		slices: typed.In[discoveryv1.EndpointSlice](a, meta.GroupResource{Group: discoveryv1.GroupName, Resource: "endpointslices"}),
	}
	typed.With(opts, func(ctx context.Context) context.Context { return ask.With[ask.Proxier](ctx, p) })
}

// transport returns a transport that keeps no connections, so that none outlives its API. Nobody has given the server the certificates
// of kubelets and pods.
func transport(dial Dial) *http.Transport {
	if dial == nil {
		dial = (&net.Dialer{}).DialContext
	}
	return &http.Transport{DialContext: dial, TLSClientConfig: &tls.Config{InsecureSkipVerify: true}, DisableKeepAlives: true}
}

// proxier implements ask.Proxier for one API.
type proxier struct {
	api       *httpapi.API
	transport *http.Transport
	family    corev1.IPFamily
	nodes     *typed.Objects[corev1.Node]
	pods      *typed.Objects[corev1.Pod]
	slices    *typed.Objects[discoveryv1.EndpointSlice]
}

// Node implements ask.Proxier.
func (p *proxier) Node(name string) *corev1.Node { return p.nodes.Get("", name) }

// Endpoint implements ask.Proxier.
func (p *proxier) Endpoint(namespace, service, port string) (string, error) {
	var all []*discoveryv1.EndpointSlice
	for s := range p.slices.All(namespace) {
		if s.Labels[discoveryv1.LabelServiceName] == service {
			all = append(all, s)
		}
	}
	at, err := RandomEndpoint(service, all, port, p.family, func(e *discoveryv1.Endpoint) bool { return p.isPod(namespace, e) })
	return at, typed.Status(err)
}

// isPod reports whether an endpoint is the address of a pod in the namespace, which it names (upstream: registry/core/service/storage,
// isValidAddress).
func (p *proxier) isPod(namespace string, e *discoveryv1.Endpoint) bool {
	if e.TargetRef == nil || e.TargetRef.Namespace != namespace {
		return false
	}
	pod := p.pods.Get(namespace, e.TargetRef.Name)
	return pod != nil && slices.ContainsFunc(pod.Status.PodIPs, func(ip corev1.PodIP) bool { return ip.IP == e.Addresses[0] })
}

// Handler implements ask.Proxier.
func (p *proxier) Handler(to ask.Target) http.Handler {
	if to.Logs != "" {
		return p.logs(to)
	}
	h := proxy.NewUpgradeAwareHandler(&to.URL, p.transport, !to.Upgrade, to.Upgrade, p)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { h.ServeHTTP(w, WithoutUser(r)) })
}

// logs returns the handler that gets logs. It follows no redirect of a kubelet, and passes none on (upstream: registry/core/pod/rest,
// log.go).
func (p *proxier) logs(to ask.Target) http.Handler {
	from := &rest.LocationStreamer{
		Location: &to.URL, Transport: p.transport, RedirectChecker: rest.PreventRedirects,
		ResponseChecker: rest.NewGenericHttpResponseChecker(corev1.Resource("pods/log"), to.Logs),
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		logs, _, _, err := from.InputStream(r.Context(), "", "")
		if err != nil {
			p.Error(w, r, err)
			return
		}
		defer logs.Close()
		w.Header().Set("Content-Type", "text/plain")
		w.WriteHeader(http.StatusOK)
		_ = http.NewResponseController(w).Flush()
		_, _ = io.Copy(flushwriter.Wrap(w), logs) // whoever stops first
	})
}

// Error implements proxy.ErrorResponder: an error of the connection.
func (p *proxier) Error(w http.ResponseWriter, r *http.Request, err error) {
	p.api.Fail(w, r, typed.Status(err))
}

var _ ask.Proxier = (*proxier)(nil)

// WithoutUser returns a request without the credentials of its user, and as no user of the store: for another server.
func WithoutUser(r *http.Request) *http.Request {
	r = r.Clone(store.WithUser(r.Context(), store.User{}))
	r.URL.Scheme, r.URL.Host = "", "" // which a request in process has
	r.Header.Del("Authorization")
	maps.DeleteFunc(r.Header, func(name string, _ []string) bool { return strings.HasPrefix(name, "Impersonate-") })
	return r
}
