package memory

import (
	"bufio"
	"io"
	"net/http"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// fork forks the server, and returns a tester of it.
func (d tester) fork(body string) tester {
	d.t.Helper()
	var w forkView
	d.must(201, "POST", "/debug/forks", body, &w)
	return tester{d.t, w.URL}
}

// hang makes all requests hang, and sends one. It returns when the server has got it, which is the third, with the channel of its code.
func (d tester) hang() <-chan int {
	d.must(201, "POST", "/debug/faults", `{"hang":true}`, nil)
	code := make(chan int)
	go func() { code <- d.code("GET", leaseA, "") }()
	var requests struct{ Requests []struct{ Text string } }
	for len(requests.Requests) < 3 {
		d.must(200, "GET", "/debug/requests", "", &requests)
	}
	return code
}

// watch opens a watch of the Leases and returns its lines.
func (d tester) watch() (lines *bufio.Reader) {
	d.t.Helper()
	resp, err := http.Get(d.url + leases + "?watch=true")
	require.NoError(d.t, err)
	require.Equal(d.t, 200, resp.StatusCode)
	d.t.Cleanup(func() { resp.Body.Close() })
	return bufio.NewReader(resp.Body)
}

func TestForksSeeNothingOfEachOther(t *testing.T) {
	d := startDebug(t)
	d.must(201, "POST", leases, named("a"), nil)
	fork := d.fork("")
	assert.Equal(t, d.url+"/debug/forks/1", fork.url)
	watch := fork.watch()
	line, err := watch.ReadString('\n')
	require.NoError(t, err)
	assert.Contains(t, line, `"ADDED"`)

	d.must(201, "POST", leases, named("b"), nil)
	fork.must(201, "POST", leases, named("c"), nil)
	line, err = watch.ReadString('\n')
	require.NoError(t, err)
	assert.Contains(t, line, `"name":"c"`, "b is of another fork")
	for name, want := range map[string][2]int{"a": {200, 200}, "b": {200, 404}, "c": {404, 200}} {
		assert.Equal(t, want, [2]int{d.code("GET", leases+"/"+name, ""), fork.code("GET", leases+"/"+name, "")}, name)
	}

	fork.must(201, "POST", "/debug/faults", `{"answer":{"code":503}}`, nil)
	assert.Equal(t, 503, fork.code("GET", leaseA, ""))
	assert.Equal(t, 200, d.code("GET", leaseA, ""))
	var requests struct{ Requests []struct{ Text string } }
	d.must(200, "GET", "/debug/requests", "", &requests)
	for _, r := range requests.Requests {
		assert.NotContains(t, r.Text, "503")
	}

	again := fork.fork(`{"name":"again"}`)
	assert.Equal(t, d.url+"/debug/forks/again", again.url, "all forks are beside each other")
	assert.Equal(t, 200, again.code("GET", leases+"/c", ""))
	var list struct{ Forks []forkView }
	d.must(200, "GET", "/debug/forks", "", &list)
	require.Len(t, list.Forks, 2)
	assert.Equal(t, again.url, list.Forks[1].URL)
	var one forkView
	again.must(200, "GET", "/debug/forks/1", "", &one)
	assert.Equal(t, list.Forks[0], one)

	d.must(204, "DELETE", "/debug/forks/1", "", nil)
	rest, err := io.ReadAll(watch)
	assert.NoError(t, err, "the watch ends cleanly")
	assert.Empty(t, rest)
	assert.Equal(t, 404, fork.code("GET", leaseA, ""))
	assert.Equal(t, 200, again.code("GET", leaseA, ""))
	d.must(204, "DELETE", "/debug/forks", "", nil)
	assert.Equal(t, 404, again.code("GET", leaseA, ""))
}

func TestResetTakesTheServerBackToItsStart(t *testing.T) {
	dir := t.TempDir()
	writeFile(t, filepath.Join(dir, "in.yaml"), someLeases)
	d := startDebug(t, func(c *config) { c.load = dir })
	_, _, before := d.do("GET", "/debug/fixtures", "")
	assert.Contains(t, before, `"4711"`)

	d.must(201, "POST", leases, named("a"), nil)
	d.must(200, "DELETE", leases+"/leader", "", nil)
	hanging := d.hang()
	d.must(200, "POST", "/debug/reset", "", nil)
	assert.Equal(t, 0, <-hanging, "what was under way is cut")
	_, _, after := d.do("GET", "/debug/fixtures", "")
	assert.Equal(t, before, after, "versions and uids too")
	var requests struct{ Requests []struct{ Text string } }
	d.must(200, "GET", "/debug/requests", "", &requests)
	assert.Empty(t, requests.Requests)
	var list struct{ Faults []faultView }
	d.must(200, "GET", "/debug/faults", "", &list)
	assert.Empty(t, list.Faults)

	d.must(201, "POST", leases, named("a"), nil)
	d.must(200, "POST", "/debug/reset", "{}", nil)
	assert.Equal(t, 404, d.code("GET", leaseA, ""), "as often as is wanted")
}

func TestResetTakesAForkToTheStateOfAnother(t *testing.T) {
	d := startDebug(t)
	d.must(201, "POST", leases, named("a"), nil)
	base := d.fork(`{"name":"base"}`)
	d.must(201, "POST", leases, named("b"), nil)
	d.must(200, "POST", "/debug/reset", `{"to":"base"}`, nil)
	assert.Equal(t, 200, d.code("GET", leaseA, ""))
	assert.Equal(t, 404, d.code("GET", leases+"/b", ""))

	base.must(201, "POST", leases, named("c"), nil)
	watch := base.watch()
	base.must(200, "POST", "/debug/reset", "", nil)
	_, err := io.ReadAll(watch)
	assert.NoError(t, err, "the watch ends cleanly")
	assert.Equal(t, 200, base.code("GET", leaseA, ""), "a fork goes back to what it began with")
	assert.Equal(t, 404, base.code("GET", leases+"/c", ""))
	d.must(200, "POST", "/debug/reset", "", nil)
	assert.Equal(t, 404, d.code("GET", leaseA, ""), "as does the server at the root")
}
