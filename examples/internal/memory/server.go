// Package memory is the server in memory, whose programs are examples/server, with the kinds of httpapi.Kinds, and
// examples/kube, with any kinds. To write a server of your own, copy two functions from it: newServed, which makes the store
// and its handler, and loadState in state.go, which continues from a dump. The flags that it shares with examples/durable,
// credentials, limits and metrics are in examples/internal/serve. The operations below /debug/ are those of package httpapi/debug.
package memory

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"math"
	"net/http"
	"os"
	"os/signal"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/kubecoord/kubecoord/candidate"
	"github.com/kubecoord/kubecoord/examples/internal/serve"
	"github.com/kubecoord/kubecoord/httpapi"
	"github.com/kubecoord/kubecoord/httpapi/apitest"
	"github.com/kubecoord/kubecoord/httpapi/debug"
	"github.com/kubecoord/kubecoord/store"
	"github.com/kubecoord/kubecoord/store/clock"
	"github.com/kubecoord/kubecoord/store/fixture"
	"github.com/kubecoord/kubecoord/store/kind"
)

// config is the command line.
type config struct {
	serve.Options
	more      func() More // or nil
	quota     int64
	debug     bool
	page      bool // serve what -debug does, though versions do not repeat: nobody has set -debug at an address of the loopback
	clock     string
	load      string
	known     bool // skip what is not known in load
	dump      string
	dumpEvery time.Duration
	dumpNow   <-chan os.Signal // dump at each
	progress  progress
}

// More is what a server has beside httpapi.Kinds.
type More struct {
	// API returns the options of an API with the kinds of this server, and with what the server does.
	API func(httpapi.Options) (httpapi.Options, error)
	// Fixtures are loaded at the start, unless the state of -load has their objects.
	Fixtures []fixture.Source
	// About, if not nil, returns lines that say what the server is, which has these kinds at its start. They are printed.
	About func([]kind.Kind) string
	// Try has arguments of kubectl, for commands that are printed. Nil means commands for Leases.
	Try []string
	// Progress, if not nil, is a terminal that shows how many objects are loaded.
	Progress io.Writer
}

// Main runs the program of this name. It registers the flags, and calls more, if it is not nil, once they are read.
func Main(name string, more func() More) {
	c := config{more: more}
	c.Register(flag.CommandLine)
	flag.Int64Var(&c.quota, "quota-backend-bytes", 512<<20, "refuse writes that add bytes to more than so many `bytes` of objects; 0: no limit")
	c.page = true
	flag.BoolFunc("debug", "serve a page, faults, forks (copies of the server), fixtures, history and elections below /debug/, for tests in any language; "+
		"resourceVersions begin at 1000. Without the flag an address of the loopback has these too, and resourceVersions begin at the time",
		func(value string) (err error) {
			c.page = false
			c.debug, err = strconv.ParseBool(value)
			return err
		})
	flag.StringVar(&c.clock, "clock", "", "with -debug: begin at this `time`, such as 2026-01-01T00:00:00Z, and move only by /debug/clock")
	flag.StringVar(&c.load, "load", "", "start with the objects of this `directory` or file: YAML, JSON or txtar")
	flag.BoolVar(&c.known, "load-known", false, "with -load: leave out objects of kinds that are not served")
	flag.StringVar(&c.dump, "dump", "", "write all objects to this `file` at the end, as -load reads them")
	flag.DurationVar(&c.dumpEvery, "dump-every", 0, "write the file of -dump so often too; 0: only at the end and at SIGHUP")
	serve.Main(name, func(ctx context.Context, out io.Writer) error {
		if c.dump != "" {
			hangups := make(chan os.Signal, 1)
			signal.Notify(hangups, syscall.SIGHUP)
			c.dumpNow = hangups
		}
		return run(ctx, out, c)
	})
}

// run serves until the context ends. The first line of out has the address.
func run(ctx context.Context, out io.Writer, c config) error {
	if c.quota < 0 {
		return fmt.Errorf("-quota-backend-bytes %d: must not be negative", c.quota)
	}
	more := More{API: func(opts httpapi.Options) (httpapi.Options, error) { return opts, nil }}
	if c.more != nil {
		more = c.more()
	}
	with, err := more.API(httpapi.Options{})
	if err != nil {
		return err
	}
	c.Kinds, c.Try, c.progress.terminal = with.Kinds, more.Try, more.Progress
	c.page = c.page && c.Loopback()
	about := more.About
	if about == nil {
		about = aboutLeases
	}
	front, err := c.Open()
	if err != nil {
		return err
	}
	state, err := newStateFile(c.dump)
	if err != nil {
		return err
	}
	ln, err := front.Listen()
	if err != nil {
		return err
	}
	defer ln.Close() // if Serve is not called
	opts, err := more.API(ln.API())
	if err != nil {
		return err
	}
	served, err := newServed(c, opts, more.Fixtures...)
	if err != nil {
		return err
	}
	defer served.close()
	lines := about(append(httpapi.Kinds(), with.Kinds...))
	if c.hasDebug() {
		lines = "page: " + pageHint(c, ln.URL()) + "\n" + lines
	}
	ln.Greet(out, lines)
	if c.hasDebug() {
		fmt.Fprintf(out, "  %s   # the operations for tests\n", ln.Curl("/debug/"))
	}
	dumping, stopped := context.WithCancel(ctx)
	var dumps sync.WaitGroup
	if state != nil {
		dumps.Go(func() { state.dumpOften(dumping, c.dumpNow, c.dumpEvery, served) })
	}
	err = ln.Serve(ctx, ln.Metrics(served.api, nil, served), served.close)
	stopped()
	dumps.Wait()
	return errors.Join(err, state.dump(served))
}

// hasDebug reports whether /debug/ is served.
func (c config) hasDebug() bool { return c.debug || c.page }

// aboutLeases is About for a server with no more than httpapi.Kinds.
func aboutLeases(all []kind.Kind) string {
	var names []string
	for _, k := range all {
		names = append(names, k.Info().Kind)
	}
	return "kinds: " + strings.Join(names, ", ") + "; go run ./examples/kube serves all kinds of Kubernetes\n"
}

// pageHint says how to see the page.
func pageHint(c config, url string) string {
	switch {
	case c.TokenFile == "":
		return url + "/debug/"
	case c.Kubeconfig == "":
		return "a browser sends no token; for /debug/ put a proxy before it that does, such as kubectl proxy"
	}
	return "kubectl --kubeconfig " + c.Kubeconfig + " proxy --port 8002   # then open http://127.0.0.1:8002/debug/ in a browser"
}

// newClock returns the clock of -clock: nil for the real clock, or a manual clock that
// begins at the given time.
func newClock(c config) (clock.Clock, error) {
	if c.clock == "" {
		return nil, nil
	}
	start, err := time.Parse(time.RFC3339, c.clock)
	switch {
	case err != nil:
		return nil, fmt.Errorf("-clock: got %q, want a time such as 2026-01-01T00:00:00Z", c.clock)
	case !c.debug:
		return nil, fmt.Errorf("-clock: got it without -debug, want both, because only /debug/clock moves the clock")
	}
	return clock.NewManual(start), nil
}

// served is an API, or the server with forks of /debug/.
type served struct {
	http.Handler
	// close ends all requests. The store can still be read. Closing it again does
	// nothing.
	close func()
	api   func() *httpapi.API
}

func newServed(c config, opts httpapi.Options, fixtures ...fixture.Source) (served, error) {
	defer c.progress.end()
	now, err := newClock(c)
	if err != nil {
		return served{}, err
	}
	of := store.Options{History: c.History, HistoryBytes: c.HistoryBytes, Quota: c.quota, Clock: now}
	if c.hasDebug() {
		of.HistoryAge = math.MaxInt64 // keep all changes, with their times
	}
	first := firstVersion(c, time.Now())
	if c.load == "" {
		of.FirstResourceVersion = first
	}
	st := store.New(of)
	if err := loadState(st, append(httpapi.Kinds(), opts.Kinds...), c, first, fixtures...); err != nil {
		st.Close()
		return served{}, err
	}
	if c.hasDebug() {
		with := debug.Options{Server: apitest.Options{Store: of, Over: st, API: opts}}
		if c.Elect {
			with.Elect = &candidate.CoordinatorOptions{}
		}
		srv, err := debug.New(with)
		if err != nil {
			return served{}, err
		}
		api := func() *httpapi.API { return srv.API().Handler() }
		return served{srv, srv.Close, api}, nil
	}
	if c.Elect {
		opts.Parts = append(opts.Parts, httpapi.Elect(candidate.CoordinatorOptions{}))
	}
	api := httpapi.New(st, opts)
	end := func() {
		api.Close()
		st.Close()
	}
	return served{api, end, func() *httpapi.API { return api }}, nil
}
