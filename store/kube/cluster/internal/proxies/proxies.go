// Package proxies passes requests on to nodes, pods, services and the servers of other API groups, as a kube-apiserver does.
package proxies

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"maps"
	"net"
	"net/http"
	"net/http/httputil"
	"net/url"
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/util/proxy"

	"github.com/kubecoord/kubecoord/endpoints"
	"github.com/kubecoord/kubecoord/httpapi"
	"github.com/kubecoord/kubecoord/store"
	"github.com/kubecoord/kubecoord/store/kind"
	"github.com/kubecoord/kubecoord/store/kube/cluster/internal/typed"
	"github.com/kubecoord/kubecoord/store/kube/scheme"
	"github.com/kubecoord/kubecoord/store/meta"
)

// Dial connects to an address. Nil means TCP.
type Dial func(ctx context.Context, network, address string) (net.Conn, error)

// Extend changes the options of an API, from one of its httpapi.Options.Parts, so that its requests reach nodes, pods and services by
// dial.
func Extend(a *httpapi.API, opts *httpapi.Options, dial Dial) {
	p := &proxier{api: a, transport: transport(dial)}
	typed.With(opts, func(ctx context.Context) context.Context { return scheme.WithProxier(ctx, p) })
}

// transport returns a transport that keeps no connections, so that none outlives its API. Nobody has given the server the certificates
// of kubelets and pods.
func transport(dial Dial) *http.Transport {
	if dial == nil {
		dial = (&net.Dialer{}).DialContext
	}
	return &http.Transport{DialContext: dial, TLSClientConfig: &tls.Config{InsecureSkipVerify: true}, DisableKeepAlives: true}
}

// proxier implements scheme.Proxier for one API.
type proxier struct {
	api       *httpapi.API
	transport *http.Transport
}

// object returns an object of the core group, or nil.
func (p *proxier) object(resource, namespace, name string) meta.Object {
	objects := typed.ObjectsOf(p.api, meta.GroupResource{Resource: resource})
	if objects == nil {
		return nil
	}
	return objects.Get(namespace, name)
}

// Node implements scheme.Proxier.
func (p *proxier) Node(name string) *corev1.Node {
	if o := p.object("nodes", "", name); o != nil {
		return kind.ValueOf[corev1.Node](o)
	}
	return nil
}

// Endpoint implements scheme.Proxier.
func (p *proxier) Endpoint(namespace, service, port, id string) (string, error) {
	o, ok := p.object("endpoints", namespace, service).(*endpoints.Endpoints)
	if !ok {
		return "", meta.NewNotFound(meta.GroupResource{Resource: "services"}, service)
	}
	none := service // upstream names the service in one case, and the request in the other
	for _, s := range o.Subsets {
		none = id
		for _, at := range s.Ports {
			if at.Name != port {
				continue
			}
			for _, a := range s.Addresses {
				if p.isPod(namespace, &a) {
					return net.JoinHostPort(a.IP, strconv.Itoa(int(at.Port))), nil
				}
			}
		}
	}
	return "", meta.NewStatusError(http.StatusServiceUnavailable, "ServiceUnavailable", nil, fmt.Sprintf("no endpoints available for service %q", none))
}

// isPod reports whether an address is an address of the pod that it names.
func (p *proxier) isPod(namespace string, a *endpoints.EndpointAddress) bool {
	if a.TargetRef == nil || a.TargetRef.Namespace != namespace {
		return false
	}
	o := p.object("pods", namespace, a.TargetRef.Name)
	if o == nil {
		return false
	}
	for _, ip := range kind.ValueOf[corev1.Pod](o).Status.PodIPs {
		if ip.IP == a.IP {
			return true
		}
	}
	return false
}

// Handler implements scheme.Proxier.
func (p *proxier) Handler(to scheme.Target) http.Handler {
	if to.Logs {
		return p.logs(&to.URL)
	}
	h := proxy.NewUpgradeAwareHandler(&to.URL, p.transport, !to.Upgrade, to.Upgrade, p)
	h.UseLocationHost = true
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { h.ServeHTTP(w, WithoutUser(r)) })
}

// logs returns the handler that gets logs.
func (p *proxier) logs(to *url.URL) http.Handler {
	return &httputil.ReverseProxy{
		Transport: p.transport, FlushInterval: -1,
		Rewrite: func(r *httputil.ProxyRequest) {
			r.Out.URL, r.Out.Host = to, to.Host
			r.Out.Header = http.Header{}
		},
		ErrorHandler: func(w http.ResponseWriter, r *http.Request, err error) {
			p.fail(w, r, fmt.Errorf("Get %q: %w", to, err))
		},
	}
}

// Error implements proxy.ErrorResponder: an error of the connection.
func (p *proxier) Error(w http.ResponseWriter, r *http.Request, err error) { p.fail(w, r, err) }

// fail answers with an error, which may be one of upstream's.
func (p *proxier) fail(w http.ResponseWriter, r *http.Request, err error) {
	var s apierrors.APIStatus
	if errors.As(err, &s) {
		err = meta.NewStatusError(int(s.Status().Code), meta.Reason(s.Status().Reason), nil, s.Status().Message)
	}
	p.api.Fail(w, r, err)
}

var _ scheme.Proxier = (*proxier)(nil)

// WithoutUser returns a request without the credentials of its user, and as no user of the store: for another server.
func WithoutUser(r *http.Request) *http.Request {
	r = r.Clone(store.WithUser(r.Context(), store.User{}))
	r.Header.Del("Authorization")
	maps.DeleteFunc(r.Header, func(name string, _ []string) bool { return strings.HasPrefix(name, "Impersonate-") })
	return r
}
