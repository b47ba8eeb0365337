package memory

import (
	"bufio"
	"crypto/tls"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// fork makes a world and returns a tester of it.
func (d tester) fork(body string) tester {
	d.t.Helper()
	var w worldView
	d.must(201, "POST", "/debug/worlds", body, &w)
	return tester{d.t, w.URL}
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

func TestWorldsSeeNothingOfEachOther(t *testing.T) {
	d := startDebug(t)
	d.must(201, "POST", leases, named("a"), nil)
	fork := d.fork("")
	assert.Equal(t, d.url+"/debug/worlds/1", fork.url)
	watch := fork.watch()
	line, err := watch.ReadString('\n')
	require.NoError(t, err)
	assert.Contains(t, line, `"ADDED"`)

	d.must(201, "POST", leases, named("b"), nil)
	fork.must(201, "POST", leases, named("c"), nil)
	line, err = watch.ReadString('\n')
	require.NoError(t, err)
	assert.Contains(t, line, `"name":"c"`, "b is of another world")
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
	assert.Equal(t, d.url+"/debug/worlds/again", again.url, "all worlds are beside each other")
	assert.Equal(t, 200, again.code("GET", leases+"/c", ""))
	var list struct{ Worlds []worldView }
	d.must(200, "GET", "/debug/worlds", "", &list)
	require.Len(t, list.Worlds, 2)
	assert.Equal(t, again.url, list.Worlds[1].URL)
	var one worldView
	again.must(200, "GET", "/debug/worlds/1", "", &one)
	assert.Equal(t, list.Worlds[0], one)

	d.must(204, "DELETE", "/debug/worlds/1", "", nil)
	rest, err := io.ReadAll(watch)
	assert.NoError(t, err, "the watch ends cleanly")
	assert.Empty(t, rest)
	assert.Equal(t, 404, fork.code("GET", leaseA, ""))
	assert.Equal(t, 200, again.code("GET", leaseA, ""))
	d.must(204, "DELETE", "/debug/worlds", "", nil)
	assert.Equal(t, 404, again.code("GET", leaseA, ""))
}

func TestElectionsGoOnInAFork(t *testing.T) {
	d := startDebug(t)
	fork := d.fork("")
	client{t, fork.url}.offer("first", "1.37.0", "1.37.0")
	events := client{t, fork.url}.events()
	defer events.body.Close()
	events.until("default/main: first is elected.")
	_, _, text := d.do("GET", "/debug/elections.txt", "")
	assert.NotContains(t, text, "first")
}

func TestResetTakesTheServerBackToItsStart(t *testing.T) {
	dir := t.TempDir()
	writeFile(t, filepath.Join(dir, "in.yaml"), someLeases)
	d := startDebug(t, func(c *config) { c.load = dir })
	_, _, before := d.do("GET", "/debug/fixtures", "")
	assert.Contains(t, before, `"4711"`)

	d.must(201, "POST", leases, named("a"), nil)
	d.must(200, "DELETE", leases+"/leader", "", nil)
	d.must(201, "POST", "/debug/faults", `{"hang":true}`, nil)
	hanging := make(chan int)
	go func() { hanging <- d.code("GET", leaseA, "") }()
	var requests struct{ Requests []struct{ Text string } }
	for len(requests.Requests) < 3 {
		d.must(200, "GET", "/debug/requests", "", &requests)
	}
	d.must(200, "POST", "/debug/reset", "", nil)
	assert.Equal(t, 0, <-hanging, "what was under way is cut")
	_, _, after := d.do("GET", "/debug/fixtures", "")
	assert.Equal(t, before, after, "versions and uids too")
	d.must(200, "GET", "/debug/requests", "", &requests)
	assert.Empty(t, requests.Requests)
	var list struct{ Faults []faultView }
	d.must(200, "GET", "/debug/faults", "", &list)
	assert.Empty(t, list.Faults)

	d.must(201, "POST", leases, named("a"), nil)
	d.must(200, "POST", "/debug/reset", "{}", nil)
	assert.Equal(t, 404, d.code("GET", leaseA, ""), "as often as is wanted")
}

func TestResetTakesAWorldToTheStateOfAnother(t *testing.T) {
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
	assert.Equal(t, 404, d.code("GET", leaseA, ""), "as does the world at the root")
}

func TestResetTakesAWorldToAFixture(t *testing.T) {
	d := startDebug(t, func(c *config) { c.clock = start2026 })
	d.must(201, "POST", leases, named("a"), nil)
	code, _, text := d.do("POST", "/debug/reset", someLeases, "Content-Type", typeYAML)
	require.Equal(t, 200, code, "%s", text)
	assert.Equal(t, 404, d.code("GET", leaseA, ""))
	assert.Equal(t, 200, d.code("GET", leases+"/leader", ""))
	var clock clockView
	d.must(200, "POST", "/debug/clock", `{"forward":"1s"}`, &clock)
	code, _, text = d.do("POST", "/debug/reset", "-- a.yaml --\nkind: Pod\n", "Content-Type", typeTxtar)
	assert.Equal(t, 400, code)
	assert.Contains(t, text, "a.yaml, document 1")
	assert.Equal(t, 200, d.code("GET", leases+"/leader", ""), "all is as it was")
	d.must(200, "POST", "/debug/reset", "", nil)
	assert.Equal(t, 404, d.code("GET", leases+"/leader", ""))
}

func TestResetDoesNotWaitForAClientThatDoesNotRead(t *testing.T) {
	d := startDebug(t)
	conn, err := net.Dial("tcp", strings.TrimPrefix(d.url, "http://"))
	require.NoError(t, err)
	defer conn.Close()
	require.NoError(t, conn.(*net.TCPConn).SetReadBuffer(4<<10))
	fmt.Fprintf(conn, "GET %s?watch=true HTTP/1.1\r\nHost: test\r\n\r\n", leases)
	_, err = conn.Read(make([]byte, 1)) // the watch is open
	require.NoError(t, err)
	d.must(201, "POST", leases, named("a"), nil)
	for i := range 7 { // more than what sockets hold
		body := fmt.Sprintf(`{"spec":{"holderIdentity":"%d%s"}}`, i, strings.Repeat("x", 900<<10))
		code, _, text := d.do("PATCH", leaseA, body, "Content-Type", "application/merge-patch+json")
		require.Equal(t, 200, code, "%s", text)
	}
	d.must(200, "POST", "/debug/reset", "", nil)
	assert.Equal(t, 404, d.code("GET", leaseA, ""))
}

func TestWorldsAreServedWithTLSAndTokensToo(t *testing.T) {
	dir := t.TempDir()
	writeFile(t, filepath.Join(dir, "tokens"), "s3cret,alice,1\n")
	d := startDebug(t, func(c *config) { c.SelfSigned, c.TokenFile = true, filepath.Join(dir, "tokens") })
	transport := &http.Transport{TLSClientConfig: &tls.Config{InsecureSkipVerify: true}, ForceAttemptHTTP2: true}
	defer transport.CloseIdleConnections()
	ask := func(method, url, body string) (int, string) {
		req, err := http.NewRequestWithContext(t.Context(), method, url, strings.NewReader(body))
		require.NoError(t, err)
		req.Header.Set("Authorization", "Bearer s3cret")
		req.Header.Set("Content-Type", "application/json")
		resp, err := (&http.Client{Transport: transport}).Do(req)
		if err != nil {
			return 0, err.Error()
		}
		defer resp.Body.Close()
		assert.Equal(t, 2, resp.ProtoMajor)
		text, err := io.ReadAll(resp.Body)
		require.NoError(t, err)
		return resp.StatusCode, string(text)
	}
	code, text := ask("POST", d.url+"/debug/worlds", "{}")
	require.Equal(t, 201, code, "%s", text)
	var w worldView
	require.NoError(t, json.Unmarshal([]byte(text), &w))
	assert.Equal(t, d.url+"/debug/worlds/1", w.URL)
	code, text = ask("POST", w.URL+leases, named("a"))
	assert.Equal(t, 201, code, "%s", text)
	code, text = ask("POST", w.URL+"/debug/faults", `{"verb":"get","first":1,"cut":"before"}`)
	assert.Equal(t, 201, code, "%s", text)
	code, text = ask("GET", w.URL+leaseA, "")
	assert.Equal(t, 0, code, "%s", text)
	code, _ = ask("GET", w.URL+leaseA, "")
	assert.Equal(t, 200, code)
	code, _ = ask("GET", d.url+leaseA, "")
	assert.Equal(t, 404, code)
}

func TestWorldsAreBounded(t *testing.T) {
	d := startDebug(t)
	for range maxWorlds {
		d.must(201, "POST", "/debug/worlds", "", nil)
	}
	code, _, text := d.do("POST", "/debug/worlds", "")
	assert.Equal(t, 403, code)
	assert.Contains(t, text, fmt.Sprintf("worlds: got %d, want %d at most: DELETE some", maxWorlds+1, maxWorlds))
	d.must(204, "DELETE", "/debug/worlds/7", "", nil)
	d.must(201, "POST", "/debug/worlds", "", nil)
}

func TestServerWithWorldsEndsThemAndDumpsItsOwn(t *testing.T) {
	out := filepath.Join(t.TempDir(), "out.yaml")
	c := debugConfig()
	c.dump = out
	_, stop, url, done := start(t, c)
	d := tester{t, url}
	fork := d.fork("")
	d.must(201, "POST", leases, named("mine"), nil)
	fork.must(201, "POST", leases, named("other"), nil)
	first, second := d.watch(), fork.watch()
	d.must(201, "POST", "/debug/faults", `{"hang":true}`, nil)
	hanging := make(chan int)
	go func() { hanging <- d.code("GET", leaseA, "") }()
	var requests struct{ Requests []struct{ Text string } }
	for len(requests.Requests) < 3 {
		d.must(200, "GET", "/debug/requests", "", &requests)
	}
	stop()
	for _, watch := range []*bufio.Reader{first, second} {
		_, err := io.ReadAll(watch)
		assert.NoError(t, err, "the watch ends cleanly")
	}
	assert.Equal(t, 0, <-hanging)
	require.NoError(t, <-done)
	data, err := os.ReadFile(out)
	require.NoError(t, err)
	assert.Equal(t, 1, strings.Count(string(data), "kind: Lease\n"))
	assert.Contains(t, string(data), "name: mine")
}
