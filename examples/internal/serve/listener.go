package serve

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"log"
	"net"
	"net/http"
	"strings"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/kubecoord/kubecoord/httpapi"
)

// Listener is the open address of a server.
type Listener struct {
	// URL is where clients reach the server.
	URL        string
	ln         net.Listener
	front      *Front
	cert       *x509.Certificate // at the start; nil for plain HTTP
	serverName string            // a name that the certificate is for, if it is not for the host of URL
}

// Listen opens the address and writes the kubeconfig. Serve closes the Listener.
func (f *Front) Listen() (*Listener, error) {
	ln, err := net.Listen("tcp", f.Address)
	if err != nil {
		return nil, err
	}
	_, port, _ := net.SplitHostPort(ln.Addr().String())
	l := &Listener{URL: "http://" + net.JoinHostPort(f.hosts[0], port), front: f}
	l.ln = &clientListener{Listener: ln, most: f.connectionsPer, open: map[string]int{}, refused: func(client string) {
		f.calm.printf("refused: a connection of %s, which has %d", client, f.connectionsPer)
	}}
	if f.cert != nil {
		l.secure()
	}
	if err := l.writeKubeconfig(); err != nil {
		return nil, errors.Join(err, ln.Close())
	}
	return l, nil
}

// secure makes the Listener speak HTTPS.
func (l *Listener) secure() {
	f := l.front
	l.cert = f.cert.get().Leaf
	l.URL = "https" + strings.TrimPrefix(l.URL, "http")
	if l.cert.VerifyHostname(f.hosts[0]) != nil && len(l.cert.DNSNames) > 0 {
		l.serverName = strings.Replace(l.cert.DNSNames[0], "*", "any", 1)
	}
	config := &tls.Config{
		GetCertificate: func(*tls.ClientHelloInfo) (*tls.Certificate, error) { return f.cert.get(), nil },
		NextProtos:     []string{"h2", "http/1.1"},
	}
	if f.ClientCA != "" {
		config.ClientAuth = tls.RequestClientCert
	}
	l.ln = tls.NewListener(l.ln, config)
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
