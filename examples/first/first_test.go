package first

import (
	"os"
	"os/exec"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kubecoord/kubecoord/httpapi/apitest"
	"github.com/kubecoord/kubecoord/lease"
)

// The programs do what README.md says.
func TestPrograms(t *testing.T) {
	api := apitest.New(t)
	run := func(program string) string {
		cmd := exec.CommandContext(t.Context(), "go", "run", "./"+program)
		cmd.Env = append(os.Environ(), "KUBECONFIG="+api.Kubeconfig())
		out, err := cmd.CombinedOutput()
		require.NoError(t, err, "%s", out)
		return string(out)
	}
	assert.Equal(t, "hello is held by me\n", run("embed"))
	assert.Equal(t, "the report is mine\n", run("lock"))
	l, err := lease.In(api.Store()).Get(t.Context(), "default", "report")
	require.NoError(t, err)
	assert.Empty(t, *l.Spec.HolderIdentity, "it is released")
}
