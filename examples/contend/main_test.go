//go:build unix

package main

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kubecoord/kubecoord/httpapi/apitest"
	"github.com/kubecoord/kubecoord/lease"
	"github.com/kubecoord/kubecoord/store"
)

// role is the variable that makes this program another one: contend itself, or a command.
const role = "CONTEND_TEST_ROLE"

func TestMain(m *testing.M) {
	switch os.Getenv(role) {
	case "contend":
		os.Setenv(role, "worker")
		main()
	case "worker":
		worker()
	case "deaf":
		signal.Ignore(syscall.SIGTERM)
		fmt.Println("deaf")
		select {}
	case "parent": // ends at once, and leaves a process that ignores SIGTERM
		child := exec.Command(os.Args[0])
		child.Env = append(os.Environ(), role+"=deaf")
		child.Stdout = os.Stdout
		if err := child.Start(); err != nil {
			panic(err)
		}
		fmt.Println("child", child.Process.Pid)
		os.Exit(7)
	default:
		os.Exit(m.Run())
	}
}

// worker says what its environment has, and exits with code 3 at SIGTERM.
func worker() {
	terminated := make(chan os.Signal, 1)
	signal.Notify(terminated, syscall.SIGTERM)
	fmt.Println("works", os.Getenv("KUBECOORD_LEASE"), os.Getenv("KUBECOORD_FENCING_TOKEN"), os.Getenv("KUBECOORD_HOLDER"), os.Getpid())
	<-terminated
	fmt.Println("terminated")
	os.Exit(3)
}

// program is a contend that runs in the test.
type program struct {
	stop context.CancelFunc
	out  *bufio.Reader
	errs *buffer
	code chan int
}

// buffer is the standard error of contend and of its command, which write at once.
type buffer struct {
	mu   sync.Mutex // guards text
	text bytes.Buffer
}

func (b *buffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.text.Write(p)
}

func (b *buffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.text.String()
}

// start runs contend against the API, with a Lease named job and the identity me.
func start(t *testing.T, api *apitest.API, args ...string) *program {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	r, w := io.Pipe()
	p := &program{cancel, bufio.NewReader(r), &buffer{}, make(chan int, 1)}
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		p.code <- run(ctx, append([]string{"-server", api.URL(), "-name", "job", "-identity", "me"}, args...), w, p.errs)
		w.Close()
	}()
	t.Cleanup(func() {
		cancel()
		r.Close()
		<-ended
	})
	return p
}

// line returns the next line of the output.
func (p *program) line(t *testing.T) string {
	t.Helper()
	line, err := p.out.ReadString('\n')
	require.NoError(t, err)
	return strings.TrimSpace(line)
}

func holder(t *testing.T, api *apitest.API) string {
	t.Helper()
	l, err := lease.In(api.Store()).Get(t.Context(), "default", "job")
	require.NoError(t, err)
	return *l.Spec.HolderIdentity
}

// hold writes another holder into the Lease, or none.
func hold(t *testing.T, api *apitest.API, identity string) {
	t.Helper()
	_, err := lease.In(api.Store()).Modify(t.Context(), "default", "job", func(l *lease.Lease) error {
		l.Spec.HolderIdentity = &identity
		return nil
	}, store.UpdateOptions{})
	require.NoError(t, err)
}

func TestContendLeadsUntilItIsStopped(t *testing.T) {
	api := apitest.New(t)
	p := start(t, api)
	assert.Equal(t, "me leads, with the fencing token 1001", p.line(t))
	p.stop()
	assert.Equal(t, "me stops: context canceled", p.line(t))
	assert.Equal(t, 0, <-p.code)
	assert.Empty(t, holder(t, api), "it is released")
}

func TestCommandEndsWithTheTermAndStartsAgainWithTheNext(t *testing.T) {
	t.Setenv(role, "worker")
	api := apitest.New(t)
	p := start(t, api, "--", os.Args[0])
	p.line(t)
	assert.Regexp(t, `^works default/job 1001 me \d+$`, p.line(t))
	hold(t, api, "another")
	assert.Equal(t, "terminated", p.line(t))
	assert.Regexp(t, `^me stops: lease: not held`, p.line(t))
	hold(t, api, "")
	assert.Regexp(t, `^me leads, with the fencing token 10\d\d$`, p.line(t))
	assert.NotRegexp(t, `^works default/job 1001 `, p.line(t), "the next term has a greater number")
	p.stop()
	assert.Equal(t, "terminated", p.line(t))
	assert.Equal(t, "me stops: context canceled", p.line(t))
	assert.Equal(t, 3, <-p.code)
	assert.Empty(t, holder(t, api), "it is released after the command has ended")
}

func TestOnceEndsWithTheTerm(t *testing.T) {
	t.Setenv(role, "worker")
	api := apitest.New(t)
	p := start(t, api, "-once", "--", os.Args[0])
	p.line(t)
	p.line(t)
	hold(t, api, "another")
	assert.Equal(t, "terminated", p.line(t))
	p.line(t)
	assert.Equal(t, exitUnfinished, <-p.code)
	assert.Equal(t, "another", holder(t, api))
}

func TestCommandThatIgnoresSIGTERMIsKilled(t *testing.T) {
	t.Setenv(role, "deaf")
	p := start(t, apitest.New(t), "-grace", "10ms", "--", os.Args[0])
	p.line(t)
	assert.Equal(t, "deaf", p.line(t))
	p.stop()
	p.line(t)
	assert.Equal(t, 128+9, <-p.code)
}

func TestWhatACommandLeavesIsKilledAndItsCodeIsPassedOn(t *testing.T) {
	t.Setenv(role, "parent")
	api := apitest.New(t)
	p := start(t, api, "-grace", "100ms", "--", os.Args[0])
	p.line(t)
	var pid int
	for line := ""; pid == 0; {
		line = p.line(t)
		fmt.Sscanf(line, "child %d", &pid)
	}
	_, err := io.Copy(io.Discard, p.out)
	require.NoError(t, err)
	assert.Equal(t, 7, <-p.code)
	assert.Empty(t, holder(t, api))
	assert.Eventually(t, func() bool { return ended(pid) }, time.Minute, 10*time.Millisecond)
}

// ended reports whether a process has ended. A process whose parent does not wait for it may
// stay as a zombie.
func ended(pid int) bool {
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return syscall.Kill(pid, 0) != nil
	}
	return bytes.Contains(status, []byte(") Z "))
}

func TestCommandDoesNotOutliveContend(t *testing.T) {
	if _, err := os.Stat("/proc/self/stat"); err != nil {
		t.Skip("only Linux kills a command with its parent")
	}
	api := apitest.New(t)
	cmd := exec.Command(os.Args[0], "-server", api.URL(), "-name", "job", "--", os.Args[0])
	cmd.Env = append(os.Environ(), role+"=contend")
	out, err := cmd.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, cmd.Start())
	p := program{out: bufio.NewReader(out)}
	p.line(t)
	var pid int
	var token, holder string
	_, err = fmt.Sscanf(p.line(t), "works default/job %s %s %d", &token, &holder, &pid)
	require.NoError(t, err)
	require.NoError(t, cmd.Process.Kill())
	_, err = io.Copy(io.Discard, out) // until the command has ended too
	require.NoError(t, err)
	cmd.Wait()
	assert.Eventually(t, func() bool { return ended(pid) }, time.Minute, 10*time.Millisecond)
}

func TestWrongFlagsAreOneLine(t *testing.T) {
	for args, want := range map[string]string{
		"-server http://a -kubeconfig b": "contend: -server and -kubeconfig: set one\n",
		"-token-file a":                  "contend: -certificate-authority and -token-file: need -server; a kubeconfig has its own\n",
		"-grace 5s -- true":              "contend: -grace 5s: must be more than 0 and less than 5s, which is -lease-duration minus -renew-deadline: others may start their command then\n",
		"-nonsense":                      "contend: flag provided but not defined: -nonsense\n",
		"-server http://a -certificate-authority main.go": "contend: -certificate-authority: main.go has no certificate\n",
		"-server http://a -name A_B":                      "",
		"-server http://a -lease-duration 3s -- true":     "contend: lease: contender: LeaseDuration 3s must be greater than RenewDeadline 10s\n",
		"-server http://a -lease-duration 100ms":          "",
		"-server http://a -name job --":                   "contend: --: needs a command\n",
		"-server= -name job":                              "contend: -server: is empty\n",
		"-server http://a -- ./does-not-exist":            "contend: exec: \"./does-not-exist\": stat ./does-not-exist: no such file or directory\n",
	} {
		errs := &bytes.Buffer{}
		assert.NotZero(t, run(t.Context(), strings.Fields(args), io.Discard, errs), args)
		if want != "" {
			assert.Equal(t, want, errs.String())
		}
		assert.Equal(t, 1, strings.Count(errs.String(), "\n"), "%s: %s", args, errs)
	}
	errs := &bytes.Buffer{}
	assert.Zero(t, run(t.Context(), []string{"-h"}, io.Discard, errs))
	assert.Contains(t, errs.String(), "usage: contend [flags] [-- command args...]")
}
