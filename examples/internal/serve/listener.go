package serve

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/kubecoord/kubecoord/httpapi"
	"github.com/kubecoord/kubecoord/internal/tally"
)

// Listener is the open address of a server.
type Listener struct {
	// URL is where clients reach the server.
	URL   string
	ln    net.Listener
	front *Front
}

// Listen opens the address and writes the kubeconfig. Serve closes the Listener.
func (f *Front) Listen() (*Listener, error) {
	ln, err := net.Listen("tcp", f.Address)
	if err != nil {
		return nil, err
	}
	ln = &clientListener{Listener: ln, open: tally.New(0, f.connectionsPer), refused: func(client string) {
		f.calm.printf("refused: a connection of %s, which has %d", client, f.connectionsPer)
	}}
	l := &Listener{URL: "http://" + ln.Addr().String(), ln: ln, front: f}
	if f.cert != nil {
		l.URL = "https://" + ln.Addr().String()
		secure := &tls.Config{Certificates: []tls.Certificate{*f.cert}, NextProtos: []string{"h2", "http/1.1"}}
		if f.clientCA != nil {
			secure.ClientAuth = tls.RequestClientCert
		}
		l.ln = tls.NewListener(ln, secure)
	}
	if err := writeKubeconfig(f.Kubeconfig, l.URL, f.cert, f.tokens); err != nil {
		return nil, errors.Join(err, ln.Close())
	}
	return l, nil
}

// Greet prints the address, and commands for a first try.
func (l *Listener) Greet(out io.Writer) {
	fmt.Fprintf(out, `serving on %[1]s
try:
  curl %[1]s/apis/coordination.k8s.io/v1/leases
  curl -X POST -H 'Content-Type: application/json' -d '{"metadata":{"name":"hello"},"spec":{"holderIdentity":"me"}}' \
    %[1]s/apis/coordination.k8s.io/v1/namespaces/default/leases
  curl -N '%[1]s/apis/coordination.k8s.io/v1/leases?watch=true'
  kubectl --server %[1]s get leases --all-namespaces
`, l.URL)
}

// Serve runs the server until the context ends. It then calls end, which must end all
// requests, and stops within half a second, even if clients do not read their answers.
func (l *Listener) Serve(ctx context.Context, h http.Handler, end func()) error {
	srv := &http.Server{Handler: h, ConnContext: httpapi.ConnContext, ReadHeaderTimeout: 32 * time.Second, IdleTimeout: 90 * time.Second, ErrorLog: log.New(&l.front.calm, "", 0)}
	g, ctx := errgroup.WithContext(ctx)
	g.Go(func() error {
		if err := srv.Serve(l.ln); !errors.Is(err, http.ErrServerClosed) {
			return err
		}
		return nil
	})
	<-ctx.Done()
	end() // watches would otherwise keep Shutdown waiting
	bounded, cancel := context.WithTimeout(context.Background(), 500*time.Millisecond)
	defer cancel()
	if srv.Shutdown(bounded) != nil {
		srv.Close() // connections that do not read their answers
	}
	return g.Wait()
}
