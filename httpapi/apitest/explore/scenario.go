package explore

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/kubecoord/kubecoord/httpapi/apitest"
)

// Conn is how a part of a Scenario reaches the API of one run.
type Conn struct {
	// Host and Transport are for a client: rest.Config{Host: c.Host, Transport: c.Transport}. No socket is opened. After the part has
	// crashed, all its requests fail.
	Host      string
	Transport http.RoundTripper
	// Name is the name of the part in requests. Each start of a controller has another one. It can be the identity in an election.
	Name string
	// Shared is one map for all parts in all runs of the scenario. It is for what is costly to make, the same in all runs and never changed,
	// such as a RESTMapper. Nothing in it may be bound to a run: no Transport, channel or timer.
	Shared *sync.Map
}

// Controller is what is tested: a function, or a program in a process of its own.
type Controller struct {
	// Name is its name in plans and reports, one word. Default: "controller". The names "user", "world", "other" and "check" are reserved: in
	// reports they are the Steps, the World, the client that interferes, and Check.
	Name string
	// Run runs the controller until ctx ends: a manager, informers, a loop. It is called again for each start, and for several runs
	// at once, so it must not share state between calls. It must leave no goroutine behind. An error that it returns before ctx ends is
	// the end of the process: it is started again, as a kubelet does.
	Run func(ctx context.Context, c Conn) error
	// Command, in place of Run, is a program and its arguments, of any language and any version of Kubernetes. The runs are then in real time, and each
	// start is a process. It must read $KUBECONFIG, or an argument with {kubeconfig}. In arguments and in Env {kubeconfig} is that file,
	// {server} the URL, {dir} a folder of the run, and each {port} another free port of the loopback, the same for all starts of a run. A program
	// that is a path with a "/" is found from the folder of the search. A crash is a SIGKILL of the process and of all that it has started, at the
	// very request. SIGTERM ends it at the last step, and by the plan terminate.
	Command []string
	// Env is added to the environment of a Command: "NAME=value".
	Env []string
	// Dir is the working folder of a Command. By default each run has an empty one of its own.
	Dir string
	// TLS lets a Command use HTTPS, whose certificate is in its kubeconfig.
	TLS bool
	// Webhooks, if not "", is the address, such as "127.0.0.1:9443", at which the webhook configurations of the API expect the admission webhooks of a
	// Command. In each run they get the address of that run, and {webhook} in arguments and in Env is its port.
	Webhooks string
	// Replicas is how many of it run at the same time. They must elect a leader. Zero means one.
	Replicas int
}

// Step is something that a user does.
type Step struct {
	// Name describes the step in reports.
	Name string
	// Do does it. An error in an undisturbed run is a fault of the scenario.
	Do func(ctx context.Context, c Conn) error
}

// Scenario is what each run does.
type Scenario struct {
	// API is the prepared server, with kinds, objects and users. Each run has a fork of it. Start what watches it, such as the
	// controllers of a cluster, by its Options, so that each fork has its own.
	API *apitest.API
	// Controllers are tested. At least one is required.
	Controllers []Controller
	// World, if not nil, does what else happens in a cluster, until ctx ends, such as Workloads. Nothing goes wrong for its requests.
	World func(ctx context.Context, c Conn) error
	// Steps are done one after the other, each after the rest that follows the one before. The first comes after the controllers have
	// started and are at rest.
	Steps []Step
	// Check, if not nil, is called at each rest. An error is a finding.
	Check func(ctx context.Context, c Conn) error
	// Mask names what is not compared: "events", "configmaps default/status", "widgets * .status.lastSeen". A "*" stands for any text in
	// a name, and "[]" for any index in a path. Events are masked anyway.
	Mask []string
}

// Options are the bounds of an exploration. The zero value is for a test in CI.
type Options struct {
	// Budget is how much real time the runs may take. Zero means one minute, and five seconds with -short. The flag -explore.budget
	// takes precedence.
	Budget time.Duration
	// Runs limits the number of perturbed runs. Zero means no limit but the plans: random ones go on until the budget is spent only if Runs
	// is set.
	Runs int
	// Plans, if not nil, are the only plans to run, as reports print them. The flag -explore.plan takes precedence.
	Plans []string
	// Quiet is how long nothing is written before a run is at rest, in virtual time. It must be longer than each wait of the
	// controllers after an error. Zero means one minute. With a Command it is in real time, and zero means a second, or longer if the
	// controllers wait for longer before they write: first runs that rest for a 48th of the Budget, 2.5 to 12.5 seconds, tell. A finding is confirmed by
	// runs that rest three times as long.
	Quiet time.Duration
	// Parallel is how many runs go on at the same time. Zero means one for each processor, and with a Command as many as keep the processors at 80 %.
	Parallel int
	// Resume, if not "", is a file in which the exploration keeps which plans were run, and which failed. It begins with the failed ones, and goes
	// on where the last one stopped. If it is a folder, each test has a file there. The flag -explore.resume takes precedence.
	Resume string
	// Dir, if not "", gets an HTML page for each finding, with its run beside an undisturbed one. The flag -explore.dir takes
	// precedence.
	Dir string
	// Logf gets the progress of a long exploration. Nil means the log of the test, and nothing for Search.
	Logf func(format string, args ...any)
	// Progress, if not nil, is called after each run that counts, one call at a time.
	Progress func(Progress)
}

// Progress is how far a search is.
type Progress struct {
	// Runs is how many perturbed runs there were. Left is how many plans are left but for random ones.
	Runs, Left int
	// Findings is how many there are so far. Some may not be confirmed at the end.
	Findings int
	// Found is "", or what the last run has found that no other had, with its plan.
	Found string
	// Budget is what is left of it.
	Budget time.Duration
}

// check returns an error that names the field and what was expected.
func (s *Scenario) check() error {
	switch {
	case s.API == nil:
		return errors.New("Scenario.API: got nil, want a prepared API")
	case len(s.Controllers) == 0:
		return errors.New("Scenario.Controllers: got none, want one at least")
	}
	reserved := []string{"user", "world", "other", "check"}
	names := map[string]bool{}
	for i, c := range s.Controllers {
		at := fmt.Sprintf("Scenario.Controllers[%d]", i)
		switch name := c.name(); {
		case c.Run == nil && c.Command == nil:
			return fmt.Errorf("%s.Run: got nil, want a function, or a Command", at)
		case c.Run != nil && c.Command != nil:
			return fmt.Errorf("%s: got Run and Command, want one of them", at)
		case c.Replicas < 0:
			return fmt.Errorf("%s.Replicas: got %d, want 0 or more", at, c.Replicas)
		case slices.Contains(reserved, name):
			return fmt.Errorf("%s.Name: got %q, which is reserved, as are %s", at, name, strings.Join(reserved, ", "))
		case names[name]:
			return fmt.Errorf("%s.Name: got %q, want a name that no other part has", at, name)
		case !isWord(name):
			return fmt.Errorf("%s.Name: got %q, want one word", at, name)
		default:
			names[name] = true
		}
		if err := c.checkCommand(); err != nil {
			return fmt.Errorf("%s.%w", at, err)
		}
	}
	for i, step := range s.Steps {
		if step.Do == nil {
			return fmt.Errorf("Scenario.Steps[%d].Do: got nil, want a function", i)
		}
	}
	return nil
}

// checkCommand checks what is for a Command only.
func (c *Controller) checkCommand() error {
	if c.Command == nil {
		if c.Env != nil || c.Dir != "" || c.TLS || c.Webhooks != "" {
			return errors.New("Command: got none, want one for Env, Dir, TLS and Webhooks")
		}
		return nil
	}
	if len(c.Command) == 0 || c.Command[0] == "" {
		return errors.New("Command: got no program, want its name or path first")
	}
	if _, err := programPath(c.Command[0]); err != nil {
		return fmt.Errorf("Command: %w", err)
	}
	for i, v := range c.Env {
		if name, _, ok := strings.Cut(v, "="); !ok || name == "" {
			return fmt.Errorf("Env[%d]: got %q, want \"NAME=value\"", i, v)
		}
	}
	if _, _, err := net.SplitHostPort(c.Webhooks); c.Webhooks != "" && err != nil {
		return fmt.Errorf("Webhooks: got %q, want an address such as 127.0.0.1:9443: %w", c.Webhooks, err)
	}
	if info, err := os.Stat(c.Dir); c.Dir != "" && (err != nil || !info.IsDir()) {
		return fmt.Errorf("Dir: got %q, want a folder", c.Dir)
	}
	return nil
}

// programPath returns the absolute path of a program.
func programPath(name string) (string, error) {
	found, err := exec.LookPath(name)
	if err != nil {
		return "", fmt.Errorf("got %q, want a program: %w", name, err)
	}
	return filepath.Abs(found)
}

// commandOf names the Command of a controller in errors.
func (x *explorer) commandOf(c *Controller) string {
	for i := range x.s.Controllers {
		if &x.s.Controllers[i] == c {
			return fmt.Sprintf("Scenario.Controllers[%d].Command", i)
		}
	}
	return "Command"
}

func (c *Controller) name() string {
	if c.Name == "" {
		return "controller"
	}
	return c.Name
}

func (c *Controller) replicas() int { return max(c.Replicas, 1) }

// stepName describes the part of a run that ends with rest n.
func (s *Scenario) stepName(n int) string {
	if n == 0 {
		return "the start"
	}
	return fmt.Sprintf("step %d %q", n, s.Steps[n-1].Name)
}
