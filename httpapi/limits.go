package httpapi

import (
	"cmp"
	"context"
	"errors"
	"net/http"
	"slices"
)

// limits bounds the requests in flight (upstream: apiserver, server/filters/maxinflight.go). A slow
// client must not hold a slot: a request has none while its body is read, while it waits for a version
// in the future, and after the first byte of its answer. As upstream it takes the slot before it is
// authorized.
type limits interface {
	// enter gives a request a place. The error is errTooManyRequests.
	enter(c *call) (place, error)
	inFlight() (reads, writes int)
}

// place is where the limits count a request.
type place interface {
	// leave gives up the place. It may be called again.
	leave()
	// pause gives up the slot until resume, which waits for another one. They report whether the request may go on.
	pause() bool
	resume() bool
}

// unlimited is a server without limits, and the place of its requests.
type unlimited struct{}

func (unlimited) enter(*call) (place, error)    { return unlimited{}, nil }
func (unlimited) inFlight() (reads, writes int) { return 0, 0 }
func (unlimited) leave()                        {}
func (unlimited) pause() bool                   { return true }
func (unlimited) resume() bool                  { return true }

// limited is a server with limits.
type limited struct {
	reads, writes *slots
	waits         *slots // requests that wait without a slot, or for one
	watches       *slots // by the host of the client
}

func newLimits(o Options) limits {
	of := newClients()
	share := func(sort, all int) *slots { return of.slots(sort, all, (all*o.ClientShare+99)/100) }
	l := &limited{
		reads: share(0, o.Reads), writes: share(1, o.Writes),
		waits: of.slots(2, 0, o.WatchesPerClient), watches: of.slots(3, 0, o.WatchesPerClient),
	}
	if l.reads == nil && l.writes == nil && l.watches == nil {
		return unlimited{}
	}
	return l
}

// privileged is the group whose requests are never refused for load.
const privileged = "system:masters"

var errTooManyRequests = errors.New("too many requests")

func (l *limited) enter(c *call) (place, error) {
	host := hostOfClient(c.req.RemoteAddr)
	s := &slot{limits: l, call: c, client: host}
	if u := c.user; u != nil {
		s.client, s.exempt = cmp.Or(u.Name, host), slices.Contains(u.Groups, privileged)
	}
	switch {
	case c.watches: // a real server has no limit for these
		s.own, s.client, s.exempt = l.watches, host, false
	case c.req.Method == http.MethodGet || c.req.Method == http.MethodHead:
		s.own = l.reads
	default:
		s.own = l.writes
	}
	if !s.resume() {
		return s, errTooManyRequests
	}
	return s, nil
}

func (l *limited) inFlight() (reads, writes int) { return l.reads.inUse(), l.writes.inUse() }

// slot is the place of a request in a server with limits: a slot of its sort, or one of those that wait.
type slot struct {
	limits  *limited
	call    *call
	own     *slots  // of the sort of the request
	in      *slots  // that count it, if it is counted
	client  string  // user, or host of the address
	holder  *client // that it is counted for
	counted bool
	exempt  bool
}

// move counts the request elsewhere, and reports whether there was room. Without it the request is counted nowhere.
func (s *slot) move(to *slots) bool {
	if s.counted {
		s.holder, s.counted = s.in.exchange(s.holder, s.client, to)
	} else {
		s.holder, s.counted = to.take(s.client)
	}
	s.in = to
	return s.counted
}

func (s *slot) leave() {
	if s.counted {
		s.counted = false
		s.in.leave(s.holder)
	}
}

// resume waits for a slot. A request that goes on has one, unless it is exempt. One that is no watch waits in line, at most a quarter of
// the time of a request (upstream: server/config.go, WithPriorityAndFairness).
func (s *slot) resume() bool {
	if s.move(s.own) || s.exempt {
		return true
	}
	if s.call.watches {
		return false
	}
	waits := s.limits.waits
	waiting, ok := waits.take(s.client)
	if !ok {
		return false
	}
	defer waits.leave(waiting)
	ctx, done := s.call.untilClose()
	defer done()
	ctx, cancel := context.WithTimeout(ctx, cmp.Or(s.call.api.timeout, requestTimeout)/4)
	defer cancel()
	s.holder, s.counted = s.own.wait(ctx, s.client)
	return s.counted
}

func (s *slot) pause() bool { return s.move(s.limits.waits) || s.exempt }

// withoutSlot calls wait without a slot.
func (c *call) withoutSlot(wait func() error) error {
	if !c.place.pause() {
		return errTooManyRequests
	}
	err := wait()
	if !c.place.resume() {
		return errTooManyRequests
	}
	return err
}

// leave gives up the place and the turn that the request has. It may be called again.
func (c *call) leave() {
	c.place.leave()
	if c.hasTurn {
		c.hasTurn = false
		<-c.api.turns
	}
}

// takeTurn waits until the request may encode the next part of a list. The turn ends with Write.
func (c *call) takeTurn() {
	c.api.turns <- struct{}{}
	c.hasTurn = true
}

// tooManyRequests answers with a text: a real server has no Status here.
func (c *call) tooManyRequests() {
	c.Header().Del("Warning")
	c.setHeader("Retry-After", "1")
	http.Error(c, "Too many requests, please try again later.", http.StatusTooManyRequests)
}
