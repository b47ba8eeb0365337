package aggregator

import (
	"context"
	"crypto/tls"
	"net"
	"net/http"
	"net/url"

	utilnet "k8s.io/apimachinery/pkg/util/net"
	"k8s.io/apimachinery/pkg/util/proxy"
	"k8s.io/client-go/transport"
	apiregistrationv1 "k8s.io/kube-aggregator/pkg/apis/apiregistration/v1"
	"k8s.io/kube-aggregator/pkg/apis/apiregistration/v1/helper"
	"k8s.io/streaming/pkg/httpstream"

	"github.com/kubecoord/kubecoord/httpapi/kube/cluster/internal/proxies"
	"github.com/kubecoord/kubecoord/store"
)

// remote returns the handler that passes requests on to the service of an APIService (upstream: kube-aggregator,
// apiserver/handler_proxy.go).
func (g *aggregator) remote(s *apiregistrationv1.APIService) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !helper.IsAPIServiceConditionTrue(s, apiregistrationv1.Available) {
			http.Error(w, "service unavailable", http.StatusServiceUnavailable)
			return
		}
		client, err := g.transport(s)
		if err != nil {
			http.Error(w, err.Error(), http.StatusInternalServerError)
			return
		}
		defer client.CloseIdleConnections()
		at, err := g.resolve(s)
		if err != nil {
			http.Error(w, "service unavailable", http.StatusServiceUnavailable)
			return
		}
		location := &url.URL{Scheme: "https", Host: at.Host, Path: r.URL.Path, RawQuery: r.URL.Query().Encode()}
		u, upgrade := store.UserOf(r.Context()), httpstream.IsUpgradeRequest(r)
		to := proxies.WithoutUser(r)
		to.URL, to.Host = location, location.Host
		if upgrade {
			transport.SetAuthProxyHeaders(to, u.Name, u.UID, u.Groups, u.Extra)
		}
		h := proxy.NewUpgradeAwareHandler(location, transport.NewAuthProxyRoundTripper(u.Name, u.UID, u.Groups, u.Extra, client), true, upgrade, unreached{w})
		h.RejectForwardingRedirects = true
		h.ServeHTTP(w, to)
	})
}

// unreached answers with the error of a connection.
type unreached struct{ w http.ResponseWriter }

// Error implements proxy.ErrorResponder.
func (f unreached) Error(_ http.ResponseWriter, _ *http.Request, err error) {
	http.Error(f.w, err.Error(), http.StatusServiceUnavailable)
}

// resolve returns the address of the service of an APIService.
func (g *aggregator) resolve(s *apiregistrationv1.APIService) (*url.URL, error) {
	return g.Services.ResolveEndpoint(s.Spec.Service.Namespace, s.Spec.Service.Name, port(s))
}

// port returns the port of the service, whose default is set when an APIService is written.
func port(s *apiregistrationv1.APIService) int32 {
	if s.Spec.Service.Port == nil {
		return 443
	}
	return *s.Spec.Service.Port
}

// client returns a client for what the aggregator itself asks of the service of an APIService. It follows no redirect: its requests have
// the rights of the aggregator, and whoever registers an APIService would choose where they go. Its idle connections must be closed.
func (g *aggregator) client(s *apiregistrationv1.APIService) (*http.Client, error) {
	rt, err := g.transport(s)
	if err != nil {
		return nil, err
	}
	return &http.Client{Transport: rt, Timeout: checkTime, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}, nil
}

// transport returns a transport to the service of an APIService. Its idle connections must be closed, so that none outlives the API.
func (g *aggregator) transport(s *apiregistrationv1.APIService) (*http.Transport, error) {
	config, err := transport.TLSConfigFor(&transport.Config{TLS: transport.TLSConfig{
		Insecure: s.Spec.InsecureSkipTLSVerify, CAData: s.Spec.CABundle, ServerName: s.Spec.Service.Name + "." + s.Spec.Service.Namespace + ".svc",
	}})
	if err != nil {
		return nil, err
	}
	if config == nil {
		config = &tls.Config{}
	}
	dial := g.Dial
	if dial == nil {
		dial = (&net.Dialer{}).DialContext
	}
	return utilnet.SetTransportDefaults(&http.Transport{DialContext: func(ctx context.Context, network, address string) (net.Conn, error) {
		return dial(ctx, network, address)
	}, TLSClientConfig: config}), nil
}
