// Command explore finds faults of a controller that is a program of any language, as package httpapi/apitest/explore does. It needs no Go code, no cluster and no
// container:
//
//	go run github.com/kubecoord/kubecoord/httpapi/kube/explore@latest -crds config/crd -steps test/steps -- ./bin/manager --leader-elect=false
//
// It runs the program some hundred times, each time on a copy of a Kubernetes API server in memory, and does the steps. Each time something
// else goes wrong: a crash just before or after a write, a lost answer, a restart that reads an old state. A run that comes to rest in another
// state than an undisturbed one is a finding, which is printed with the plan that repeats it.
//
// The program must read $KUBECONFIG, or an argument with {kubeconfig}. In its arguments and in -env {port} is a free port of each run, {server} the URL of
// the API server, and {dir} an empty folder. Steps are manifests: 1-apply-shop.yaml, 2-patch-shop.yaml, 3-delete-shop.yaml, 4-wait-shop.yaml; a folder with
// a test of kuttl or chainsaw will do.
//
// Deployments, StatefulSets, Jobs and Pods become ready at once, as if Pods ran. The garbage collector and the namespace controller run. Everything else of a cluster is
// not there: no scheduler, and no Pods of a Deployment. With -world pods StatefulSets have Pods and claims.
//
// The exit status is 0 without findings, 1 with some, and 2 if the scenario, the program or a flag is at fault.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"net"
	"os"
	"os/signal"
	"strconv"
	"strings"
	"syscall"

	"github.com/kubecoord/kubecoord/httpapi/apitest"
	"github.com/kubecoord/kubecoord/httpapi/apitest/explore"
	"github.com/kubecoord/kubecoord/httpapi/kube/envtest"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	code := run(ctx, os.Args[1:], os.Stdout, os.Stderr)
	stop()
	os.Exit(code)
}

// The exit statuses.
const (
	clean    = 0
	findings = 1
	atFault  = 2
)

// run searches, and returns the exit status.
func run(ctx context.Context, args []string, out, errs io.Writer) int {
	o, err := parse(args, errs)
	if errors.Is(err, flag.ErrHelp) {
		return clean
	}
	if err == nil {
		var r *explore.Report
		if r, err = search(ctx, o, errs); r != nil {
			err = errors.Join(err, o.write(r, out))
		}
		if err == nil {
			var code int
			if code, err = o.judge(r); err == nil {
				return code
			}
		}
	}
	if err != nil {
		fmt.Fprintf(errs, "explore: %v\n", err)
		return atFault
	}
	return clean
}

// judge returns the exit status for a report, or an error if it says nothing.
func (o *options) judge(r *explore.Report) (int, error) {
	switch {
	case len(r.Findings) > 0:
		return findings, nil
	case r.Runs == 0 && len(r.NotRun) > 0:
		return atFault, fmt.Errorf("-budget: got %s, want more: the undisturbed runs have taken it, and nothing was tried", o.search.Budget)
	}
	return clean, nil
}

// search makes the API server and explores.
func search(ctx context.Context, o *options, errs io.Writer) (*explore.Report, error) {
	steps, err := explore.Manifests(o.steps)
	if err != nil {
		return nil, fmt.Errorf("-steps: %w", err)
	}
	env := &envtest.Environment{
		InProcess: true, GarbageCollection: true, NamespaceDeletion: true,
		CRDDirectoryPaths: o.crds, ErrorIfCRDPathMissing: true,
		Options: apitest.Options{Fixtures: o.loads},
	}
	env.WebhookInstallOptions.Paths = o.hooks
	for _, f := range o.server {
		name, value, _ := strings.Cut(strings.TrimLeft(f, "-"), "=")
		env.ControlPlane.GetAPIServer().Configure().Append(name, value)
	}
	if _, err := env.Start(); err != nil {
		return nil, err
	}
	p := newProgress(errs)
	defer p.end()
	s := o.scenario
	s.API, s.Steps = env.API(), steps
	if hooks := env.WebhookInstallOptions; len(o.hooks) > 0 {
		c := &s.Controllers[0]
		c.Webhooks = net.JoinHostPort(hooks.LocalServingHost, strconv.Itoa(hooks.LocalServingPort))
		for _, texts := range [][]string{c.Command, c.Env} {
			for i := range texts {
				texts[i] = strings.ReplaceAll(texts[i], "{certs}", hooks.LocalServingCertDir)
			}
		}
	}
	so := o.search
	so.Progress = p.see
	r, err := explore.Search(ctx, s, so)
	return r, errors.Join(err, env.Stop())
}
