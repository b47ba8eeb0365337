package httpapi

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"time"

	"github.com/kubecoord/kubecoord/store/meta"
)

// LogEntry tells of one request that was answered.
type LogEntry struct {
	Method, Path, Query string
	UserAgent           string
	Code                int
	Bytes               int64
	Duration            time.Duration
}

// call is one request on its way to its answer. It stands in for the
// ResponseWriter, so that the answer can be logged.
type call struct {
	api  *API
	req  *http.Request
	w    http.ResponseWriter
	code int
	size int64

	query        url.Values
	endpoint     *endpoint
	resourceName // that the path names

	media    mediaType
	table    tableOptions
	warnings warnings
}

// ServeHTTP answers a request.
func (a *API) ServeHTTP(w http.ResponseWriter, r *http.Request) { a.handler.ServeHTTP(w, r) }

// Fail answers a request with the Status of an error, in the form that the
// request accepts and with the headers of every answer. It is for Middleware
// that answers in place of the API.
func (a *API) Fail(w http.ResponseWriter, r *http.Request, err error) {
	c := &call{api: a, req: r, w: w}
	c.setHeaders()
	c.fail(err)
}

// serve answers a request that has come through the Middleware.
func (a *API) serve(w http.ResponseWriter, r *http.Request) {
	a.answer(w, r, func(c *call) {
		if err := c.checkTimeout(); err != nil {
			c.fail(err)
		} else if isHealthPath(r.URL.Path) || c.admit() {
			c.dispatch(a.parse(r.URL.Path))
		}
	})
}

// answer gives a request what all answers have in common, and logs it.
func (a *API) answer(w http.ResponseWriter, r *http.Request, answer func(*call)) {
	c := &call{api: a, req: r, w: w}
	if a.log != nil {
		start := time.Now()
		defer func() {
			a.log(LogEntry{
				Method: r.Method, Path: r.URL.Path, Query: r.URL.RawQuery, UserAgent: r.UserAgent(),
				Code: c.code, Bytes: c.size, Duration: time.Since(start),
			})
		}()
	}
	c.setHeaders()
	answer(c)
}

// setHeaders sets what every answer has.
func (c *call) setHeaders() {
	h := c.w.Header()
	id := c.req.Header.Get("Audit-Id")
	if id == "" {
		id = c.api.auditIDs.next(c.req)
	}
	h["Audit-Id"] = []string{id}
	h["Cache-Control"] = []string{"no-cache, private"}
	if c.api.dated {
		h["Date"] = []string{c.api.st.Now().UTC().Format(http.TimeFormat)}
	}
}

// Header returns the header of the answer.
func (c *call) Header() http.Header { return c.w.Header() }

// WriteHeader starts the answer.
func (c *call) WriteHeader(code int) {
	if c.code == 0 {
		c.code = code
	}
	c.w.WriteHeader(code)
}

// Write goes on with the answer.
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

// params returns the query, parsed once. Pairs that are broken are dropped, as
// net/url does.
func (c *call) params() url.Values {
	if c.query == nil {
		c.query = c.req.URL.Query()
	}
	return c.query
}

func (c *call) warn(text string) { c.warnings.add(c.w.Header(), text) }

// groupResource names the resource of the request.
func (c *call) groupResource() meta.GroupResource {
	return meta.GroupResource{Group: c.endpoint.info.Group, Resource: c.endpoint.info.Plural}
}

// untilClose returns the context of the request for what may wait, which ends with
// the API too, until done is called.
func (c *call) untilClose() (ctx context.Context, done func()) {
	ctx, cancel := context.WithCancel(c.req.Context())
	stop := context.AfterFunc(c.api.ctx, cancel)
	return ctx, func() { stop(); cancel() }
}

// orClosed returns the error of what has waited, and says so if it waited in vain
// because the API was closed.
func (c *call) orClosed(err error) error {
	if c.api.ctx.Err() != nil && errors.Is(err, context.Canceled) {
		return errClosed
	}
	return err
}
