package httpapi

import (
	"context"
	"net/http"
	"strings"
	"sync/atomic"
	"time"

	"github.com/kubecoord/kubecoord/internal/kinds"
	"github.com/kubecoord/kubecoord/store/meta"
)

// Every request but a watch has a deadline, which ends its context and the reading of its body
// (upstream: apiserver, endpoints/filters/request_deadline.go and server/filters/timeout.go).

// requestTimeout is the default of Options.RequestTimeout (upstream: --request-timeout).
const requestTimeout = time.Minute

// limitTime sets the deadline of the request. The parameter timeout can only shorten the
// limit of the server; watches ignore it.
func (c *call) limitTime() (err error) {
	mayWatch := c.req.Method == http.MethodGet && (c.boolParam("watch") || strings.Contains(c.req.URL.Path, "/watch/"))
	c.watches = mayWatch && c.attributes().Verb == "watch"
	if c.watches {
		return nil
	}
	limit := c.api.timeout
	if v := c.param("timeout"); v != "" {
		var d time.Duration
		if d, err = time.ParseDuration(v); err != nil {
			err = meta.NewBadRequest("invalid timeout specified in the request URL - %s", err)
		} else if d > 0 && (limit <= 0 || d < limit) {
			limit = d
		}
	}
	if limit > 0 {
		c.deadline.Context, c.deadline.at = c.req.Context(), c.began.Add(limit)
		c.limitBody(c.deadline.at)
	}
	return err
}

// limitBody makes reads of the body end at a time, by net/http after the handler too.
func (c *call) limitBody(at time.Time) {
	if c.req.ContentLength != 0 {
		http.NewResponseController(c.w).SetReadDeadline(at)
	}
}

// context returns the context of the request, with its deadline.
func (c *call) context() context.Context {
	if c.deadline.at.IsZero() {
		return c.req.Context()
	}
	return &c.deadline
}

// setContext sets the context of the request, which comes from the one that it has.
func (c *call) setContext(ctx context.Context) {
	c.req = c.req.WithContext(ctx)
	if c.deadline.Context != nil {
		c.deadline.Context = ctx
	}
}

// timedOut reports whether the request is over its deadline.
func (c *call) timedOut() bool {
	return !c.deadline.at.IsZero() && !time.Now().Before(c.deadline.at)
}

// failTimedOut answers a request that is over its deadline. The answer of a real server comes from a
// filter, which negotiates no media type and omits the type of the Status.
func (c *call) failTimedOut() {
	s := meta.NewTimeout("request did not complete within the allotted timeout", 0).Status
	s.TypeMeta = meta.TypeMeta{}
	data, _ := kinds.StatusType().AppendJSON(nil, &s) // encoding a Status cannot fail
	c.Header().Del("Warning")
	c.text(http.StatusGatewayTimeout, string(data)+"\n")
}

// deadline is like a context.WithDeadline, but has no timer until something waits for its end.
type deadline struct {
	context.Context                 // of the request
	at              time.Time       // zero: none
	api             context.Context // ends it too, unless it is nil

	timed atomic.Pointer[timed] // nil until something waits
	ended atomic.Bool           // end was called
}

// timed is a context with a timer.
type timed struct {
	context.Context
	cancel context.CancelFunc
}

// end ends the context after the answer. A child may still be there: net/http cancels the context of a request to a webhook a
// little after its answer was read. Package context panics if Err returns nil for it.
func (d *deadline) end() {
	d.ended.Store(true)
	if t := d.timed.Load(); t != nil {
		t.cancel()
	}
}

func (d *deadline) wait() context.Context {
	if t := d.timed.Load(); t != nil {
		return t.Context
	}
	t := d.time()
	if !d.timed.CompareAndSwap(nil, t) {
		t.cancel() // another goroutine was first
		t = d.timed.Load()
	}
	if d.ended.Load() {
		t.cancel() // end may have come before it
	}
	return t.Context
}

// time returns the context to wait for.
func (d *deadline) time() *timed {
	ctx, cancel := d.Context, context.CancelFunc(nil)
	if d.at.IsZero() {
		ctx, cancel = context.WithCancel(ctx)
	} else {
		ctx, cancel = context.WithDeadline(ctx, d.at)
	}
	if d.api == nil {
		return &timed{ctx, cancel}
	}
	stop := context.AfterFunc(d.api, cancel)
	return &timed{ctx, func() { stop(); cancel() }}
}

// Deadline returns the deadline of the request.
func (d *deadline) Deadline() (time.Time, bool) {
	if d.at.IsZero() {
		return d.Context.Deadline()
	}
	return d.at, true
}

// Done returns a channel that is closed at the end.
func (d *deadline) Done() <-chan struct{} { return d.wait().Done() }

// AfterFunc saves package context a goroutine for each child.
func (d *deadline) AfterFunc(f func()) (stop func() bool) { return context.AfterFunc(d.wait(), f) }

// Err returns why the context has ended, or nil.
func (d *deadline) Err() error {
	switch err := d.Context.Err(); {
	case err != nil:
		return err
	case !d.at.IsZero() && !time.Now().Before(d.at):
		return context.DeadlineExceeded
	case d.ended.Load(), d.api != nil && d.api.Err() != nil:
		return context.Canceled
	}
	return nil
}

// limitWrites makes writes of a long answer fail after the deadline of the request, once.
// net/http removes the limit after the request.
func (c *call) limitWrites() {
	if !c.limitedWrites && !c.deadline.at.IsZero() {
		c.limitedWrites = true
		http.NewResponseController(c.w).SetWriteDeadline(c.deadline.at.Add(closeGrace))
	}
}
