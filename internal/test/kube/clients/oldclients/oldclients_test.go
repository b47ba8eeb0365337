package oldclients

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestOldClientsElectHandOverAndFailOver(t *testing.T) {
	for name, row := range map[string]struct {
		mod, version string
	}{
		"client031": {"go", "v0.31"}, "client032": {"client032", "v0.32"},
	} {
		t.Run(name, func(t *testing.T) {
			// go test caches a result by the files that the test reads.
			for _, file := range []string{row.mod + ".mod", row.mod + ".sum", "elector_test.go", "version031_test.go", "version032_test.go"} {
				_, err := os.ReadFile(filepath.Join("client", file))
				require.NoError(t, err)
			}
			flags := []string{"-modfile", row.mod + ".mod", "-tags", name}
			list := run(t, slices.Concat([]string{"list"}, flags, []string{"-m", "-f", "{{.Version}}", "k8s.io/client-go"})...)
			assert.Regexp(t, "^"+regexp.QuoteMeta(row.version)+`\.`, list)
			// Vet would compile all of an old client-go again.
			out := run(t, slices.Concat([]string{"test"}, flags, []string{"-vet=off", "-v", "./..."})...)
			for _, scenario := range []string{"election", "hand-over_to_a_better_candidate", "failover"} {
				assert.Contains(t, out, "--- PASS: TestElectionHandOverAndFailover/"+scenario)
			}
		})
	}
}

// run runs the go command in the module, as if there were no workspace.
func run(t *testing.T, args ...string) string {
	cmd := exec.CommandContext(t.Context(), "go", args...)
	cmd.Dir = "client"
	cmd.Env = append(os.Environ(), "GOWORK=off")
	out, err := cmd.CombinedOutput()
	require.NoError(t, err, "go %s:\n%s", strings.Join(args, " "), out)
	return string(out)
}
