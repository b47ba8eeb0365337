package httpapi

import (
	"cmp"
	"context"
	"errors"
	"net/http"
	"runtime"
	"slices"
)

// limits bounds the requests in flight (upstream: apiserver, server/filters/maxinflight.go). A slow
// client must not hold a slot: a request has none while its body is read, while it waits for a version
// in the future, and after the first byte of its answer. As upstream it takes the slot before it is
// authorized.
type limits struct {
	reads, writes *slots
	waits         *slots        // requests that wait without a slot, or for one
	watches       *slots        // by the host of the client
	turns         chan struct{} // an element for each list that is being encoded, at most one a processor
}

func newLimits(o Options) limits {
	of := newClients()
	share := func(sort, all int) *slots { return of.slots(sort, all, (all*o.ClientShare+99)/100) }
	return limits{
		reads: share(0, o.Reads), writes: share(1, o.Writes),
		waits: of.slots(2, 0, o.WatchesPerClient), watches: of.slots(3, 0, o.WatchesPerClient),
		turns: make(chan struct{}, runtime.GOMAXPROCS(0)),
	}
}

// privileged is the group whose requests are never refused for load.
const privileged = "system:masters"

var errTooManyRequests = errors.New("too many requests")

// enter counts the request until leave is called.
func (c *call) enter() error {
	l := &c.api.limits
	if l.reads == nil && l.writes == nil && l.watches == nil {
		return nil
	}
	host := hostOfClient(c.req.RemoteAddr)
	c.client = host
	if u := c.user; u != nil {
		c.client, c.exempt = cmp.Or(u.Name, host), slices.Contains(u.Groups, privileged)
	}
	switch {
	case c.watches: // a real server has no limit for these
		c.slots, c.client, c.exempt = l.watches, host, false
	case c.req.Method == http.MethodGet || c.req.Method == http.MethodHead:
		c.slots = l.reads
	default:
		c.slots = l.writes
	}
	if !c.takeSlot() {
		return errTooManyRequests
	}
	return nil
}

// takeSlot reports whether the request may go on. It has a slot then, unless it is exempt. A request that is no watch waits
// in line for a slot, at most a quarter of the time of a request (upstream: server/config.go, WithPriorityAndFairness).
func (c *call) takeSlot() bool {
	c.holder, c.hasSlot = c.slots.take(c.client)
	if c.hasSlot || c.exempt || c.watches {
		return c.hasSlot || c.exempt
	}
	l := &c.api.limits
	waiting, ok := l.waits.take(c.client)
	if !ok {
		return false
	}
	defer l.waits.leave(waiting)
	ctx, done := c.untilClose()
	defer done()
	ctx, cancel := context.WithTimeout(ctx, cmp.Or(c.api.timeout, requestTimeout)/4)
	defer cancel()
	c.holder, c.hasSlot = c.slots.wait(ctx, c.client)
	return c.hasSlot
}

// leave gives up the slot, or the turn, that the request has. It may be called again.
func (c *call) leave() {
	if c.hasSlot {
		c.hasSlot = false
		c.slots.leave(c.holder)
	}
	if c.hasTurn {
		c.hasTurn = false
		<-c.api.limits.turns
	}
}

// withoutSlot gives up the slot while wait runs. Afterwards the request waits for another one.
func (c *call) withoutSlot(wait func() error) error {
	waits, had := c.api.limits.waits, c.hasSlot
	var waiting *client
	var ok bool
	if c.hasSlot = false; had {
		waiting, ok = c.slots.exchange(c.holder, c.client, waits)
	} else {
		waiting, ok = waits.take(c.client)
	}
	if !ok && !c.exempt {
		return errTooManyRequests
	}
	err := wait()
	if ok {
		c.holder, c.hasSlot = waits.exchange(waiting, c.client, c.slots)
	}
	if !c.hasSlot && !c.takeSlot() {
		return errTooManyRequests
	}
	return err
}

// takeTurn waits until the request may encode the next part of a list. The turn ends with Write.
func (c *call) takeTurn() {
	c.api.limits.turns <- struct{}{}
	c.hasTurn = true
}

// tooManyRequests answers with a text: a real server has no Status here.
func (c *call) tooManyRequests() {
	c.Header().Del("Warning")
	c.setHeader("Retry-After", "1")
	http.Error(c, "Too many requests, please try again later.", http.StatusTooManyRequests)
}
