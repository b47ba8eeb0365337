package httpapi

import (
	"context"
	"errors"
	"log"
	"net/http"
	"net/url"
	"runtime/debug"
	"time"

	"github.com/kubecoord/kubecoord/internal/caller"
	"github.com/kubecoord/kubecoord/internal/kinds"
	"github.com/kubecoord/kubecoord/internal/registry"
	"github.com/kubecoord/kubecoord/store/meta"
)

// A request passes call.go (headers, authentication), route.go (the path), dispatch.go (the
// verb and the common checks), the file of the verb (get, list, watch, write, patch, delete),
// package internal/registry, and respond.go or listbody.go.

// LogEntry describes one request and its answer.
type LogEntry struct {
	Method, Path, Query string
	UserAgent           string
	ContentType         string // of the body of the request
	Code                int
	Bytes               int64
	Duration            time.Duration
	// Attributes are as for an Authorizer. The User is empty if the request was not authenticated.
	Attributes Attributes
}

// call is one request and its answer. It is also the http.ResponseWriter of the answer.
type call struct {
	api     *API
	served  *served
	req     *http.Request
	w       http.ResponseWriter
	began   time.Time
	size    int64
	observe func(caller.Sight) // see caller.WithObserver; or nil

	query        url.Values
	endpoint     *endpoint
	resource     *registry.Resource // of the kind of the endpoint; set by prepare
	sub          *kinds.Subresource // or nil
	version      int                // of the object; the endpoint may be the endpoint of a body
	resourceName                    // of the path
	user         *User              // nil without Authenticate

	place place

	// These share a word. A call takes at most 512 bytes: TestSizeOfACall.
	code          int16
	hasTurn       bool // see takeTurn
	watches       bool // the request is a watch; set by limitTime
	limitedWrites bool // limitWrites was called

	deadline deadline
	cut      *cutter // nil until the first use

	media    mediaType
	table    *tableOptions // of an answer as a Table; set by readTableOptions
	warnings warnings

	memory *buffers  // nil until the first use
	values [4]string // of headers that every answer has, without an allocation for each
}

// ServeHTTP answers a request.
func (a *API) ServeHTTP(w http.ResponseWriter, r *http.Request) { a.handler.ServeHTTP(w, r) }

// serve answers a request after the Middleware. Health paths need no credentials, and are
// answered under any load.
func (a *API) serve(w http.ResponseWriter, r *http.Request) {
	c := a.newCall(w, r)
	defer c.end()
	defer c.leave()
	defer c.recovered()
	timeErr := c.limitTime()
	err := c.checkOrigin()
	if err == nil {
		err = timeErr
	}
	if err == nil && !isHealthPath(r.URL.Path) {
		err = c.admit()
	}
	if err != nil {
		c.fail(err)
		return
	}
	c.route(r.URL.Path)(c)
	c.release()
}

// errPanicked is the text of upstream (apiserver, server/filters/wrap.go).
var errPanicked = errors.New("This request caused apiserver to panic. Look in the logs for details.")

// recovered must be deferred. It answers a request during which a function of the user has panicked. An answer that has begun is cut.
func (c *call) recovered() {
	problem := recover()
	if problem == nil {
		return
	}
	if problem != http.ErrAbortHandler {
		logPanic(c.req, problem)
	}
	if problem == http.ErrAbortHandler || c.code != 0 {
		panic(http.ErrAbortHandler)
	}
	c.memory = nil // what has panicked may still use it
	c.fail(meta.NewInternalError(errPanicked))
}

// logPanic writes a panic with its stack to the log of the server of a request.
func logPanic(r *http.Request, problem any) {
	printf := log.Printf
	if s, ok := r.Context().Value(http.ServerContextKey).(*http.Server); ok && s.ErrorLog != nil {
		printf = s.ErrorLog.Printf
	}
	printf("httpapi: panic serving %s %s: %v\n%s", r.Method, r.URL.Path, problem, debug.Stack())
}

// admit authenticates the request, waits for a slot, and authorizes it.
func (c *call) admit() (err error) {
	if err = c.identify(); err != nil {
		return err
	}
	if c.place, err = c.api.limits.enter(c); err != nil {
		return err
	}
	return c.permit()
}

// noCache is the Cache-Control of every answer that has no other.
const noCache = "no-cache, private"

// newCall sets the headers of every answer.
func (a *API) newCall(w http.ResponseWriter, r *http.Request) *call {
	c := &call{api: a, served: a.served.Load(), req: r, w: w, began: time.Now(), place: unlimited{}, observe: caller.Observer(r.Context())}
	id := c.header("Audit-Id")
	if id == "" {
		id = a.st.RandomUUID()
	}
	h := w.Header()
	c.values[0], c.values[1] = id, noCache
	h["Audit-Id"], h["Cache-Control"] = c.values[:1:1], c.values[1:2:2]
	if a.setDate {
		c.setHeader("Date", a.st.Now().UTC().Format(http.TimeFormat))
	}
	return c
}

// header returns a header of the request, and setHeader sets one of the answer. The name must be in
// the canonical form: http.Header finds it for each call, in all for 5 % of the instructions of a write.
func (c *call) header(name string) string {
	if values := c.req.Header[name]; len(values) > 0 {
		return values[0]
	}
	return ""
}

func (c *call) setHeader(name, value string) { c.Header()[name] = []string{value} }

// end is called when the request has been answered.
func (c *call) end() {
	c.endTime()
	log, counted := c.api.log, c.api.metrics.Load()
	if log == nil && counted == nil {
		return
	}
	e := LogEntry{
		Method: c.req.Method, Path: c.req.URL.Path, Query: c.req.URL.RawQuery, UserAgent: c.req.UserAgent(),
		ContentType: c.header("Content-Type"),
		Code:        int(c.code), Bytes: c.size, Duration: time.Since(c.began), Attributes: c.attributes(),
	}
	if counted != nil {
		counted.count(c.served, &e)
	}
	if log != nil {
		log(e)
	}
}

// Fail answers a request with the Status of an error, in the format that the request accepts.
// Middleware refuses requests by it.
func (a *API) Fail(w http.ResponseWriter, r *http.Request, err error) {
	c := a.newCall(w, r)
	defer c.endTime()
	c.fail(err)
}

// Header returns the header of the answer.
func (c *call) Header() http.Header { return c.w.Header() }

// WriteHeader sends the header of the answer.
func (c *call) WriteHeader(code int) {
	if c.code == 0 {
		c.code = int16(code)
	}
	if code == http.StatusRequestedRangeNotSatisfiable {
		c.setHeader("Cache-Control", noCache) // package http has removed it
	}
	c.w.WriteHeader(code)
}

// Write sends a part of the body.
func (c *call) Write(p []byte) (int, error) {
	c.leave() // the client may not read
	if c.size+int64(len(p)) > unblockedAnswer {
		c.limitWrites()
		guard := c.guard()
		guard.start(p)
		defer guard.stop()
	}
	return c.write(p)
}

// write is Write without a limit of time.
func (c *call) write(p []byte) (int, error) {
	if c.code == 0 {
		c.WriteHeader(http.StatusOK)
	}
	n, err := c.w.Write(p)
	c.size += int64(n)
	if err != nil {
		c.cutter().failed.Store(true)
	}
	return n, err
}

// unblockedAnswer is the size of an answer that net/http keeps until the handler has
// returned.
const unblockedAnswer = 2 << 10

// Unwrap is for http.ResponseController.
func (c *call) Unwrap() http.ResponseWriter { return c.w }

func (c *call) warn(text string) { c.warnings.add(c.w.Header(), text) }

func (c *call) groupResource() meta.GroupResource {
	return meta.GroupResource{Group: c.endpoint.Info.Group, Resource: c.endpoint.Info.Plural}
}

// untilClose returns a context that ends with the request, with Close of the API, or when done is
// called.
func (c *call) untilClose() (ctx context.Context, done func()) {
	d := &deadline{Context: c.req.Context(), at: c.deadline.at, api: c.api.ctx}
	return d, d.end
}

// orClosed returns errClosed for the error of a call that Close ended.
func (c *call) orClosed(err error) error {
	if c.api.ctx.Err() != nil && errors.Is(err, context.Canceled) {
		return errClosed
	}
	return err
}
