package memory

import (
	"encoding/json"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kubecoord/kubecoord/examples/internal/serve"
	"github.com/kubecoord/kubecoord/httpapi"
	"github.com/kubecoord/kubecoord/store/fixture"
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

func TestServerGoesOnFromTheStateOfAnother(t *testing.T) {
	dir := t.TempDir()
	writeFile(t, filepath.Join(dir, "in", "leases.yaml"), someLeases)
	writeFile(t, filepath.Join(dir, "in", "README"), "not a fixture")
	for _, name := range []string{"out.yaml", "out.yml", "out.json", "out.txtar"} {
		t.Run(name, func(t *testing.T) {
			out := filepath.Join(dir, name)
			writeFile(t, out, "an old one")
			c := config{Options: serve.Options{Address: "127.0.0.1:0", History: 100}, load: filepath.Join(dir, "in"), dump: out}
			_, stop, url, done := start(t, c)
			d := tester{t, url}
			_, _, got := d.do("GET", leases+"/leader", "")
			require.Contains(t, got, `"resourceVersion":"4711"`)
			require.Contains(t, got, `"uid":"7f1b9a0e-0a1f-4a8e-9a52-0c8f6f6f0b11"`)
			d.must(201, "POST", leases, named("new"), nil)
			_, _, list := d.do("GET", group+"/v1/leases", "")
			old, err := os.ReadFile(out)
			require.NoError(t, err)
			require.Equal(t, "an old one", string(old), "nothing is written before the end")
			stop()
			require.NoError(t, <-done)

			again := filepath.Join(dir, "again-"+name)
			_, stop, url, done = start(t, config{Options: serve.Options{Address: "127.0.0.1:0", History: 100}, load: out, dump: again})
			_, _, listed := tester{t, url}.do("GET", group+"/v1/leases", "")
			require.Equal(t, objectsOf(list), objectsOf(listed))
			require.Greater(t, listVersion(t, listed), listVersion(t, list), "a version that nobody has seen")
			stop()
			require.NoError(t, <-done)
			first, err := os.ReadFile(out)
			require.NoError(t, err)
			second, err := os.ReadFile(again)
			require.NoError(t, err)
			require.Equal(t, objectsOf(string(first)), objectsOf(string(second)))
			info, err := os.Stat(out)
			require.NoError(t, err)
			require.Equal(t, os.FileMode(0o600), info.Mode())
		})
	}
	hidden, err := filepath.Glob(filepath.Join(dir, ".*"))
	require.NoError(t, err)
	require.Empty(t, hidden, "no temporary file is left")
}

// objectsOf returns a list or a dump without its own version.
func objectsOf(text string) string {
	return regexp.MustCompile(`(?s)("?resourceVersion"?: ?"[0-9]{12}")`).ReplaceAllString(text, "")
}

// listVersion returns the version of a list or an object.
func listVersion(t *testing.T, list string) uint64 {
	t.Helper()
	var l struct {
		Metadata struct{ ResourceVersion string }
	}
	require.NoError(t, json.Unmarshal([]byte(list), &l), list)
	version, err := strconv.ParseUint(l.Metadata.ResourceVersion, 10, 64)
	require.NoError(t, err)
	return version
}

// A server that is killed loses what came after its dump. The one that follows must not give
// the versions of the lost writes again: a client that has one would overwrite a state that it
// has never seen.
func TestNoVersionComesTwiceAfterACrash(t *testing.T) {
	dump := filepath.Join(t.TempDir(), "state.yaml")
	hangups := make(chan os.Signal)
	c := config{Options: serve.Options{Address: "127.0.0.1:0", History: 100}, dump: dump, dumpNow: hangups}
	_, stop, url, done := start(t, c)
	d := tester{t, url}
	d.must(201, "POST", leases, named("a"), nil)
	hangups <- syscall.SIGHUP
	require.Eventually(t, func() bool { data, _ := os.ReadFile(dump); return strings.Contains(string(data), "name: a") }, time.Minute, time.Millisecond)
	saved, err := os.ReadFile(dump)
	require.NoError(t, err)
	code, _, lost := d.do("PATCH", leaseA, `{"spec":{"holderIdentity":"lost"}}`)
	require.Equal(t, 200, code)
	stop()
	require.NoError(t, <-done)
	require.NoError(t, os.WriteFile(dump, saved, 0o600)) // as if the process had been killed

	for name, load := range map[string]string{"from a dump": dump, "from nothing": ""} {
		t.Run(name, func(t *testing.T) {
			_, stop, url, done := start(t, config{Options: serve.Options{Address: "127.0.0.1:0", History: 100}, load: load})
			defer func() { stop(); require.NoError(t, <-done) }()
			d := tester{t, url}
			if load == "" {
				d.must(201, "POST", leases, named("a"), nil)
			}
			code, _, other := d.do("PATCH", leaseA, `{"spec":{"holderIdentity":"other"}}`)
			require.Equal(t, 200, code)
			assert.Greater(t, listVersion(t, other), listVersion(t, lost), "as a token of fencing it is greater")
			code, _, stale := d.do("PUT", leaseA, lost)
			assert.Equal(t, 409, code, stale)
			code, _, watch := d.do("GET", leases+"?watch=true&resourceVersion="+strconv.FormatUint(listVersion(t, lost), 10), "")
			assert.Equal(t, 200, code)
			assert.Contains(t, watch, `"code":410`)
		})
	}
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
		"nothing there":     {config{load: filepath.Join(dir, "none")}, "-load: stat " + filepath.Join(dir, "none") + ": no such file or directory"},
		"a bad fixture":     {config{load: bad}, "-load " + bad + ": b.yaml, document 3 (line 17): got v1 Pod, want one of " + types + "\nb.yaml, document 4 (line 20): Endpoints: json: cannot unmarshal string into Go struct field Endpoints.subsets of type []v1.EndpointSubset"},
		"one to skip":       {config{load: bad, known: true}, "-load " + bad + ": b.yaml, document 4 (line 20): Endpoints: json: "},
		"no such directory": {config{dump: filepath.Join(dir, "none", "out.yaml")}, "-dump: open " + filepath.Join(dir, "none", ".out.yaml.")},
		"another ending":    {config{dump: filepath.Join(dir, "out.txt")}, "want a name that ends in .yaml, .yml, .json or .txtar"},
		"a directory":       {config{dump: filepath.Join(dir, "x.yaml")}, "-dump " + filepath.Join(dir, "x.yaml") + ": not a regular file"},
	} {
		t.Run(name, func(t *testing.T) {
			require.NoError(t, os.MkdirAll(filepath.Join(dir, "x.yaml"), 0o700))
			row.c.Address, row.c.History = "127.0.0.1:0", 1
			assert.ErrorContains(t, run(t.Context(), io.Discard, row.c), row.want)
		})
	}
}

// A dump has what its server began with, so a server that begins with the same loads the dump, in which objects may have changed.
func TestADumpHasWhatItsServerBeganWith(t *testing.T) {
	dir := t.TempDir()
	writeFile(t, filepath.Join(dir, "begin", "leases.yaml"), someLeases)
	more := func() More {
		return More{
			API:      func(o httpapi.Options) (httpapi.Options, error) { return o, nil },
			Fixtures: []fixture.Source{fixture.FS(os.DirFS(filepath.Join(dir, "begin")))},
		}
	}
	c := config{Options: serve.Options{Address: "127.0.0.1:0", History: 100}, more: more, dump: filepath.Join(dir, "out.yaml")}
	_, stop, url, done := start(t, c)
	tester{t, url}.must(200, "PATCH", leases+"/leader", `{"spec":{"holderIdentity":"another"}}`, nil)
	stop()
	require.NoError(t, <-done)

	c.load, c.dump = c.dump, ""
	_, stop, url, done = start(t, c)
	_, _, got := tester{t, url}.do("GET", leases+"/leader", "")
	assert.Contains(t, got, `"holderIdentity":"another"`)
	stop()
	assert.NoError(t, <-done)
}

func TestAFileOfLoadIsNoPattern(t *testing.T) {
	dir := t.TempDir()
	writeFile(t, filepath.Join(dir, "[ab].yaml"), someLeases)
	writeFile(t, filepath.Join(dir, "a.yaml"), strings.ReplaceAll(someLeases, "name: leader", "name: other"))
	_, stop, url, done := start(t, config{Options: serve.Options{Address: "127.0.0.1:0", History: 100}, load: filepath.Join(dir, "[ab].yaml")})
	_, _, list := tester{t, url}.do("GET", group+"/v1/leases", "")
	assert.Contains(t, list, `"name":"leader"`)
	assert.NotContains(t, list, `"name":"other"`)
	stop()
	assert.NoError(t, <-done)
}

func TestFirstVersionGrowsWithTimeAndStaysBelowTheFutureOfRecordings(t *testing.T) {
	now := time.Date(2026, 11, 22, 0, 0, 0, 0, time.UTC)
	first := firstVersion(config{}, now)
	assert.Equal(t, first+10_000, firstVersion(config{}, now.Add(time.Second)))
	const future = 900_000_000_000 // of the scenarios in httpapi/testdata/wire
	assert.Less(t, firstVersion(config{}, now.AddDate(1, 0, 0)), uint64(future))
	assert.Zero(t, firstVersion(config{debug: true}, now))
}
