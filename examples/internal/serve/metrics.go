package serve

import (
	"context"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/kubecoord/kubecoord/httpapi"
	"github.com/kubecoord/kubecoord/store"
	"github.com/kubecoord/kubecoord/store/kind"
)

// metrics are the numbers of a server, named as a kube-apiserver names them.
type metrics struct {
	requests series[answerLabels, durations]
	etcd     series[etcdLabels, durations]
	failures series[etcdLabels, atomic.Int64] // of etcd
	known    sync.Map                         // of served: all that were asked for and served
	source   atomic.Pointer[Source]
	start    time.Time
}

// served is a resource in one version. Labels name no others, so that clients cannot make up
// series.
type served struct{ group, version, resource string }

// requestLabels are the labels of a request.
type requestLabels struct {
	verb, dryRun string
	served
	subresource, scope string
}

func (l requestLabels) pairs() []string {
	return []string{"verb", l.verb, "dry_run", l.dryRun, "group", l.group, "version", l.version, "resource", l.resource,
		"subresource", l.subresource, "scope", l.scope, "component", "apiserver"}
}

// answerLabels are the labels of a request and its answer.
type answerLabels struct {
	requestLabels
	code int
}

func (l answerLabels) pairs() []string {
	return append(l.requestLabels.pairs(), "code", strconv.Itoa(l.code))
}

// etcdLabels are the labels of a request to etcd.
type etcdLabels struct{ operation, group, resource string }

func (l etcdLabels) pairs() []string {
	return []string{"operation", l.operation, "group", l.group, "resource", l.resource}
}

// kinds returns the kinds that are served now: clients add and remove some.
func (m *metrics) kinds() []kind.Kind {
	if from := m.source.Load(); from != nil {
		if api := from.API(); api != nil {
			return api.Kinds()
		}
	}
	return nil
}

// serves reports whether a resource is or was served.
func (m *metrics) serves(s served) bool {
	if _, known := m.known.Load(s); known {
		return true
	}
	for _, kind := range m.kinds() {
		info := kind.Info()
		if info.Group != s.group || info.Plural != s.resource {
			continue
		}
		for _, v := range info.Versions {
			if v.Name == s.version {
				m.known.Store(s, true)
				return true
			}
		}
	}
	return false
}

// request counts an answer (upstream: apiserver, endpoints/metrics, MonitorRequest). Labels that were counted before are
// of something that was served then.
func (m *metrics) request(e httpapi.LogEntry) {
	a := &e.Attributes
	l := requestLabels{verbOf(&e), dryRunOf(e.Query), served{a.Group, a.Version, a.Resource}, a.Subresource, scopeOf(a)}
	if !a.IsResource {
		l.subresource = knownPath(a.Path)
	}
	counted := m.requests.find(answerLabels{l, e.Code})
	if counted == nil {
		if a.IsResource && (!m.serves(l.served) || l.subresource != "" && l.subresource != "status") {
			l.served, l.subresource, l.scope = served{}, "", ""
		}
		counted = m.requests.of(answerLabels{l, e.Code})
	}
	counted.observe(e.Duration)
}

// verbOf returns the verb of a request as metrics write it (upstream: cleanVerb).
func verbOf(e *httpapi.LogEntry) string {
	switch e.Attributes.Verb {
	case "get", "head":
		return "GET"
	case "list", "watch", "delete", "post", "put":
		return strings.ToUpper(e.Attributes.Verb)
	case "create":
		return "POST"
	case "update":
		return "PUT"
	case "deletecollection":
		return "DELETE"
	case "patch":
		if e.ContentType == "application/apply-patch+yaml" {
			return "APPLY"
		}
		return "PATCH"
	}
	return "other"
}

// scopeOf returns the scope of a request (upstream: CleanScope).
func scopeOf(a *httpapi.Attributes) string {
	switch {
	case a.Name != "" || a.Verb == "create":
		return "resource"
	case a.Namespace != "":
		return "namespace"
	case a.IsResource:
		return "cluster"
	}
	return ""
}

// dryRunOf returns the parameter dryRun if it is valid (upstream: cleanDryRun).
func dryRunOf(query string) string {
	if !strings.Contains(query, "dryRun") {
		return ""
	}
	values, _ := url.ParseQuery(query)
	dryRun := values["dryRun"]
	switch {
	case len(dryRun) == 0:
		return ""
	case slices.ContainsFunc(dryRun, func(v string) bool { return v != "All" }):
		return "invalid"
	}
	return "All"
}

// knownPath returns the part of a path that metrics name, or "".
func knownPath(path string) string {
	for _, known := range []string{"/healthz", "/livez", "/readyz", "/metrics", "/version", "/openapi/v2", "/openapi/v3", "/apis", "/api"} {
		if path == known || strings.HasPrefix(path, known+"/") {
			return known
		}
	}
	return ""
}

// Source has the values of the metrics.
type Source struct {
	// API returns the API, or nil after its end.
	API func() *httpapi.API
	// Store returns the store of the API.
	Store func() *store.Store
	// Size, if not nil, returns the bytes of the database.
	Size func(context.Context) (int64, error)
}

// Metrics returns a handler for /metrics, with authentication and authorization. It passes other requests on to h.
func (f *Front) Metrics(from Source, h http.Handler) http.Handler {
	f.metrics.source.Store(&from)
	scrape := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		t := f.metrics.text(r.Context(), from)
		w.Header().Set("Content-Type", metricsType)
		w.Write(t.Bytes())
	})
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/metrics" {
			h.ServeHTTP(w, r)
		} else if api := from.API(); api != nil {
			api.Guard(scrape).ServeHTTP(w, r)
		} else {
			http.Error(w, "this server has ended", http.StatusServiceUnavailable)
		}
	})
}

func (m *metrics) text(ctx context.Context, from Source) *metricText {
	t := &metricText{}
	m.requestText(t)
	if api := from.API(); api != nil {
		apiText(t, api.Stats())
	}
	m.storeText(ctx, t, from)
	processText(t, m.start)
	return t
}

func (m *metrics) requestText(t *metricText) {
	totals(t, "apiserver_request_total", "Counter of apiserver requests broken out for each verb, dry run value, group, version, resource, scope, component, and HTTP response code.", &m.requests)
	var all series[requestLabels, durations]
	m.requests.each(func(l answerLabels, d *durations) { all.of(l.requestLabels).add(d) })
	histograms(t, "apiserver_request_duration_seconds", "Response latency distribution in seconds for each verb, dry run value, group, version, resource, subresource, scope and component.", &all)
}

func apiText(t *metricText, s httpapi.Stats) {
	t.family("apiserver_current_inflight_requests", "gauge", "Number of currently used inflight request limit of this apiserver per request kind.")
	t.sample("apiserver_current_inflight_requests", float64(s.Writes), "request_kind", "mutating")
	t.sample("apiserver_current_inflight_requests", float64(s.Reads), "request_kind", "readOnly")
	slices.SortFunc(s.Watches, func(a, b httpapi.WatchStats) int {
		return strings.Compare(a.Group+a.Version+a.Resource+a.Scope, b.Group+b.Version+b.Resource+b.Scope)
	})
	t.family("apiserver_longrunning_requests", "gauge", "Gauge of all active long-running apiserver requests broken out by verb, group, version, resource, scope and component. Not all requests are tracked this way.")
	for _, w := range s.Watches {
		t.sample("apiserver_longrunning_requests", float64(w.Open), "verb", "WATCH", "group", w.Group, "version", w.Version,
			"resource", w.Resource, "subresource", "", "scope", w.Scope, "component", "apiserver")
	}
	t.family("apiserver_watch_events_total", "counter", "Number of events sent in watch clients")
	for i, events := 0, int64(0); i < len(s.Watches); i++ {
		w := s.Watches[i]
		events += w.Events
		if last := i+1 == len(s.Watches); last || (served{w.Group, w.Version, w.Resource}) != (served{s.Watches[i+1].Group, s.Watches[i+1].Version, s.Watches[i+1].Resource}) {
			t.sample("apiserver_watch_events_total", float64(events), "group", w.Group, "version", w.Version, "resource", w.Resource)
			events = 0
		}
	}
}

func (m *metrics) storeText(ctx context.Context, t *metricText, from Source) {
	st := from.Store()
	t.family("apiserver_resource_objects", "gauge", "Number of stored objects at the time of last check split by kind. In case of a fetching error, the value will be -1.")
	for _, kind := range m.kinds() {
		info := kind.Info()
		t.sample("apiserver_resource_objects", float64(st.Len(kind)), "group", info.Group, "resource", info.Plural)
	}
	size, err := st.Size(), error(nil)
	id := "memory-0"
	if from.Size != nil {
		id = "etcd-0"
		size, err = from.Size(ctx)
	}
	if t.family("apiserver_storage_size_bytes", "gauge", "Size of the storage database file physically allocated in bytes."); err == nil {
		t.sample("apiserver_storage_size_bytes", float64(size), "storage_cluster_id", id)
	}
	if from.Size == nil {
		return
	}
	histograms(t, "etcd_request_duration_seconds", "Etcd request latency in seconds for each operation and object type.", &m.etcd)
	totals(t, "etcd_requests_total", "Etcd request counts for each operation and object type.", &m.etcd)
	t.family("etcd_request_errors_total", "counter", "Etcd failed request counts for each operation and object type.")
	m.failures.each(func(l etcdLabels, n *atomic.Int64) {
		t.sample("etcd_request_errors_total", float64(n.Load()), l.pairs()...)
	})
}

// Etcd counts a request to etcd: its operation, such as get or update, and its key without the
// prefix of all keys.
func (f *Front) Etcd(operation, key string, took time.Duration, err error) {
	group, resource := "", ""
	for _, kind := range f.metrics.kinds() {
		if info := kind.Info(); strings.HasPrefix(key, info.StoragePrefix+"/") {
			group, resource = info.Group, info.Plural
		}
	}
	labels := etcdLabels{operation, group, resource}
	f.metrics.etcd.of(labels).observe(took)
	if err != nil {
		f.metrics.failures.of(labels).Add(1)
	}
}
