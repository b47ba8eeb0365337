package main

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"net/url"
	"strconv"
	"sync/atomic"
	"time"

	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"k8s.io/klog/v2"

	"github.com/kubecoord/kubecoord/httpapi"
	"github.com/kubecoord/kubecoord/store"
	"github.com/kubecoord/kubecoord/store/kube/cluster"
	"github.com/kubecoord/kubecoord/store/kube/crd"
	"github.com/kubecoord/kubecoord/store/kube/internal/controlplane"
	"github.com/kubecoord/kubecoord/store/kube/scheme"
)

// storageTimeout is how long kube-apiserver waits for etcd at its start.
const storageTimeout = 20 * time.Second

// server is the API with its port.
type server struct {
	opts   options
	http   *http.Server
	api    *httpapi.API
	store  *store.Store
	active connections
	ending atomic.Bool // a signal has come: /readyz fails
}

// newServer makes the API. It opens no port.
func (o options) newServer() (*server, error) {
	s := &server{opts: o}
	certificate, err := o.certificate()
	if err != nil {
		return nil, err
	}
	o.tls.Certificates = []tls.Certificate{certificate}
	users, err := o.authenticator()
	if err != nil {
		return nil, err
	}
	builtin, err := scheme.Kinds(clientgoscheme.Scheme, scheme.Options{})
	if err != nil {
		return nil, err
	}
	opts := httpapi.Options{
		Kinds:        enabled(o.served, append(builtin, crd.Definitions())),
		Run:          []func(context.Context, *httpapi.API){crd.Run},
		Authenticate: users, Authorize: o.rules.Authorizer(),
		RequestTimeout: o.requestTimeout, Reads: int(o.reads), Writes: int(o.writes),
		Checks: s.checks(),
	}
	does := o.rules.Cluster(cluster.Options{Tokens: o.tokens})
	if err := does.Apply(&opts); err != nil {
		return nil, err
	}
	klog.Infof("Loaded %d admission controller(s) successfully in the following order: %v", len(o.rules.Running()), o.rules.Running())
	s.store = store.New(store.Options{})
	s.api = httpapi.New(s.store, opts)
	s.http = &http.Server{
		Handler: s.api, TLSConfig: o.tls, ReadHeaderTimeout: 32 * time.Second, IdleTimeout: 90 * time.Second,
		ConnState: s.active.note,
		ErrorLog:  log.New(io.Discard, "", 0), // clients that end a handshake
		ConnContext: func(ctx context.Context, conn net.Conn) context.Context {
			return controlplane.Remember(httpapi.ConnContext(ctx, conn))
		},
	}
	if o.streams > 0 {
		s.http.HTTP2 = &http.HTTP2Config{MaxConcurrentStreams: int(o.streams)}
	}
	if o.noHTTP2 {
		s.http.Protocols = new(http.Protocols)
		s.http.Protocols.SetHTTP1(true)
	}
	return s, nil
}

// authenticator returns the user of a request: by its client certificate, its token, or system:anonymous.
func (o options) authenticator() (httpapi.Authenticator, error) {
	var certificates *controlplane.Certificates
	if o.clientCAFile != "" {
		var err error
		if certificates, err = controlplane.ReadCertificates(o.clientCAFile); err != nil {
			return nil, err
		}
	}
	tokens := map[string]httpapi.User{}
	if o.tokenFile != "" {
		var err error
		if tokens, err = controlplane.ReadTokens(o.tokenFile); err != nil {
			return nil, err
		}
	}
	byToken := httpapi.BearerTokens(tokens)
	return func(r *http.Request) (httpapi.User, bool) {
		hasCertificate := r.TLS != nil && len(r.TLS.PeerCertificates) > 0
		if u, ok := certificates.User(r); ok {
			return u, true
		}
		if u, ok := byToken(r); ok {
			return u, true
		}
		anonymous := httpapi.User{Name: "system:anonymous", Groups: []string{"system:unauthenticated"}}
		return anonymous, o.anonymous && r.Header.Get("Authorization") == "" && (!hasCertificate || certificates == nil)
	}, nil
}

// checks returns the health checks that this server has of those of kube-apiserver, by their names.
func (s *server) checks() []httpapi.HealthCheck {
	done := func(context.Context) error { return nil } // before the port is open
	return []httpapi.HealthCheck{
		{Name: "etcd", Healthy: s.reachEtcd},
		{Name: "etcd-readiness", ReadyOnly: true, Healthy: s.reachEtcd},
		{Name: "poststarthook/start-apiextensions-controllers", Healthy: done},
		{Name: "poststarthook/crd-informer-synced", Healthy: done},
		{Name: "poststarthook/start-system-namespaces-controller", Healthy: done},
		{Name: "poststarthook/bootstrap-controller", Healthy: done},
		{Name: "shutdown", ReadyOnly: true, Healthy: func(context.Context) error {
			if s.ending.Load() {
				return errors.New("process is shutting down")
			}
			return nil
		}},
	}
}

// reachEtcd connects to one of the etcd servers.
func (s *server) reachEtcd(ctx context.Context) (err error) {
	ctx, done := context.WithTimeout(ctx, 2*time.Second)
	defer done()
	for _, at := range s.opts.etcd {
		host := at
		if u, err := url.Parse(at); err == nil && u.Host != "" {
			host = u.Host
		}
		var conn net.Conn
		if conn, err = new(net.Dialer).DialContext(ctx, "tcp", host); err == nil {
			return conn.Close()
		}
	}
	return err
}

// awaitEtcd waits until an etcd server accepts connections.
func (s *server) awaitEtcd(ctx context.Context) error {
	ctx, done := context.WithTimeout(ctx, storageTimeout)
	defer done()
	for {
		err := s.reachEtcd(ctx)
		if err == nil {
			return nil
		}
		klog.Warningf("No etcd accepts connections at %v: %v", s.opts.etcd, err)
		select {
		case <-ctx.Done():
			return fmt.Errorf("error creating storage factory: %w", ctx.Err())
		case <-time.After(time.Second):
		}
	}
}

// run serves until ctx ends, and then ends watches, requests and connections in this order.
func (s *server) run(ctx context.Context) error {
	defer s.store.Close()
	defer s.api.Close()
	if err := s.awaitEtcd(ctx); err != nil {
		return err
	}
	listener, err := net.Listen("tcp", net.JoinHostPort(s.opts.address.String(), strconv.FormatInt(s.opts.port, 10)))
	if err != nil {
		return fmt.Errorf("failed to create listener: %w", err)
	}
	ended := make(chan error, 1)
	go func() { ended <- s.http.ServeTLS(listener, "", "") }()
	klog.Infof("Serving securely on %s", listener.Addr())
	select {
	case err := <-ended:
		return err
	case <-ctx.Done():
	}
	s.ending.Store(true)
	if s.opts.shutdownWait > 0 {
		time.Sleep(s.opts.shutdownWait)
	}
	ending, done := context.WithTimeout(context.Background(), s.opts.requestTimeout)
	defer done()
	// Shutdown alone waits a second for each connection of HTTP/2 after its last request.
	closed := make(chan struct{})
	s.http.RegisterOnShutdown(func() {
		s.api.Close() // ends watches
		close(closed)
	})
	go func() { _ = s.http.Shutdown(ending) }()
	<-closed
	s.active.wait(ending)
	klog.Infof("Stopped listening on %s", listener.Addr())
	return s.http.Close()
}
