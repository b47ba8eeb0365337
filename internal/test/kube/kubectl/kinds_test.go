//go:build unix

package kubectl

import (
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kubecoord/kubecoord/httpapi"
	"github.com/kubecoord/kubecoord/httpapi/apitest"
	"github.com/kubecoord/kubecoord/store"
	"github.com/kubecoord/kubecoord/store/kind"
)

// kubectl creates, applies, patches, reads, explains and deletes objects of
// unstructured kinds.
func TestKubectlWorksWithUnstructuredKinds(t *testing.T) {
	const engine = `{"apiVersion":"example.com/v1","kind":"Engine","metadata":{"name":"e"},"spec":{"speed":1,"parts":["a"]}}`
	const site = `{"apiVersion":"example.com/v1","kind":"Site","metadata":{"name":"s"},"spec":{"place":{"x":1}}}`
	withEachKubectl(t, func(t *testing.T, variant string) {
		path, home := program(t, variant), t.TempDir()
		v1 := []kind.Version[*store.Unstructured]{{Name: "v1"}}
		engines := store.MustKind(kind.Descriptor[*store.Unstructured]{Resource: kind.Resource{Group: "example.com", Kind: "Engine", Status: true}, Versions: v1})
		sites := store.MustKind(kind.Descriptor[*store.Unstructured]{
			Resource: kind.Resource{Group: "example.com", Kind: "Site", Status: true, ClusterScoped: true},
			Versions: v1,
		})
		api := apitest.New(t, apitest.Options{API: httpapi.Options{Kinds: []kind.Kind{engines, sites}}})
		env := []string{"KUBECONFIG=" + api.Kubeconfig(), "HOME=" + home, "PATH=" + os.Getenv("PATH")}
		kubectl := func(stdin, line string) string {
			t.Helper()
			cmd := exec.CommandContext(t.Context(), path, strings.Fields(line)...)
			cmd.Env, cmd.Stdin = env, strings.NewReader(stdin)
			out, err := cmd.CombinedOutput()
			require.NoError(t, err, "%s", out)
			return string(out)
		}
		for _, row := range []struct{ line, stdin, want string }{
			{"create -f -", engine, "engine.example.com/e created\n"},
			{"apply --server-side -f -", site, "site.example.com/s serverside-applied\n"},
			{"apply --server-side --field-manager other -f -", site, "site.example.com/s serverside-applied\n"},
			{"get engines,sites -o name", "", "engine.example.com/e\nsite.example.com/s\n"},
			{"get engines -A --no-headers -o custom-columns=NS:.metadata.namespace,N:.metadata.name,S:.spec.speed", "", "default   e     1\n"},
			{"label site s a=b", "", "site.example.com/s labeled\n"},
			{"get site s -o jsonpath={.spec}{.metadata.generation}", "", `{"place":{"x":1}}1`},
		} {
			assert.Equal(t, row.want, kubectl(row.stdin, row.line), row.line)
		}
		assert.Contains(t, kubectl("", "describe site s"), "API Version:  example.com/v1")
		assert.Contains(t, kubectl("", "api-resources --api-group example.com"), "false")
		if variant != debian { // it has no --subresource, and cannot read metadata in this OpenAPI
			assert.Contains(t, kubectl("", "explain engine.metadata.name"), "name <string>")
			assert.Equal(t, "site.example.com/s patched\n", kubectl("", `patch site s --subresource=status --type=merge -p {"status":{"phase":"Done"}}`))
			assert.Equal(t, "site.example.com/s condition met\n", kubectl("", "wait --for=jsonpath={.status.phase}=Done site/s --timeout=30s"))
		}
		kubectl("", "delete engines,sites --all")
	})
}
