package httpapi_test

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kubecoord/kubecoord/httpapi"
	"github.com/kubecoord/kubecoord/store"
	"github.com/kubecoord/kubecoord/store/kind"
)

// newScraped returns an API with its metrics, and a function that scrapes them.
func newScraped(t *testing.T) (api *httpapi.API, h http.Handler, scrape func() map[string]float64) {
	t.Helper()
	st := store.New(store.Options{})
	api = httpapi.New(st, httpapi.Options{Reads: 400, Writes: 200})
	t.Cleanup(func() { api.Close(); st.Close() })
	mux := http.NewServeMux()
	mux.Handle("/", api)
	mux.Handle("/metrics", api.Guard(httpapi.Metrics(api)))
	return api, mux, func() map[string]float64 {
		w := httptest.NewRecorder()
		mux.ServeHTTP(w, httptest.NewRequest("GET", "/metrics", nil))
		require.Equal(t, 200, w.Code)
		assert.Equal(t, "text/plain; version=0.0.4; charset=utf-8", w.Header().Get("Content-Type"))
		return parseMetrics(t, w.Body.String())
	}
}

var sampleLine = regexp.MustCompile(`^([a-zA-Z_:][a-zA-Z0-9_:]*)(\{[a-zA-Z_][a-zA-Z0-9_]*="(?:[^"\\\n]|\\[\\n"])*"(?:,[a-zA-Z_][a-zA-Z0-9_]*="(?:[^"\\\n]|\\[\\n"])*")*\})? (\S+)$`)

// parseMetrics checks each line by the rules of the format, and returns the samples.
func parseMetrics(t *testing.T, text string) map[string]float64 {
	t.Helper()
	require.True(t, strings.HasSuffix(text, "\n"))
	samples, kinds, family := map[string]float64{}, map[string]string{}, ""
	for _, line := range strings.Split(strings.TrimSuffix(text, "\n"), "\n") {
		if help, ok := strings.CutPrefix(line, "# HELP "); ok {
			family, _, _ = strings.Cut(help, " ")
			require.NotContains(t, kinds, family, "a family comes once")
			continue
		}
		if kind, ok := strings.CutPrefix(line, "# TYPE "); ok {
			name, kind, _ := strings.Cut(kind, " ")
			require.Equal(t, family, name)
			require.Contains(t, []string{"counter", "gauge", "histogram"}, kind)
			kinds[name] = kind
			continue
		}
		m := sampleLine.FindStringSubmatch(line)
		require.NotNil(t, m, line)
		name := m[1]
		if kinds[family] == "histogram" {
			name = regexp.MustCompile(`_(bucket|sum|count)$`).ReplaceAllString(name, "")
		}
		require.Equal(t, family, name, "samples follow their family")
		value, err := strconv.ParseFloat(m[3], 64)
		require.NoError(t, err, line)
		require.NotContains(t, samples, m[1]+m[2], "a sample comes once")
		samples[m[1]+m[2]] = value
	}
	return samples
}

const someLease = "/apis/coordination.k8s.io/v1/namespaces/default/leases"

func TestMetricsAreNamedAsThoseOfAKubeAPIServer(t *testing.T) {
	_, h, scrape := newScraped(t)
	do := func(method, path, contentType, body string) {
		r := httptest.NewRequest(method, path, strings.NewReader(body))
		r.Header.Set("Content-Type", contentType)
		h.ServeHTTP(httptest.NewRecorder(), r)
	}
	const typeJSON, apply = "application/json", "application/apply-patch+yaml"
	do("POST", someLease, typeJSON, `{"metadata":{"name":"a"}}`)
	do("POST", someLease, typeJSON, `{"metadata":{"name":"a"}}`)
	do("POST", someLease+"?dryRun=All", typeJSON, `{"metadata":{"name":"b"}}`)
	do("POST", someLease+"?dryRun=Some", typeJSON, `{"metadata":{"name":"b"}}`)
	do("GET", someLease+"/a", "", "")
	do("GET", someLease, "", "")
	do("GET", "/apis/coordination.k8s.io/v1/leases", "", "")
	do("GET", someLease+"?watch=true&timeoutSeconds=1&resourceVersion=0", "", "")
	do("PUT", someLease+"/c", typeJSON, `{"metadata":{"name":"c"}}`)
	do("PATCH", someLease+"/a", "application/merge-patch+json", `{}`)
	do("PATCH", someLease+"/a?fieldManager=m", apply, `{"apiVersion":"coordination.k8s.io/v1","kind":"Lease","metadata":{"name":"a"}}`)
	do("DELETE", someLease+"/c", "", "")
	do("DELETE", "/api/v1/namespaces/default/endpoints", "", "")
	do("GET", "/readyz/ping", "", "")
	do("GET", "/nowhere", "", "")
	do("BREW", "/tea", "", "")
	do("GET", "/apis/coordination.k8s.io/v7/leases", "", "")
	do("GET", "/api/v1/pods", "", "")
	do("GET", someLease+"/a/scale", "", "")
	got := scrape()
	const lease = `group="coordination.k8s.io",version="v1",resource="leases",subresource="",scope=`
	const other = `group="",version="",resource="",subresource="",scope="",component="apiserver"`
	for labels, want := range map[string]float64{
		`verb="POST",dry_run="",` + lease + `"resource",component="apiserver",code="201"`:                                                       1,
		`verb="POST",dry_run="",` + lease + `"resource",component="apiserver",code="409"`:                                                       1,
		`verb="POST",dry_run="All",` + lease + `"resource",component="apiserver",code="201"`:                                                    1,
		`verb="POST",dry_run="invalid",` + lease + `"resource",component="apiserver",code="422"`:                                                1,
		`verb="GET",dry_run="",` + lease + `"resource",component="apiserver",code="200"`:                                                        1,
		`verb="LIST",dry_run="",` + lease + `"namespace",component="apiserver",code="200"`:                                                      1,
		`verb="LIST",dry_run="",` + lease + `"cluster",component="apiserver",code="200"`:                                                        1,
		`verb="WATCH",dry_run="",` + lease + `"namespace",component="apiserver",code="200"`:                                                     1,
		`verb="PUT",dry_run="",` + lease + `"resource",component="apiserver",code="201"`:                                                        1,
		`verb="PATCH",dry_run="",` + lease + `"resource",component="apiserver",code="200"`:                                                      1,
		`verb="APPLY",dry_run="",` + lease + `"resource",component="apiserver",code="200"`:                                                      1,
		`verb="DELETE",dry_run="",` + lease + `"resource",component="apiserver",code="200"`:                                                     1,
		`verb="DELETE",dry_run="",group="",version="v1",resource="endpoints",subresource="",scope="namespace",component="apiserver",code="200"`: 1,
		`verb="GET",dry_run="",group="",version="",resource="",subresource="/readyz",scope="",component="apiserver",code="200"`:                 1,
		`verb="GET",dry_run="",` + other + `,code="404"`:                                                                                        3,
		`verb="LIST",dry_run="",` + other + `,code="404"`:                                                                                       2,
		`verb="other",dry_run="",` + other + `,code="404"`:                                                                                      1,
	} {
		if strings.Contains(labels, `verb="GET"`) && strings.HasSuffix(labels, other+`,code="404"`) {
			want = 2 // /nowhere and scale
		}
		assert.Equal(t, want, got["apiserver_request_total{"+labels+"}"], labels)
		all, _, _ := strings.Cut(labels, `,code=`)
		assert.GreaterOrEqual(t, got["apiserver_request_duration_seconds_count{"+all+"}"], want, all)
		assert.Equal(t, got["apiserver_request_duration_seconds_count{"+all+"}"], got["apiserver_request_duration_seconds_bucket{"+all+`,le="+Inf"}`], all)
		assert.Contains(t, got, "apiserver_request_duration_seconds_bucket{"+all+`,le="0.005"}`)
		assert.Contains(t, got, "apiserver_request_duration_seconds_sum{"+all+"}")
	}
	const watched = `group="coordination.k8s.io",version="v1",resource="leases"`
	assert.Equal(t, 1.0, got["apiserver_watch_events_total{"+watched+"}"], "the Lease a, as it was at the start")
	assert.Equal(t, 0.0, got[`apiserver_longrunning_requests{verb="WATCH",`+watched+`,subresource="",scope="namespace",component="apiserver"}`])
	assert.Equal(t, 1.0, got[`apiserver_resource_objects{group="coordination.k8s.io",resource="leases"}`])
	assert.Equal(t, 0.0, got[`apiserver_resource_objects{group="",resource="endpoints"}`])
	assert.Positive(t, got[`apiserver_storage_size_bytes{storage_cluster_id="memory-0"}`])
	for _, kind := range []string{"mutating", "readOnly"} {
		assert.Contains(t, got, `apiserver_current_inflight_requests{request_kind="`+kind+`"}`)
	}
	assert.NotContains(t, got, "etcd_requests_total")
}

func TestClientsCannotMakeUpSeries(t *testing.T) {
	_, h, scrape := newScraped(t)
	scrape()
	before := 0
	for i := 1000; i < 1005; i++ { // not v1
		for _, path := range []string{"/p%d", "/apis/g%d/v1/leases", "/apis/coordination.k8s.io/v%d/leases", "/api/v1/r%d", "/api/v1/namespaces/n%d/endpoints/x", someLease + "/a/s%d", someLease + "?dryRun=d%d", "/healthz/x%d"} {
			h.ServeHTTP(httptest.NewRecorder(), httptest.NewRequest(fmt.Sprint("M", i), fmt.Sprintf(path, i), nil))
			h.ServeHTTP(httptest.NewRecorder(), httptest.NewRequest("GET", fmt.Sprintf(path, i), nil))
		}
		n := len(scrape())
		if i > 1000 {
			require.Equal(t, before, n)
		}
		before = n
	}
}

func TestOpenWatchesAndSlotsAreCounted(t *testing.T) {
	_, h, scrape := newScraped(t)
	s := httptest.NewServer(h)
	defer s.Close()
	const open = `apiserver_longrunning_requests{verb="WATCH",group="coordination.k8s.io",version="v1",resource="leases",subresource="",scope="cluster",component="apiserver"}`
	ctx, cancel := context.WithCancel(t.Context())
	req, err := http.NewRequestWithContext(ctx, "GET", s.URL+"/apis/coordination.k8s.io/v1/leases?watch=true", nil)
	require.NoError(t, err)
	resp, err := http.DefaultClient.Do(req)
	require.NoError(t, err)
	require.Eventually(t, func() bool { return scrape()[open] == 1 }, time.Minute, time.Millisecond)
	h.ServeHTTP(httptest.NewRecorder(), httptest.NewRequest("POST", someLease, strings.NewReader(`{"metadata":{"name":"a"}}`)))
	const events = `apiserver_watch_events_total{group="coordination.k8s.io",version="v1",resource="leases"}`
	require.Eventually(t, func() bool { return scrape()[events] == 1 }, time.Minute, time.Millisecond)
	cancel()
	resp.Body.Close()
	require.Eventually(t, func() bool { return scrape()[open] == 0 }, time.Minute, time.Millisecond)
	assert.Equal(t, 1.0, scrape()[events])
}

func TestMetricsAreGuarded(t *testing.T) {
	st := store.New(store.Options{})
	defer st.Close()
	api := httpapi.New(st, httpapi.Options{
		Authenticate: httpapi.BearerTokens(map[string]httpapi.User{"s3cret": {Name: "alice"}}),
		Authorize:    func(a httpapi.Attributes) (bool, string) { return a.Path != "/metrics", "" },
	})
	defer api.Close()
	h := api.Guard(httpapi.Metrics(api))
	for token, want := range map[string]int{"": 401, "s3cret": 403} {
		r := httptest.NewRequest("GET", "/metrics", nil)
		r.Header.Set("Authorization", "Bearer "+token)
		w := httptest.NewRecorder()
		h.ServeHTTP(w, r)
		assert.Equal(t, want, w.Code)
	}
	w := httptest.NewRecorder()
	httpapi.Metrics(api).ServeHTTP(w, httptest.NewRequest("GET", "/metrics", nil))
	got := parseMetrics(t, w.Body.String())
	for _, code := range []string{"401", "403"} { // a second handler shows what the first has counted
		assert.Equal(t, 1.0, got[`apiserver_request_total{verb="GET",dry_run="",group="",version="",resource="",subresource="/metrics",scope="",component="apiserver",code="`+code+`"}`])
	}
}

func TestMetricsOfAForkCountItsOwnRequests(t *testing.T) {
	api, h, scrape := newScraped(t)
	h.ServeHTTP(httptest.NewRecorder(), httptest.NewRequest("POST", someLease, strings.NewReader(`{"metadata":{"name":"a"}}`)))
	st, err := api.Store().Fork()
	require.NoError(t, err)
	fork := api.Fork(st, httpapi.Options{})
	defer func() { fork.Close(); st.Close() }()
	w := httptest.NewRecorder()
	httpapi.Metrics(fork).ServeHTTP(w, httptest.NewRequest("GET", "/metrics", nil))
	got := parseMetrics(t, w.Body.String())
	for name := range got {
		assert.NotContains(t, name, "apiserver_request_total{")
	}
	assert.Equal(t, 1.0, got[`apiserver_resource_objects{group="coordination.k8s.io",resource="leases"}`])
	assert.NotEmpty(t, scrape())
}

func TestKindsThatComeLaterAreCounted(t *testing.T) {
	api, h, _ := newScraped(t)
	do := func(method, path, body string) string {
		w := httptest.NewRecorder()
		r := httptest.NewRequest(method, path, strings.NewReader(body))
		r.Header.Set("Content-Type", "application/json")
		h.ServeHTTP(w, r)
		return w.Body.String()
	}
	const path, labels = "/apis/example.com/v1/namespaces/default/gears", `group="example.com",version="v1",resource="gears"`
	do("GET", path, "")
	got := parseMetrics(t, do("GET", "/metrics", ""))
	const objects = `apiserver_resource_objects{group="example.com",resource="gears"}`
	assert.NotContains(t, got, objects)
	assert.Equal(t, 1.0, got[`apiserver_request_total{verb="LIST",dry_run="",group="",version="",resource="",subresource="",scope="",component="apiserver",code="404"}`],
		"clients cannot make up series")

	newGears := func() kind.Kind {
		return store.MustKind(kind.Descriptor[*store.Unstructured]{Resource: kind.Resource{Group: "example.com", Kind: "Gear"}, Versions: []kind.Version[*store.Unstructured]{{Name: "v1"}}})
	}
	gears := newGears()
	require.NoError(t, api.AddKinds(t.Context(), gears))
	do("POST", path, `{"apiVersion":"example.com/v1","kind":"Gear","metadata":{"name":"a"}}`)
	do("GET", path, "")
	next := newGears()
	require.NoError(t, api.ReplaceKind(t.Context(), gears, next))
	got = parseMetrics(t, do("GET", "/metrics", ""))
	assert.Equal(t, 1.0, got[objects])
	assert.Equal(t, 1.0, got[`apiserver_request_total{verb="LIST",dry_run="",`+labels+`,subresource="",scope="namespace",component="apiserver",code="200"}`])

	require.NoError(t, api.RemoveKinds(t.Context(), httpapi.RemoveOptions{}, next))
	assert.NotContains(t, parseMetrics(t, do("GET", "/metrics", "")), objects)
}
