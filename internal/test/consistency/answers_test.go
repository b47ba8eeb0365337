package consistency_test

import (
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kubecoord/kubecoord/httpapi"
	"github.com/kubecoord/kubecoord/httpapi/apitest"
	"github.com/kubecoord/kubecoord/internal/test/consistency"
	"github.com/kubecoord/kubecoord/lease"
	"github.com/kubecoord/kubecoord/store"
)

// An obstacle stands between the clients of a test and the API.
type obstacle func(api http.Handler, w http.ResponseWriter, r *http.Request)

// behind returns a client of an API, and a function that puts an obstacle between them.
func behind(t testing.TB) (d *door, put func(obstacle)) {
	var in obstacle
	api := consistency.New(t, apitest.Options{API: httpapi.Options{Middleware: func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if in == nil {
				next.ServeHTTP(w, r)
				return
			}
			in(next, w, r)
		})
	}}})
	d = doorFor(api, "c")
	return d, func(o obstacle) { in = o }
}

// says answers instead of the API.
func says(code int, body string) obstacle {
	return func(_ http.Handler, w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(code)
		w.Write([]byte(body))
	}
}

// meanwhile calls the API and changes its answer.
func meanwhile(change func(code int, body string) (int, string)) obstacle {
	return func(api http.Handler, w http.ResponseWriter, r *http.Request) {
		rec := httptest.NewRecorder()
		api.ServeHTTP(rec, r)
		code, body := change(rec.Code, rec.Body.String())
		says(code, body)(api, w, r)
	}
}

// but replaces a part of the body.
func but(old, new string) obstacle {
	return meanwhile(func(code int, body string) (int, string) { return code, strings.ReplaceAll(body, old, new) })
}

const status = `{"kind":"Status","apiVersion":"v1","metadata":{},"details":{"name":"a","kind":"leases"}}`

func TestReportFindsWrongAnswers(t *testing.T) {
	object := func(name, version string) string {
		return `{"kind":"Lease","apiVersion":"v1","metadata":{"name":"` + name + `","namespace":"default","uid":"u","resourceVersion":"` + version + `"}}`
	}
	again := func(api http.Handler, w http.ResponseWriter, r *http.Request) {
		api.ServeHTTP(httptest.NewRecorder(), withBody(r, `{"metadata":{"labels":{"app":"y"}}}`))
		api.ServeHTTP(w, r)
	}
	merge := []string{"Content-Type", "application/merge-patch+json"}
	labelled := `{"metadata":{"labels":{"app":"x"}}}`
	for name, tt := range map[string]struct {
		method, path, body string
		headers            []string
		obstacle           obstacle
		want               string
	}{
		"a create without effect":                        {"POST", leases, leaseNamed("b"), nil, says(201, object("b", "1002")), "a confirmed write is not in the history: create"},
		"a patch without effect":                         {"PATCH", leasesA, labelled, merge, says(200, object("a", "1002")), "a get returned a state that is not in the history: patch"},
		"a delete without effect":                        {"DELETE", leasesA, "", nil, says(200, status), "a confirmed write is not in the history: delete"},
		"a deletecollection without effect":              {"DELETE", leases, "", nil, says(200, `{"kind":"LeaseList","metadata":{"resourceVersion":"1001"}}`), "a confirmed write is not in the history: delete"},
		"a patch that is answered 409 and has an effect": {"PATCH", leasesA, labelled, merge, meanwhile(func(int, string) (int, string) { return 409, status }), "a refused write is in the history at 1002: patch"},
		"an answer with the wrong version":               {"PATCH", leasesA, labelled, merge, but(`"1002"`, `"1001"`), "a write returned another state than the history has: patch"},
		"an answer with the wrong name":                  {"POST", leases, leaseNamed("b"), nil, but(`"name":"b"`, `"name":"z"`), "a write changed leases.coordination.k8s.io default/b: create"},
		"a dry run that changes the object": {"PATCH", leasesA + "?dryRun=All", labelled, merge, func(api http.Handler, w http.ResponseWriter, r *http.Request) {
			wet := r.Clone(r.Context())
			wet.URL.RawQuery = ""
			api.ServeHTTP(w, wet)
		}, "a refused write is in the history at 1002: patch"},
		"a patch that is applied twice": {"PATCH", leasesA, labelled, merge, again, "a write returned another state than the history has: patch"},
		"an update that replaces another version": {"PUT", leasesA, `{"metadata":{"name":"a","resourceVersion":"1000"}}`, nil, func(api http.Handler, w http.ResponseWriter, r *http.Request) {
			api.ServeHTTP(w, withBody(r, `{"metadata":{"name":"a","resourceVersion":"1001","labels":{"app":"x"}}}`))
		}, "an update replaced version 1001: update"},
		"a get of a version that never existed":                        {"GET", leasesA, "", nil, but(`"1001"`, `"1007"`), "a get returned a state that is not in the history: get"},
		"a get with resourceVersion 0 of a version that never existed": {"GET", leasesA + "?resourceVersion=0", "", nil, but(`"1001"`, `"999"`), "a get returned a state that is not in the history: get"},
		"a get that is answered 404 for an existing object":            {"GET", leasesA, "", nil, says(404, status), "an operation took place before version 1001, which an earlier one had seen: get"},
		"a get with the wrong content":                                 {"GET", leasesA, "", nil, but(`"spec":{}`, `"spec":{"leaseTransitions":1}`), "a get returned a state that is not in the history: get"},
		"a patch that is carried out as a dry run": {"PATCH", leasesA, labelled, merge, func(api http.Handler, w http.ResponseWriter, r *http.Request) {
			dry := r.Clone(r.Context())
			dry.URL.RawQuery = "dryRun=All"
			api.ServeHTTP(w, dry)
		}, "a get returned a state that is not in the history: patch"},
		"a list with an old version": {"GET", leases, "", nil, but(`"1001"`, `"1000"`), "an operation took place before version 1001, which an earlier one had seen: list"},
	} {
		t.Run(name, func(t *testing.T) {
			d, put := behind(t)
			d.create(t, "a")
			put(tt.obstacle)
			require.NoError(t, d.do(t, tt.method, tt.path, tt.body, tt.headers...).err)
			v := d.Report()
			require.NotEmpty(t, v.Findings)
			assert.Contains(t, v.Findings[0], tt.want)
		})
	}
}

// A server that reads from a cache may return a version older than one that it returned before.
func TestReportFindsReadsThatGoBack(t *testing.T) {
	d, put := behind(t)
	d.create(t, "a")
	old := d.do(t, "GET", leasesA, "")
	_, err := lease.In(d.Store()).Modify(t.Context(), "default", "a", func(l *lease.Lease) error {
		l.Labels = map[string]string{"app": "x"}
		return nil
	}, store.UpdateOptions{})
	require.NoError(t, err)
	require.Contains(t, d.do(t, "GET", leasesA, "").body, `"1002"`)
	put(says(old.code, old.body))
	for _, query := range []string{"?resourceVersion=0", "?resourceVersion=1001"} {
		d.do(t, "GET", leasesA+query, "") // may be old
	}
	assert.Empty(t, d.Report().Findings)
	d.do(t, "GET", leasesA, "")
	d.do(t, "GET", leasesA+"?resourceVersion=1002", "")
	v := d.Report()
	require.Len(t, v.Findings, 2)
	assert.Contains(t, v.Findings[0], "a read is older than it asked for: get")
	assert.Contains(t, v.Findings[1], "an operation took place before version 1002, which an earlier one had seen: get")
	assert.Equal(t, []int{2, 7}, []int{v.Changes, v.Answers})
}

func TestReportAcceptsEveryKindOfWrite(t *testing.T) {
	eachDoor(t, func(t *testing.T, d *door) {
		merge := []string{"Content-Type", "application/merge-patch+json"}
		apply := []string{"Content-Type", "application/apply-patch+yaml"}
		config := `{"apiVersion":"coordination.k8s.io/v1","kind":"Lease","metadata":{"name":"a","finalizers":["a/b"]}}`
		for _, r := range []struct {
			method, path, body string
			headers            []string
			code               int
		}{
			{"POST", leases, leaseNamed("a"), nil, 201},
			{"POST", leases, leaseNamed("a"), nil, 409},
			{"POST", leases, `{"metadata":{"generateName":"g-"}}`, nil, 201},
			{"POST", leases + "?dryRun=All", leaseNamed("b"), nil, 201},
			{"POST", leases, "metadata:\n  name: yy\n", []string{"Content-Type", "application/yaml", "Accept", "application/yaml"}, 201},
			{"GET", leasesA, "", nil, 200},
			{"GET", leases + "/b", "", nil, 404},
			{"GET", leasesA + "/nothing", "", nil, 404},
			{"GET", leases, "", nil, 200},
			{"GET", leases + "?limit=1", "", nil, 200},
			{"PATCH", leasesA, `{"metadata":{"labels":{"app":"x"}}}`, merge, 200},
			{"PATCH", leasesA, `{"metadata":{"labels":{"app":"x"}}}`, merge, 200},
			{"PATCH", leasesA, `{"metadata":{"labels":{"app":"!"}}}`, merge, 422},
			{"PATCH", leasesA + "?fieldManager=m", config, apply, 200},
			{"PUT", leasesA, `{"metadata":{"name":"a","resourceVersion":"1","finalizers":["a/b"]}}`, nil, 409},
			{"DELETE", leasesA, "", nil, 200},
			{"DELETE", leasesA, "", nil, 200},
			{"PATCH", leasesA, `{"metadata":{"finalizers":null}}`, merge, 200},
			{"DELETE", leasesA, "", nil, 404},
			{"PATCH", leasesA + "?fieldManager=m", config, append(apply, "Accept", "application/vnd.kubernetes.protobuf"), 201},
			{"PATCH", leasesA, `{"metadata":{"labels":{"app":"y"}}}`, append(merge, "Accept", "application/json;as=Table;v=v1;g=meta.k8s.io"), 200},
			{"DELETE", leases + "/yy", `{"dryRun":["All"]}`, nil, 200},
			{"DELETE", leases + "/yy", "", []string{"Accept", "application/vnd.kubernetes.protobuf"}, 200},
			{"DELETE", leases, "", nil, 200},
			{"PUT", "/api/v1/namespaces/default/endpoints/e", `{"metadata":{"name":"e"}}`, nil, 201},
			{"PUT", "/api/v1/namespaces/default/endpoints/e", `{"metadata":{"name":"e","labels":{"app":"x"}}}`, nil, 200},
			{"GET", "/apis/coordination.k8s.io/v7/namespaces/default/leases/e", "", nil, 404},
			{"POST", "/api/v1/namespaces", `{}`, nil, 404},
		} {
			a := d.do(t, r.method, r.path, r.body, r.headers...)
			require.Equal(t, r.code, a.code, "%s %s %s: %s", r.method, r.path, r.body, a)
		}
		v := d.Report()
		assert.Empty(t, v.Findings)
		assert.Equal(t, 14, v.Changes)
	})
}

func TestReportIgnoresFaultsOfAnswers(t *testing.T) {
	eachDoor(t, func(t *testing.T, d *door) {
		d.create(t, "a")
		for i, f := range []apitest.Effect{
			apitest.CutAfter(), apitest.CutBefore(), apitest.Answer(504), apitest.Answer(409), apitest.ExpireHistory(),
		} {
			in := d.Fault(f)
			d.do(t, "POST", leases, leaseNamed("b"+string(rune('0'+i))))
			d.do(t, "GET", leasesA, "")
			in.Remove()
		}
		v := d.Report()
		assert.Empty(t, v.Findings)
		assert.Equal(t, 3, v.Changes, "one connection was cut after the commit")
	})
}

// withBody returns a request with another body.
func withBody(r *http.Request, body string) *http.Request {
	other := r.Clone(r.Context())
	other.Body, other.ContentLength = io.NopCloser(strings.NewReader(body)), int64(len(body))
	return other
}

// A lagging replica may answer with an old state that the request allows, but the state must be complete.
func TestReportAcceptsALaggingReplica(t *testing.T) {
	for name, skip := range map[string]bool{"each missed change": false, "skip missed": true} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				api := consistency.New(t, apitest.Options{})
				w := &writers{t, api}
				w.does("w", "POST", leases, leaseNamed("a"))
				replica := api.Fault(apitest.Stale(apitest.StaleOptions{SkipMissed: skip, EveryRead: true}), apitest.Match{Client: "c"})
				c := doorFor(api, "c")
				c.watch(t, leases+"?watch=true&resourceVersion=0&allowWatchBookmarks=true")
				w.patches("w", heldBy+"w"+endOf)
				w.does("w", "POST", leases, leaseNamed("b"))
				require.Contains(t, w.does("c", "GET", leasesA, "").body, `"1001"`)
				require.Equal(t, http.StatusNotFound, w.does("c", "GET", leases+"/b", "").code)
				require.Contains(t, w.does("c", "GET", leases, "").body, `"1001"`)
				c.watch(t, leases+"?watch=true&sendInitialEvents=true&resourceVersionMatch=NotOlderThan&resourceVersion=1001")
				replica.Remove()
				w.does("w", "DELETE", leasesA, "")
				synctest.Wait()
				v := api.Report()
				assert.Empty(t, v.Findings)
				assert.Equal(t, 2, v.Watches)
				assert.Greater(t, v.Events, 4)
			})
		})
	}
}
