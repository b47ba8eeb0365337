package candidate

import (
	"fmt"
	"slices"
	"time"
)

// arrivals are the times at which the first and the last of a group of new
// candidates were seen. The zero value means that there is no group.
type arrivals struct{ first, last time.Time }

func (a *arrivals) add(now time.Time) {
	if a.first.IsZero() {
		a.first = now
	}
	a.last = now
}

// end returns when a group is complete: no candidate has come for a pause, or the
// first one came five pauses ago. The second limit keeps a stream of new candidates
// from delaying the election for ever.
func (a *arrivals) end(o *ElectorOptions) time.Time {
	return earlier(a.last.Add(o.arrivalPause()), a.first.Add(5*o.arrivalPause()))
}

// arrivalPause is the time without a new candidate that ends a group of arrivals: 200ms
// with the timings of a control plane.
func (o *ElectorOptions) arrivalPause() time.Duration { return o.PingWindow / 25 }

// awaitsArrivals reports whether more candidates may come soon. The election waits for all
// processes that start together. Otherwise the first one to arrive would be elected, and
// the best one would have to wait until the Lease expires.
func (c *contest) awaitsArrivals(now time.Time, o *ElectorOptions) bool {
	if end := c.arrivals.end(o); now.Before(end) {
		c.wakeAt(end)
		return true
	}
	c.arrivals = arrivals{}
	return false
}

// minPingDelay is the least time between a sign of life and a ping. An answer in the same
// tick of a coarse or virtual clock could not be distinguished from the earlier sign of
// life.
const minPingDelay = 10 * time.Millisecond

// awaitsAnswers pings all entrants that gave no recent sign of life, and reports
// whether the round has to wait for an answer. It does not wait for entrants that
// left an earlier ping unanswered.
func (c *contest) awaitsAnswers(v *verdict, now time.Time, o *ElectorOptions) bool {
	if c.round.IsZero() {
		return false
	}
	end := c.round.Add(o.PingWindow)
	waiting := false
	for _, t := range c.entrants {
		switch {
		case !t.isValid(now, o) || c.isPresent(t, o):
		case t.pings == 0 && now.Before(t.seen.Add(minPingDelay)):
			c.wakeAt(t.seen.Add(minPingDelay))
			waiting = true
		case t.pings == 0:
			v.addPing(t)
			waiting = true
		case !t.silent:
			waiting = true
		}
	}
	if !waiting || !now.Before(end) {
		return false
	}
	c.wakeAt(end)
	return true
}

func (v *verdict) addPing(t *entrant) {
	if !slices.Contains(v.ping, t) {
		v.ping = append(v.ping, t)
	}
}

// isPresent reports whether an entrant takes part in the current round: it gave a sign of
// life in the round or at most PingWindow before, and has answered its last ping in time.
func (c *contest) isPresent(t *entrant, o *ElectorOptions) bool {
	return t.silences == 0 && t.pings == 0 && !t.seen.Before(c.round.Add(-o.PingWindow))
}

// concludeRound elects among the entrants that are present. A healthy holder lets its
// Lease expire for a preferredHolder. So the best entrant is pinged once more before,
// unless it has just given a sign of life or is new.
func (c *contest) concludeRound(v *verdict, vacant bool, now time.Time, o *ElectorOptions) {
	best, err := c.elect(now, o, func(t *entrant) bool { return t.isValid(now, o) && c.isPresent(t, o) })
	if best != nil && !vacant && best.holder != c.observed.Holder() && best.holder != c.finalist {
		if t := c.entrant(best.holder); t != nil && !now.Before(t.seen.Add(max(minPingDelay, 2*o.arrivalPause()))) {
			c.round, c.finalist = now, best.holder
			v.addPing(t)
			return
		}
	}
	c.endRound()
	switch {
	case err != nil:
		v.err = err
		c.pauseAfterFailure(now, o)
	case best == nil:
		v.err = ErrNoCandidates
		c.pingAgain(v, now, o)
	default:
		v.elect = best
		c.recordDecision(best.holder, vacant, now)
	}
}

// pingAgain is called if no entrant has answered. It pings the valid ones again. The pause
// before each ping doubles.
func (c *contest) pingAgain(v *verdict, now time.Time, o *ElectorOptions) {
	for _, t := range c.entrants {
		if !t.isValid(now, o) || t.pings == 0 {
			continue
		}
		if at := t.pinged.Add(backoff(o.PingWindow, t.pings, o.Validity/2)); now.Before(at) {
			c.wakeAt(at)
		} else {
			v.addPing(t)
		}
	}
}

// pauseAfterFailure delays the next attempt. The pause doubles with each failure in a row.
// A change of offers ends it.
func (c *contest) pauseAfterFailure(now time.Time, o *ElectorOptions) {
	if c.pausedOffers != c.offers {
		c.failures = 0
	}
	c.pausedUntil, c.pausedOffers = now.Add(backoff(o.PingWindow, c.failures, o.Validity/2)), c.offers
	c.failures++
	c.wakeAt(c.pausedUntil)
}

// elect chooses among the entrants for which is returns true. It returns nil if there are
// none, or if the strategy chooses none of them. It chooses an entrant before its
// deferredUntil only if there is no other.
func (c *contest) elect(now time.Time, o *ElectorOptions, is func(t *entrant) bool) (*ballot, error) {
	var all, able []*LeaseCandidate
	for _, t := range c.entrants {
		if !is(t) {
			continue
		}
		all = append(all, t.c)
		if !now.Before(t.deferredUntil) {
			able = append(able, t.c)
		}
	}
	if len(all) == 0 {
		return nil, nil
	}
	name, err := ChooseStrategy(all)
	if err != nil {
		return nil, err
	}
	strategy := o.strategy(name)
	if strategy == nil {
		return &ballot{strategy: name}, nil
	}
	for _, among := range [][]*LeaseCandidate{able, all} {
		if len(among) == 0 {
			continue
		}
		if best := strategy(among); best != nil {
			if c.entrant(best.Name) == nil {
				return nil, fmt.Errorf("strategy %s chose %q, which is not a candidate", name, best.Name)
			}
			return &ballot{name, best.Name}, nil
		}
	}
	return nil, nil
}

// findSilent records the entrants that did not answer their ping in time.
func (c *contest) findSilent(v *verdict, now time.Time, o *ElectorOptions) {
	for _, t := range c.entrants {
		if t.silent || t.pings == 0 {
			continue
		}
		if end := t.pinged.Add(o.PingWindow); now.Before(end) {
			c.wakeAt(end)
			continue
		}
		t.silent = true
		t.silences++
		t.deferUntil(now.Add(backoff(o.PingWindow, t.silences, o.Validity)))
		c.offers++
		v.silent = append(v.silent, t)
	}
}

// sweep pings entrants that gave no sign of life for half of Validity, and
// collects entrants that gave none for the whole of it.
func (c *contest) sweep(v *verdict, now time.Time, o *ElectorOptions) {
	for _, t := range c.entrants {
		age, ask := t.age(now), o.Validity/2
		switch {
		case age < ask:
			c.wakeAt(now.Add(ask - age))
		case t.pings == 0 || age >= o.Validity && !t.pingSeen:
			v.ping = append(v.ping, t)
		case age < o.Validity:
			c.wakeAt(now.Add(o.Validity - age))
		case now.Before(t.pinged.Add(o.PingWindow)):
			c.wakeAt(t.pinged.Add(o.PingWindow))
		default:
			v.collect = append(v.collect, t)
		}
	}
}

// recordMissed records that the elected candidate let the Lease expire without renewing it.
// From the second time in a row others are preferred.
func (c *contest) recordMissed(v *verdict, now time.Time, o *ElectorOptions) {
	if !c.observed.Expired(now) {
		return
	}
	if t := c.entrant(c.appointed); t != nil {
		v.missed = c.appointed
		if t.missed++; t.missed > 1 {
			t.deferUntil(now.Add(backoff(o.PingWindow, t.missed-1, o.Validity)))
			c.offers++
		}
	}
	c.appointed = ""
}
