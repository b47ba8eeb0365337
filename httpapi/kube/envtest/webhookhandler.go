package envtest

import (
	"context"
	"crypto/tls"
	"io"
	"log"
	"net"
	"net/http"
	"path/filepath"
	"sync"
)

// pipes serves a handler of webhooks over connections in memory, which a testing/synctest bubble can wait for.
type pipes struct {
	conns chan net.Conn
	ended chan struct{}
	close sync.Once
}

// servePipes serves a handler with the certificate in a directory, which is read at each connection. Close ends it.
func servePipes(h http.Handler, certDir func() string) (p *pipes, ended func()) {
	p = &pipes{conns: make(chan net.Conn), ended: make(chan struct{})}
	server := &http.Server{Handler: h, ErrorLog: log.New(io.Discard, "", 0), TLSConfig: &tls.Config{
		NextProtos: []string{"http/1.1"},
		GetCertificate: func(*tls.ClientHelloInfo) (*tls.Certificate, error) {
			cert, err := tls.LoadX509KeyPair(filepath.Join(certDir(), "tls.crt"), filepath.Join(certDir(), "tls.key"))
			return &cert, err
		},
	}}
	var serving sync.WaitGroup
	serving.Go(func() { _ = server.ServeTLS(p, "", "") })
	return p, func() {
		_ = server.Close()
		serving.Wait()
	}
}

// dial connects to the handler, whatever the address.
func (p *pipes) dial(ctx context.Context, _, _ string) (net.Conn, error) {
	client, server := net.Pipe()
	select {
	case p.conns <- server:
		return client, nil
	case <-p.ended:
		return nil, net.ErrClosed
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// Accept is for net.Listener.
func (p *pipes) Accept() (net.Conn, error) {
	select {
	case conn := <-p.conns:
		return conn, nil
	case <-p.ended:
		return nil, net.ErrClosed
	}
}

// Close is for net.Listener.
func (p *pipes) Close() error {
	p.close.Do(func() { close(p.ended) })
	return nil
}

// Addr is for net.Listener.
func (p *pipes) Addr() net.Addr { return &net.UnixAddr{Name: "webhooks", Net: "pipe"} }
