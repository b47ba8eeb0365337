package apitest

import "time"

// rush counts the requests of a client at one instant.
type rush struct {
	at   time.Time
	n    int
	over bool // there were too many once
}

// slowDown holds a request of a client back that has sent too many at one instant.
func (x *exchange) slowDown() {
	most := x.api.opts.MaxRequestsPerInstant
	over, first := x.api.countInstant(x.req.Client, most)
	if !over {
		return
	}
	if first {
		x.api.t.Errorf("apitest: client %q sent more than %d requests at one instant, the last one was %s %s: in a bubble this stops the time; its requests now take a second each",
			x.req.Client, most, x.req.Verb, x.req.Path)
	}
	pause := time.NewTimer(time.Second) // of the bubble, as countInstant: the clock of the store may stand still by itself
	defer pause.Stop()
	select {
	case <-pause.C:
	case <-x.r.Context().Done():
		x.abort()
	case <-x.api.closing:
		x.abort()
	}
}

// countInstant counts a request, and reports whether there were too many at one instant, and whether this is news.
func (a *API) countInstant(client string, most int) (over, first bool) {
	if most < 0 {
		return false, false
	}
	now := time.Now() // outside of a bubble it never stands still
	a.mu.Lock()
	defer a.mu.Unlock()
	c := a.rushes[client]
	if !c.at.Equal(now) {
		c.at, c.n = now, 0
	}
	c.n++
	first = c.n > most && !c.over
	c.over = c.over || first
	a.rushes[client] = c
	return c.over, first
}
