package main

import (
	"net/http"

	coordinationclient "k8s.io/client-go/kubernetes/typed/coordination/v1"
	"k8s.io/client-go/rest"

	"github.com/kubecoord/kubecoord/httpapi"
	"github.com/kubecoord/kubecoord/store"
)

// server is an API server in this process.
type server struct {
	st  *store.Store
	api *httpapi.API
}

func newServer() *server {
	st := store.New(store.Options{})
	return &server{st, httpapi.New(st, httpapi.Options{})}
}

// close ends all watches and waits for the last answers.
func (s *server) close() {
	s.api.Close()
	s.st.Close()
}

// newClient returns client-go's client of the API group, over the given transport and
// without a rate limit.
func newClient(transport http.RoundTripper) (coordinationclient.CoordinationV1Interface, error) {
	return coordinationclient.NewForConfig(&rest.Config{Host: "http://coordination", Transport: transport, QPS: -1})
}
