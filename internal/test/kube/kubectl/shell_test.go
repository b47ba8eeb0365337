//go:build unix

package kubectl

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/kubecoord/kubecoord/internal/test/kube/kubectl/internal/session"
)

// shell runs commands in an empty directory with a server and one kubectl. It
// does not use the user's environment.
type shell struct {
	t   *testing.T
	dir string
	env []string

	server           *server
	namespace, other string
}

// newShell returns a shell with a server of its own. $NS is the namespace that
// kubectl works in, and $NS2 another one. The command "watching" returns when
// another command of the same line has opened a watch.
func newShell(t *testing.T, variant string, kinds bool) *shell {
	kubectl := program(t, variant)
	home := t.TempDir()
	s := &shell{t: t, dir: filepath.Join(home, "work"), server: newServer(t, kinds), namespace: newNamespace()}
	s.other = s.namespace + "-2"
	for _, dir := range []string{"work", "bin", "tmp"} {
		require.NoError(t, os.Mkdir(filepath.Join(home, dir), 0o700))
	}
	require.NoError(t, os.Symlink(kubectl, filepath.Join(home, "bin", "kubectl")))
	watching := "#!/bin/sh\nexec kubectl get --raw " + watchingPath + "\n"
	require.NoError(t, os.WriteFile(filepath.Join(home, "bin", "watching"), []byte(watching), 0o700))
	kubeconfig := filepath.Join(home, "kubeconfig")
	writeKubeconfig(t, kubeconfig, s.server.url, s.namespace)
	// A kubectl process is too short for garbage collection.
	s.env = []string{
		"PATH=" + filepath.Join(home, "bin") + ":/usr/local/bin:/usr/bin:/bin",
		"HOME=" + home, "TMPDIR=" + filepath.Join(home, "tmp"), "KUBECONFIG=" + kubeconfig,
		"LC_ALL=C", "TZ=UTC", "GOGC=400", "NS=" + s.namespace, "NS2=" + s.other,
	}
	return s
}

// command returns a command line, ready to start. All processes that it starts
// end with the context.
func (s *shell) command(ctx context.Context, line string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, "sh", "-c", line)
	cmd.Dir, cmd.Env = s.dir, s.env
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
	return cmd
}

// run runs a command line to its end.
func (s *shell) run(line string) session.Output {
	s.t.Helper()
	ctx, cancel := context.WithTimeout(s.t.Context(), time.Minute)
	defer cancel()
	s.server.forgetWatches()
	var stdout, stderr strings.Builder
	cmd := s.command(ctx, line)
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	err := cmd.Run()
	require.NoError(s.t, ctx.Err(), "$ %s\nstdout: %s\nstderr: %s", line, &stdout, &stderr)
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		require.NoError(s.t, err, "$ %s", line)
	}
	return session.Output{Stdout: stdout.String(), Stderr: stderr.String(), Code: cmd.ProcessState.ExitCode()}
}

// normalizer returns the Normalizer for the outputs of this shell.
func (s *shell) normalizer() *session.Normalizer {
	// The longer name comes first, because it begins with the other one.
	return session.NewNormalizer("ns2", s.other, "ns", s.namespace, "dir", filepath.Dir(s.dir), "server", s.server.url)
}
