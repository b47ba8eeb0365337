// Command production embeds the API as a program does that others depend on: HTTPS, tokens, permissions, limits, elections,
// metrics, a kubeconfig, and an end in the right order. docs/embed.md explains it.
package main

import (
	"context"
	"crypto/rand"
	"crypto/tls"
	"fmt"
	"io"
	"log"
	"net/http"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/kubecoord/kubecoord/candidate"
	"github.com/kubecoord/kubecoord/httpapi"
	"github.com/kubecoord/kubecoord/httpapi/serve"
	"github.com/kubecoord/kubecoord/store"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := run(ctx, os.Stdout, "127.0.0.1:6443", "kubeconfig"); err != nil {
		log.Fatal(err)
	}
}

// run serves until ctx ends. It prints one line when the port is open.
func run(ctx context.Context, out io.Writer, address, kubeconfig string) error {
	st := store.New(store.Options{Quota: 64 << 20})
	defer st.Close() // last: the requests in flight need it

	// TLS has no certificate, so the server makes one, which the kubeconfig then contains.
	server, err := serve.Listen(serve.Options{Address: address, TLS: &tls.Config{}, ConnectionsPerClient: 1000})
	if err != nil {
		return err
	}
	defer server.Close()
	token := rand.Text() // or from a file, so that it stays valid
	api := httpapi.New(st, httpapi.Options{
		Authenticate: httpapi.BearerTokens(map[string]httpapi.User{token: {Name: "admin"}}),
		Authorize: func(a httpapi.Attributes) (bool, string) {
			return a.User.Name == "admin" && a.Verb != "deletecollection", "not in one request"
		},
		Hosts: server.Hosts(), // a web page of another name cannot use the server
		Reads: 400, Writes: 200, ClientShare: 50, WatchesPerClient: 1000, WatchStall: time.Minute,
		Parts: []httpapi.Part{httpapi.Elect(candidate.CoordinatorOptions{})}, // among LeaseCandidates
	})
	defer api.Close()
	mux := http.NewServeMux()
	mux.Handle("/", api)
	mux.Handle("/metrics", api.Guard(httpapi.Metrics(api)))

	if err := os.WriteFile(kubeconfig, server.Kubeconfig(token), 0o600); err != nil {
		return err
	}
	fmt.Fprintf(out, "serving on %s; try: kubectl --kubeconfig %s get leases -A\n", server.URL(), kubeconfig)
	return server.Serve(ctx, mux, api.Close)
}
