// Package testapi starts kubecoord in tests and points Kubernetes' own client
// libraries at it.
//
// New serves a store without a socket, so that a test can run inside a
// testing/synctest bubble, where hours pass at once. Listen serves it on a real
// loopback port, for what only a real connection shows.
package testapi

import (
	"net/http"
	"net/http/httptest"
	"testing"

	"k8s.io/client-go/rest"

	"github.com/kubecoord/kubecoord/httpapi"
	"github.com/kubecoord/kubecoord/store"
)

// API is a running API and the way to it.
type API struct {
	Store  *store.Store
	Server *httpapi.API
	// Link is between every client and the server.
	Link *Link

	host string
}

// New returns an API without a socket. It ends with the test.
func New(t testing.TB, opts store.Options) *API {
	st := store.New(opts)
	server := httpapi.New(st, httpapi.Options{})
	t.Cleanup(st.Close)
	t.Cleanup(server.Close)
	return &API{Store: st, Server: server, Link: newLink(server.Transport()), host: "http://kubecoord"}
}

// Listen returns an API on a loopback port. It ends with the test.
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

// Config returns how to reach the API. All that clients have a default for is
// left to them, except that requests are not limited and warnings not printed.
func (a *API) Config() *rest.Config {
	return &rest.Config{Host: a.host, Transport: a.Link, QPS: -1, WarningHandler: rest.NoWarnings{}}
}

// Bypass returns the same API behind a Link of its own, which is there when the
// other one is cut.
func (a *API) Bypass() *API {
	b := *a
	b.Link = newLink(a.Link.next)
	return &b
}
