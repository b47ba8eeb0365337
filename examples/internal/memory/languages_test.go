package memory

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestOtherLanguagesHaveFaultsAndForks runs the tests of examples/python and examples/javascript against this server. They
// skip where the clients are not installed: .ci/nightly installs them.
func TestOtherLanguagesHaveFaultsAndForks(t *testing.T) {
	server := sync.OnceValue(func() string { return buildServer(t) })
	t.Run("Python", func(t *testing.T) {
		python := "/usr/bin/python3" // where Debian's packages are
		if named := os.Getenv("PYTHON"); named != "" {
			python = named
		}
		if out, err := exec.Command(python, "-c", "import kubernetes").CombinedOutput(); err != nil {
			t.Skipf("%s has no Kubernetes client: want Debian's python3-kubernetes, or PYTHON to name another: %s", python, lastLine(out))
		}
		dir := copyFiles(t, "../../python", "*.py")
		out := runIn(t, dir, server(), python, "-W", "ignore::ResourceWarning", "-m", "unittest", "-v")
		assert.Contains(t, out, "test_conflicts_are_the_callers_to_try_again")
		assert.Contains(t, out, "test_client_that_crashes_after_a_write_has_made_it")
		assert.NotContains(t, out, "skipped")
	})
	t.Run("JavaScript", func(t *testing.T) {
		modules := os.Getenv("NODE_MODULES")
		if modules == "" {
			modules = "../../javascript/node_modules"
		}
		modules, err := filepath.Abs(modules)
		require.NoError(t, err)
		if out, err := exec.Command("node", "-e", "AbortSignal.any([])").CombinedOutput(); err != nil {
			t.Skipf("there is no node: want version 20 or above: %v: %s", err, lastLine(out))
		}
		if _, err := os.Stat(filepath.Join(modules, "@kubernetes", "client-node")); err != nil {
			t.Skipf("npm's @kubernetes/client-node is not installed: want `npm ci` in examples/javascript, or NODE_MODULES to name another folder: %v", err)
		}
		dir := copyFiles(t, "../../javascript", "*.js*")
		require.NoError(t, os.Symlink(modules, filepath.Join(dir, "node_modules")))
		out := runIn(t, dir, server(), "node", "--test")
		assert.Contains(t, out, "conflicts are the caller's to try again")
		assert.Contains(t, out, "a client that crashes after a write has made it")
		assert.Contains(t, out, "skipped 0")
	})
}

// buildServer returns the server as a program.
func buildServer(t *testing.T) string {
	program := filepath.Join(t.TempDir(), "server")
	out, err := exec.CommandContext(t.Context(), "go", "build", "-o", program, "../../server").CombinedOutput()
	require.NoError(t, err, "%s", out)
	return program
}

// copyFiles copies files of a folder to one that goes with the test, where it may be written to. Having read them, the go
// command knows what its result depends on.
func copyFiles(t *testing.T, from, pattern string) (dir string) {
	dir = t.TempDir()
	files, err := filepath.Glob(filepath.Join(from, pattern))
	require.NoError(t, err)
	require.NotEmpty(t, files)
	for _, file := range files {
		data, err := os.ReadFile(file)
		require.NoError(t, err)
		require.NoError(t, os.WriteFile(filepath.Join(dir, filepath.Base(file)), data, 0o600))
	}
	return dir
}

// runIn runs a program that is to succeed, and returns what it printed.
func runIn(t *testing.T, dir, server, name string, args ...string) string {
	cmd := exec.CommandContext(t.Context(), name, args...)
	cmd.Dir = dir
	cmd.Env = append(slices.DeleteFunc(os.Environ(), func(variable string) bool {
		name, _, _ := strings.Cut(strings.ToUpper(variable), "=")
		return strings.HasSuffix(name, "_PROXY") || name == "KUBECONFIG" // the server is on this machine
	}), "KUBECOORD_SERVER="+server)
	out, err := cmd.CombinedOutput()
	require.NoError(t, err, "%s", out)
	return string(out)
}

func lastLine(out []byte) string {
	lines := strings.Split(strings.TrimSpace(string(out)), "\n")
	return lines[len(lines)-1]
}
