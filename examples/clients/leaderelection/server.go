package main

import (
	"net/http"

	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"

	"github.com/kubecoord/kubecoord/httpapi"
	"github.com/kubecoord/kubecoord/store"
)

// server is an API server within this process.
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

// newClient returns a real clientset that reaches a server through the given
// transport, without a limit to its rate.
func newClient(transport http.RoundTripper) (kubernetes.Interface, error) {
	return kubernetes.NewForConfig(&rest.Config{Host: "http://coordination", Transport: transport, QPS: -1})
}
