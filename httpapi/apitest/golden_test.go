package apitest_test

import (
	"flag"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kubecoord/kubecoord/httpapi/apitest"
	"github.com/kubecoord/kubecoord/store/fixture"
)

var update = flag.Bool("update", false, "rewrite the golden files")

func TestGoldenComparesTheStateAndRewritesItByTheFlag(t *testing.T) {
	tb := &failing{TB: t}
	golden := func(api *apitest.API, file string, opts fixture.DumpOptions) string {
		tb.message = ""
		done := make(chan struct{})
		go func() {
			defer close(done)
			api.Golden(file, opts)
		}()
		<-done
		return tb.message
	}
	api := apitest.New(tb)
	client := &http.Client{Transport: api.Transport()}
	post(client, api.Host()+path, `{"metadata":{"name":"a"}}`)
	file := filepath.Join(t.TempDir(), "testdata", "state.yaml")
	opts := fixture.DumpOptions{Resources: []string{"leases"}, Form: fixture.FormStream}

	message := golden(api, file, opts)
	assert.Contains(t, message, "no such file")
	assert.Contains(t, message, "-update")

	was := *update
	require.NoError(t, flag.Set("update", "true"))
	message = golden(api, file, opts)
	*update = was
	assert.Empty(t, message)
	data, err := os.ReadFile(file)
	require.NoError(t, err)
	assert.Equal(t, "apiVersion: coordination.k8s.io/v1\nkind: Lease\nmetadata:\n  name: a\n  namespace: default\nspec: {}\n", string(data))

	require.NoError(t, os.WriteFile(file, []byte("apiVersion: coordination.k8s.io/v1\r\nkind: Lease\r\nmetadata:\r\n  name: a\r\n  namespace: default\r\nspec: {}\r\n"), 0o600))
	assert.Empty(t, golden(api, file, opts), "git may write the ends of lines of its system")

	post(client, api.Host()+path, `{"metadata":{"name":"b"}}`)
	message = golden(api, file, opts)
	assert.Contains(t, message, "the state differs from "+file)
	assert.Contains(t, message, "+ ---\n+ apiVersion: coordination.k8s.io/v1\n")
	assert.NotContains(t, message, "\n- ")

	require.NoError(t, os.WriteFile(file, []byte(strings.Repeat("gone\n", 500)), 0o600))
	message = golden(api, file, opts)
	assert.True(t, strings.HasSuffix(message, "- gone\n…"), "a long difference is cut")
	assert.Less(t, strings.Count(message, "\n"), 70)
}
