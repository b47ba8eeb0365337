package main

import (
	"bytes"
	"flag"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kubecoord/kubecoord/internal/timeline"
)

// asProgram makes the test binary behave as the program itself.
const asProgram = "COORDINATED_TEST_AS_PROGRAM"

func TestMain(m *testing.M) {
	if os.Getenv(asProgram) != "" {
		flag.CommandLine = flag.NewFlagSet(os.Args[0], flag.ExitOnError)
		main()
		return
	}
	silenceClients()
	os.Exit(m.Run())
}

func TestProgramPrintsAndDrawsTheUpgrade(t *testing.T) {
	self, err := os.Executable()
	require.NoError(t, err)
	picture := filepath.Join(t.TempDir(), "upgrade.svg")
	var out, complaint bytes.Buffer
	cmd := exec.Command(self, "-svg", picture)
	cmd.Env = append(os.Environ(), asProgram+"=1")
	cmd.Stdout, cmd.Stderr = &out, &complaint
	require.NoError(t, cmd.Run(), "%s", &complaint)
	assert.Empty(t, complaint.String())
	assert.Contains(t, out.String(), "node-1-v1.36")
	assert.Contains(t, out.String(), "\nno two led at once\n")
	svg, err := os.ReadFile(picture)
	require.NoError(t, err)
	assert.Contains(t, string(svg), "</svg>")
	assert.Contains(t, string(svg), "node-2-v1.37b")
}

func TestUpgradeHandsTheLeaseFromTheOldestToTheNext(t *testing.T) {
	for name, s := range map[string]settings{"in the time of client-go": classic, "in less": quick} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				got, err := upgrade(t.Context(), s)
				require.NoError(t, err)
				require.Len(t, got.Leases, 1)
				var holders []string
				var ends []timeline.Ending
				for _, span := range got.Leases[0].Spans {
					holders, ends = append(holders, span.Holder), append(ends, span.Ended)
				}
				require.Equal(t, []string{"node-1-v1.36", "node-2-v1.37", "node-3-v1.38", "node-2-v1.37b"}, holders)
				// A drained leader withdraws before it lets go, so that the Coordinator may
				// ask for the Lease in between.
				assert.Contains(t, []timeline.Ending{timeline.Released, timeline.HandedOver}, ends[0])
				assert.Equal(t, []timeline.Ending{timeline.HandedOver, timeline.HandedOver, ""}, ends[1:])
			})
		})
	}
}
