// Package serve serves an API at a port: plain HTTP, or HTTPS with a certificate that is given or made, with the timeouts that suit
// watches, an end in the right order, and a kubeconfig for clients.
//
//	server, err := serve.Listen(serve.Options{Address: "127.0.0.1:6443", TLS: &tls.Config{}})
//	api := httpapi.New(st, httpapi.Options{Hosts: server.Hosts()})
//	err = os.WriteFile("kubeconfig", server.Kubeconfig(token), 0o600)
//	err = server.Serve(ctx, api, api.Close)
//
// The page docs/embed.md has a whole program.
package serve

import (
	"cmp"
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"
	"log"
	"net"
	"net/http"
	"slices"
	"strings"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/kubecoord/kubecoord/httpapi"
	"github.com/kubecoord/kubecoord/internal/kubeconfig"
)

// Options configures a Server. The zero value serves plain HTTP at a free port of the loopback.
type Options struct {
	// Address is the host and the port to listen on. "" is "127.0.0.1:0"; port 0 picks a free port. Without a host, or with
	// 0.0.0.0, other machines can reach the server: authenticate clients then, and serve HTTPS.
	Address string
	// TLS, if not nil, makes the server speak HTTPS. If it has no certificate, Listen makes one by SelfSigned that is valid for
	// a year from then on. Listen keeps a copy.
	TLS *tls.Config
	// ConnectionsPerClient closes further connections of an address that has so many. Zero means no limit.
	ConnectionsPerClient int
	// Grace is how long answers may take after the context of Serve has ended; then their connections are closed. Zero
	// means 5 seconds.
	Grace time.Duration
	// Log gets the errors of connections, and why clients are refused before the API sees them. Nil means the standard logger.
	Log *log.Logger
}

// Server is an open port. Its methods may be called from many goroutines.
type Server struct {
	opts   Options
	ln     net.Listener
	url    string
	hosts  []string
	chain  []*x509.Certificate // of the server, its own first; nil for plain HTTP
	secure *tls.Config
}

// Listen opens the port. Clients that connect wait for Serve. The caller must call Serve or Close.
func Listen(opts Options) (*Server, error) {
	opts.Address = cmp.Or(opts.Address, "127.0.0.1:0")
	opts.Grace = cmp.Or(opts.Grace, 5*time.Second)
	opts.Log = cmp.Or(opts.Log, log.Default())
	hosts, err := clientHosts(opts.Address)
	if err != nil {
		return nil, err
	}
	s := &Server{opts: opts, hosts: hosts, url: "http://"}
	if opts.TLS != nil {
		s.url = "https://"
		if err := s.certify(); err != nil {
			return nil, err
		}
	}
	ln, err := net.Listen("tcp", opts.Address)
	if err != nil {
		return nil, err
	}
	_, port, _ := net.SplitHostPort(ln.Addr().String())
	s.url += net.JoinHostPort(hosts[0], port)
	s.ln = &clientListener{Listener: ln, most: opts.ConnectionsPerClient, open: map[string]int{}, refused: func(client string) {
		opts.Log.Printf("refused: a connection of %s, which has %d", client, opts.ConnectionsPerClient)
	}}
	return s, nil
}

// certify finds or makes the certificate.
func (s *Server) certify() error {
	s.secure = s.opts.TLS.Clone()
	if len(s.secure.Certificates) == 0 && s.secure.GetCertificate == nil && s.secure.GetConfigForClient == nil {
		made, err := selfSigned(s.hosts, 365*24*time.Hour)
		if err != nil {
			return err
		}
		s.secure.Certificates = []tls.Certificate{made}
	}
	var cert *tls.Certificate
	switch {
	case s.secure.GetCertificate != nil:
		var err error
		if cert, err = s.secure.GetCertificate(&tls.ClientHelloInfo{ServerName: s.hosts[0]}); err != nil {
			return fmt.Errorf("TLS.GetCertificate: %w", err)
		}
	case len(s.secure.Certificates) > 0:
		cert = &s.secure.Certificates[0]
	}
	if cert == nil {
		return errors.New("TLS: got GetConfigForClient alone, want a certificate too, which the kubeconfig names")
	}
	for _, der := range cert.Certificate {
		c, err := x509.ParseCertificate(der)
		if err != nil {
			return fmt.Errorf("TLS: %w", err)
		}
		s.chain = append(s.chain, c)
	}
	if s.chain == nil {
		return errors.New("TLS: got a certificate without bytes")
	}
	return nil
}

// URL returns the address at which clients reach the server: for all addresses of the machine the first that others can reach.
func (s *Server) URL() string { return s.url }

// Hosts returns the names and addresses at which clients reach the server, for httpapi.Options.Hosts, the best one first.
func (s *Server) Hosts() []string { return slices.Clone(s.hosts) }

// Certificate returns the certificate with which the server began, or nil for plain HTTP.
func (s *Server) Certificate() *x509.Certificate {
	if s.chain == nil {
		return nil
	}
	return s.chain[0]
}

// ServerName returns a name for which the certificate is, if it is not for the host of URL, and else "". Clients must be
// told it: the kubeconfig has it.
func (s *Server) ServerName() string {
	if s.chain == nil || s.chain[0].VerifyHostname(s.hosts[0]) == nil || len(s.chain[0].DNSNames) == 0 {
		return ""
	}
	return strings.Replace(s.chain[0].DNSNames[0], "*", "any", 1)
}

// anonymous is a token for a server that asks for none: without one kubectl asks for a user name and a password where there is
// HTTPS.
const anonymous = "anonymous"

// Kubeconfig returns a kubeconfig, as JSON, with the address, the last certificate of the chain of the server as authority, and
// a bearer token. Without a token it suits a server that authenticates nobody. Clients do not send the token by plain HTTP.
func (s *Server) Kubeconfig(token string) []byte {
	f := kubeconfig.File{Server: s.url, ServerName: s.ServerName(), Token: token}
	if s.chain != nil {
		f.CA = pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: s.chain[len(s.chain)-1].Raw})
		f.Token = cmp.Or(token, anonymous)
	}
	return f.Bytes()
}

// server returns the server of a handler. It has no WriteTimeout, which would end watches: the API limits all other requests by
// httpapi.Options.RequestTimeout.
func (s *Server) server(h http.Handler) *http.Server {
	return &http.Server{
		Handler: h, TLSConfig: s.secure, ConnContext: httpapi.ConnContext, ErrorLog: s.opts.Log,
		ReadHeaderTimeout: 32 * time.Second, IdleTimeout: 90 * time.Second,
	}
}

// Serve serves h until ctx ends. It then calls end, which must end all watches, as API.Close does; waits for the other answers, at most
// for Options.Grace; and closes the port and its connections. Close the store after it. The error is nil unless the port fails, which
// ends it too. It must be called once.
func (s *Server) Serve(ctx context.Context, h http.Handler, end func()) error {
	if s.secure == nil {
		h = sayOnce(h, s.opts.Log)
	}
	srv := s.server(h)
	g, ctx := errgroup.WithContext(ctx)
	g.Go(func() error {
		serve := srv.Serve
		if s.secure != nil {
			serve = func(ln net.Listener) error { return srv.ServeTLS(ln, "", "") }
		}
		if err := serve(s.ln); !errors.Is(err, http.ErrServerClosed) {
			return err
		}
		return nil
	})
	<-ctx.Done()
	end() // watches would otherwise keep Shutdown waiting
	bounded, cancel := context.WithTimeout(context.Background(), s.opts.Grace)
	defer cancel()
	if srv.Shutdown(bounded) != nil {
		srv.Close() // connections that do not read their answers
	}
	return g.Wait()
}

// Close closes the port of a Server whose Serve is not called.
func (s *Server) Close() error { return s.ln.Close() }
