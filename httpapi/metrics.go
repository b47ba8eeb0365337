package httpapi

import (
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
)

// Metrics returns a handler that answers with the metrics of an API in the text form of Prometheus, under the names of a
// kube-apiserver: requests and their durations, requests in flight, watches and their events, stored objects, and the bytes of
// a store in memory. Numbers of the process, such as its memory, are not among them.
//
// Requests are counted from the first call of Metrics for the API on, in all of its handlers; call it before the API serves.
// Labels name only resources that are served, so that clients cannot make up series. Anyone may read the answer: wrap the handler
// by API.Guard where the API authenticates its clients.
func Metrics(api *API) http.Handler {
	api.metrics.CompareAndSwap(nil, &metrics{})
	counted := api.metrics.Load()
	return http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		t := &metricText{}
		counted.text(t)
		t.present(api)
		t.objects(api)
		w.Header().Set("Content-Type", metricsType)
		w.Write(t.Bytes())
	})
}

// metrics counts the requests of an API.
type metrics struct {
	requests series[answerLabels, durations]
}

// versionedResource is a resource in one version.
type versionedResource struct{ group, version, resource string }

func (r versionedResource) pairs() []string {
	return []string{"group", r.group, "version", r.version, "resource", r.resource}
}

// requestLabels are the labels of a request.
type requestLabels struct {
	verb, dryRun string
	versionedResource
	subresource, scope string
}

func (l requestLabels) pairs() []string {
	return slices.Concat([]string{"verb", l.verb, "dry_run", l.dryRun}, l.versionedResource.pairs(),
		[]string{"subresource", l.subresource, "scope", l.scope, "component", "apiserver"})
}

// answerLabels are the labels of a request and its answer.
type answerLabels struct {
	requestLabels
	code int
}

func (l answerLabels) pairs() []string {
	return append(l.requestLabels.pairs(), "code", strconv.Itoa(l.code))
}

// count counts an answer (upstream: apiserver, endpoints/metrics, MonitorRequest). Labels that were counted before are
// of something that was served then.
func (m *metrics) count(s *served, e *LogEntry) {
	a := &e.Attributes
	l := requestLabels{verbOf(e), dryRunOf(e.Query), versionedResource{a.Group, a.Version, a.Resource}, a.Subresource, scopeOf(a)}
	if !a.IsResource {
		l.subresource = knownPath(a.Path)
	}
	counted := m.requests.find(answerLabels{l, e.Code})
	if counted == nil {
		if a.IsResource && !s.names(l.versionedResource, l.subresource) {
			l.versionedResource, l.subresource, l.scope = versionedResource{}, "", ""
		}
		counted = m.requests.of(answerLabels{l, e.Code})
	}
	counted.observe(e.Duration)
}

// names reports whether a resource is served, and has the subresource unless that is "".
func (s *served) names(of versionedResource, subresource string) bool {
	for _, g := range s.groups {
		for _, v := range g.versions {
			if v.Group != of.group || v.Version != of.version {
				continue
			}
			for _, e := range v.endpoints {
				if e.Info.Plural == of.resource {
					return subresource == "" || e.Kind.SubresourceIn(e.Version, subresource) != nil
				}
			}
		}
	}
	return false
}

// verbOf returns the verb of a request as metrics write it (upstream: cleanVerb).
func verbOf(e *LogEntry) string {
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
func scopeOf(a *Attributes) string {
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

func (m *metrics) text(t *metricText) {
	const total, duration = "apiserver_request_total", "apiserver_request_duration_seconds"
	t.family(total, "counter", "Counter of apiserver requests broken out for each verb, dry run value, group, version, resource, scope, component, and HTTP response code.")
	var all series[requestLabels, durations]
	m.requests.each(func(l answerLabels, d *durations) {
		t.sample(total, float64(d.count()), l.pairs()...)
		all.of(l.requestLabels).add(d)
	})
	t.family(duration, "histogram", "Response latency distribution in seconds for each verb, dry run value, group, version, resource, subresource, scope and component.")
	all.each(func(l requestLabels, d *durations) { t.histogram(duration, d, l.pairs()) })
}

// present writes what the API does now, and the events of watches.
func (t *metricText) present(api *API) {
	const inFlight = "apiserver_current_inflight_requests"
	t.family(inFlight, "gauge", "Number of currently used inflight request limit of this apiserver per request kind.")
	reads, writes := api.limits.inFlight()
	t.sample(inFlight, float64(writes), "request_kind", "mutating")
	t.sample(inFlight, float64(reads), "request_kind", "readOnly")

	const open = "apiserver_longrunning_requests"
	t.family(open, "gauge", "Gauge of all active long-running apiserver requests broken out by verb, group, version, resource, scope and component. Not all requests are tracked this way.")
	api.watches.each(func(l watchLabels, n *atomic.Int64) { t.sample(open, float64(n.Load()), l.pairs()...) })
	const events = "apiserver_watch_events_total"
	t.family(events, "counter", "Number of events sent in watch clients")
	api.events.each(func(l versionedResource, n *atomic.Int64) { t.sample(events, float64(n.Load()), l.pairs()...) })
}

// watchLabels are the labels of the watches of a resource in a version.
type watchLabels struct {
	versionedResource
	scope string
}

func (l watchLabels) pairs() []string {
	return slices.Concat([]string{"verb", "WATCH"}, l.versionedResource.pairs(), []string{"subresource", "", "scope", l.scope, "component", "apiserver"})
}

// countWatch returns the counters for this request's labels. A watch is counted from its beginning, as it may live long.
func (c *call) countWatch() (open, events *atomic.Int64) {
	info, scope := c.endpoint.Info, "cluster"
	switch {
	case c.name != "":
		scope = "resource"
	case c.namespace != "":
		scope = "namespace"
	}
	of := versionedResource{info.Group, info.Versions[c.endpoint.Version].Name, info.Plural}
	return c.api.watches.of(watchLabels{of, scope}), c.api.events.of(of)
}

// objects writes the numbers of the store.
func (t *metricText) objects(api *API) {
	t.family("apiserver_resource_objects", "gauge", "Number of stored objects at the time of last check split by kind. In case of a fetching error, the value will be -1.")
	for _, kind := range api.served.Load().kinds {
		info := kind.Info()
		t.sample("apiserver_resource_objects", float64(api.Store().Len(kind)), "group", info.Group, "resource", info.Plural)
	}
	if api.st.InMemory() {
		t.family("apiserver_storage_size_bytes", "gauge", "Size of the storage database file physically allocated in bytes.")
		t.sample("apiserver_storage_size_bytes", float64(api.st.Size()), "storage_cluster_id", "memory-0")
	}
}
