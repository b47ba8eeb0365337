package candidate

import (
	"slices"
	"time"

	"github.com/kubecoord/kubecoord/store/meta"
)

// entrant is the coordinator's view of one candidate. Its times are readings of
// Store.Clock when the coordinator saw a change. The candidate's clock may differ, so
// only changes of renewTime matter, not its value.
type entrant struct {
	c *LeaseCandidate
	// seen is the time of the last sign of life; zero if the candidate never
	// renewed.
	seen time.Time
	// since is when the candidate was created. A candidate that never renewed is
	// pinged half of Validity later.
	since time.Time
	// pinged is the time of the last ping. pings counts unanswered pings.
	pinged time.Time
	pings  int
	// pingSeen is set if the last ping was made while this coordinator was running.
	pingSeen bool
	// silent is set once the time for an answer has passed.
	silent bool
	// silences counts the pings that were not answered in time since the last answer in
	// time. While it is not 0, the candidate must answer a ping to be elected: another
	// sign of life is not enough.
	silences int
	// missed counts elections in a row after which the candidate never renewed the
	// Lease.
	missed int
	// deferredUntil is the end of the time in which others are preferred, because of
	// silences or missed.
	deferredUntil time.Time
}

// newEntrant returns the entrant of a new candidate. Its times come from the object, or are
// now if the object's times are in the future. skew is the coordinator's clock minus the
// store's.
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

// isUnanswered reports whether a candidate has been pinged after it last renewed.
func isUnanswered(c *LeaseCandidate) bool {
	renewed, pinged := c.Spec.RenewTime, c.Spec.PingTime
	return pinged != nil && (renewed == nil || pinged.After(renewed.Time))
}

// maxSkew is how far the clock of a candidate may be behind that of the store.
const maxSkew = 24 * time.Hour

// update applies a newer state of the candidate, and reports whether the change can change
// the choice. A new renewTime is a sign of life if it is less than Validity ago by the store's
// clock, or later than the one before, by a clock that is behind. Others are old states that
// somebody has written.
func (t *entrant) update(c *LeaseCandidate, now, clock time.Time, o *ElectorOptions) (changed bool) {
	old := t.c
	t.c = c
	limit := o.Validity
	if was := old.Spec.RenewTime; was != nil && c.Spec.RenewTime != nil && c.Spec.RenewTime.After(was.Time) {
		limit = max(limit, maxSkew)
	}
	switch renewed := c.Spec.RenewTime; {
	case renewed != nil && !renewed.Equal(old.Spec.RenewTime) && clock.Sub(renewed.Time) < limit:
		changed = t.silent || !t.isValid(now, o)
		if now.Before(t.pinged.Add(o.PingWindow)) {
			changed, t.silences = changed || t.silences > 0, 0
		}
		t.seen, t.pings, t.silent = now, 0, false
	case isUnanswered(c) && !c.Spec.PingTime.Equal(old.Spec.PingTime):
		t.recordPing(now) // by this coordinator, or by another
	}
	was, is := &old.Spec, &c.Spec
	return changed || was.BinaryVersion != is.BinaryVersion || was.EmulationVersion != is.EmulationVersion ||
		was.Strategy != is.Strategy || !slices.Equal(was.PreferredStrategies, is.PreferredStrategies)
}

// age returns the time since the last sign of life, or since the creation.
func (t *entrant) age(now time.Time) time.Duration { return min(now.Sub(t.seen), now.Sub(t.since)) }

// isValid reports whether an entrant has renewed within Validity. Others do not count. The
// zero time is longer ago than any Validity.
func (t *entrant) isValid(now time.Time, o *ElectorOptions) bool {
	return now.Sub(t.seen) < o.Validity
}

// recordPing records that an entrant was pinged.
func (t *entrant) recordPing(now time.Time) {
	t.pinged, t.pingSeen = now, true
	t.pings++
}

// backoff doubles a duration n times, up to a limit.
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

// pingTime returns the time of a new ping. It is later than renewTime, even if the clock
// of the candidate is ahead, and later than the last ping.
func (t *entrant) pingTime(now time.Time) *meta.MicroTime {
	for _, before := range []*meta.MicroTime{t.c.Spec.RenewTime, t.c.Spec.PingTime} {
		if before != nil && !now.After(before.Time) {
			now = before.Add(time.Microsecond)
		}
	}
	return new(meta.NewMicroTime(now))
}
