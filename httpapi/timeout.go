package httpapi

import (
	"context"
	"net"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/kubecoord/kubecoord/internal/registry"
	"github.com/kubecoord/kubecoord/store/clock"
	"github.com/kubecoord/kubecoord/store/meta"
)

// Every request but a watch has a deadline (upstream: apiserver,
// endpoints/filters/request_deadline.go and server/filters/timeout.go). After it the
// context of the request has ended, its body cannot be read any more, and its client has
// closeGrace to read the answer.

// requestTimeout is the default of Options.RequestTimeout (upstream: --request-timeout).
const requestTimeout = time.Minute

// limitTime sets the deadline of the request. The parameter timeout can only shorten the
// limit of the server; watches ignore it. An error about it comes before all others, on
// every path.
func (c *call) limitTime() (err error) {
	if c.watches = c.isWatch(); c.watches {
		return nil
	}
	limit := c.api.timeout
	if strings.Contains(c.req.URL.RawQuery, "timeout=") {
		if v := c.param("timeout"); v != "" {
			var d time.Duration
			if d, err = time.ParseDuration(v); err != nil {
				err = meta.NewBadRequest("invalid timeout specified in the request URL - %s", err)
			} else if d > 0 && (limit <= 0 || d < limit) {
				limit = d
			}
		}
	}
	if limit > 0 {
		c.deadline.at = time.Now().Add(limit)
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

// isWatch reports whether the request is a watch. A watch has a timeout of its own.
func (c *call) isWatch() bool { return mayWatch(c.req) && c.attributes().Verb == "watch" }

// context returns the context of the request, with its deadline.
func (c *call) context() context.Context {
	if c.deadline.at.IsZero() {
		return c.req.Context()
	}
	c.deadline.Context = c.req.Context()
	return &c.deadline
}

// timedOut reports whether the request is over its deadline.
func (c *call) timedOut() bool {
	return !c.deadline.at.IsZero() && !time.Now().Before(c.deadline.at)
}

// failTimedOut answers a request that is over its deadline. A real server does so outside of
// the handler: no media type is negotiated, the Status has no type, and no header of the
// handler is sent.
func (c *call) failTimedOut() {
	s := meta.NewTimeout("request did not complete within the allotted timeout", 0).Status
	s.TypeMeta = meta.TypeMeta{}
	data, _ := statusType().AppendJSON(nil, &s) // encoding a Status cannot fail
	c.Header().Del("Warning")
	c.text(http.StatusGatewayTimeout, string(data)+"\n")
}

// deadline is like a context.WithDeadline, but has no timer until something waits for its
// end. Few requests wait.
type deadline struct {
	context.Context // of the request
	at              time.Time

	mu     sync.Mutex // guards the fields below
	timed  context.Context
	cancel context.CancelFunc
}

// wait returns the context with a timer.
func (d *deadline) wait() context.Context {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.timed == nil {
		d.timed, d.cancel = context.WithDeadline(d.Context, d.at)
	}
	return d.timed
}

// Deadline returns the earlier one of the request's and of its context's own.
func (d *deadline) Deadline() (time.Time, bool) {
	if at, ok := d.Context.Deadline(); ok && at.Before(d.at) {
		return at, true
	}
	return d.at, true
}

// Done returns a channel that is closed at the end.
func (d *deadline) Done() <-chan struct{} { return d.wait().Done() }

// AfterFunc saves package context a goroutine for each child.
func (d *deadline) AfterFunc(f func()) (stop func() bool) { return context.AfterFunc(d.wait(), f) }

// Err returns why the context has ended, or nil.
func (d *deadline) Err() error {
	if err := d.Context.Err(); err != nil || time.Now().Before(d.at) {
		return err
	}
	return context.DeadlineExceeded
}

// end releases the timer.
func (d *deadline) end() {
	if d.cancel != nil {
		d.cancel()
	}
}

// cutter ends the reads and writes of a request at a time.
type cutter struct {
	timer clock.Timer // of the end of the watch, or nil
	stall stallGuard  // of the writes; see call.guard

	mu     sync.Mutex // guards the fields below
	done   bool       // it has cut the request
	over   bool       // the request has ended, so it must not be cut
	failed bool       // a write has failed
}

// limitWrites makes writes of the answer fail after the deadline of the request. Requests with
// a short answer do without. net/http removes the limit after the request.
func (c *call) limitWrites() {
	if !c.limitedWrites && !c.deadline.at.IsZero() {
		c.limitedWrites = true
		http.NewResponseController(c.w).SetWriteDeadline(c.deadline.at.Add(closeGrace))
	}
}

// guard returns the guard of the call, which it adds to the backlog. w is nil unless it is a watch.
func (c *call) guard(w *registry.Watcher) *stallGuard {
	g := &c.cut.stall
	if g.call == nil {
		g.call, g.w = c, w
		g.since.Store(noWrite)
		if at := c.deadline.at; !at.IsZero() {
			g.closeAt = int64(at.Sub(c.api.backlog.start) + 2*closeGrace)
		}
		c.api.backlog.add(g)
	}
	return g
}

// closeConnection closes the connection, if the server uses ConnContext. HTTP/2 cannot even write
// the end of a stream if the client takes no byte.
func (c *call) closeConnection() {
	if conn, ok := c.req.Context().Value(connKey{}).(net.Conn); ok {
		conn.Close()
	}
}

// cutNow ends the request, unless its writes succeed soon.
func (c *call) cutNow() {
	c.cut.mu.Lock()
	defer c.cut.mu.Unlock()
	if c.cut.over {
		return
	}
	c.cut.done = true
	now, control := time.Now(), http.NewResponseController(c.w)
	control.SetReadDeadline(now)
	control.SetWriteDeadline(now.Add(closeGrace))
}

// endTime is called when the request has been answered. It removes a deadline for writes
// from the connection, which may get more requests, unless a write has failed.
func (c *call) endTime() {
	c.deadline.end()
	if c.cut.timer == nil && c.cut.stall.call == nil {
		return
	}
	if c.cut.timer != nil {
		c.cut.timer.Stop()
	}
	if c.cut.stall.call != nil {
		c.api.backlog.drop(&c.cut.stall)
	}
	c.cut.mu.Lock()
	defer c.cut.mu.Unlock()
	if c.cut.over = true; c.cut.done && !c.cut.failed {
		http.NewResponseController(c.w).SetWriteDeadline(time.Time{})
	}
}
