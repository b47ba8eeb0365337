package consistency

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"

	"github.com/kubecoord/kubecoord/httpapi"
	"github.com/kubecoord/kubecoord/internal/caller"
	"github.com/kubecoord/kubecoord/internal/registry"
	"github.com/kubecoord/kubecoord/store"
)

// recorder is a middleware that records the answers and watch events of the next handler.
type recorder struct {
	next  http.Handler
	st    *registry.Store
	kinds []store.AnyKind

	mu    sync.Mutex // guards what follows
	tick  uint64
	calls []*call
}

// call is a request for a resource. It changes under the recorder's mutex only.
type call struct {
	origin            uint64 // of its changes, see registry.WithOrigin
	floor             uint64 // the version of the store when it came
	begin, first, end uint64 // ticks: it came, its first event, its answer

	httpapi.Attributes
	client string
	query  url.Values
	dryRun bool
	stale  bool   // a lagging replica answers
	base   uint64 // the resourceVersion in the body

	status int // 0 without an answer
	answer head
	wrong  bool // the answer differs from the object at its version
	events []event
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
	a := &answer{ResponseWriter: w, rec: rec, call: c}
	defer a.end()
	rec.do(func() { c.floor, c.begin = rec.st.ResourceVersion(), rec.now() })
	rec.next.ServeHTTP(a, r.WithContext(registry.WithOrigin(r.Context(), c.origin)))
	a.complete = true
}

// do runs f with the mutex.
func (rec *recorder) do(f func()) {
	rec.mu.Lock()
	defer rec.mu.Unlock()
	f()
}

// now returns the next tick that no other call has. The mutex must be held.
func (rec *recorder) now() uint64 {
	rec.tick += 2 // the tick between is for the floor of a call
	return rec.tick
}

// recorded returns copies of the calls that have an answer.
func (rec *recorder) recorded() (calls []*call) {
	rec.do(func() {
		for _, c := range rec.calls {
			copied := *c
			copied.events = slices.Clone(c.events)
			calls = append(calls, &copied)
		}
	})
	return calls
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
		origin: registry.OriginOf(r.Context()), Attributes: a, client: fmt.Sprintf("client %q", caller.Name(r.Context())),
		query: r.URL.Query(), stale: caller.Stale(r.Context()),
	}
	if c.origin == 0 {
		c.origin = rand.Uint64() | 1
	}
	contentType := r.Header.Get("Content-Type")
	if c.Verb == "patch" && strings.HasPrefix(contentType, "application/apply-patch+") {
		c.Verb = "apply"
	}
	c.dryRun = c.query.Has("dryRun") || strings.HasPrefix(c.Verb, "delete") && bytes.Contains(body, []byte("All")) &&
		(bytes.Contains(body, []byte("dryRun")) || bytes.HasPrefix(body, []byte("k8s\x00")))
	switch c.Verb {
	case "update", "patch", "apply":
		c.base = headOf(body, contentType).version
	}
	return c
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

func (a *answer) watching() bool { return a.call.Verb == "watch" && a.code == http.StatusOK }

// WriteHeader begins the answer.
func (a *answer) WriteHeader(code int) {
	if a.code != 0 {
		return
	}
	if a.code = code; a.watching() {
		a.answered()
		a.ResponseWriter.WriteHeader(code)
	}
}

// answered adds the call to the record.
func (a *answer) answered() {
	a.rec.do(func() {
		a.call.status, a.call.end = a.code, a.rec.now()
		a.rec.calls = append(a.rec.calls, a.call)
	})
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
		e := readEvent(a.data[:n], protobuf)
		a.rec.do(func() {
			c := a.call
			if c.end = a.rec.now(); c.first == 0 {
				c.first = c.end
			}
			c.events = append(c.events, e)
		})
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

// FlushError sends the events of a watch.
func (a *answer) FlushError() error {
	a.WriteHeader(http.StatusOK)
	if !a.watching() {
		return nil
	}
	return http.NewResponseController(a.ResponseWriter).Flush()
}

// end records the complete answer and sends it. An answer without end leaves the outcome open.
func (a *answer) end() {
	if a.watching() {
		return
	}
	if a.complete {
		a.WriteHeader(http.StatusOK)
		a.call.answer = headOf(a.data, a.Header().Get("Content-Type"))
		a.call.wrong = a.code < 300 && a.rec.altered(a.call, a.data)
	}
	a.answered()
	if a.complete {
		a.ResponseWriter.WriteHeader(a.code)
		a.ResponseWriter.Write(a.data)
	}
}
