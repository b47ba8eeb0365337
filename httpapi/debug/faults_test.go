package debug_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kubecoord/kubecoord/candidate"
	"github.com/kubecoord/kubecoord/httpapi"
	"github.com/kubecoord/kubecoord/httpapi/apitest"
	"github.com/kubecoord/kubecoord/httpapi/debug"
	"github.com/kubecoord/kubecoord/store/fixture"
)

// tester is a server at a port, and sends requests to it as a test in another language does.
type tester struct {
	*debug.Server
	url string
}

func start(t *testing.T, opts debug.Options) tester {
	t.Helper()
	srv, err := debug.New(opts)
	require.NoError(t, err)
	at := httptest.NewServer(srv)
	t.Cleanup(func() {
		srv.Close()
		at.Close()
	})
	return tester{srv, at.URL}
}

// do returns the code and the body of an answer; 0 and the error if the connection is cut. Headers come in pairs.
func (d tester) do(t *testing.T, method, path, body string, headers ...string) (int, string) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), method, d.url+path, bytes.NewReader([]byte(body)))
	require.NoError(t, err)
	req.Header.Set("Content-Type", "application/json")
	for i := 0; i < len(headers); i += 2 {
		req.Header.Set(headers[i], headers[i+1])
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return 0, err.Error()
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	if err != nil {
		return 0, err.Error()
	}
	return resp.StatusCode, string(text)
}

// fault adds a fault and returns its path.
func (d tester) fault(t *testing.T, body string) string {
	t.Helper()
	code, text := d.do(t, "POST", "/debug/faults", body)
	require.Equal(t, http.StatusCreated, code, text)
	var f struct{ ID int }
	require.NoError(t, json.Unmarshal([]byte(text), &f))
	return fmt.Sprint("/debug/faults/", f.ID)
}

// hits returns how many requests a fault has hit.
func (d tester) hits(t *testing.T, path string) int {
	t.Helper()
	code, text := d.do(t, "GET", path, "")
	require.Equal(t, http.StatusOK, code, text)
	var f struct{ Hits int }
	require.NoError(t, json.Unmarshal([]byte(text), &f))
	return f.Hits
}

func lease(name string) string { return `{"metadata": {"name": "` + name + `"}}` }

// A part of the User-Agent, or the user of the credentials, says which client crashes.
func TestCrashEndsOneClientUntilItIsRemoved(t *testing.T) {
	tokens := httpapi.BearerTokens(map[string]httpapi.User{"x": {Name: "xavier"}, "y": {Name: "yvonne"}})
	for _, row := range []struct {
		name, match  string
		opts         httpapi.Options
		mine, theirs []string // headers
	}{
		{"by User-Agent", `"userAgent": "worker"`, httpapi.Options{}, []string{"User-Agent", "my-worker/1"}, []string{"User-Agent", "other"}},
		{"by user", `"client": "xavier"`, httpapi.Options{Authenticate: tokens}, []string{"Authorization", "Bearer x"}, []string{"Authorization", "Bearer y"}},
	} {
		for _, when := range []string{"before", "after"} {
			t.Run(row.name+" "+when, func(t *testing.T) {
				d := start(t, debug.Options{Server: apitest.Options{API: row.opts}})
				watch, err := http.NewRequestWithContext(t.Context(), "GET", d.url+leases+"?watch=true", nil)
				require.NoError(t, err)
				watch.Header.Set(row.mine[0], row.mine[1])
				events, err := http.DefaultClient.Do(watch)
				require.NoError(t, err)
				defer events.Body.Close()

				code, text := d.do(t, "POST", "/debug/faults", `{"verb": "create", "nth": 2, "crash": "`+when+`", `+row.match+`}`, row.mine...)
				require.Equal(t, http.StatusCreated, code, text)
				code, _ = d.do(t, "POST", leases, lease("a"), row.mine...)
				assert.Equal(t, http.StatusCreated, code)
				code, text = d.do(t, "POST", leases, lease("b"), row.mine...)
				require.Zero(t, code, text)
				_, err = io.Copy(io.Discard, events.Body)
				assert.Error(t, err, "its watch is cut")
				code, _ = d.do(t, "GET", leases+"/a", "", row.mine...)
				assert.Zero(t, code, "it is refused")

				code, _ = d.do(t, "GET", leases+"/a", "", row.theirs...)
				assert.Equal(t, http.StatusOK, code)
				code, _ = d.do(t, "GET", leases+"/b", "", row.theirs...)
				assert.Equal(t, map[string]int{"before": 404, "after": 200}[when], code)
				_, text = d.do(t, "GET", "/debug/faults/1", "", row.mine...)
				assert.Contains(t, text, `"hits": 1,`, "the client still controls the server")

				code, _ = d.do(t, "DELETE", "/debug/faults/1", "", row.mine...)
				assert.Equal(t, http.StatusOK, code)
				code, _ = d.do(t, "GET", leases+"/a", "", row.mine...)
				assert.Equal(t, http.StatusOK, code)
			})
		}
	}
}

// A Part may take all who come without credentials for one administrator, as httpapi/kube/cluster does.
func TestClientsWithoutCredentialsHaveNoName(t *testing.T) {
	everybody := func(_ *httpapi.API, o *httpapi.Options) func(context.Context) {
		o.Authenticate = func(*http.Request) (httpapi.User, bool) { return httpapi.User{Name: "admin"}, true }
		return nil
	}
	d := start(t, debug.Options{Server: apitest.Options{API: httpapi.Options{Parts: []httpapi.Part{everybody}}}})
	code, _ := d.do(t, "POST", leases, lease("a"))
	assert.Equal(t, http.StatusCreated, code)
	assert.Empty(t, d.API().Requests()[0].Client)
}

func TestEffectsAfterTheRequestAndOfTheNth(t *testing.T) {
	d := start(t, debug.Options{})
	f := d.fault(t, `{"verb": "create", "nth": 2, "answerAfter": 504}`)
	for name, want := range map[string]int{"a": http.StatusCreated} {
		code, _ := d.do(t, "POST", leases, lease(name))
		assert.Equal(t, want, code)
	}
	code, _ := d.do(t, "POST", leases, lease("b"))
	assert.Equal(t, http.StatusGatewayTimeout, code)
	code, _ = d.do(t, "GET", leases+"/b", "")
	assert.Equal(t, http.StatusOK, code, "the write was made")
	assert.Equal(t, 1, d.hits(t, f))
}

func TestHiddenEventsComeWhenTheFaultIsRemoved(t *testing.T) {
	d := start(t, debug.Options{})
	hidden := d.fault(t, `{"verb": "watch", "hideEvents": {"namespace": "default", "name": "a"}}`)
	resp, err := http.Get(d.url + leases + "?watch=true&resourceVersion=1000")
	require.NoError(t, err)
	defer resp.Body.Close()
	events := json.NewDecoder(resp.Body)
	next := func() string {
		var event struct {
			Object struct{ Metadata struct{ Name string } }
		}
		require.NoError(t, events.Decode(&event))
		return event.Object.Metadata.Name
	}
	for _, name := range []string{"a", "b"} {
		code, text := d.do(t, "POST", leases, lease(name))
		require.Equal(t, http.StatusCreated, code, text)
	}
	assert.Equal(t, "b", next())
	code, text := d.do(t, "DELETE", hidden, "")
	require.Equal(t, http.StatusOK, code, text)
	assert.Equal(t, "a", next())
}

// What is wrong is refused with the name of the field, and changes nothing.
func TestAbsurdFaultsAreRefused(t *testing.T) {
	d := start(t, debug.Options{})
	for body, want := range map[string]string{
		`{"crash": "now"}`:                                              `fault: crash: got \"now\", want \"before\" or \"after\"`,
		`{"crash": true}`:                                               `fault: crash: got true, want a text`,
		`{"crash": "after", "cut": "after"}`:                            `fault: cut, crash: got 2 of them, want one`,
		`{"crash": "after", "verb": "watch"}`:                           `fault: verb: got \"watch\", want another one for \"crash after\"`,
		`{"hang": true, "nth": -1}`:                                     `fault: nth: got -1, want 1 or more`,
		`{"hang": true, "nth": 1, "first": 1}`:                          `fault: nth: got it with first, want one of them`,
		`{"hang": true, "first": -1}`:                                   `fault: first: got -1, want 1 or more`,
		`{"hang": true, "first": 1e99}`:                                 `fault: first: got 1e99, want a whole number`,
		`{"hang": true, "nth": 99999999999999999999999}`:                `fault: nth: got 99999999999999999999999, want a whole number`,
		`{"delay": "-1s"}`:                                              `fault: delay: got -1s, want 0 or more`,
		`{"delay": "99999999999h"}`:                                     `fault: delay: got \"99999999999h\", want a duration`,
		`{"answerAfter": 99}`:                                           `fault: answerAfter: got 99, want 200 to 599`,
		`{"hideEvents": {"label": "a"}}`:                                `fault: hideEvents.label: got an unknown member, want one of namespace, name`,
		`{"tear": {"after": -1}}`:                                       `fault: tear.after: got -1, want 0 or more`,
		`{"stale": {"changes": -1}}`:                                    `fault: stale.changes: got -1, want 0 or more`,
		`{"hang": true, "name": "` + strings.Repeat("x", 17<<10) + `"}`: `fault: got 17431 bytes, want 16384 at most`,
	} {
		code, text := d.do(t, "POST", "/debug/faults", body)
		assert.Equal(t, http.StatusBadRequest, code, body)
		assert.Contains(t, text, want)
	}
	assert.Empty(t, d.API().Faults())
	d.fault(t, `{"stale": {"changes": 9223372036854775807}}`)
	for range 999 {
		d.fault(t, `{"verb": "get", "name": "none", "hang": true}`)
	}
	code, text := d.do(t, "POST", "/debug/faults", `{"hang": true}`)
	assert.Equal(t, http.StatusBadRequest, code)
	assert.Contains(t, text, "fault: got 1001 of them, want 1000 at most: DELETE some")
	code, _ = d.do(t, "DELETE", "/debug/faults", "")
	assert.Equal(t, http.StatusNoContent, code)
	d.fault(t, `{"verb": "get", "hang": true}`)
}

func TestNewRefusesWhatCannotStart(t *testing.T) {
	bad := fixture.Stream("bad.yaml", strings.NewReader("kind: Lease\n"))
	_, err := debug.New(debug.Options{Server: apitest.Options{Fixtures: []fixture.Source{bad}}})
	assert.ErrorContains(t, err, "debug: Options.Server.Fixtures: bad.yaml, document 1")
	_, err = debug.New(debug.Options{Elect: &candidate.CoordinatorOptions{PingWindow: -1}})
	assert.ErrorContains(t, err, "debug: Options.Elect: ")
}

// The bubble of synctest fails if a goroutine goes on.
func TestNothingGoesOnAfterClose(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		elected := false
		srv, err := debug.New(debug.Options{Elect: &candidate.CoordinatorOptions{Log: func(candidate.ElectionEvent) { elected = true }}})
		require.NoError(t, err)
		for _, path := range []string{"/debug/forks", leases, "/debug/forks/1" + leases, "/apis/coordination.k8s.io/v1beta1/namespaces/default/leasecandidates"} {
			body := lease("a")
			switch {
			case path == "/debug/forks":
				body = ""
			case strings.HasSuffix(path, "leasecandidates"):
				body = `{"metadata": {"name": "a"}, "spec": {"leaseName": "b", "binaryVersion": "1.0.0", "strategy": "OldestEmulationVersion", "emulationVersion": "1.0.0", "renewTime": "2000-01-01T00:00:00.000000Z"}}`
			}
			r, w := httptest.NewRequest("POST", path, strings.NewReader(body)), httptest.NewRecorder()
			r.Header.Set("Content-Type", "application/json")
			srv.ServeHTTP(w, r)
			assert.Equal(t, http.StatusCreated, w.Code, w.Body)
		}
		time.Sleep(time.Minute)
		srv.Close()
		assert.True(t, elected, "the log of the options is called too")
	})
}

// A reset replaces the API, and after Close the last one can be read.
func TestAPIIsThatOfTheRoot(t *testing.T) {
	good := fixture.Stream("good.yaml", strings.NewReader("apiVersion: coordination.k8s.io/v1\nkind: Lease\nmetadata: {name: a, namespace: default}\n"))
	d := start(t, debug.Options{Server: apitest.Options{Fixtures: []fixture.Source{good}}})
	first := d.API()
	assert.Nil(t, first.Fault(apitest.Answer(99)), "it does not end the program")
	first.Fault(apitest.Answer(503).First(1), apitest.Match{Verb: "get"}).MustHit()
	code, _ := d.do(t, "GET", leases+"/a", "")
	assert.Equal(t, http.StatusServiceUnavailable, code)
	code, _ = d.do(t, "DELETE", leases+"/a", "")
	assert.Equal(t, http.StatusOK, code)
	code, text := d.do(t, "POST", "/debug/reset", "")
	assert.Equal(t, http.StatusOK, code, text)
	assert.NotSame(t, first, d.API())
	code, _ = d.do(t, "GET", leases+"/a", "")
	assert.Equal(t, http.StatusOK, code)
	d.Close()
	d.Close()
	assert.Len(t, d.API().Requests(), 1)
	code, text = d.do(t, "GET", leases+"/a", "")
	assert.Equal(t, http.StatusServiceUnavailable, code)
	assert.Contains(t, text, "this server has ended")
}
