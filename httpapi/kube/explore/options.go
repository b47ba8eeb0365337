package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/kubecoord/kubecoord/httpapi/apitest/explore"
	"github.com/kubecoord/kubecoord/store/fixture"
)

// options are what the flags say.
type options struct {
	steps    string
	crds     []string
	hooks    []string
	server   []string // flags of a kube-apiserver
	loads    []fixture.Source
	json     string
	junit    string
	scenario explore.Scenario
	search   explore.Options
}

// list is a flag that may come several times.
type list []string

// String implements flag.Value.
func (l *list) String() string { return strings.Join(*l, ", ") }

// Set implements flag.Value.
func (l *list) Set(text string) error {
	*l = append(*l, text)
	return nil
}

// parse parses the arguments. Its errors name the flag and what was expected.
func parse(args []string, errs io.Writer) (*options, error) {
	o := &options{}
	c := explore.Controller{}
	var crds, loads, hooks, server, env, mask, plans list
	world := "workloads"
	fs := flag.NewFlagSet("explore", flag.ContinueOnError)
	fs.SetOutput(errs)
	fs.Usage = func() {
		fmt.Fprintf(errs, "usage: explore -steps DIR [flags] -- PROGRAM [arguments]\n\nFlags, which may come several times where they name one thing:\n")
		fs.PrintDefaults()
	}
	fs.StringVar(&o.steps, "steps", "", "a `folder` with manifests: 1-apply-shop.yaml, 2-patch-shop.yaml, 3-delete-shop.yaml, 4-wait-shop.yaml; a test of kuttl or chainsaw will do")
	fs.Var(&crds, "crds", "a `path` of CustomResourceDefinitions: a file, or a folder")
	fs.Var(&loads, "load", "a `path` of objects that are there before the program starts: a file, or a folder")
	fs.Var(&hooks, "webhooks", "a `path` of webhook configurations: a file, or a folder. The program must serve at the port {webhook}, with tls.crt and tls.key of the folder {certs}; conversion webhooks are not called")
	fs.Var(&server, "apiserver", "a `flag` of kube-apiserver, such as --enable-admission-plugins=AlwaysPullImages")
	fs.StringVar(&c.Name, "name", "controller", "the `name` of the program in plans and reports")
	fs.Var(&env, "env", "adds `NAME=value` to the environment of the program")
	fs.StringVar(&c.Dir, "workdir", ".", "the working `folder` of the program; \"\" is an empty one for each run")
	fs.BoolVar(&c.TLS, "tls", false, "the program uses HTTPS, by the certificate in its kubeconfig")
	fs.IntVar(&c.Replicas, "replicas", 1, "how many of the program run at the same time; they must elect a leader")
	fs.StringVar(&world, "world", world, "what else happens in the cluster: workloads (Pods run, and Deployments, StatefulSets and Jobs become ready), pods (StatefulSets have Pods and claims, too), or none")
	fs.DurationVar(&o.search.Budget, "budget", 10*time.Minute, "how much `time` the search may take; findings are confirmed after it")
	fs.IntVar(&o.search.Runs, "runs", 0, "how many runs with something going wrong there are at most; 0 means all plans, for as long as the budget lasts")
	fs.Var(&plans, "plan", "runs only this `plan`, as a finding prints it")
	fs.DurationVar(&o.search.Quiet, "quiet", 0, "how long nothing is written at a rest; 0 means a second, or what the program needs undisturbed. It must be longer than each pause of the program after an error")
	fs.IntVar(&o.search.Parallel, "parallel", 0, "how many runs go on at the same time; 0 means as many as keep the processors at 80 %")
	fs.Var(&mask, "mask", "`members` that are not compared: \"events\", \"widgets * .status.lastSeen\"")
	fs.StringVar(&o.search.Resume, "resume", "", "a `file` in which the search keeps what it has run: the next one begins with what failed, and goes on where this one stopped")
	fs.StringVar(&o.search.Dir, "dir", "", "a `folder` for an HTML page for each finding")
	fs.StringVar(&o.json, "json", "", "a `file` for the report as JSON; - is the standard output")
	fs.StringVar(&o.junit, "junit", "", "a `file` for the report as JUnit XML")
	if err := fs.Parse(args); err != nil {
		return nil, err
	}
	c.Command, c.Env = fs.Args(), env
	o.scenario.Mask, o.search.Plans, o.crds, o.hooks, o.server = mask, plans, crds, hooks, server
	o.scenario.Controllers = []explore.Controller{c}
	switch {
	case o.steps == "":
		return nil, errors.New("-steps: got none, want a folder with manifests such as 1-apply-shop.yaml")
	case len(c.Command) == 0:
		return nil, errors.New("got no program, want one after the flags: explore -steps test/steps -- ./bin/manager --leader-elect=false")
	case world == "workloads":
		o.scenario.World = explore.Workloads
	case world == "pods":
		o.scenario.World = explore.StatefulPods
	case world != "none":
		return nil, fmt.Errorf("-world: got %q, want workloads, pods or none", world)
	}
	for _, path := range loads {
		info, err := os.Stat(path)
		if err != nil {
			return nil, fmt.Errorf("-load: %w", err)
		}
		if info.IsDir() {
			o.loads = append(o.loads, fixture.FS(os.DirFS(path)))
		} else {
			o.loads = append(o.loads, fixture.FS(os.DirFS(filepath.Dir(path)), filepath.Base(path)))
		}
	}
	return o, nil
}
