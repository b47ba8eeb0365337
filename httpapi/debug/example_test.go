package debug_test

import (
	"bytes"
	"fmt"
	"io"
	"log"
	"net/http"
	"net/http/httptest"

	"github.com/kubecoord/kubecoord/candidate"
	"github.com/kubecoord/kubecoord/httpapi"
	"github.com/kubecoord/kubecoord/httpapi/apitest"
	"github.com/kubecoord/kubecoord/httpapi/debug"
)

// send sends a request, and prints the code or the error of the answer.
func send(method, url, body string) {
	req, err := http.NewRequest(method, url, bytes.NewReader([]byte(body)))
	if err != nil {
		log.Fatal(err)
	}
	req.Header.Set("Content-Type", "application/json")
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		fmt.Println(method, "cut")
		return
	}
	defer resp.Body.Close()
	io.Copy(io.Discard, resp.Body)
	fmt.Println(method, resp.StatusCode)
}

const (
	leases = "/apis/coordination.k8s.io/v1/namespaces/default/leases"
	named  = `{"metadata": {"name": "a"}}`
)

// A test in any language adds a fault, and asks for its hits.
func ExampleNew() {
	srv, err := debug.New(debug.Options{})
	if err != nil {
		log.Fatal(err)
	}
	defer srv.Close()
	at := httptest.NewServer(srv)
	defer at.Close()

	send("POST", at.URL+"/debug/faults", `{"verb": "create", "resource": "leases", "first": 1, "answer": {"code": 503}}`)
	send("POST", at.URL+leases, named)
	send("POST", at.URL+leases, named)
	fmt.Println(srv.API().Faults()[0].Hits(), "hit")
	send("DELETE", at.URL+"/debug/faults", "")
	// Output:
	// POST 201
	// POST 503
	// POST 201
	// 1 hit
	// DELETE 204
}

// A program with users, an election and kinds of its own has the operations beside its API. A handler in front may name clients.
func ExampleServer_ServeHTTP() {
	srv, err := debug.New(debug.Options{
		Server: apitest.Options{API: httpapi.Options{Hosts: []string{}}}, // names of the loopback only
		Elect:  &candidate.CoordinatorOptions{},
	})
	if err != nil {
		log.Fatal(err)
	}
	defer srv.Close()
	at := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		srv.ServeHTTP(w, r.WithContext(apitest.WithClient(r.Context(), r.Header.Get("Content-Type"))))
	}))
	defer at.Close()

	send("POST", at.URL+leases, named)
	for _, r := range srv.API().Requests() {
		fmt.Println(r.Client, "sent", r)
	}
	// Output:
	// POST 201
	// application/json sent create leases default/a 201
}
