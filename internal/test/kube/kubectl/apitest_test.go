//go:build unix

package kubectl

import (
	"os"
	"os/exec"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kubecoord/kubecoord/httpapi/apitest"
)

// A test starts a server and writes a kubeconfig for it, with and without TLS.
func TestKubeconfigConnectsKubectlToTheServer(t *testing.T) {
	withEachKubectl(t, func(t *testing.T, variant string) {
		path := program(t, variant)
		for name, withTLS := range map[string]bool{"plain": false, "TLS": true} {
			t.Run(name, func(t *testing.T) {
				api := apitest.New(t, apitest.Options{TLS: withTLS})
				file, home := api.Kubeconfig(), t.TempDir()
				kubectl := func(args ...string) (string, error) {
					cmd := exec.CommandContext(t.Context(), path, args...)
					cmd.Env = []string{"KUBECONFIG=" + file, "HOME=" + home, "PATH=" + os.Getenv("PATH")}
					out, err := cmd.CombinedOutput()
					return string(out), err
				}
				out, err := kubectl("get", "leases")
				require.NoError(t, err, out)
				assert.Equal(t, "No resources found in default namespace.\n", out)

				cut := api.Fault(apitest.CutBefore().First(1), apitest.Match{Verb: "list", Resource: "leases"})
				out, err = kubectl("get", "leases")
				require.NoError(t, err, out)
				assert.Equal(t, 1, cut.Hits(), "kubectl retries the read")

				api.Fault(apitest.Answer(409), apitest.Match{Verb: "delete", Resource: "leases"})
				out, err = kubectl("delete", "lease", "a")
				require.Error(t, err)
				assert.Equal(t, `Error from server (Conflict): Operation cannot be fulfilled on leases.coordination.k8s.io "a": `+
					"the object has been modified; please apply your changes to the latest version and try again\n", out)
			})
		}
	})
}
