package oldclients

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// The scenarios are in internal/test/electiontest. The modules are found by their
// go.mod.
func TestOldClientsElectHandOverAndFailOver(t *testing.T) {
	mods, err := filepath.Glob("*/go.mod")
	require.NoError(t, err)
	want := map[string]string{"client031": "v0.31", "client032": "v0.32"}
	require.Len(t, mods, len(want))
	for _, mod := range mods {
		dir := filepath.Dir(mod)
		t.Run(dir, func(t *testing.T) {
			// go test caches a result by the files that the test reads.
			for _, file := range []string{mod, filepath.Join(dir, "go.sum"), filepath.Join(dir, "elector_test.go")} {
				_, err := os.ReadFile(file)
				require.NoError(t, err)
			}
			list := run(t, dir, "list", "-m", "-f", "{{.Version}}", "k8s.io/client-go")
			assert.Regexp(t, "^"+regexp.QuoteMeta(want[dir])+`\.`, list)
			// Vet would compile all of an old client-go again.
			out := run(t, dir, "test", "-vet=off", "-v", "./...")
			for _, scenario := range []string{"election", "hand-over_to_a_better_candidate", "failover"} {
				assert.Contains(t, out, "--- PASS: TestElectionHandOverAndFailover/"+scenario)
			}
		})
	}
}

// run runs the go command in a module, as if there were no workspace.
func run(t *testing.T, dir string, args ...string) string {
	cmd := exec.CommandContext(t.Context(), "go", args...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "GOWORK=off")
	out, err := cmd.CombinedOutput()
	require.NoError(t, err, "go %s:\n%s", strings.Join(args, " "), out)
	return string(out)
}
