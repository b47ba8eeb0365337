package main

import (
	"context"
	"crypto/tls"
	"flag"
	"fmt"
	"net"
	"net/url"
	"path/filepath"
	"strings"
	"sync"

	"go.etcd.io/etcd/client/pkg/v3/transport"
	clientv3 "go.etcd.io/etcd/client/v3"
	"go.etcd.io/etcd/server/v3/embed"

	"github.com/kubecoord/kubecoord/store/etcd"
	"github.com/kubecoord/kubecoord/store/etcd/member"
)

// engine is the etcd of this server.
type engine struct {
	client *clientv3.Client
	member *member.Member // nil if etcd runs elsewhere
}

// openEngine starts the member, or connects to an etcd elsewhere.
func (c *config) openEngine(ctx context.Context) (*engine, error) {
	if c.dataDir != "" {
		m, err := member.Start(ctx, filepath.Join(c.dataDir, "etcd"), member.Options{
			Name: c.member.name, ClientURL: c.member.clientURL, PeerURL: c.member.peerURL, Cluster: c.member.join,
			Quota: c.quota, Configure: c.secureMember,
		})
		if err != nil {
			return nil, err
		}
		return &engine{m.Client(), m}, nil
	}
	secure, err := c.clientTLS()
	if err != nil {
		return nil, err
	}
	client, err := etcd.Dial(clientv3.Config{Endpoints: strings.Split(c.endpoints, ","), TLS: secure})
	if err != nil {
		return nil, err
	}
	return &engine{client, nil}, nil
}

func (e *engine) close() {
	if e.member == nil {
		e.client.Close()
		return
	}
	e.member.Close()
}

// onFailure calls stop if the member cannot go on. The function that it returns ends that.
func (e *engine) onFailure(stop func()) (end func()) {
	if e.member == nil {
		return func() {}
	}
	done := make(chan struct{})
	var waiting sync.WaitGroup
	waiting.Go(func() {
		select {
		case <-e.member.Failed():
			stop()
		case <-done:
		}
	})
	return func() {
		close(done)
		waiting.Wait()
	}
}

// failure returns why the member could not go on, or nil.
func (e *engine) failure() error {
	if e.member == nil {
		return nil
	}
	return e.member.Err()
}

// clientTLS returns how to reach etcd, nil for plain HTTP.
func (c *config) clientTLS() (*tls.Config, error) {
	info := transport.TLSInfo{CertFile: c.certFile, KeyFile: c.keyFile, TrustedCAFile: c.caFile}
	if info.Empty() && c.caFile == "" {
		return nil, nil // the system's authorities, where a URL has https
	}
	secure, err := info.ClientConfig()
	if err != nil {
		return nil, fmt.Errorf("-etcd-cafile, -etcd-certfile, -etcd-keyfile: %w", err)
	}
	return secure, nil
}

// memberFlags is the part of the command line about the member of -data-dir.
type memberFlags struct{ name, clientURL, peerURL, join string }

func (m *memberFlags) register(f *flag.FlagSet) {
	f.StringVar(&m.name, "member-name", "default", "with -data-dir: `name` of the member, another one for each")
	f.StringVar(&m.clientURL, "member-client-url", "", "with -data-dir: `URL` where etcdctl and other servers reach the member")
	f.StringVar(&m.peerURL, "member-peer-url", "", "with -data-dir: `URL` where the other members reach this one")
	f.StringVar(&m.join, "member-join", "", "with -data-dir: join the cluster of these `members`, as etcdctl member add prints them: NAME=URL,…")
}

// check refuses URLs that others could listen to, and flags of a member without one.
func (m *memberFlags) check(c *config) error {
	if c.dataDir == "" && *m != (memberFlags{name: "default"}) {
		return fmt.Errorf("-member-name, -member-client-url, -member-peer-url, -member-join: need -data-dir: an etcd elsewhere has its own flags")
	}
	if m.join != "" && m.peerURL == "" {
		return fmt.Errorf("-member-join: needs -member-peer-url, where the other members reach this one")
	}
	for name, address := range map[string]string{"-member-client-url": m.clientURL, "-member-peer-url": m.peerURL} {
		if address == "" {
			continue
		}
		u, err := url.Parse(address)
		if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Port() == "" {
			return fmt.Errorf("%s: got %q, want a URL with a port, such as https://10.0.0.1:2380", name, address)
		}
		ip := net.ParseIP(u.Hostname())
		if ip == nil {
			return fmt.Errorf("%s: got %q, want an IP address in it, because the member listens there", name, address)
		}
		if u.Scheme == "https" && (c.certFile == "" || c.caFile == "") {
			return fmt.Errorf("%s: https needs -etcd-cafile, -etcd-certfile and -etcd-keyfile", name)
		}
		if u.Scheme == "http" && !ip.IsLoopback() && !c.Insecure {
			return fmt.Errorf("%s %s: other machines can reach it, and write all: use https, or set -insecure", name, address)
		}
	}
	return nil
}

// secureMember lets in only clients and members with a certificate of the CA.
func (c *config) secureMember(e *embed.Config) {
	if c.certFile == "" || c.caFile == "" {
		return
	}
	info := transport.TLSInfo{CertFile: c.certFile, KeyFile: c.keyFile, TrustedCAFile: c.caFile, ClientCertAuth: true}
	e.ClientTLSInfo, e.PeerTLSInfo = info, info
}
