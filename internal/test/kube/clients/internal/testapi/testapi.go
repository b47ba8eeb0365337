// Package testapi starts kubecoord in tests and connects Kubernetes' client
// libraries to it.
//
// New serves a store without a socket, so that a test can run inside a
// testing/synctest bubble, where hours pass at once. Listen serves it on a real
// loopback port, for tests that need a real connection.
package testapi

import (
	"net/http"
	"net/http/httptest"
	"testing"

	"k8s.io/client-go/rest"

	"github.com/kubecoord/kubecoord/httpapi"
	"github.com/kubecoord/kubecoord/store"
)

// API is a running API with its store and its Link.
type API struct {
	Store  *store.Store
	Server *httpapi.API
	// Link is between every client and the server.
	Link *Link

	host string
}

// New returns an API without a socket. It is closed at the end of the test.
func New(t testing.TB, opts store.Options) *API {
	st := store.New(opts)
	server := httpapi.New(st, httpapi.Options{})
	t.Cleanup(st.Close)
	t.Cleanup(server.Close)
	return &API{Store: st, Server: server, Link: newLink(server.Transport()), host: "http://kubecoord"}
}

// Listen returns an API on a loopback port. It is closed at the end of the test.
func Listen(t testing.TB, opts store.Options) *API {
	st := store.New(opts)
	server := httpapi.New(st, httpapi.Options{})
	listener := httptest.NewServer(server)
	transport := &http.Transport{}
	t.Cleanup(listener.Close)
	t.Cleanup(transport.CloseIdleConnections)
	t.Cleanup(st.Close)
	t.Cleanup(server.Close)
	return &API{Store: st, Server: server, Link: newLink(transport), host: listener.URL}
}

// Config returns the configuration of clients. It keeps the defaults of client-go,
// except that requests are not rate limited and warnings are not printed.
func (a *API) Config() *rest.Config {
	return &rest.Config{Host: a.host, Transport: a.Link, QPS: -1, WarningHandler: rest.NoWarnings{}}
}

// Bypass returns the same API behind a Link of its own, which still works when
// the other Link is cut.
func (a *API) Bypass() *API {
	b := *a
	b.Link = newLink(a.Link.next)
	return &b
}
