package explore

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
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

	"github.com/kubecoord/kubecoord/internal/kubeconfig"
)

// This file runs a controller that is a program: in a process of its own, whose requests come through a door.

// program is one replica of a program in one run: what all its starts have in common.
type program struct {
	door *door
	dir  string // has its kubeconfig, its temporary files, and is its working folder unless Controller.Dir is set
	args []string
	env  []string
}

// close ends what the program has left.
func (g *program) close() { g.door.close() }

// let lets a process be the program.
func (g *program) let(p *process) {
	p.program, p.output = g, &tail{}
	g.door.let(p)
}

// newProgram opens the door of a program, and writes its kubeconfig.
func (l *life) newProgram(c *Controller, name string) (*program, error) {
	dir := filepath.Join(l.dir, name)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, err
	}
	d, err := newDoor(c.TLS)
	if err != nil {
		return nil, err
	}
	g := &program{door: d, dir: dir}
	if err := l.prepareProgram(g, c); err != nil {
		g.close()
		return nil, err
	}
	return g, nil
}

// prepareProgram writes what a program needs, and fills in its arguments and its environment.
func (l *life) prepareProgram(g *program, c *Controller) error {
	path, err := programPath(c.Command[0])
	if err != nil {
		return err
	}
	file := filepath.Join(g.dir, "kubeconfig")
	config := kubeconfig.File{Server: g.door.server.URL, CA: g.door.ca(), Token: doorToken}
	if err := os.WriteFile(file, config.Bytes(), 0o600); err != nil {
		return err
	}
	values := map[string]string{"{kubeconfig}": file, "{server}": g.door.server.URL, "{dir}": g.dir}
	if c.Webhooks != "" {
		port, err := freePort()
		if err != nil {
			return err
		}
		values["{webhook}"] = port
		if err := l.moveWebhooks(c.Webhooks, "127.0.0.1:"+port); err != nil {
			return err
		}
	}
	if g.args, err = filled(c.Command[1:], values); err != nil {
		return err
	}
	g.args = slices.Insert(g.args, 0, path)
	env, err := filled(c.Env, values)
	g.env = append(append(clusterless(os.Environ()), "KUBECONFIG="+file, "TMPDIR="+g.dir), env...)
	return err
}

// moveWebhooks gives the webhooks at an address the address of this run.
func (l *life) moveWebhooks(from, to string) error {
	c := l.newProcess(-1, "other").conn()
	for _, resource := range []string{"mutatingwebhookconfigurations", "validatingwebhookconfigurations"} {
		at := "/apis/admissionregistration.k8s.io/v1/" + resource
		list, _ := exchange(c, http.MethodGet, at, "")["items"].([]any)
		for _, item := range list {
			o, _ := item.(map[string]any)
			m, _ := o["metadata"].(map[string]any)
			moved := false
			hooks, _ := o["webhooks"].([]any)
			for _, hook := range hooks {
				h, _ := hook.(map[string]any)
				config, _ := h["clientConfig"].(map[string]any)
				if address, _ := config["url"].(string); strings.HasPrefix(address, "https://"+from+"/") {
					config["url"], moved = "https://"+to+strings.TrimPrefix(address, "https://"+from), true
				}
			}
			if !moved {
				continue
			}
			body, err := json.Marshal(o)
			if err != nil {
				return err
			}
			if exchange(c, http.MethodPut, fmt.Sprint(at, "/", m["name"]), string(body)) == nil {
				return fmt.Errorf("the webhooks of %v cannot get the address %s", m["name"], to)
			}
		}
	}
	return nil
}

// doorToken is the token in the kubeconfig of a program. kubectl asks for a user name where there is none.
const doorToken = "explore"

// clusterless returns an environment without what a Pod has, and with no proxy for the loopback.
func clusterless(env []string) []string {
	for _, name := range []string{"NO_PROXY", "no_proxy"} {
		env = append(env, name+"="+strings.TrimSuffix("127.0.0.1,localhost,"+os.Getenv(name), ","))
	}
	return slices.DeleteFunc(env, func(v string) bool { return strings.HasPrefix(v, "KUBERNETES_SERVICE_") })
}

// filled replaces the words in braces of arguments. Each {port} is another port that is free now.
func filled(texts []string, values map[string]string) (out []string, err error) {
	for _, text := range texts {
		for word, value := range values {
			text = strings.ReplaceAll(text, word, value)
		}
		for strings.Contains(text, "{port}") {
			port, err := freePort()
			if err != nil {
				return nil, err
			}
			text = strings.Replace(text, "{port}", port, 1)
		}
		out = append(out, text)
	}
	return out, nil
}

// freePort returns a port of the loopback that is free now.
func freePort() (string, error) {
	free, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", err
	}
	defer free.Close()
	_, port, err := net.SplitHostPort(free.Addr().String())
	return port, err
}

// errSlow is the end of a program that has not ended by itself after SIGTERM.
var errSlow = errors.New("it does not end after SIGTERM")

// exec runs the program until it ends, or ctx does. After a crash it is killed with all processes of its group. Otherwise it gets SIGTERM and time
// to end.
func (p *process) exec(ctx context.Context, c *Controller) error {
	x, g := p.life.x, p.program
	cmd := exec.Command(g.args[0], g.args[1:]...)
	cmd.Dir, cmd.Env, cmd.SysProcAttr = g.dir, g.env, ownGroup()
	if c.Dir != "" {
		cmd.Dir = c.Dir
	}
	cmd.Stdout, cmd.Stderr = p.output, p.output
	cmd.WaitDelay = time.Second // a child of it may have the pipe open
	if err := cmd.Start(); err != nil {
		p.life.fail(fmt.Sprintf("%s: the command does not start: %v", x.commandOf(c), err))
		return err
	}
	x.groups.add(cmd.Process)
	p.mu.Lock()
	p.runs = cmd.Process
	p.mu.Unlock()
	ended := make(chan error, 1)
	go func() {
		err := cmd.Wait()
		killGroup(cmd.Process)
		x.groups.remove(cmd.Process)
		ended <- err
	}()
	select {
	case err := <-ended:
		return p.ended(err)
	case <-ctx.Done():
	}
	terminates := p.life.plan != nil && p.life.plan.action == terminate
	if p.dead.Err() == nil && !p.life.over.Load() && (terminates || !x.slowEnd.Load()) {
		began := time.Now()
		sigterm(cmd.Process)
		select {
		case <-ended:
			if terminates {
				p.life.note(p.name, fmt.Sprintf("ends %s after SIGTERM", time.Since(began).Round(time.Millisecond)), true)
			}
			return nil
		case <-time.After(x.pace.term):
			x.slowEnd.Store(true)
			killGroup(cmd.Process)
			<-ended
			return fmt.Errorf("%w within %s", errSlow, x.pace.term)
		case <-p.dead.Done():
		}
	}
	killGroup(cmd.Process)
	<-ended
	return nil
}

// ended describes the end of a program that nobody has asked for.
func (p *process) ended(err error) error {
	text := "exit status 0"
	if err != nil {
		text = err.Error()
	}
	all := p.output.String()
	if i := strings.LastIndex(all, "\npanic: "); i >= 0 || strings.HasPrefix(all, "panic: ") {
		return panicked{errors.New(text), strings.Split(strings.TrimSpace(all[max(i, 0):]), "\n")}
	}
	if hint := hintOf(all); hint != "" {
		text += ": " + hint
	}
	return errors.New(text + lastLines(all))
}

// hintOf says what may be missing for a program that has written something, or "".
func hintOf(output string) string {
	for _, h := range []struct {
		words []string
		hint  string
	}{
		{[]string{"in-cluster config", "KUBERNETES_SERVICE_HOST", "serviceaccount/token", "incluster_config"}, "it reads the configuration of a Pod: it must read $KUBECONFIG, or an argument with {kubeconfig}"},
		{[]string{"address already in use", "EADDRINUSE"}, "several runs go on at once: give it an address with {port}, which is a free port of each run, or set Parallel to 1"},
		{[]string{"tls.crt: no such file", "tls.key: no such file", "serving-certs"}, "it serves a webhook and has no certificate: switch the webhook off, or pass the port {webhook} and the folder {certs}, which has tls.crt and tls.key (-webhooks)"},
	} {
		if slices.ContainsFunc(h.words, func(w string) bool { return strings.Contains(output, w) }) {
			return h.hint
		}
	}
	return ""
}

// ServeHTTP answers a request of a program. When the request is the one at which the process crashes, its connections are cut and its port refuses new ones before it
// is killed, and nothing is answered.
func (p *process) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if !p.enter() {
		panic(http.ErrAbortHandler)
	}
	defer p.handling.Done()
	s := &sent{by: p}
	ctx, end := p.begin(r.Context(), s)
	defer end()
	if isWatch(r) {
		defer p.watches(r.URL.Path)()
	}
	defer func() {
		v := recover()
		if v == nil {
			return
		}
		if p.crashing.CompareAndSwap(true, false) {
			p.crash(s.outcome())
		}
		panic(v)
	}()
	r = r.WithContext(ctx)
	if r.Header.Get("Authorization") == "Bearer "+doorToken { // to the API it is a part of the scenario, as one without a socket is
		r.Header.Del("Authorization")
		r.TLS = nil
	}
	p.life.api.Handler().ServeHTTP(lastAnswer{w, p}, r)
}

// lastAnswer is a ResponseWriter whose connection cannot be taken when the process crashes by the request: it must not notice before it is killed.
type lastAnswer struct {
	http.ResponseWriter
	by *process
}

// Unwrap is for http.ResponseController.
func (w lastAnswer) Unwrap() http.ResponseWriter { return w.ResponseWriter }

// Hijack implements http.Hijacker.
func (w lastAnswer) Hijack() (net.Conn, *bufio.ReadWriter, error) {
	if w.by.crashing.Load() {
		return nil, nil, http.ErrNotSupported
	}
	return http.NewResponseController(w.ResponseWriter).Hijack()
}

// enter counts a request, unless the process has ended.
func (p *process) enter() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.dead.Err() != nil {
		return false
	}
	p.asked++
	p.handling.Add(1)
	return true
}

// requests returns how many requests the process has sent.
func (p *process) requests() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.asked
}

// waitedForCPU returns for how long the program has waited for a processor until now, or until just before its end.
func (p *process) waitedForCPU() time.Duration {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.runs != nil && p.dead.Err() == nil {
		p.waited = max(p.waited, waitedForCPU(p.runs))
	}
	return p.waited
}

// isWatch reports whether a request is a watch, as the API reads its query. The client for Python sends "True".
func isWatch(r *http.Request) bool {
	v := r.URL.Query()["watch"]
	asked := len(v) > 0 && v[0] != "0" && !strings.EqualFold(v[0], "false")
	return r.Method == http.MethodGet && (asked || strings.Contains(r.URL.Path, "/watch/"))
}

// watches notes that a watch of a path is open until the function that it returns is called.
func (p *process) watches(path string) (end func()) {
	l := p.life
	l.mu.Lock()
	defer l.mu.Unlock()
	l.watching[watched{p.name, path}]++
	l.movedLocked()
	return func() {
		l.mu.Lock()
		defer l.mu.Unlock()
		l.watching[watched{p.name, path}]--
		l.movedLocked()
	}
}

// watched is a watch that a process has open.
type watched struct{ process, path string }

// groups are the processes that run, so that none is left when a search ends.
type groups struct {
	mu  sync.Mutex
	all map[*os.Process]bool
}

func (g *groups) add(p *os.Process) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.all == nil {
		g.all = map[*os.Process]bool{}
	}
	g.all[p] = true
}

func (g *groups) remove(p *os.Process) {
	g.mu.Lock()
	defer g.mu.Unlock()
	delete(g.all, p)
}

// kill ends all that run.
func (g *groups) kill() {
	g.mu.Lock()
	defer g.mu.Unlock()
	for p := range g.all {
		killGroup(p)
	}
}

// maxOutput is how many bytes of what a process writes are kept.
const maxOutput = 64 << 10

// tail keeps the end of what a process writes.
type tail struct {
	mu   sync.Mutex
	data []byte
	cut  bool
}

// Write implements io.Writer.
func (t *tail) Write(data []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.data = append(t.data, data...); len(t.data) > 2*maxOutput {
		t.data, t.cut = append([]byte(nil), t.data[len(t.data)-maxOutput:]...), true
	}
	return len(data), nil
}

// String returns the end of the output, from the begin of a line on.
func (t *tail) String() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	data := t.data
	if len(data) > maxOutput || t.cut {
		data = data[max(0, len(data)-maxOutput):]
		if _, rest, ok := bytes.Cut(data, []byte("\n")); ok {
			data = rest
		}
	}
	return strings.ToValidUTF8(string(data), "\uFFFD")
}

// shownOutput is how many lines of an output a report shows.
const shownOutput = 12

// lastLines returns the last lines of an output in the form in which they follow its name.
func lastLines(text string) string {
	lines := strings.Split(strings.TrimSpace(text), "\n")
	if len(lines) == 1 && lines[0] == "" {
		return "; it has written nothing"
	}
	return "; its last lines:\n    " + strings.Join(lines[max(0, len(lines)-shownOutput):], "\n    ")
}
