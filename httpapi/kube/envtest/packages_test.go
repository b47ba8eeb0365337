package envtest_test

import (
	"os/exec"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// maxPackages is how many packages the first build of a test with an Environment compiles, beside the standard library. Each one costs
// every user some tenths of a second, once.
const maxPackages = 1048

// TestAnEnvironmentNeedsNoMorePackages also refuses packages of servers that nothing here needs.
func TestAnEnvironmentNeedsNoMorePackages(t *testing.T) {
	cmd := exec.CommandContext(t.Context(), "go", "list", "-deps", "-f", "{{if not .Standard}}{{.ImportPath}}{{end}}", ".")
	cmd.Env = append(cmd.Environ(), "GOWORK=off")
	out, err := cmd.Output()
	require.NoError(t, err)
	packages := strings.Fields(string(out))
	require.Contains(t, packages, "github.com/kubecoord/kubecoord/httpapi/kube/cluster")
	assert.LessOrEqual(t, len(packages), maxPackages, "see what an import brings: go list -deps")
	for _, refused := range []string{
		"k8s.io/apiserver/pkg/endpoints", "k8s.io/apiserver/pkg/endpoints/handlers", "k8s.io/apiserver/pkg/util/proxy", "k8s.io/apiserver/pkg/server", "k8s.io/kubernetes/pkg/api",
	} {
		assert.NotContains(t, packages, refused)
	}
}
