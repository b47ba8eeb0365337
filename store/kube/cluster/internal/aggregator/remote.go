package aggregator

import (
	"context"
	"crypto/tls"
	"net"
	"net/http"
	"net/url"

	utilnet "k8s.io/apimachinery/pkg/util/net"
	"k8s.io/apimachinery/pkg/util/proxy"
	apiproxy "k8s.io/apiserver/pkg/util/proxy"
	"k8s.io/client-go/transport"
	apiregistrationv1 "k8s.io/kube-aggregator/pkg/apis/apiregistration/v1"
	"k8s.io/kube-aggregator/pkg/apis/apiregistration/v1/helper"
	"k8s.io/streaming/pkg/httpstream"

	"github.com/kubecoord/kubecoord/store"
	"github.com/kubecoord/kubecoord/store/kube/cluster/internal/proxies"
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
		to, cancel := apiproxy.NewRequestForProxy(location, proxies.WithoutUser(r))
		defer cancel()
		if upgrade {
			transport.SetAuthProxyHeaders(to, u.Name, u.UID, u.Groups, u.Extra)
		}
		h := proxy.NewUpgradeAwareHandler(location, transport.NewAuthProxyRoundTripper(u.Name, u.UID, u.Groups, u.Extra, client), true, upgrade, failed{w})
		h.RejectForwardingRedirects = true
		h.ServeHTTP(w, to)
	})
}

// failed answers with the error of a connection.
type failed struct{ w http.ResponseWriter }

// Error implements proxy.ErrorResponder.
func (f failed) Error(_ http.ResponseWriter, _ *http.Request, err error) {
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
