// Command record sends the recorded scenarios to a real kube-apiserver, or to any other server. It prints the answers that
// differ and can store them.
//
//	KUBE_APISERVER=/tmp/kube-apiserver go run ./record ../../../httpapi/testdata/wire
//	go run ./record -server http://127.0.0.1:8001 -run '^lease-' ../../../httpapi/testdata/wire
//
// The argument is the folder of the scenarios. The exit status is 1 if there are differences that were not stored.
package main

import (
	"context"
	"flag"
	"fmt"
	"net/http"
	"os"
	"os/signal"
	"regexp"
	"syscall"

	"github.com/kubecoord/kubecoord/internal/test/referee/reference"
	"github.com/kubecoord/kubecoord/internal/test/wiretest"
)

type options struct {
	server, scenarios, dir string
	write, all             bool
}

func main() {
	var o options
	flag.StringVar(&o.server, "server", "", "`URL` of the server, such as the URL of kubectl proxy; by default the binary in KUBE_APISERVER is started")
	flag.StringVar(&o.scenarios, "run", "", "play only the scenarios whose names match this `regexp`")
	flag.BoolVar(&o.write, "write", false, "store the answers that differ")
	flag.BoolVar(&o.all, "all", false, "count the differences that accepted.txt accepts, too: for another version of Kubernetes")
	flag.Parse()
	if flag.NArg() != 1 {
		fmt.Fprintln(os.Stderr, "record: want one argument, the folder of the scenarios")
		os.Exit(2)
	}
	o.dir = flag.Arg(0)
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	same, err := run(ctx, o)
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "record:", err)
	}
	if err != nil || !same {
		os.Exit(1)
	}
}

// run reports whether all answers equal the stored ones, or were stored.
func run(ctx context.Context, o options) (bool, error) {
	match, err := regexp.Compile(o.scenarios)
	if err != nil {
		return false, err
	}
	files, err := wiretest.LoadFiles(o.dir)
	if err != nil {
		return false, err
	}
	r := recorder{match: match}
	if !o.all {
		if r.accepted, err = reference.ReadAccepted(); err != nil {
			return false, err
		}
	}
	stop, err := r.connect(ctx, o.server)
	if err != nil {
		return false, err
	}
	defer stop()
	for _, f := range files {
		different := r.different
		if err := r.file(ctx, f); err != nil {
			return false, err
		}
		if o.write && r.different > different {
			if err := os.WriteFile(f.Path(), []byte(f.Text()), 0o644); err != nil {
				return false, err
			}
			fmt.Println("wrote", f.Path())
		}
	}
	fmt.Printf("%d scenarios, %d exchanges; %d scenarios differ, %d could not be played\n", r.scenarios, r.exchanges, r.different, r.failed)
	return r.failed == 0 && (o.write || r.different == 0), nil
}

type recorder struct {
	match    *regexp.Regexp // names of scenarios
	accepted reference.Accepted
	runner   *wiretest.Runner

	scenarios, exchanges, different, failed int
}

// connect starts the reference, or uses the server at a URL. The returned function stops the started processes.
func (r *recorder) connect(ctx context.Context, server string) (func(), error) {
	if server != "" {
		transport := &http.Transport{DisableCompression: true}
		r.runner = &wiretest.Runner{Transport: transport, BaseURL: server, Prepare: func(ctx context.Context, name string) error {
			return reference.CreateNamespace(ctx, transport, server, name)
		}}
		return transport.CloseIdleConnections, nil
	}
	binary := os.Getenv("KUBE_APISERVER")
	if binary == "" {
		return nil, fmt.Errorf("give -server, or name a binary of kube-apiserver in KUBE_APISERVER")
	}
	s, err := reference.Start(ctx, binary)
	if err != nil {
		return nil, err
	}
	r.runner = &wiretest.Runner{Transport: s, BaseURL: s.URL(), Prepare: s.CreateNamespace}
	return func() {
		if err := s.Close(); err != nil {
			fmt.Fprintln(os.Stderr, "record:", err)
		}
	}, nil
}

// file runs the scenarios of a file and replaces its answers.
func (r *recorder) file(ctx context.Context, f *wiretest.File) error {
	for _, g := range f.Goldens() {
		if !r.match.MatchString(g.Scenario.Name) {
			continue
		}
		p, err := reference.Play(ctx, r.runner, g, r.accepted)
		if ctx.Err() != nil {
			return ctx.Err()
		}
		r.scenarios++
		r.exchanges += p.Exchanges
		for _, d := range p.Differences {
			fmt.Printf("%s: %s\n", g.Scenario.Name, d)
		}
		if err != nil {
			r.failed++
			fmt.Printf("%s: %v\n", g.Scenario.Name, err)
			continue
		}
		if len(p.Differences) > 0 {
			r.different++
			f.Replace(p.Recorded)
		}
	}
	return nil
}
