package memory

import (
	"encoding/json"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

const (
	leases = group + "/v1/namespaces/default/leases"
	leaseA = leases + "/a"
)

// tester speaks to a fork as a test in another language does.
type tester struct {
	t   *testing.T
	url string
}

// startDebug starts a server with -debug that ends with the test.
func startDebug(t *testing.T, edit ...func(*config)) tester {
	t.Helper()
	c := debugConfig()
	for _, e := range edit {
		e(&c)
	}
	_, stop, url, done := start(t, c)
	t.Cleanup(func() { stop(); require.NoError(t, <-done) })
	return tester{t, url}
}

// do sends a request and returns the code, the header and the text of the answer; 0 where there was none. Headers come
// in pairs; a body is JSON, or a merge patch, unless they say otherwise.
func (d tester) do(method, path, body string, headers ...string) (int, http.Header, string) {
	d.t.Helper()
	req, err := http.NewRequestWithContext(d.t.Context(), method, d.url+path, strings.NewReader(body))
	require.NoError(d.t, err)
	if body != "" {
		req.Header.Set("Content-Type", "application/json")
	}
	if method == "PATCH" {
		req.Header.Set("Content-Type", "application/merge-patch+json")
	}
	for i := 0; i < len(headers); i += 2 {
		req.Header.Set(headers[i], headers[i+1])
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return 0, nil, err.Error()
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	require.NoError(d.t, err)
	return resp.StatusCode, resp.Header, string(text)
}

// code sends a request and returns the status code of the answer.
func (d tester) code(method, path, body string, headers ...string) int {
	d.t.Helper()
	code, _, _ := d.do(method, path, body, headers...)
	return code
}

// must sends a request that is expected to be answered so, and decodes the answer into v unless it is nil.
func (d tester) must(want int, method, path, body string, v any) {
	d.t.Helper()
	code, _, text := d.do(method, path, body)
	require.Equal(d.t, want, code, "%s %s: %s", method, path, text)
	if v != nil {
		require.NoError(d.t, json.Unmarshal([]byte(text), v), "%s", text)
	}
}

func named(name string) string { return `{"metadata":{"name":"` + name + `"}}` }

func TestIndexListsEachOperation(t *testing.T) {
	d := startDebug(t)
	var index struct{ Operations []operation }
	d.must(200, "GET", "/debug/", "", &index)
	for _, listed := range index.Operations {
		path := strings.NewReplacer("{id}", "7", "{name}", "none").Replace(listed.Path)
		code, _, text := d.do(listed.Method, path, "")
		assert.NotEqual(t, 405, code, "%s %s", listed.Method, path)
		if code == 404 {
			assert.Contains(t, text, "that GET /debug/", "%s %s", listed.Method, path)
		}
		assert.NotEmpty(t, listed.What)
	}
	assert.Greater(t, len(index.Operations), 15)

	_, header, page := d.do("GET", "/debug/", "", "Accept", "text/html,*/*")
	assert.Equal(t, "text/html; charset=utf-8", header.Get("Content-Type"))
	assert.Contains(t, page, `<a href="faults">/debug/faults</a>`)
	assert.Contains(t, header.Get("Content-Security-Policy"), "default-src 'none'")
}

func TestFaultsAreInjectedCountedAndRemoved(t *testing.T) {
	d := startDebug(t)
	d.must(201, "POST", leases, named("a"), nil)
	var fault struct {
		ID, Matches, Hits int
		Text              string
		Fault             map[string]any
	}
	d.must(201, "POST", "/debug/faults", `{"verb":"get","resource":"leases","first":2,"answer":{"code":429,"details":{"retryAfterSeconds":1}}}`, &fault)
	assert.Equal(t, "get leases *: answer 429 (first 2)", fault.Text)
	for _, want := range []int{429, 429, 200} {
		code, header, text := d.do("GET", leaseA, "")
		assert.Equal(t, want, code)
		if want == 429 {
			assert.Equal(t, "1", header.Get("Retry-After"))
			assert.Contains(t, text, `"reason":"TooManyRequests"`)
		}
	}
	d.must(200, "GET", "/debug/faults/1", "", &fault)
	assert.Equal(t, 3, fault.Matches)
	assert.Equal(t, 2, fault.Hits)
	assert.Equal(t, map[string]any{
		"verb": "get", "resource": "leases", "first": 2.0,
		"answer": map[string]any{"code": 429.0, "details": map[string]any{"retryAfterSeconds": 1.0}},
	}, fault.Fault)

	d.must(201, "POST", "/debug/faults", `{"cut":"after","verb":"update"}`, nil)
	assert.Equal(t, 0, d.code("PUT", leaseA, named("a")))
	var list struct {
		Faults []struct {
			ID, Hits int
			Text     string
		}
	}
	d.must(200, "GET", "/debug/faults", "", &list)
	require.Len(t, list.Faults, 2)
	assert.Equal(t, 2, list.Faults[1].ID)

	d.must(200, "DELETE", "/debug/faults/1", "", &fault)
	assert.Equal(t, 2, fault.Hits, "the end of a fault tells what it did")
	d.must(404, "DELETE", "/debug/faults/1", "", nil)
	d.must(204, "DELETE", "/debug/faults", "", nil)
	d.must(200, "GET", "/debug/faults", "", &list)
	assert.Empty(t, list.Faults)
}

func TestControlIsRefusedNonsense(t *testing.T) {
	d := startDebug(t)
	d.must(201, "POST", "/debug/forks", `{"name":"taken"}`, nil)
	const plain = "text/plain"
	for _, row := range []struct {
		method, path, mediaType, body string
		code                          int
		want                          string
	}{
		{"POST", "/debug/faults", typeJSON, `{"verb":"get"}`, 400, `body: fault: got no action, want one of delay, expireHistory, answer, hang, cut, partition, tear, slowEvents`},
		{"POST", "/debug/faults", typeJSON, `{"verb":"peek","hang":true}`, 400, `body: fault: verb: got \"peek\", want one of get, list, watch,`},
		{"POST", "/debug/faults", typeJSON, `{"resource":"Verbs","hang":true}`, 400, `body: fault: resource: got \"Verbs\", want one of leases, leasecandidates, endpoints`},
		{"POST", "/debug/faults", typeJSON, `{"hang":true,"cut":"after"}`, 400, `body: fault: hang, cut: got 2 of them, want one`},
		{"POST", "/debug/faults", typeJSON, `{"stale":{"changes":1,"resourceVersion":"1"}}`, 400, `body: fault: stale`},
		{"POST", "/debug/faults", typeJSON, `{"answer":{"code":42}}`, 400, `body: fault: answer.code: got 42, want 200 to 599`},
		{"POST", "/debug/faults", typeJSON, `{"hang":true`, 400, `body: unexpected EOF`},
		{"POST", "/debug/faults", typeJSON, `{"hang":true} {}`, 400, `body: got more after the first value, want one object`},
		{"POST", "/debug/faults", typeJSON, ``, 400, `body: EOF`},
		{"POST", "/debug/faults", typeJSON, `"` + strings.Repeat("x", 1<<20) + `"`, 413, `Request entity too large: limit is 1048576`},
		{"POST", "/debug/fixtures", typeYAML, strings.Repeat("#", 4<<20+1), 413, `Request entity too large: limit is 4194304`},
		{"POST", "/debug/reset", typeTxtar, strings.Repeat("#", 4<<20+1), 413, `Request entity too large: limit is 4194304`},
		{"POST", "/debug/fixtures", typeYAML, "[" + strings.Repeat("a,", 1<<19) + "a\n]", 413, `Request entity too large: limit is 524288 lines and commas`},
		{"POST", "/debug/fixtures", typeYAML, "[" + strings.Repeat("a,", 1<<10) + "a]", 400, `got an array, want an object`},
		{"POST", "/debug/faults", plain, `{"hang":true}`, 415, `Content-Type: got \"text/plain\", want application/json`},
		{"GET", "/debug/faults/x", "", "", 404, `fault: got \"x\", want the id of one that GET /debug/faults lists`},
		{"POST", "/debug/faults", typeJSON, `{"adversary":{"percent":101}}`, 400, `body: fault: adversary.percent: got 101, want 0 to 100`},
		{"GET", "/debug/requests?last=0", "", "", 400, `last: got \"0\", want a number of 1 or more`},
		{"GET", "/debug/requests?first=1", "", "", 400, `query: got \"first\", want only last`},
		{"GET", "/debug/history?resource=pods", "", "", 400, `resource: got \"pods\", want one of leases, leasecandidates, endpoints`},
		{"GET", "/debug/fixtures?form=tar", "", "", 400, `form: got \"tar\", want list, stream or txtar`},
		{"GET", "/debug/fixtures?omitServerFields=1", "", "", 400, `omitServerFields: got \"1\", want true or false`},
		{"POST", "/debug/fixtures", plain, someLeases, 415, `want application/yaml or application/json or application/x-txtar`},
		{"POST", "/debug/fixtures?name=a.yaml", typeYAML, someLeases + "---\nkind: Pod\napiVersion: v1\n", 400, `a.yaml, document 3 (line 17): got v1 Pod, want one of`},
		{"POST", "/debug/fixtures", typeTxtar, "-- a.yaml --\nkind: [\n", 400, `a.yaml, document 1`},
		{"POST", "/debug/forks", typeJSON, `{"name":"taken"}`, 409, `name: got \"taken\", want another name: this fork exists`},
		{"POST", "/debug/forks", typeJSON, `{"name":"../x"}`, 400, `name: got \"../x\", want at most 63 small letters, digits and -`},
		{"GET", "/debug/forks/none", "", "", 404, `fork: got \"none\", want a name that GET /debug/forks lists`},
		{"GET", "/debug/forks/none/healthz", "", "", 404, `fork: got "none"`},
		{"POST", "/debug/reset", typeJSON, `{"to":"none"}`, 400, `fork: got \"none\", want a name that GET /debug/forks lists`},
		{"POST", "/debug/clock", typeJSON, `{"forward":"soon"}`, 400, `body: forward: got \"soon\", want a duration such as \"90s\", 8784h0m0s at most`},
		{"POST", "/debug/clock", typeJSON, `{"forward":"1s"}`, 409, `clock: got the real clock, want a manual one: start the server with -clock`},
		{"PUT", "/debug/faults", typeJSON, `{}`, 405, "Method Not Allowed"},
		{"GET", "/debug/none", "", "", 404, "not found"},
	} {
		t.Run(row.method+" "+row.path+" "+row.body[:min(len(row.body), 30)], func(t *testing.T) {
			code, _, text := tester{t, d.url}.do(row.method, row.path, row.body, "Content-Type", row.mediaType)
			assert.Equal(t, row.code, code, "%s", text)
			assert.Contains(t, text, row.want)
		})
	}
	assert.Equal(t, 404, d.code("GET", leases+"/leader", ""), "of a fixture that is refused nothing is loaded")
}

func TestPagesOfOtherSitesHaveNoEffect(t *testing.T) {
	d := startDebug(t)
	for _, h := range [][]string{{"Origin", "http://evil.example"}, {"Sec-Fetch-Site", "cross-site"}, {"Origin", "null"}} {
		for _, row := range []struct{ method, path, body string }{
			{"POST", "/debug/faults", `{"hang":true}`}, {"DELETE", "/debug/faults", ""}, {"POST", "/debug/faults", `{"adversary":{}}`},
			{"DELETE", "/debug/history", ""}, {"POST", "/debug/reset", ""}, {"POST", "/debug/forks", ""}, {"POST", "/debug/fixtures", "{}"},
		} {
			code, _, text := d.do(row.method, row.path, row.body, h...)
			assert.Equal(t, 403, code, "%v %v", row, h)
			assert.Contains(t, text, "must not write")
		}
		assert.Equal(t, 200, d.code("GET", "/debug/faults", "", h...), "reading has none, and is not shown to them")
	}
	assert.Equal(t, 201, d.code("POST", "/debug/faults", `{"hang":true}`, "Origin", d.url), "its own pages may")
}

func TestControlNeedsCredentialsWhereTheAPIDoes(t *testing.T) {
	d := startDebug(t, func(c *config) {
		c.TokenFile = filepath.Join(t.TempDir(), "tokens")
		require.NoError(t, os.WriteFile(c.TokenFile, []byte("s3cret,alice,1\n"), 0o600))
	})
	const good = "Bearer s3cret"
	require.Equal(t, 201, d.code("POST", "/debug/forks", "", "Authorization", good))
	paths := []string{"/debug/forks/1/", "/debug/forks/1/healthz", "/debug/forks/1/debug/faults", "/debug/forks/none/healthz", "/debug/forks/1" + leases}
	var index struct {
		Operations []struct{ Path string }
	}
	_, _, text := d.do("GET", "/debug/", "", "Authorization", good)
	require.NoError(t, json.Unmarshal([]byte(text), &index))
	require.Greater(t, len(index.Operations), 20)
	for _, listed := range index.Operations {
		paths = append(paths, strings.NewReplacer("{id}", "1", "{name}", "1").Replace(listed.Path))
	}
	for _, path := range paths {
		for _, method := range []string{"GET", "POST", "DELETE"} {
			assert.Equal(t, 401, d.code(method, path, ""), "%s %s", method, path)
			assert.Equal(t, 401, d.code(method, path, "", "Authorization", "Bearer wrong"), "%s %s", method, path)
		}
	}
	assert.Equal(t, 200, d.code("GET", "/debug/forks/1"+leases, "", "Authorization", good))
	assert.Equal(t, 200, d.code("GET", "/debug/forks/1/healthz", "", "Authorization", good))
	assert.Equal(t, 404, d.code("GET", "/debug/forks/none/healthz", "", "Authorization", good))
	assert.Equal(t, 200, d.code("GET", "/healthz", ""), "health is open as ever")
}
