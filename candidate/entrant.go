package candidate

import (
	"errors"
	"slices"
	"time"

	"github.com/kubecoord/kubecoord/store"
	"github.com/kubecoord/kubecoord/store/meta"
)

// entrant is the Coordinator's view of one candidate. Its times are readings of Store.Clock when the
// Coordinator saw a change. The candidate's clock may differ, so only changes of renewTime matter.
type entrant struct {
	election *election
	c        *LeaseCandidate
	seen     time.Time // of the last sign of life; zero if the candidate never renewed
	since    time.Time // of the creation
	pinged   time.Time // of the last ping
	pings    int       // unanswered ones
	pingSeen bool      // the last ping was made while this Coordinator was running
	silent   bool      // the time for an answer has passed
	// silences counts the late answers since the last one in time. While it is not 0, the
	// candidate must answer a ping to be elected: another sign of life is not enough.
	silences      int
	missed        int       // elections in a row after which the candidate never renewed the Lease
	deferredUntil time.Time // others are preferred until then, because of silences or missed
	standing      standing  // at the last step
}

// standing is whether and how a candidate counts in an election.
type standing struct{ valid, silent, late, deferred bool }

// newEntrant takes the times of a new candidate from the object. They are not later than now.
func newEntrant(c *LeaseCandidate, now time.Time, skew time.Duration) *entrant {
	t := &entrant{c: c, since: earlier(c.CreationTimestamp.Add(skew), now)}
	renewed, pinged := c.Spec.RenewTime, c.Spec.PingTime
	if renewed != nil {
		t.seen = earlier(renewed.Add(skew), now)
	}
	if isUnanswered(c) {
		t.pinged, t.pings = earlier(pinged.Add(skew), now), 1
	}
	return t
}

func earlier(a, b time.Time) time.Time {
	if a.Before(b) {
		return a
	}
	return b
}

func isUnanswered(c *LeaseCandidate) bool {
	renewed, pinged := c.Spec.RenewTime, c.Spec.PingTime
	return pinged != nil && (renewed == nil || pinged.After(renewed.Time))
}

// maxSkew is how far the clock of a candidate may be behind the store's.
const maxSkew = 24 * time.Hour

// update applies a newer state of a candidate. A new renewTime is a sign of life if it is less than
// Validity ago by the store's clock, or later than the one before, by a clock that is behind.
// Others are old states that somebody has written.
func (e *election) update(t *entrant, c *LeaseCandidate) {
	now, was, is := e.clock.Now(), &t.c.Spec, &c.Spec
	t.c = c
	limit := e.opts.Validity
	if was.RenewTime != nil && is.RenewTime != nil && is.RenewTime.After(was.RenewTime.Time) {
		limit = max(limit, maxSkew)
	}
	switch {
	case is.RenewTime != nil && !is.RenewTime.Equal(was.RenewTime) && e.st.Now().Sub(is.RenewTime.Time) < limit:
		if t.pings > 0 {
			e.log(Answered, c.Name, nil)
		}
		if now.Before(t.pinged.Add(e.opts.PingWindow)) {
			t.silences = 0
		}
		t.seen, t.pings, t.silent = now, 0, false
	case isUnanswered(c) && !is.PingTime.Equal(was.PingTime):
		t.recordPing(now) // by this Coordinator, or by another
	}
	if was.BinaryVersion != is.BinaryVersion || was.EmulationVersion != is.EmulationVersion ||
		was.Strategy != is.Strategy || !slices.Equal(was.PreferredStrategies, is.PreferredStrategies) {
		e.offers++
	}
	e.touch(e)
}

// isValid reports whether an entrant has renewed within Validity. Others do not count.
func (t *entrant) isValid(now time.Time) bool { return now.Sub(t.seen) < t.election.opts.Validity }

func (t *entrant) recordPing(now time.Time) {
	t.pinged, t.pingSeen = now, true
	t.pings++
}

func backoff(d time.Duration, n int, limit time.Duration) time.Duration {
	for ; n > 0 && d < limit; n-- {
		d *= 2
	}
	return min(d, limit)
}

// deferUntil makes others preferred until a time.
func (t *entrant) deferUntil(until time.Time) {
	if t.deferredUntil.Before(until) {
		t.deferredUntil = until
	}
}

// checkEntrants looks for candidates that do not answer. It pings a candidate without a sign of life
// for half of Validity, and deletes it after the whole. It returns the error of a deletion.
func (e *election) checkEntrants(now time.Time) (failed error) {
	var dead []*entrant
	for _, t := range e.entrants {
		e.checkSilence(t, now)
		age, window := min(now.Sub(t.seen), now.Sub(t.since)), t.pinged.Add(e.opts.PingWindow)
		switch validity := e.opts.Validity; {
		case age < validity/2:
			e.wakeAt(now.Add(validity/2 - age))
		case t.pings == 0 || age >= validity && !t.pingSeen:
			e.ping(t, now)
		case age < validity:
			e.wakeAt(now.Add(validity - age))
		case now.Before(window):
			e.wakeAt(window)
		default:
			dead = append(dead, t)
		}
		e.checkStanding(t, now)
	}
	for _, t := range dead {
		if err := e.collect(t); err != nil {
			failed = err
			e.wakeAt(now.Add(e.opts.Validity))
		}
	}
	return failed
}

// checkSilence records whether an entrant did not answer its ping in time.
func (e *election) checkSilence(t *entrant, now time.Time) {
	switch end := t.pinged.Add(e.opts.PingWindow); {
	case t.silent || t.pings == 0:
	case now.Before(end):
		e.wakeAt(end)
	default:
		t.silent = true
		t.silences++
		t.deferUntil(now.Add(backoff(e.opts.PingWindow, t.silences, e.opts.Validity)))
		e.log(Silent, t.c.Name, nil)
	}
}

// checkStanding counts a change of the offers if an entrant now counts in another way.
func (e *election) checkStanding(t *entrant, now time.Time) {
	s := standing{t.isValid(now), t.silent, t.silences > 0, now.Before(t.deferredUntil)}
	if s != t.standing {
		t.standing = s
		e.offers++
	}
	if s.valid {
		e.wakeAt(t.seen.Add(e.opts.Validity))
	}
	if s.deferred {
		e.wakeAt(t.deferredUntil)
	}
}

// ping sets pingTime of a candidate, unless the candidate has just renewed.
func (e *election) ping(t *entrant, now time.Time) {
	renewed, before := t.c.Spec.RenewTime, t.pings
	for {
		c, err := e.candidates.Get(e.ctx, e.namespace, t.c.Name)
		if err != nil || c.UID != t.c.UID || !c.Spec.RenewTime.Equal(renewed) {
			break // it is gone or has answered; the watch will report it
		}
		c.Spec.PingTime = t.pingTime(e.st.Now())
		c, err = e.candidates.Update(e.ctx, c, store.UpdateOptions{FieldManager: e.opts.FieldManager})
		if errors.Is(err, store.ErrConflict) {
			continue
		}
		if err == nil {
			e.update(t, c)
			e.log(Pinged, c.Name, nil)
		}
		break
	}
	if t.pings == before {
		t.recordPing(now)
	}
	e.touch(e)
}

// pingTime returns the time of a new ping: later than the last ping, and than renewTime even if the
// clock of the candidate is ahead.
func (t *entrant) pingTime(now time.Time) *meta.MicroTime {
	for _, before := range []*meta.MicroTime{t.c.Spec.RenewTime, t.c.Spec.PingTime} {
		if before != nil && !now.After(before.Time) {
			now = before.Add(time.Microsecond)
		}
	}
	return new(meta.NewMicroTime(now))
}

// collect deletes a candidate, unless it has changed in the meantime.
func (e *election) collect(t *entrant) error {
	p := namespacedName{e.namespace, t.c.Name}
	_, err := e.candidates.Delete(e.ctx, p.namespace, p.name, store.DeleteOptions{ResourceVersion: t.c.ResourceVersion})
	if err == nil {
		e.log(Collected, p.name, nil)
	} else if errors.Is(err, store.ErrConflict) {
		var c *LeaseCandidate
		if c, err = e.candidates.Get(e.ctx, p.namespace, p.name); err == nil {
			e.applyCandidate(c)
			return nil
		}
	}
	if err != nil && !errors.Is(err, store.ErrNotFound) {
		return err
	}
	e.leave(p)
	return nil
}
