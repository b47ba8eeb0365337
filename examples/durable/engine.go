package main

import (
	"context"
	"crypto/tls"
	"flag"
	"fmt"
	"io"
	"net"
	"net/url"
	"os"
	"path/filepath"
	"strings"

	"go.etcd.io/etcd/client/pkg/v3/transport"
	clientv3 "go.etcd.io/etcd/client/v3"
	"go.etcd.io/etcd/server/v3/embed"

	"github.com/kubecoord/kubecoord/store/etcd"
	"github.com/kubecoord/kubecoord/store/etcd/member"
)

// engine is the etcd of this server.
type engine struct {
	client  *clientv3.Client
	member  *member.Member // nil if etcd runs elsewhere
	metrics *etcdMetrics
}

// openEngine starts the member, or connects to an etcd elsewhere. It calls waiting with the
// reason while it waits.
func (c *config) openEngine(ctx context.Context, waiting func(string)) (*engine, error) {
	if c.dataDir != "" {
		m, err := member.Start(ctx, c.memberDir(), c.memberOptions(waiting))
		if err != nil {
			return nil, err
		}
		return &engine{m.Client(), m, newEtcdMetrics()}, nil
	}
	secure, err := c.clientTLS()
	if err != nil {
		return nil, err
	}
	client, err := etcd.Dial(clientv3.Config{Endpoints: strings.Split(c.endpoints, ","), TLS: secure})
	if err != nil {
		return nil, err
	}
	return &engine{client, nil, newEtcdMetrics()}, nil
}

func (e *engine) close() {
	if e.member == nil {
		e.client.Close()
		return
	}
	e.member.Close()
}

// wait returns nil when the context has ended, or why the member could not go on.
func (e *engine) wait(ctx context.Context) error {
	var failed <-chan struct{}
	if e.member != nil {
		failed = e.member.Failed()
	}
	select {
	case <-failed:
		return e.member.Err()
	case <-ctx.Done():
		return nil
	}
}

// forceNewCluster makes a cluster of one member of the data of a survivor, and says how to go
// on.
func (c *config) forceNewCluster(ctx context.Context, out io.Writer) error {
	f, err := member.ForceNewCluster(ctx, c.memberDir(), c.memberOptions(func(reason string) { fmt.Fprintln(os.Stderr, "waits for", reason) }))
	if err != nil {
		return fmt.Errorf("-force-new-cluster: %w. The flag acts once, and the server runs without it", err)
	}
	_, err = fmt.Fprintf(out, `the member is a cluster of its own, with all that it had at version %d; the next version is %d
to go on:
  start this server again, without -force-new-cluster
  on each other machine, move %s of -data-dir away, and start the server with -join
the data as it was is in %s: remove it when all is well
`, f.Revision, f.FirstRevision+1, filepath.Base(c.memberDir()), f.Before)
	return err
}

func (c *config) memberDir() string { return filepath.Join(c.dataDir, "etcd") }

func (c *config) memberOptions(waiting func(string)) member.Options {
	o := member.Options{
		Name: c.member.name, ClientURL: c.member.clientURL, PeerURL: c.member.peerURL,
		Quota: c.quota, Configure: c.secureMember, Waiting: waiting,
	}
	if c.member.join != "" {
		o.Join = strings.Split(c.member.join, ",")
	}
	return o
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
type memberFlags struct {
	name, clientURL, peerURL, join string
	force                          bool
}

func (m *memberFlags) register(f *flag.FlagSet) {
	f.StringVar(&m.name, "member-name", "default", "with -data-dir: `name` of the member, another one for each")
	f.StringVar(&m.clientURL, "member-client-url", "", "with -data-dir: `URL` where etcdctl and other servers reach the member")
	f.StringVar(&m.peerURL, "member-peer-url", "", "with -data-dir: `URL` where the other members reach this one")
	f.StringVar(&m.join, "join", "", "with -data-dir: join the cluster of the members with these -member-client-url, separated by commas: `URLs`")
	f.BoolVar(&m.force, "force-new-cluster", false, "with -data-dir: make this member a cluster of its own, because most of the others are lost for good, and end")
}

// check refuses URLs that others could listen to, and flags of a member without one.
func (m *memberFlags) check(c *config) error {
	if c.dataDir == "" && *m != (memberFlags{name: "default"}) {
		return fmt.Errorf("-member-name, -member-client-url, -member-peer-url, -join, -force-new-cluster: need -data-dir: an etcd elsewhere has its own flags")
	}
	if m.join != "" && m.peerURL == "" {
		return fmt.Errorf("-join: needs -member-peer-url, where the other members reach this one")
	}
	for _, address := range strings.Split(m.join, ",") {
		if u, err := url.Parse(address); m.join != "" && (err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Port() == "") {
			return fmt.Errorf("-join: got %q, want the -member-client-url of a running member, such as https://10.0.0.1:2379", address)
		}
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
