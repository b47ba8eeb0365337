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
	// pinged is the time of the last ping that is unanswered. pings counts
	// unanswered pings.
	pinged time.Time
	pings  int
	// asked is set if this coordinator saw the last ping happen.
	asked bool
	// silent is set once the time for an answer has passed.
	silent bool
	// late counts silences since the last answer in time. While it is not 0, the
	// candidate has to answer a ping to be elected: another sign of life is not
	// enough.
	late int
	// missed counts elections in a row after which the candidate never renewed the
	// Lease.
	missed int
	// barred is the end of the time in which others are preferred, because of
	// late or missed.
	barred time.Time
}

// firstSight returns the entrant of a new candidate. Its age follows from the times in
// the object, unless they are in the future. skew is the coordinator's clock minus the
// store's.
func firstSight(c *LeaseCandidate, now time.Time, skew time.Duration) *entrant {
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

// update applies a newer state of the candidate. It reports whether the change matters
// for the choice. A renewTime that is older than Validity by the
// store's clock is no sign of life.
func (t *entrant) update(c *LeaseCandidate, now, clock time.Time, o *ElectorOptions) (changed bool) {
	old := t.c
	t.c = c
	switch renewed := c.Spec.RenewTime; {
	case renewed != nil && !renewed.Equal(old.Spec.RenewTime) && clock.Sub(renewed.Time) < o.Validity:
		changed = t.silent || !t.isValid(now, o)
		if t.pings > 0 && now.Before(t.pinged.Add(o.PingWindow)) {
			changed, t.late = changed || t.late > 0, 0
		}
		t.seen, t.pinged, t.pings, t.asked, t.silent = now, time.Time{}, 0, false, false
	case isUnanswered(c) && !c.Spec.PingTime.Equal(old.Spec.PingTime):
		t.ask(now) // by this coordinator, or by another
	}
	return changed || !sameOffer(&old.Spec, &c.Spec)
}

// sameOffer reports whether versions and strategies are equal.
func sameOffer(a, b *LeaseCandidateSpec) bool {
	return a.BinaryVersion == b.BinaryVersion && a.EmulationVersion == b.EmulationVersion && a.Strategy == b.Strategy &&
		slices.Equal(a.PreferredStrategies, b.PreferredStrategies)
}

// age returns the time since the last sign of life, or since the creation.
func (t *entrant) age(now time.Time) time.Duration {
	if t.seen.After(t.since) {
		return now.Sub(t.seen)
	}
	return now.Sub(t.since)
}

// isValid reports whether an entrant counts at all: it has renewed within Validity.
func (t *entrant) isValid(now time.Time, o *ElectorOptions) bool {
	return !t.seen.IsZero() && now.Sub(t.seen) < o.Validity
}

// ask notes that an entrant was pinged.
func (t *entrant) ask(now time.Time) {
	t.pinged, t.asked = now, true
	t.pings++
}

// nextPing returns when to ping an entrant again that does not answer. The pause
// doubles each time.
func (t *entrant) nextPing(o *ElectorOptions) time.Time {
	return t.pinged.Add(backoff(o.PingWindow, t.pings, o.Validity/2))
}

// backoff doubles a duration n times, up to a limit.
func backoff(d time.Duration, n int, limit time.Duration) time.Duration {
	for ; n > 0 && d < limit; n-- {
		d *= 2
	}
	return min(d, limit)
}

// miss notes that an entrant was elected and let the Lease run out. It reports
// whether others are preferred from now on: the first time they are not.
func (t *entrant) miss(now time.Time, o *ElectorOptions) bool {
	t.missed++
	if t.missed == 1 {
		return false
	}
	t.bar(now.Add(backoff(o.PingWindow, t.missed-1, o.Validity)))
	return true
}

// fallSilent notes that an entrant let the time for an answer pass.
func (t *entrant) fallSilent(now time.Time, o *ElectorOptions) {
	t.silent = true
	t.late++
	t.bar(now.Add(backoff(o.PingWindow, t.late, o.Validity)))
}

// bar makes others preferred until a time.
func (t *entrant) bar(until time.Time) {
	if t.barred.Before(until) {
		t.barred = until
	}
}

// pingTime returns a time that the candidate takes for a new ping: it is later than
// renewTime, even if the clock of the candidate is ahead, and than the last ping.
func (t *entrant) pingTime(now time.Time) *meta.MicroTime {
	for _, before := range []*meta.MicroTime{t.c.Spec.RenewTime, t.c.Spec.PingTime} {
		if before != nil && !now.After(before.Time) {
			now = before.Add(time.Microsecond)
		}
	}
	return new(meta.NewMicroTime(now))
}
