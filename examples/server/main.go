// Command server serves the Kubernetes coordination API from memory, for
// anything that speaks to a Kubernetes API server: curl, kubectl, and clients
// in any language.
//
//	go run ./examples/server -listen 127.0.0.1:8001
//
// It prints one line "serving on http://HOST:PORT" when it is ready. SIGINT and
// SIGTERM end open watches and stop it.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"os"
	"os/signal"
	"syscall"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/kubecoord/kubecoord/httpapi"
	"github.com/kubecoord/kubecoord/store"
)

func main() {
	listen := flag.String("listen", "127.0.0.1:8001", "address to serve on; port 0 picks one")
	history := flag.Int("history", store.DefaultHistory, "how many events are kept for watches and for lists at older versions")
	verbose := flag.Bool("v", false, "log every request to standard error")
	flag.Parse()
	if flag.NArg() > 0 {
		fmt.Fprintln(os.Stderr, "server: unexpected arguments:", flag.Args())
		os.Exit(2)
	}
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGINT, syscall.SIGTERM)
	defer stop()
	if err := run(ctx, os.Stdout, *listen, *history, *verbose); err != nil {
		fmt.Fprintln(os.Stderr, "server:", err)
		os.Exit(1)
	}
}

// run serves until the context ends. The first line of out tells the address.
func run(ctx context.Context, out io.Writer, listen string, history int, verbose bool) error {
	if history < 1 {
		return fmt.Errorf("-history %d: must be at least 1", history)
	}
	ln, err := net.Listen("tcp", listen)
	if err != nil {
		return err
	}
	st := store.New(store.Options{History: history})
	defer st.Close()
	opts := httpapi.Options{}
	if verbose {
		opts.Log = logRequest
	}
	api := httpapi.New(st, opts)
	srv := &http.Server{Handler: api, ReadHeaderTimeout: 32 * time.Second, IdleTimeout: 90 * time.Second}
	fmt.Fprintf(out, "serving on http://%s\n", ln.Addr())
	tryOut(out, ln.Addr().String())

	g, ctx := errgroup.WithContext(ctx)
	g.Go(func() error {
		if err := srv.Serve(ln); !errors.Is(err, http.ErrServerClosed) {
			return err
		}
		return nil
	})
	<-ctx.Done()
	api.Close() // ends the watches, which would otherwise keep Shutdown waiting
	bounded, cancel := context.WithTimeout(context.Background(), 500*time.Millisecond)
	defer cancel()
	if srv.Shutdown(bounded) != nil {
		srv.Close() // connections that do not read their answers
	}
	return g.Wait()
}

// tryOut prints what a newcomer could do next.
func tryOut(out io.Writer, addr string) {
	fmt.Fprintf(out, `try:
  curl http://%[1]s/apis/coordination.k8s.io/v1/leases
  curl -X POST -H 'Content-Type: application/json' -d '{"metadata":{"name":"hello"},"spec":{"holderIdentity":"me"}}' \
    http://%[1]s/apis/coordination.k8s.io/v1/namespaces/default/leases
  curl -N 'http://%[1]s/apis/coordination.k8s.io/v1/leases?watch=true'
  kubectl --server http://%[1]s get leases -A -o name
`, addr)
}

func logRequest(e httpapi.LogEntry) {
	uri := e.Path
	if e.Query != "" {
		uri += "?" + e.Query
	}
	log.Printf("%s %s %d %dB %s %q", e.Method, uri, e.Code, e.Bytes, e.Duration.Round(time.Microsecond), e.UserAgent)
}
