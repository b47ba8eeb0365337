package candidate

import (
	"slices"
	"time"

	"github.com/kubecoord/kubecoord/store/meta"
)

// entrant is what the coordinator knows of one candidate. Its times are those
// of Store.Clock, at which things were seen to happen: a candidate's own clock
// may differ, so that renewTime is only looked at for whether it changed.
type entrant struct {
	c *LeaseCandidate
	// seen is the last sign of life; zero where there was none, or where the
	// candidate never renewed at all.
	seen time.Time
	// since is when it was created: nobody is asked for a sign of life before
	// half of the validity has passed.
	since time.Time
	// pinged is when it was last asked for one in vain, and pings how often.
	pinged time.Time
	pings  int
	// asked tells that this coordinator was there when it was last asked.
	asked bool
	// silent tells that the time for an answer has passed without one.
	silent bool
	// late counts how often it was silent since it last answered in time. A
	// sign of life is not enough to be elected then: it has to answer.
	late int
	// missed counts how often in a row it was elected and did not take up the
	// lease.
	missed int
	// barred is until when others are preferred, for either.
	barred time.Time
}

// firstSight makes an entrant of a candidate that was not known: its age is
// what its own times say, as far as they make sense. skew is what has to be
// added to them to get such times.
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

// isUnanswered tells whether a candidate still owes an answer, by its own word.
func isUnanswered(c *LeaseCandidate) bool {
	renewed, pinged := c.Spec.RenewTime, c.Spec.PingTime
	return pinged != nil && (renewed == nil || pinged.After(renewed.Time))
}

// update takes in a newer state of the candidate. It reports whether anything
// changed that the choice depends on. A renewTime that by the store's clock is
// from long ago is no sign of life.
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

// sameOffer compares what a candidate says about itself.
func sameOffer(a, b *LeaseCandidateSpec) bool {
	return a.BinaryVersion == b.BinaryVersion && a.EmulationVersion == b.EmulationVersion && a.Strategy == b.Strategy &&
		slices.Equal(a.PreferredStrategies, b.PreferredStrategies)
}

// age is how long an entrant has given no sign of life, though it was there.
func (t *entrant) age(now time.Time) time.Duration {
	if t.seen.After(t.since) {
		return now.Sub(t.seen)
	}
	return now.Sub(t.since)
}

// isValid tells whether an entrant counts at all: it has renewed, and not too
// long ago.
func (t *entrant) isValid(now time.Time, o *ElectorOptions) bool {
	return !t.seen.IsZero() && now.Sub(t.seen) < o.Validity
}

// ask notes that an entrant was asked for a sign of life.
func (t *entrant) ask(now time.Time) {
	t.pinged, t.asked = now, true
	t.pings++
}

// nextPing is when one who does not answer is asked again: later each time.
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

// miss notes that an entrant was elected and let the lease run out. The first
// time may be bad luck; it reports whether others are preferred from now on.
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

// bar lets others be preferred until a time.
func (t *entrant) bar(until time.Time) {
	if t.barred.Before(until) {
		t.barred = until
	}
}

// pingTime returns what to write so that the candidate takes it for a ping: a
// time that is later than its renewTime, even if its clock is ahead, and than
// the last ping.
func (t *entrant) pingTime(now time.Time) *meta.MicroTime {
	for _, before := range []*meta.MicroTime{t.c.Spec.RenewTime, t.c.Spec.PingTime} {
		if before != nil && !now.After(before.Time) {
			now = before.Add(time.Microsecond)
		}
	}
	return new(meta.NewMicroTime(now))
}
