package main

import (
	"bufio"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kubecoord/kubecoord/httpapi"
)

// greeting starts the server, and returns what it prints. Its standard error is a file, or nothing.
func greeting(t *testing.T, stderr *os.File, args ...string) (lines []string) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), os.Args[0], append([]string{"-listen", "127.0.0.1:0"}, args...)...)
	cmd.Env = append(os.Environ(), asServer+"=yes")
	if stderr != nil {
		cmd.Stderr = stderr
	}
	out, err := cmd.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, cmd.Start())
	t.Cleanup(func() { cmd.Process.Kill(); cmd.Wait() })
	for printed := bufio.NewScanner(out); len(lines) < 9 && printed.Scan(); {
		lines = append(lines, strings.TrimSpace(printed.Text()))
	}
	require.Len(t, lines, 9)
	return lines
}

func TestGreetingSaysWhatTheServerIs(t *testing.T) {
	version := strings.TrimPrefix(httpapi.Version, "v")
	lines := greeting(t, nil)
	assert.Regexp(t, `^serving on http://127\.0\.0\.1:\d+$`, lines[0])
	assert.Equal(t, "kubeconfig: none; -kubeconfig FILE writes one", lines[1])
	assert.Equal(t, "page: "+strings.TrimPrefix(lines[0], "serving on ")+"/debug/", lines[2])
	assert.Regexp(t, `^Kubernetes `+version+` in memory: \d\d kinds$`, lines[3])
	for _, name := range []string{"-crds DIR", "-load DIR", "-cluster", "-debug", "-h"} {
		assert.Contains(t, lines[4], name)
	}
	assert.Equal(t, "try:", lines[5])

	dir := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(dir, "gadgets.yaml"), []byte(gadgets), 0o600))
	lines = greeting(t, nil, "-kinds", "", "-crds", dir)
	assert.Equal(t, "Kubernetes "+version+" in memory: 4 kinds: Lease, LeaseCandidate, Endpoints, CustomResourceDefinition, and the kinds of the definitions in "+dir, lines[3])
}

func TestPrintedCommandsOfKubectlWork(t *testing.T) {
	if _, err := exec.LookPath("kubectl"); err != nil {
		t.Skip("no kubectl")
	}
	for _, row := range []struct {
		args []string
		says []string
	}{
		{nil, []string{"configmap/hello created", "hello", "configmaps"}},
		{[]string{"-kinds", ""}, []string{"customresourcedefinitions", "No resources found", "No resources found"}},
		{[]string{"-kubeconfig", filepath.Join(t.TempDir(), "kube.yaml"), "-tls"}, []string{"configmap/hello created", "hello", "configmaps"}},
	} {
		for i, command := range greeting(t, nil, row.args...)[6:] {
			cmd := exec.CommandContext(t.Context(), "sh", "-c", command)
			cmd.Env = append(os.Environ(), "HOME="+t.TempDir(), "KUBECONFIG=/dev/null")
			out, err := cmd.CombinedOutput()
			require.NoError(t, err, "%s: %s", command, out)
			assert.Contains(t, string(out), row.says[i], command)
		}
	}
}
