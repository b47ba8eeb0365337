//go:build unix

package kubectl

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestKubectlWorksBesideAController plays sessions while the controller of examples/kube/controller, built as it is, works on the same
// server.
func TestKubectlWorksBesideAController(t *testing.T) {
	playCompared(t, "testdata/controller/*.txt", func(sh *shell) { sh.addController() })
}

// addController adds the command start-controller, and the folder config of examples/kube/controller. The controller ends with the test.
func (s *shell) addController() {
	example, err := filepath.Abs("../../../../examples/kube/controller")
	require.NoError(s.t, err)
	bin := filepath.Join(filepath.Dir(s.dir), "bin")
	out, err := exec.CommandContext(s.t.Context(), "go", "build", "-C", example, "-o", filepath.Join(bin, "website-controller"), "./cmd").CombinedOutput()
	require.NoError(s.t, err, "%s", out)
	require.NoError(s.t, os.Symlink(filepath.Join(example, "config"), filepath.Join(s.dir, "config")))
	start := "#!/bin/sh\nwebsite-controller -webhooks=false -namespace $NS >controller.log 2>&1 &\necho $! >controller.pid\n"
	require.NoError(s.t, os.WriteFile(filepath.Join(bin, "start-controller"), []byte(start), 0o700))
	s.t.Cleanup(func() {
		end := exec.Command("sh", "-c", "kill $(cat controller.pid) && tail --pid=$(cat controller.pid) -f /dev/null")
		end.Dir = s.dir
		out, err := end.CombinedOutput()
		require.NoError(s.t, err, "%s", out)
		if log, err := os.ReadFile(filepath.Join(s.dir, "controller.log")); err == nil && s.t.Failed() {
			s.t.Logf("%s", log)
		}
	})
}
