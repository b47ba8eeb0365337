package consistency

import (
	"bytes"
	"encoding/binary"
	"io"
	"math/rand/v2"
	"net/http"
	"net/url"
	"strings"
	"sync"

	"github.com/kubecoord/kubecoord/httpapi"
	"github.com/kubecoord/kubecoord/internal/caller"
	"github.com/kubecoord/kubecoord/internal/registry"
	"github.com/kubecoord/kubecoord/internal/test/skim"
	"github.com/kubecoord/kubecoord/internal/yaml"
	"github.com/kubecoord/kubecoord/store"
	"github.com/kubecoord/kubecoord/store/meta"
	"github.com/kubecoord/kubecoord/watch"
)

// recorder is a middleware that records the answers and watch events of the next handler.
type recorder struct {
	next  http.Handler
	st    *registry.Store
	kinds []store.AnyKind

	mu  sync.Mutex // guards log
	log []observation
}

// observation is one answer, or one event of a watch.
type observation struct {
	call *call
	kind observationKind
	head skim.Head // of the object, list or event
}

// observationKind is the kind of an observation.
type observationKind uint8

const (
	noAnswer       observationKind = iota // the handler ran and sent no answer
	successAnswer                         // 2xx
	notFoundAnswer                        // 404 for the object itself
	errorAnswer                           // another answer
	addedEvent
	modifiedEvent
	deletedEvent
	bookmarkEvent
	initialEndEvent
	errorEvent
)

// call is a request for a resource. It does not change after it is part of an observation.
type call struct {
	origin         uint64 // of its changes, see registry.WithOrigin
	floor, ceiling uint64 // the versions of the store when it came and when it was answered

	verb, group, version, resource, namespace, name string
	client, userAgent                               string
	query                                           url.Values
	subresource                                     bool
	dryRun                                          bool
	stale                                           bool   // a lagging replica answers
	base                                            uint64 // the resourceVersion in the body

	status  int // 0 without an answer
	answer  skim.Head
	altered bool // the answer differs from the object at its version
}

// ServeHTTP records a request for a resource.
func (rec *recorder) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	attributes := httpapi.AttributesOf(r)
	if attributes.Resource == "" {
		rec.next.ServeHTTP(w, r)
		return
	}
	body, err := io.ReadAll(r.Body)
	r.Body = io.NopCloser(io.MultiReader(bytes.NewReader(body), failing{err}))
	c := newCall(r, attributes, body)
	c.floor = rec.st.ResourceVersion()
	a := &answer{ResponseWriter: w, rec: rec, call: c}
	defer a.end()
	rec.next.ServeHTTP(a, r.WithContext(registry.WithOrigin(r.Context(), c.origin)))
	a.complete = true
}

// failing returns the error that ended the body, or io.EOF.
type failing struct{ err error }

func (f failing) Read([]byte) (int, error) {
	if f.err == nil {
		return 0, io.EOF
	}
	return 0, f.err
}

func newCall(r *http.Request, a httpapi.Attributes, body []byte) *call {
	c := &call{
		origin: registry.OriginOf(r.Context()), verb: a.Verb,
		group: a.Group, version: a.Version, resource: a.Resource, namespace: a.Namespace, name: a.Name,
		client: caller.Name(r.Context()), userAgent: r.UserAgent(), query: r.URL.Query(), stale: caller.Stale(r.Context()),
	}
	if c.origin == 0 {
		c.origin = rand.Uint64() | 1
	}
	contentType := r.Header.Get("Content-Type")
	if c.verb == "patch" && strings.HasPrefix(contentType, "application/apply-patch+") {
		c.verb = "apply"
	}
	c.dryRun = c.query.Has("dryRun") || strings.HasPrefix(c.verb, "delete") && bytes.Contains(body, []byte("All")) &&
		(bytes.Contains(body, []byte("dryRun")) || bytes.HasPrefix(body, []byte("k8s\x00")))
	c.subresource = c.name != "" && c.verb != "create" && !strings.HasSuffix(strings.TrimSuffix(a.Path, "/"), "/"+c.name)
	switch c.verb {
	case "update", "patch", "apply":
		c.base = skimObject(body, contentType).ResourceVersion
	}
	return c
}

// skimObject returns the head of a document.
func skimObject(data []byte, contentType string) skim.Head {
	if strings.Contains(contentType, "yaml") {
		data, _, _ = yaml.ToJSON(data)
	}
	return skim.Object(data)
}

func (rec *recorder) add(t observation) {
	rec.mu.Lock()
	defer rec.mu.Unlock()
	rec.log = append(rec.log, t)
}

// all returns the observations so far.
func (rec *recorder) all() []observation {
	rec.mu.Lock()
	defer rec.mu.Unlock()
	return rec.log[:len(rec.log):len(rec.log)]
}

// groupResource returns the resource of the call.
func (c *call) groupResource() meta.GroupResource {
	return meta.GroupResource{Group: c.group, Resource: c.resource}
}

// mutates reports whether the verb may change something.
func (c *call) mutates() bool {
	switch c.verb {
	case "create", "update", "patch", "apply", "delete", "deletecollection":
		return true
	}
	return false
}

// answer records an answer before the client receives it. Only the events of a watch pass through before the answer is complete.
type answer struct {
	http.ResponseWriter
	rec      *recorder
	call     *call
	code     int
	complete bool // the handler has returned
	data     []byte
}

// Unwrap returns the writer below, for its deadlines.
func (a *answer) Unwrap() http.ResponseWriter { return a.ResponseWriter }

func (a *answer) watching() bool { return a.call.verb == "watch" && a.code == http.StatusOK }

// WriteHeader begins the answer.
func (a *answer) WriteHeader(code int) {
	if a.code != 0 {
		return
	}
	if a.code = code; a.watching() {
		a.call.status, a.call.ceiling = code, a.rec.st.ResourceVersion()
		a.ResponseWriter.WriteHeader(code)
	}
}

// Write records the events that are complete with p and sends p.
func (a *answer) Write(p []byte) (int, error) {
	a.WriteHeader(http.StatusOK)
	a.data = append(a.data, p...)
	if !a.watching() {
		return len(p), nil
	}
	protobuf := strings.HasPrefix(a.Header().Get("Content-Type"), "application/vnd.kubernetes.protobuf")
	for {
		n := frameLength(a.data, protobuf)
		if n == 0 {
			return a.ResponseWriter.Write(p)
		}
		a.event(skim.Event(a.data[:n], protobuf))
		a.data = a.data[n:]
	}
}

// frameLength returns the length of the first event of a watch, or 0 if it is not complete.
func frameLength(data []byte, protobuf bool) int {
	if !protobuf {
		return bytes.IndexByte(data, '\n') + 1
	}
	if len(data) < 4 || uint64(len(data)) < uint64(binary.BigEndian.Uint32(data))+4 {
		return 0
	}
	return int(binary.BigEndian.Uint32(data)) + 4
}

func (a *answer) event(head skim.Head) {
	t := observation{call: a.call, head: head}
	switch watch.EventType(head.Type) {
	case watch.Added:
		t.kind = addedEvent
	case watch.Modified:
		t.kind = modifiedEvent
	case watch.Deleted:
		t.kind = deletedEvent
	case watch.Bookmark:
		if t.kind = bookmarkEvent; head.InitialEnd {
			t.kind = initialEndEvent
		}
	default:
		t.kind = errorEvent
	}
	a.rec.add(t)
}

// FlushError sends the events of a watch.
func (a *answer) FlushError() error {
	a.WriteHeader(http.StatusOK)
	if !a.watching() {
		return nil
	}
	return http.NewResponseController(a.ResponseWriter).Flush()
}

// end records the complete answer and sends it, or records that the handler did not return.
func (a *answer) end() {
	c := a.call
	if a.watching() {
		return
	}
	c.ceiling = a.rec.st.ResourceVersion()
	if !a.complete {
		a.rec.add(observation{call: c, kind: noAnswer})
		return
	}
	a.WriteHeader(http.StatusOK)
	c.status, c.answer = a.code, skimObject(a.data, a.Header().Get("Content-Type"))
	t := observation{call: c, kind: errorAnswer, head: c.answer}
	switch {
	case a.code >= 200 && a.code < 300:
		t.kind = successAnswer
		c.altered = a.rec.altered(c, a.data)
	case a.code == http.StatusNotFound && c.name != "" && c.answer.Name == c.name:
		t.kind = notFoundAnswer
	}
	a.rec.add(t)
	a.ResponseWriter.WriteHeader(a.code)
	a.ResponseWriter.Write(a.data)
}
