package cluster

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/url"
	"os"
	"os/exec"
	"sync"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/kubecoord/kubecoord/internal/test/etcd/kinetest"
)

// Process is a child process. Its methods must be called from one goroutine.
type Process struct {
	Name   string
	t      testing.TB
	job    job
	cmd    *exec.Cmd
	stdin  io.Closer
	stderr *lockedBuffer
}

type lockedBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (b *lockedBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.b.Write(p)
}

func (b *lockedBuffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.b.String()
}

// newProcess returns a process that is not started. It ends with the test.
func newProcess(t testing.TB, name string, j job) *Process {
	p := &Process{Name: name, t: t, job: j, stderr: &lockedBuffer{}}
	t.Cleanup(func() {
		p.Kill()
		if text := p.stderr.String(); t.Failed() && text != "" {
			t.Logf("%s:\n%s", name, text)
		}
	})
	return p
}

// Start starts the process, and returns a function that waits until it is ready.
func (p *Process) Start() (wait func()) {
	text, err := json.Marshal(p.job)
	require.NoError(p.t, err)
	p.cmd = exec.Command(os.Args[0])
	p.cmd.Env = append(os.Environ(), variable+"="+string(text))
	p.cmd.Stderr = p.stderr
	p.stdin, err = p.cmd.StdinPipe()
	require.NoError(p.t, err)
	out, err := p.cmd.StdoutPipe()
	require.NoError(p.t, err)
	require.NoError(p.t, p.cmd.Start())
	return func() {
		p.t.Helper()
		if k := p.job.Kine; k != nil {
			kinetest.Await(p.t, k.Address)
			return
		}
		line, err := bufio.NewReader(out).ReadString('\n')
		require.NoError(p.t, err, "%s does not start: %s", p.Name, p.stderr)
		require.Equal(p.t, "ready\n", line)
	}
}

// Kill ends the process by SIGKILL, if it runs.
func (p *Process) Kill() {
	if p.cmd != nil {
		_ = p.cmd.Process.Kill()
		_ = p.cmd.Wait()
		p.stdin.Close()
		p.cmd = nil
	}
}

// Signal sends a signal, such as SIGSTOP and SIGCONT.
func (p *Process) Signal(s syscall.Signal) {
	require.NoError(p.t, p.cmd.Process.Signal(s))
}

// FreeAddress returns an address of this machine where nobody listens. Systems give no port below 32768 to connections and to listeners
// at port 0, so nobody gets it before it is used, or while a process is started again.
func FreeAddress(t testing.TB) string {
	for range 100 {
		if l, err := net.Listen("tcp", fmt.Sprint("127.0.0.1:", 10_000+rand.IntN(22_000))); err == nil {
			defer l.Close()
			return l.Addr().String()
		}
	}
	require.Fail(t, "no port is free")
	return ""
}

func embedURL(s string) []url.URL {
	u, err := url.Parse(s)
	if err != nil {
		panic(err)
	}
	return []url.URL{*u}
}
