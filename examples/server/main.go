// Command server serves the Kubernetes coordination API from memory, for
// anything that speaks to a Kubernetes API server: curl, kubectl, and clients
// in any language.
//
//	go run ./examples/server -listen 127.0.0.1:8001
//
// It prints the line "serving on http://HOST:PORT" when it is ready. SIGINT and
// SIGTERM end open watches and stop it.
//
// With -debug it serves tests in any language: below /debug/ it offers the functions
// of package httpapi/apitest, and shows elections as they happen. GET /debug/ lists
// the operations.
//
//	curl -X POST -H 'Content-Type: application/json' $URL/debug/faults \
//	  -d '{"verb": "update", "resource": "leases", "first": 2, "answer": {"code": 409}}'
//	curl $URL/debug/faults            # the number of requests that were hit
//	curl -X POST $URL/debug/worlds    # a fork, at the URL in the answer
//	curl -X POST $URL/debug/reset     # back to the first state
//
// A fork has all of this below its own URL, including /debug/. With -clock, time passes
// only by POST /debug/clock.
//
// With -load it starts with the objects in files, such as the output of kubectl get -o
// yaml. With -dump it writes its state when it ends, at SIGHUP, and with -dump-every so
// often, so that another server can continue. SIGKILL and a crash lose the writes after the
// last dump. The next server begins at a greater resourceVersion than any of this one, so
// that no client can take a new state for one that it has seen.
//
// Clients have limits, like those of a kube-apiserver: docs/reliability.md. A browser can
// use it only by the names of the loopback, the address of -listen and -allow-host.
package main

import (
	"context"
	"crypto/tls"
	"errors"
	"flag"
	"fmt"
	"io"
	"log"
	"math"
	"net"
	"net/http"
	"os"
	"os/signal"
	"runtime"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/kubecoord/kubecoord/candidate"
	"github.com/kubecoord/kubecoord/httpapi"
	"github.com/kubecoord/kubecoord/httpapi/apitest"
	"github.com/kubecoord/kubecoord/internal/registry"
	"github.com/kubecoord/kubecoord/internal/tally"
	"github.com/kubecoord/kubecoord/store"
)

// config is the command line.
type config struct {
	listen     string
	history    int
	verbose    bool
	tokenFile  string
	tlsCert    string
	tlsKey     string
	selfSigned bool
	insecure   bool
	kubeconfig string
	elect      bool
	debug      bool
	clock      string
	load       string
	dump       string
	dumpEvery  time.Duration
	dumpNow    <-chan os.Signal // dump at each
	clientCA   string
	limits
}

// heapFloor counts as a part of the heap that is in use, but no page of it is ever written, so
// it takes no memory. It makes the garbage collections of a small and busy server rarer: the
// heap grows by its size in between, instead of by a few megabytes.
const heapFloor = 32 << 20

func main() {
	var c config
	flag.StringVar(&c.listen, "listen", "127.0.0.1:8001", "`address` to serve on; port 0 picks one")
	flag.IntVar(&c.history, "history", registry.DefaultHistory, "how many `events` are kept for watches and for lists at older versions")
	flag.BoolVar(&c.verbose, "v", false, "log every request to standard error")
	flag.StringVar(&c.tokenFile, "token-file", "", "let in only bearer tokens of this `file`: lines of token,user,uid[,\"group1,group2\"]")
	flag.StringVar(&c.tlsCert, "tls-cert", "", "serve HTTPS with the certificate in this `file`")
	flag.StringVar(&c.tlsKey, "tls-key", "", "`file` with the key of -tls-cert")
	flag.BoolVar(&c.selfSigned, "tls", false, "serve HTTPS with a self-signed certificate made at the start")
	flag.BoolVar(&c.insecure, "insecure", false, "allow an address that others can reach without authentication")
	flag.StringVar(&c.kubeconfig, "kubeconfig", "", "write a kubeconfig for this server to this `file`")
	flag.BoolVar(&c.elect, "elect", true, "elect the holders of leases among their LeaseCandidates")
	flag.BoolVar(&c.debug, "debug", false, "offer faults, forks, fixtures, history and elections below /debug/, for tests in any language")
	flag.StringVar(&c.clock, "clock", "", "with -debug: begin at this `time`, such as 2026-01-01T00:00:00Z, and move only by /debug/clock")
	flag.StringVar(&c.load, "load", "", "start with the objects of this `directory` or file: YAML, JSON or txtar")
	flag.StringVar(&c.dump, "dump", "", "write all objects to this `file` at the end, as -load reads them")
	flag.DurationVar(&c.dumpEvery, "dump-every", 0, "write the file of -dump so often too; 0: only at the end and at SIGHUP")
	flag.StringVar(&c.clientCA, "client-ca", "", "let in clients with a certificate that one in this `file` has signed: the common name is the user, the organizations are the groups")
	c.limits.register(flag.CommandLine)
	flag.Parse()
	if flag.NArg() > 0 {
		fmt.Fprintln(os.Stderr, "server: unexpected arguments:", flag.Args())
		os.Exit(2)
	}
	ballast := make([]byte, heapFloor)
	defer runtime.KeepAlive(ballast)
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGINT, syscall.SIGTERM)
	defer stop()
	if c.dump != "" {
		hangups := make(chan os.Signal, 1)
		signal.Notify(hangups, syscall.SIGHUP)
		c.dumpNow = hangups
	}
	if err := run(ctx, os.Stdout, c); err != nil {
		fmt.Fprintln(os.Stderr, "server:", err)
		os.Exit(1)
	}
}

// run serves until the context ends. The first line of out has the address.
func run(ctx context.Context, out io.Writer, c config) error {
	if c.history < 1 {
		return fmt.Errorf("-history %d: must be at least 1", c.history)
	}
	tokens, err := readTokens(c.tokenFile)
	if err != nil {
		return err
	}
	clientCA, err := readClientCA(c)
	if err != nil {
		return err
	}
	if err := checkExposure(c, tokens != nil || clientCA != nil); err != nil {
		return err
	}
	cert, err := certificate(c)
	if err != nil {
		return err
	}
	state, err := newStateFile(c.dump)
	if err != nil {
		return err
	}
	calm := &calmLog{}
	served, err := newServed(c, authenticator(tokens, clientCA), calm)
	if err != nil {
		return err
	}
	defer served.close()
	ln, err := net.Listen("tcp", c.listen)
	if err != nil {
		return err
	}
	if c.connectionsPer > 0 {
		ln = &clientListener{Listener: ln, open: tally.New(c.connectionsPer), refused: func(client string) {
			calm.printf("refused: a connection of %s, which has %d", client, c.connectionsPer)
		}}
	}
	scheme := "http"
	if cert != nil {
		scheme = "https"
		secure := &tls.Config{Certificates: []tls.Certificate{*cert}, NextProtos: []string{"h2", "http/1.1"}}
		if clientCA != nil {
			secure.ClientAuth = tls.RequestClientCert
		}
		ln = tls.NewListener(ln, secure)
	}
	url := scheme + "://" + ln.Addr().String()
	if err := writeKubeconfig(c.kubeconfig, url, cert, tokens); err != nil {
		return err
	}

	srv := &http.Server{Handler: served, ConnContext: httpapi.ConnContext, ReadHeaderTimeout: 32 * time.Second, IdleTimeout: 90 * time.Second, ErrorLog: log.New(calm, "", 0)}
	fmt.Fprintf(out, "serving on %s\n", url)
	tryOut(out, url)
	if c.debug {
		fmt.Fprintf(out, "  curl %s/debug/   # the operations for tests\n", url)
		fmt.Fprintln(out, "  "+debugHint(c, url))
	}
	dumping, stopped := context.WithCancel(ctx)
	var dumps sync.WaitGroup
	if state != nil {
		dumps.Go(func() { state.dumpOften(dumping, c.dumpNow, c.dumpEvery, served.store) })
	}
	err = serve(ctx, srv, ln, served)
	stopped()
	dumps.Wait()
	return errors.Join(err, state.dump(served.store()))
}

// serve runs the server until the context ends. It then stops within half a second,
// even if clients do not read their answers.
func serve(ctx context.Context, srv *http.Server, ln net.Listener, served served) error {
	g, ctx := errgroup.WithContext(ctx)
	g.Go(func() error {
		if err := srv.Serve(ln); !errors.Is(err, http.ErrServerClosed) {
			return err
		}
		return nil
	})
	<-ctx.Done()
	served.close() // ends the watches, which would otherwise keep Shutdown waiting
	bounded, cancel := context.WithTimeout(context.Background(), 500*time.Millisecond)
	defer cancel()
	if srv.Shutdown(bounded) != nil {
		srv.Close() // connections that do not read their answers
	}
	return g.Wait()
}

// checkExposure refuses an address that other machines can reach if requests need no
// authentication.
func checkExposure(c config, authenticates bool) error {
	if authenticates || c.insecure {
		return nil
	}
	host, _, err := net.SplitHostPort(c.listen)
	if err != nil {
		return fmt.Errorf("-listen: %w", err)
	}
	if ip := net.ParseIP(host); host == "localhost" || ip != nil && ip.IsLoopback() {
		return nil
	}
	return fmt.Errorf("-listen %s: other machines can reach it: set -token-file, or -insecure to allow requests without authentication", c.listen)
}

// tryOut prints commands for a first try.
func tryOut(out io.Writer, url string) {
	fmt.Fprintf(out, `try:
  curl %[1]s/apis/coordination.k8s.io/v1/leases
  curl -X POST -H 'Content-Type: application/json' -d '{"metadata":{"name":"hello"},"spec":{"holderIdentity":"me"}}' \
    %[1]s/apis/coordination.k8s.io/v1/namespaces/default/leases
  curl -N '%[1]s/apis/coordination.k8s.io/v1/leases?watch=true'
  kubectl --server %[1]s get leases --all-namespaces
`, url)
}

func logRequest(e httpapi.LogEntry) {
	uri := e.Path
	if e.Query != "" {
		uri += "?" + e.Query
	}
	log.Printf("%s %q %d %dB %s %q", e.Method, uri, e.Code, e.Bytes, e.Duration.Round(time.Microsecond), e.UserAgent)
}

// served is an API, or with -debug worlds.
type served struct {
	http.Handler
	// close ends all requests. The store can still be read. Closing it again does
	// nothing.
	close func()
	store func() *store.Store
}

func newServed(c config, authenticate httpapi.Authenticator, calm *calmLog) (served, error) {
	opts := httpapi.Options{Authenticate: authenticate, Log: calm.refusal}
	if c.verbose {
		opts.Log = logRequest
	}
	c.limits.options(&opts, c.listen)
	now, err := newClock(c)
	if err != nil {
		return served{}, err
	}
	of := store.Options{History: c.history, HistoryBytes: c.historyBytes, Quota: c.quota, Clock: now}
	if c.debug {
		of.HistoryAge = math.MaxInt64 // keep all changes, with their times
	}
	first := firstVersion(c, time.Now())
	if c.load == "" {
		of.FirstResourceVersion = first
	}
	st := store.New(of)
	if err := loadState(st, c.load, first); err != nil {
		st.Close()
		return served{}, err
	}
	if c.debug {
		ws, err := newWorlds(st, of, apitest.Options{API: opts}, c.elect)
		if err != nil {
			return served{}, err
		}
		return served{ws, ws.Close, ws.main.store}, nil
	}
	if c.elect {
		opts.Elect = &candidate.ElectorOptions{}
	}
	api := httpapi.New(st, opts)
	end := func() {
		api.Close()
		st.Close()
	}
	return served{api, end, func() *store.Store { return st }}, nil
}
