package main

import (
	"bufio"
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// asServer makes the binary of the tests the server itself, for tests that kill it.
const asServer = "DURABLE_AS_SERVER"

func TestMain(m *testing.M) {
	if os.Getenv(asServer) != "" {
		main()
		return
	}
	os.Exit(m.Run())
}

// process is a server in a process of its own.
type process struct {
	url    string // where it serves
	cmd    *exec.Cmd
	lines  *bufio.Reader // of standard output
	errors *output
}

// output collects the output of a process.
type output struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (o *output) Write(p []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.text.Write(p)
}

func (o *output) String() string {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.text.String()
}

// command returns the command of a server.
func command(ctx context.Context, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, os.Args[0], args...)
	cmd.Env = append(os.Environ(), asServer+"=yes")
	return cmd
}

// startServer starts a server and waits until it serves. It ends with the test.
func startServer(t *testing.T, args ...string) *process {
	t.Helper()
	p := launch(t, args...)
	p.awaitServing(t)
	return p
}

// launch starts a server. It ends with the test.
func launch(t *testing.T, args ...string) *process {
	t.Helper()
	p := &process{cmd: command(context.Background(), args...), errors: &output{}}
	out, err := p.cmd.StdoutPipe()
	require.NoError(t, err)
	p.lines = bufio.NewReader(out)
	p.cmd.Stderr = p.errors
	require.NoError(t, p.cmd.Start())
	t.Cleanup(p.kill)
	return p
}

// awaitServing waits until the server serves.
func (p *process) awaitServing(t *testing.T) {
	t.Helper()
	line, err := p.lines.ReadString('\n')
	if err != nil {
		p.kill()
		require.NoError(t, err, "%s", p.errors)
	}
	var found bool
	p.url, found = strings.CutPrefix(strings.TrimSpace(line), "serving on ")
	require.True(t, found, "the first line is %q", line)
	go io.Copy(io.Discard, p.lines)
}

// says waits until the process has written a text to standard error.
func (p *process) says(t *testing.T, text string) {
	t.Helper()
	for deadline := time.Now().Add(time.Minute); !strings.Contains(p.errors.String(), text); time.Sleep(10 * time.Millisecond) {
		require.True(t, time.Now().Before(deadline), "want %q in: %s", text, p.errors)
	}
}

// terminate ends the process by SIGTERM. It must end well, and within five seconds.
func (p *process) terminate(t *testing.T) {
	t.Helper()
	require.NoError(t, p.cmd.Process.Signal(syscall.SIGTERM))
	sent, ended := time.Now(), make(chan error, 1)
	go func() { ended <- p.cmd.Wait() }()
	select {
	case err := <-ended:
		require.NoError(t, err, "%s", p.errors)
		t.Logf("it ended after %s", time.Since(sent))
	case <-time.After(5 * time.Second):
		p.cmd.Process.Kill()
		<-ended
		require.Fail(t, "it runs five seconds after SIGTERM", "%s", p.errors)
	}
}

// kill ends the process at once, as a crash does.
func (p *process) kill() {
	p.cmd.Process.Kill()
	p.cmd.Wait()
}

// refusal returns the output of a server that does not start.
func refusal(t *testing.T, args ...string) string {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	out, err := command(ctx, args...).CombinedOutput()
	require.Error(t, err)
	require.NoError(t, ctx.Err(), "%s", out)
	return string(out)
}

// freeAddress returns an address of this machine where nobody listens. Systems give no port below 32768 to connections and to listeners
// at port 0, so nobody gets it before it is used, or while a server is started again.
func freeAddress(t *testing.T) string {
	t.Helper()
	for range 100 {
		if l, err := net.Listen("tcp", fmt.Sprint("127.0.0.1:", 10_000+rand.IntN(22_000))); err == nil {
			defer l.Close()
			return l.Addr().String()
		}
	}
	require.Fail(t, "no port is free")
	return ""
}

// access has the contents of a kubeconfig.
type access struct {
	url, token string
	http       *http.Client
}

// plain returns the access of everyone to a server without credentials.
func plain(url string) access { return access{url: url, http: &http.Client{}} }

// readKubeconfig returns the access that the kubeconfig in a data directory gives.
func readKubeconfig(t *testing.T, dir string) access {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(dir, "kubeconfig"))
	require.NoError(t, err)
	var config struct {
		Clusters []struct {
			Cluster struct {
				Server string
				CA     []byte `json:"certificate-authority-data"`
			}
		}
		Users []struct{ User struct{ Token string } }
	}
	require.NoError(t, json.Unmarshal(data, &config))
	pool := x509.NewCertPool()
	require.True(t, pool.AppendCertsFromPEM(config.Clusters[0].Cluster.CA))
	transport := &http.Transport{TLSClientConfig: &tls.Config{RootCAs: pool}}
	t.Cleanup(transport.CloseIdleConnections)
	return access{config.Clusters[0].Cluster.Server, config.Users[0].User.Token, &http.Client{Transport: transport}}
}

// do sends a request, and returns the code and the body of the answer.
func (a access) do(t *testing.T, method, path, body string) (int, string) {
	t.Helper()
	resp := a.open(t, method, path, body)
	defer resp.Body.Close()
	data, err := io.ReadAll(resp.Body)
	require.NoError(t, err)
	return resp.StatusCode, string(data)
}

func (a access) open(t *testing.T, method, path, body string) *http.Response {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), method, a.url+path, strings.NewReader(body))
	require.NoError(t, err)
	req.Header.Set("Content-Type", "application/json")
	if method == "PATCH" {
		req.Header.Set("Content-Type", "application/merge-patch+json")
	}
	if a.token != "" {
		req.Header.Set("Authorization", "Bearer "+a.token)
	}
	resp, err := a.http.Do(req)
	require.NoError(t, err)
	return resp
}

// object is the part of an answer that the tests look at.
type object struct {
	Metadata struct {
		Name            string
		UID             string
		ResourceVersion string
	}
	Spec struct {
		HolderIdentity string
		RenewTime      time.Time
	}
}

// must sends a request that must succeed, and returns the object of the answer.
func (a access) must(t *testing.T, method, path, body string) (o object) {
	t.Helper()
	code, text := a.do(t, method, path, body)
	require.Less(t, code, 300, "%s %s: %s", method, path, text)
	require.NoError(t, json.Unmarshal([]byte(text), &o))
	return o
}

const leases = "/apis/coordination.k8s.io/v1/namespaces/default/leases"

// newLease returns a Lease in JSON.
func newLease(name string) string { return fmt.Sprintf(`{"metadata":{"name":%q}}`, name) }
