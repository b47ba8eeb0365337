package main

import (
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

const someLeases = `apiVersion: coordination.k8s.io/v1
kind: Lease
metadata:
  name: leader
  namespace: default
  resourceVersion: "4711"
  uid: 7f1b9a0e-0a1f-4a8e-9a52-0c8f6f6f0b11
spec:
  holderIdentity: me
---
apiVersion: v1
kind: Endpoints
metadata:
  name: web
  namespace: default
`

// writeFile writes a file in a directory of the test.
func writeFile(t *testing.T, path, text string) {
	t.Helper()
	require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o700))
	require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
}

func body(t *testing.T, url string) string {
	t.Helper()
	resp, err := http.Get(url)
	require.NoError(t, err)
	defer resp.Body.Close()
	data, err := io.ReadAll(resp.Body)
	require.NoError(t, err)
	return string(data)
}

func TestServerGoesOnFromTheStateOfAnother(t *testing.T) {
	dir := t.TempDir()
	writeFile(t, filepath.Join(dir, "in", "leases.yaml"), someLeases)
	writeFile(t, filepath.Join(dir, "in", "README"), "not a fixture")
	for _, name := range []string{"out.yaml", "out.yml", "out.json", "out.txtar"} {
		t.Run(name, func(t *testing.T) {
			out := filepath.Join(dir, name)
			writeFile(t, out, "an old one")
			c := config{listen: "127.0.0.1:0", history: 100, load: filepath.Join(dir, "in"), dump: out}
			_, stop, url, done := start(t, c)
			got := body(t, url+"/apis/coordination.k8s.io/v1/namespaces/default/leases/leader")
			require.Contains(t, got, `"resourceVersion":"4711"`)
			require.Contains(t, got, `"uid":"7f1b9a0e-0a1f-4a8e-9a52-0c8f6f6f0b11"`)
			resp, err := http.Post(url+"/apis/coordination.k8s.io/v1/namespaces/default/leases", "application/json", strings.NewReader(`{"metadata":{"name":"new"}}`))
			require.NoError(t, err)
			resp.Body.Close()
			require.Equal(t, http.StatusCreated, resp.StatusCode)
			list := body(t, url+"/apis/coordination.k8s.io/v1/leases")
			old, err := os.ReadFile(out)
			require.NoError(t, err)
			require.Equal(t, "an old one", string(old), "nothing is written before the end")
			stop()
			require.NoError(t, <-done)

			again := filepath.Join(dir, "again-"+name)
			_, stop, url, done = start(t, config{listen: "127.0.0.1:0", history: 100, load: out, dump: again})
			require.Equal(t, list, body(t, url+"/apis/coordination.k8s.io/v1/leases"), "the version of the list too")
			stop()
			require.NoError(t, <-done)
			first, err := os.ReadFile(out)
			require.NoError(t, err)
			second, err := os.ReadFile(again)
			require.NoError(t, err)
			require.Equal(t, string(first), string(second))
		})
	}
	hidden, err := filepath.Glob(filepath.Join(dir, ".*"))
	require.NoError(t, err)
	require.Empty(t, hidden, "no temporary file is left")
}

func TestServerRefusesStatesThatCannotBe(t *testing.T) {
	dir := t.TempDir()
	bad := filepath.Join(dir, "bad")
	writeFile(t, filepath.Join(bad, "a.yaml"), someLeases)
	writeFile(t, filepath.Join(bad, "b.yaml"), someLeases+"---\napiVersion: v1\nkind: Pod\n---\napiVersion: v1\nkind: Endpoints\nmetadata: {name: web, namespace: default}\nsubsets: none\n")
	const types = "coordination.k8s.io/v1 Lease, coordination.k8s.io/v1beta1 LeaseCandidate, coordination.k8s.io/v1alpha2 LeaseCandidate, coordination.k8s.io/v1alpha1 LeaseCandidate, v1 Endpoints, v1 List"
	for name, row := range map[string]struct {
		c    config
		want string
	}{
		"nothing there":     {config{load: filepath.Join(dir, "none")}, "-load: fixture: stat " + filepath.Join(dir, "none") + ": no such file or directory"},
		"a bad fixture":     {config{load: bad}, "-load: " + filepath.Join(bad, "b.yaml") + ", document 3 (line 17): got v1 Pod, want one of " + types + "\n" + filepath.Join(bad, "b.yaml") + ", document 4 (line 20): Endpoints: json: cannot unmarshal string into Go struct field Endpoints.subsets of type []v1.EndpointSubset"},
		"no such directory": {config{dump: filepath.Join(dir, "none", "out.yaml")}, "-dump: open " + filepath.Join(dir, "none", ".out.yaml.")},
		"another ending":    {config{dump: filepath.Join(dir, "out.txt")}, "want a name that ends in .yaml, .yml, .json or .txtar"},
		"a directory":       {config{dump: filepath.Join(dir, "x.yaml")}, "-dump " + filepath.Join(dir, "x.yaml") + ": not a regular file"},
	} {
		t.Run(name, func(t *testing.T) {
			require.NoError(t, os.MkdirAll(filepath.Join(dir, "x.yaml"), 0o700))
			row.c.listen, row.c.history = "127.0.0.1:0", 1
			assert.ErrorContains(t, run(t.Context(), io.Discard, row.c), row.want)
		})
	}
}

func TestServerTellsWhenItsStateCannotBeWritten(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "gone")
	require.NoError(t, os.Mkdir(dir, 0o700))
	_, stop, _, done := start(t, config{listen: "127.0.0.1:0", history: 1, dump: filepath.Join(dir, "out.yaml")})
	require.NoError(t, os.RemoveAll(dir))
	stop()
	assert.ErrorContains(t, <-done, "-dump: open "+filepath.Join(dir, ".out.yaml."))
}
