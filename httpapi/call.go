package httpapi

import (
	"context"
	"encoding/binary"
	"errors"
	"math/rand/v2"
	"net/http"
	"net/url"
	"sync"
	"time"

	"github.com/kubecoord/kubecoord/internal/caller"
	"github.com/kubecoord/kubecoord/internal/derive"
	"github.com/kubecoord/kubecoord/store/meta"
)

// A request passes call.go (headers, authentication), target.go (what the path names),
// dispatch.go (the verb and the common checks), the file of the verb (get, list,
// watch, write, patch, delete) and respond.go. The comment of a verb lists its query
// parameters. Package internal/registry implements the effect of a verb.

// LogEntry describes one request and its answer.
type LogEntry struct {
	Method, Path, Query string
	UserAgent           string
	Code                int
	Bytes               int64
	Duration            time.Duration
}

// call is one request and its answer. It is also the http.ResponseWriter of the
// answer, to count for the log.
type call struct {
	api  *API
	req  *http.Request
	w    http.ResponseWriter
	code int
	size int64
	// observe, if not nil, is called with what the client knows, before it gets the answer.
	observe func(caller.Sight)

	query        url.Values
	endpoint     *endpoint
	resourceName // of the path

	media    mediaType
	table    tableOptions
	warnings warnings
}

// ServeHTTP answers a request.
func (a *API) ServeHTTP(w http.ResponseWriter, r *http.Request) { a.handler.ServeHTTP(w, r) }

// serve answers a request after the Middleware. Health paths need no credentials.
func (a *API) serve(w http.ResponseWriter, r *http.Request) {
	c := a.newCall(w, r)
	c.observe = caller.Observer(r.Context())
	if a.log != nil {
		defer c.log(time.Now())
	}
	if err := c.checkTimeout(); err != nil {
		c.fail(err)
	} else if isHealthPath(r.URL.Path) || c.admit() {
		c.dispatch(a.parse(r.URL.Path))
	}
}

// newCall sets the headers of every answer.
func (a *API) newCall(w http.ResponseWriter, r *http.Request) *call {
	h := w.Header()
	id := r.Header.Get("Audit-Id")
	if id == "" {
		id = a.auditIDs.next(r)
	}
	h["Audit-Id"] = []string{id}
	h["Cache-Control"] = []string{"no-cache, private"}
	if a.setDate {
		h["Date"] = []string{a.st.Now().UTC().Format(http.TimeFormat)}
	}
	return &call{api: a, req: r, w: w}
}

func (c *call) log(start time.Time) {
	c.api.log(LogEntry{
		Method: c.req.Method, Path: c.req.URL.Path, Query: c.req.URL.RawQuery, UserAgent: c.req.UserAgent(),
		Code: c.code, Bytes: c.size, Duration: time.Since(start),
	})
}

// Fail answers a request with the Status of an error, in the format that the
// request accepts and with the headers of every answer. It is for Middleware that
// refuses requests.
func (a *API) Fail(w http.ResponseWriter, r *http.Request, err error) { a.newCall(w, r).fail(err) }

// auditIDs generates the Audit-Id of answers. With a seed an id is derived from the
// request and the number of equal requests before it; else it is random.
type auditIDs struct {
	seed uint64

	mu   sync.Mutex // guards seen
	seen map[uint64]uint64
}

// next returns a UUID of version 4.
func (a *auditIDs) next(r *http.Request) string {
	var b [16]byte
	if a.seed == 0 {
		binary.LittleEndian.PutUint64(b[:8], rand.Uint64())
		binary.LittleEndian.PutUint64(b[8:], rand.Uint64())
		return derive.UUID(b)
	}
	target := r.URL.RequestURI()
	key := derive.From(a.seed, r.Method, target).Uint64()
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.seen == nil {
		a.seen = map[uint64]uint64{}
	}
	a.seen[key]++
	return derive.From(a.seed, "audit", r.Method, target, string(binary.BigEndian.AppendUint64(b[:0], a.seen[key]))).UUID()
}

// Header returns the header of the answer.
func (c *call) Header() http.Header { return c.w.Header() }

// WriteHeader sends the header of the answer.
func (c *call) WriteHeader(code int) {
	if c.code == 0 {
		c.code = code
	}
	c.w.WriteHeader(code)
}

// Write sends a part of the body.
func (c *call) Write(p []byte) (int, error) {
	if c.code == 0 {
		c.code = http.StatusOK
	}
	n, err := c.w.Write(p)
	c.size += int64(n)
	return n, err
}

// Unwrap is for http.ResponseController.
func (c *call) Unwrap() http.ResponseWriter { return c.w }

func (c *call) warn(text string) { c.warnings.add(c.w.Header(), text) }

func (c *call) groupResource() meta.GroupResource {
	return meta.GroupResource{Group: c.endpoint.info.Group, Resource: c.endpoint.info.Plural}
}

// untilClose returns a context for a call that may wait: it ends with the request,
// with Close of the API, or when done is called.
func (c *call) untilClose() (ctx context.Context, done func()) {
	ctx, cancel := context.WithCancel(c.req.Context())
	stop := context.AfterFunc(c.api.ctx, cancel)
	return ctx, func() { stop(); cancel() }
}

// orClosed returns errClosed for the error of a call that Close ended.
func (c *call) orClosed(err error) error {
	if c.api.ctx.Err() != nil && errors.Is(err, context.Canceled) {
		return errClosed
	}
	return err
}
