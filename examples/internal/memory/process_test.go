package memory

import (
	"bufio"
	"bytes"
	"context"
	"crypto/x509"
	"encoding/pem"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kubecoord/kubecoord/examples/internal/serve"
)

// asServer makes the binary of the tests the server itself.
const asServer = "SERVER_AS_SERVER"

func TestMain(m *testing.M) {
	if os.Getenv(asServer) != "" {
		Main("server", nil)
		return
	}
	os.Exit(m.Run())
}

// startProcess starts a server in a process, in a directory, and returns the lines that it
// prints: about itself, and the commands.
func startProcess(t *testing.T, dir string, args ...string) (about, commands []string) {
	t.Helper()
	cmd := exec.Command(os.Args[0], append([]string{"-listen", "127.0.0.1:0"}, args...)...)
	cmd.Env, cmd.Dir = append(os.Environ(), asServer+"=yes"), dir
	var errors bytes.Buffer
	cmd.Stderr = &errors
	out, err := cmd.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, cmd.Start())
	t.Cleanup(func() { cmd.Process.Kill(); cmd.Wait() })
	lines := bufio.NewReader(out)
	text, first, rest := "", "", ""
	for !strings.Contains(rest, "kubectl") {
		line, err := lines.ReadString('\n')
		require.NoError(t, err, "%s", &errors)
		text += line
		first, rest, _ = strings.Cut(text, "\ntry:\n")
	}
	go io.Copy(io.Discard, lines)
	rest = strings.ReplaceAll(rest, "\\\n", "")
	return strings.Split(first, "\n"), strings.Split(strings.TrimSuffix(rest, "\n"), "\n")
}

// shell runs a command until it has printed a line with a text, and returns all that it printed.
func shell(t *testing.T, dir, command, until string) string {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, "sh", "-c", command)
	cmd.Dir, cmd.SysProcAttr = dir, &syscall.SysProcAttr{Setpgid: true}
	cmd.Env = append(os.Environ(), "KUBECONFIG=/dev/null", "HOME="+dir)
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
	out, err := cmd.StdoutPipe()
	require.NoError(t, err)
	var errors bytes.Buffer
	cmd.Stderr = &errors
	require.NoError(t, cmd.Start())
	defer func() { cancel(); cmd.Wait() }()
	text := ""
	for lines := bufio.NewReader(out); !strings.Contains(text, until); {
		line, err := lines.ReadString('\n')
		if text += line; err != nil {
			break
		}
	}
	assert.Contains(t, text, until, "%s\n%s", command, &errors)
	return text
}

func TestPrintedCommandsWork(t *testing.T) {
	if _, err := exec.LookPath("curl"); err != nil {
		t.Skip("no curl")
	}
	_, err := exec.LookPath("kubectl")
	hasKubectl := err == nil
	dir := filepath.Join(t.TempDir(), "it's a dir")
	require.NoError(t, os.Mkdir(dir, 0o700))
	at := func(name string) string { return filepath.Join(dir, name) }
	require.NoError(t, os.WriteFile(at("tokens"), []byte("# all\n\n\"s3cret\",bob,1\nother,alice,1\n"), 0o600))
	require.NoError(t, os.WriteFile(at("table"), []byte("user:bob * * * *\nuser:bob get /debug/*\n"), 0o600))
	require.NoError(t, serve.WriteSelfSigned(at("own.crt"), at("own.key"), "127.0.0.1:0", time.Hour))
	// The certificate of another name. Its authority is in no file of the server.
	ca := newAuthority(t)
	writeNamed(t, ca, "kubecoord.example", at("named.crt"), at("named.key"))
	for name, row := range map[string]struct {
		args    []string
		kubectl string // a part of the line; "" if it works
	}{
		"plain":                      {nil, ""},
		"token":                      {[]string{"-token-file", at("tokens")}, "# kubectl sends tokens by HTTPS only"},
		"self-signed":                {[]string{"-tls"}, "# for kubectl set -kubeconfig"},
		"self-signed and kubeconfig": {[]string{"-tls", "-token-file", at("tokens"), "-authorize", at("table"), "-kubeconfig", at("config")}, ""},
		"certificate and token":      {[]string{"-tls-cert", at("own.crt"), "-tls-key", at("own.key"), "-token-file", at("tokens")}, ""},
		"kubeconfig without users":   {[]string{"-tls", "-kubeconfig", at("config3")}, ""},
		"certificate of a name":      {[]string{"-tls-cert", at("named.crt"), "-tls-key", at("named.key"), "-allow-host", "kubecoord.example"}, ""},
		"name and kubeconfig":        {[]string{"-tls-cert", at("named.crt"), "-tls-key", at("named.key"), "-allow-host", "kubecoord.example", "-token-file", "tokens", "-kubeconfig", "config2"}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			_, commands := startProcess(t, dir, row.args...)
			require.Len(t, commands, 4)
			shell(t, dir, commands[0], `"kind": "LeaseList"`)
			shell(t, dir, commands[1], `"holderIdentity": "me"`)
			shell(t, dir, commands[2], `"type":"ADDED"`)
			switch {
			case row.kubectl != "":
				assert.Contains(t, commands[3], row.kubectl)
			case hasKubectl:
				shell(t, dir, commands[3], "hello")
			}
		})
	}
}

func TestFirstLinesNameThePageTheKubeconfigAndTheOtherServer(t *testing.T) {
	dir := t.TempDir()
	about, _ := startProcess(t, dir, "-kubeconfig", "kube.yaml")
	url := strings.TrimPrefix(about[0], "serving on ")
	assert.Equal(t, []string{
		"kubeconfig: kube.yaml", "page: " + url + "/debug/",
		"kinds: Lease, LeaseCandidate, Endpoints; go run ./examples/kube serves all kinds of Kubernetes",
	}, about[1:])
	assert.FileExists(t, filepath.Join(dir, "kube.yaml"))
	d := tester{t, url}
	assert.Equal(t, 200, d.code("GET", "/debug/", ""), "at an address of the loopback without a flag")
	var list struct {
		Metadata struct{ ResourceVersion string }
	}
	d.must(200, "GET", leases, "", &list)
	assert.NotEqual(t, "1000", list.Metadata.ResourceVersion, "no version comes twice")

	about, _ = startProcess(t, dir, "-debug=false")
	assert.Equal(t, "kubeconfig: none; -kubeconfig FILE writes one", about[1])
	assert.Len(t, about, 3)
	assert.Equal(t, 404, tester{t, strings.TrimPrefix(about[0], "serving on ")}.code("GET", "/debug/", ""))
}

// writeNamed writes a certificate that an authority has signed for a name, and its key.
func writeNamed(t *testing.T, ca *authority, name, certFile, keyFile string) {
	t.Helper()
	key, cert := ca.sign(t, &x509.Certificate{DNSNames: []string{name}, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth}})
	der, err := x509.MarshalPKCS8PrivateKey(key)
	require.NoError(t, err)
	for file, block := range map[string]*pem.Block{keyFile: {Type: "PRIVATE KEY", Bytes: der}, certFile: {Type: "CERTIFICATE", Bytes: cert.Raw}} {
		require.NoError(t, os.WriteFile(file, pem.EncodeToMemory(block), 0o600))
	}
}

func TestWrongFlagIsOneLine(t *testing.T) {
	for _, row := range []struct {
		args []string
		code int
		want string
	}{
		{[]string{"-bogus"}, 2, "server: flag provided but not defined: -bogus; -h lists the flags\n"},
		{[]string{"-history", "many"}, 2, "server: invalid value \"many\" for flag -history: parse error; -h lists the flags\n"},
		{[]string{"-listen"}, 2, "server: flag needs an argument: -listen; -h lists the flags\n"},
		{[]string{"now"}, 2, "server: unexpected arguments: [now]; -h lists the flags\n"},
		{[]string{"-history", "0"}, 1, "server: -history 0: must be at least 1\n"},
	} {
		cmd := exec.Command(os.Args[0], row.args...)
		cmd.Env = append(os.Environ(), asServer+"=yes")
		out, err := cmd.CombinedOutput()
		require.Error(t, err)
		assert.Equal(t, row.code, cmd.ProcessState.ExitCode())
		assert.Equal(t, row.want, string(out))
	}
	cmd := exec.Command(os.Args[0], "-h")
	cmd.Env = append(os.Environ(), asServer+"=yes")
	out, err := cmd.Output()
	require.NoError(t, err)
	assert.Contains(t, string(out), "\n  -listen address\n")
}
