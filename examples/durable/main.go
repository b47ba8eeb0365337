// Command durable serves the Kubernetes coordination API from etcd: a confirmed write
// survives a crash, and several of these servers serve one state.
//
//	go run . -data-dir /var/lib/kubecoord
//	go run . -etcd-endpoints https://10.0.0.1:2379,https://10.0.0.2:2379 -etcd-cafile ca.pem
//
// With -data-dir a member of etcd runs inside the process, with its data in the directory.
// The directory also has the kubeconfig, and with -tls and -make-token the certificate, its
// key and a token. All of that stays valid when the server starts again.
//
// With -join it becomes a member of the cluster of another server. -force-new-cluster is the
// way back when most members are lost.
//
// With -etcd-endpoints the server uses an etcd that runs elsewhere. Several servers on one
// etcd are replicas: clients may go from one to another.
//
// -kinds and -crds serve the other kinds of Kubernetes, as in examples/kube. The definitions of -crds are not objects of the store: all
// replicas need the same directory. Definitions that clients create are.
//
// The flags for clients are the flags of examples/server. docs/operations.md shows how to go
// from one process to three, and what clients see when something fails.
package main

import (
	"context"
	"crypto/rand"
	"errors"
	"flag"
	"fmt"
	"io"
	"log/slog"
	"os"
	"strings"
	"sync/atomic"
	"time"

	"github.com/kubecoord/kubecoord/candidate"
	"github.com/kubecoord/kubecoord/examples/internal/serve"
	"github.com/kubecoord/kubecoord/examples/kube/kinds"
	"github.com/kubecoord/kubecoord/httpapi"
	"github.com/kubecoord/kubecoord/store"
	"github.com/kubecoord/kubecoord/store/etcd"
	"github.com/kubecoord/kubecoord/store/kind"
)

// config is the command line.
type config struct {
	serve.Options
	dataDir    string
	makeToken  bool
	endpoints  string
	caFile     string
	certFile   string
	keyFile    string
	prefix     string
	compaction time.Duration
	quota      int64
	member     memberFlags
	kinds      kinds.Flags
}

func (c *config) register(f *flag.FlagSet) {
	c.Options.Register(f)
	f.StringVar(&c.dataDir, "data-dir", "", "keep all in this `directory`, by a member of etcd in this process")
	f.BoolVar(&c.makeToken, "make-token", false, "with -data-dir: let in only the bearer of a token, which is made at the first start")
	f.StringVar(&c.endpoints, "etcd-endpoints", "", "keep all in the etcd at these `URLs`, separated by commas")
	f.StringVar(&c.caFile, "etcd-cafile", "", "`file` with the CA of etcd")
	f.StringVar(&c.certFile, "etcd-certfile", "", "`file` with the certificate that this server shows to etcd; with -data-dir the certificate of the member")
	f.StringVar(&c.keyFile, "etcd-keyfile", "", "`file` with the key of -etcd-certfile")
	f.StringVar(&c.prefix, "etcd-prefix", etcd.DefaultPrefix, "`prefix` of all keys in etcd")
	f.DurationVar(&c.compaction, "etcd-compaction-interval", 5*time.Minute, "drop history older than this `time`; 0: never, because somebody else does")
	f.Int64Var(&c.quota, "quota-backend-bytes", 0, "with -data-dir: refuse writes when the database has so many `bytes`; 0: 2 GiB, the default of etcd")
	c.member.register(f)
	c.kinds.Register(f, "")
	refuseOthers(f)
}

func main() {
	var c config
	c.register(flag.CommandLine)
	serve.Main("durable", func(ctx context.Context, out io.Writer) error { return run(ctx, out, c) })
}

// run serves until the context ends or the member fails. It listens at once, and prints the
// address as its first line when it is ready.
func run(ctx context.Context, out io.Writer, c config) error {
	if err := c.check(); err != nil {
		return err
	}
	if c.dataDir != "" {
		unlock, err := c.keepFiles()
		if err != nil {
			return err
		}
		defer unlock()
	}
	if c.member.force {
		return c.forceNewCluster(ctx, out)
	}
	front, err := c.Open()
	if err != nil {
		return err
	}
	ln, err := front.Listen()
	if err != nil {
		return err
	}
	log := slog.New(slog.NewTextHandler(os.Stderr, nil))
	s := newStarting(log, ln.URL(), ln.API())
	serving, stop := context.WithCancel(ctx)
	defer stop()
	served := make(chan error, 1)
	go func() {
		defer stop()
		served <- ln.Serve(serving, s, s.close)
	}()
	err = c.serve(serving, log, ln, s, func() { ln.Greet(out, "") })
	if ctx.Err() != nil && errors.Is(err, context.Canceled) {
		err = nil // stopped while it waited
	}
	stop()
	return errors.Join(err, <-served)
}

// serve opens the store, serves its API by s, calls ready, and returns when the context has
// ended or the member has failed.
func (c *config) serve(ctx context.Context, log *slog.Logger, ln *serve.Listener, s *starting, ready func()) error {
	e, err := c.openEngine(ctx, s.waiting)
	if err != nil {
		return err
	}
	defer e.close()
	var counted atomic.Pointer[httpapi.API]
	e.count(func() []kind.Kind {
		if api := counted.Load(); api != nil {
			return api.Kinds()
		}
		return nil
	}, c.prefix)
	opts, err := c.kinds.Fixed(ln.API())
	if err != nil {
		return err
	}
	st, err := etcd.OpenClient(ctx, e.client, c.prefix, etcd.Options{
		Store:              store.Options{History: c.History, HistoryBytes: c.HistoryBytes},
		CompactionInterval: c.compactionInterval(),
		Log:                log,
	}, opts.Kinds...)
	if err != nil {
		return err
	}
	defer st.Close()
	opts.Checks = c.checks(e, st)
	if c.Elect {
		opts.Parts = append(opts.Parts, httpapi.Elect(candidate.CoordinatorOptions{Identity: c.electorIdentity()}))
	}
	api := httpapi.New(st, opts)
	defer api.Close()
	counted.Store(api)
	s.serve(ln.Metrics(func() *httpapi.API { return api }, e.writeMetrics, api), func() { api.Close(); st.Close() })
	ready()
	return e.wait(ctx)
}

// check refuses flags that do not go together.
func (c *config) check() error {
	inside, outside := c.dataDir != "", c.endpoints != ""
	switch {
	case inside && outside:
		return errors.New("-data-dir and -etcd-endpoints: set one: the first keeps all in this process, the second elsewhere")
	case !inside && !outside:
		return errors.New("set -data-dir or -etcd-endpoints; examples/server keeps objects in memory")
	case outside && c.quota != 0:
		return errors.New("-quota-backend-bytes: needs -data-dir: an etcd elsewhere has a flag of this name")
	case c.quota < 0:
		return fmt.Errorf("-quota-backend-bytes %d: must not be negative", c.quota)
	case outside && c.makeToken:
		return errors.New("-make-token: needs -data-dir, where the token is kept: set -token-file, with the same file for all replicas")
	case c.makeToken && c.TokenFile != "":
		return errors.New("-make-token and -token-file: set one")
	case c.makeToken && !c.SelfSigned && c.TLSCert == "":
		return errors.New("-make-token: needs HTTPS, because others could read the token: set -tls or -tls-cert")
	case (c.certFile == "") != (c.keyFile == ""):
		return errors.New("-etcd-certfile and -etcd-keyfile must be set together")
	case c.compaction < 0:
		return fmt.Errorf("-etcd-compaction-interval %s: must not be negative", c.compaction)
	}
	return c.member.check(c)
}

// compactionInterval returns the interval as package etcd wants it.
func (c *config) compactionInterval() time.Duration {
	if c.compaction == 0 {
		return -1
	}
	return c.compaction
}

// readiness is the name of the check that fails until the server is ready.
const readiness = "etcd-readiness"

// checkTimeout is how long a health check waits for etcd (upstream: apiserver,
// storage/storagebackend, DefaultHealthcheckTimeout).
const checkTimeout = 2 * time.Second

// checks returns the health checks of a real API server that have to do with etcd. The server
// is ready if the store can answer consistent reads and watches. It is alive if etcd answers: a new start
// would not mend a store that has ended, because etcd lost what it had confirmed.
func (c *config) checks(e *engine, st *store.Store) []httpapi.HealthCheck {
	alive := func(ctx context.Context) error { return etcd.Health(ctx, e.client, c.prefix) }
	ready := func(ctx context.Context) error { return etcd.Ready(ctx, st) }
	return []httpapi.HealthCheck{
		{Name: "etcd", Healthy: inTime(alive)},
		{Name: readiness, ReadyOnly: true, Healthy: inTime(ready)},
	}
}

// inTime gives a check checkTimeout.
func inTime(check func(context.Context) error) func(context.Context) error {
	return func(ctx context.Context) error {
		ctx, cancel := context.WithTimeout(ctx, checkTimeout)
		defer cancel()
		return check(ctx)
	}
}

// electorIdentity returns the name by which this server contends for the right to elect. It
// is "" if there can be no other server.
func (c *config) electorIdentity() string {
	if c.dataDir != "" && c.member.clientURL == "" && c.member.peerURL == "" {
		return ""
	}
	host, err := os.Hostname()
	if err != nil {
		host = "durable"
	}
	return host + "_" + strings.ToLower(rand.Text())
}
