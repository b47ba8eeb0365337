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
	"net/netip"
	"net/url"
	"strconv"
	"sync/atomic"
	"time"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/klog/v2"

	"github.com/kubecoord/kubecoord/httpapi"
	"github.com/kubecoord/kubecoord/httpapi/apitest"
	"github.com/kubecoord/kubecoord/httpapi/debug"
	"github.com/kubecoord/kubecoord/httpapi/kube/cluster"
	"github.com/kubecoord/kubecoord/httpapi/kube/internal/controlplane"
	"github.com/kubecoord/kubecoord/store"
	"github.com/kubecoord/kubecoord/store/kind"
)

// storageTimeout is how long kube-apiserver waits for etcd at its start.
const storageTimeout = 20 * time.Second

// server is the API with its port.
type server struct {
	opts   options
	http   *http.Server
	api    api
	active connections
	ending atomic.Bool // a signal has come: /readyz fails

	endWatches func() // and requests of a debug.Server
}

// api is a cluster.Server, or a debug.Server of one.
type api interface {
	http.Handler
	Close()
}

// newServer makes the API. It opens no port.
func (o options) newServer() (*server, error) {
	s := &server{opts: o}
	certificate, err := o.certificate()
	if err != nil {
		return nil, err
	}
	o.tls.Certificates = []tls.Certificate{certificate}
	users, err := o.clients.Authenticator()
	if err != nil {
		return nil, err
	}
	does := o.network.Cluster(o.rules.Cluster(cluster.Options{Tokens: o.tokens, FeatureGates: o.gates}))
	does.Serves = func(r schema.GroupVersionResource) bool { return o.served.Serves(r, true) }
	does.Versions, does.LeaseCandidates, does.ServicePort = o.served.Versions, o.served.LeaseCandidates(), int(o.port)
	does.Flags = o.values
	does.Advertise, _ = netip.AddrFromSlice(o.advertise)
	does.Advertise = does.Advertise.Unmap()
	if does.ClientCA, err = o.clients.ClientCA(); err != nil {
		return nil, err
	}
	kinds, err := s.open(does, httpapi.Options{
		Authenticate: users, Authorize: o.rules.Authorizer(),
		RequestTimeout: o.requestTimeout, Reads: int(o.reads), Writes: int(o.writes),
		Checks: s.checks(),
	})
	if err != nil {
		return nil, err
	}
	for _, name := range o.served.Missing(kinds) {
		klog.Warningf("--runtime-config=%s: this server does not have it", name)
	}
	klog.Infof("Loaded %d admission controller(s) successfully in the following order: %v", len(o.rules.Running()), o.rules.Running())
	s.http = &http.Server{
		Handler: s.api, TLSConfig: o.tls, ReadHeaderTimeout: 32 * time.Second, IdleTimeout: 90 * time.Second,
		ConnState:   s.active.note,
		ErrorLog:    log.New(io.Discard, "", 0), // clients that end a handshake
		ConnContext: controlplane.ConnContext,
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

// open makes the API, and returns its kinds.
func (s *server) open(does cluster.Options, with httpapi.Options) ([]kind.Kind, error) {
	if !s.opts.debug {
		c, err := cluster.New(does, store.Options{}, with)
		if err != nil {
			return nil, err
		}
		s.api, s.endWatches = c, c.API.Close
		return c.Kinds(), nil
	}
	// A page of another site cannot use /debug/, under whatever name it knows this machine.
	with.Hosts = []string{"kubernetes", "kubernetes.default", "kubernetes.default.svc"}
	if s.opts.advertise != nil {
		with.Hosts = append(with.Hosts, s.opts.advertise.String())
	}
	with, err := does.API(with)
	if err != nil {
		return nil, err
	}
	d, err := debug.New(debug.Options{Server: apitest.Options{API: with}})
	if err != nil {
		return nil, err
	}
	s.api, s.endWatches = d, d.Close
	klog.Infof("--%s: who may use /debug/ controls this server", debugFlag)
	return d.API().Handler().Kinds(), nil
}

// checks returns the health checks of kube-apiserver that this server has, by their names.
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
		s.endWatches()
		close(closed)
	})
	go func() { _ = s.http.Shutdown(ending) }()
	<-closed
	s.active.wait(ending)
	klog.Infof("Stopped listening on %s", listener.Addr())
	return s.http.Close()
}
