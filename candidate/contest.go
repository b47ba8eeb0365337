package candidate

import (
	"slices"
	"strings"
	"time"

	"github.com/kubecoord/kubecoord/lease"
)

// namespacedName is the name of a Lease or of a LeaseCandidate.
type namespacedName struct{ namespace, name string }

// contest is the election of one Lease. It has the last known states of the Lease and
// its candidates, and decides about the next step. It writes nothing; the coordinator
// carries out its verdicts.
type contest struct {
	namespacedName
	entrants []*entrant   // sorted by name
	lease    *lease.Lease // the last known state; nil if there is none
	observed lease.Observation
	// leaseVersion is the resourceVersion of the last known state; "" before the
	// Lease is first read.
	leaseVersion string
	// arrivals is zero unless new candidates have come since the last decision.
	arrivals arrivals
	// round is the start of the current round: an entrant takes part if it gave a
	// sign of life since then, or at most PingWindow before. Zero means that there is
	// no round.
	round time.Time
	// finalist is the entrant that the round pinged again before it asks the holder
	// to make way; "" if there is none.
	finalist string
	// offers counts the changes of candidates that can change the choice.
	offers   int
	decision decision // the last one
	// pausedUntil is the end of the pause after a failure. The pause also ends when offers
	// differs from pausedOffers. failures counts failures in a row.
	pausedUntil  time.Time
	pausedOffers int
	failures     int
	failure      string // the error that was logged last
	favoured     favouriteResult
	// appointed is the candidate that the coordinator made the holder; "" after the
	// candidate has renewed the Lease.
	appointed string

	due     time.Time // when to decide again if nothing changes; zero is never
	index   int       // in the queue; -1 if it is not there
	touched bool      // something has changed since the last decision
}

// decision is a choice that was written into the Lease.
type decision struct {
	at     time.Time
	offers int    // contest.offers at the time
	holder string // of the Lease after the decision
	// repeats counts the same decisions before this one: same offers, same holder.
	repeats int
}

// repeatAt returns when the same decision may be made once more. A plain elector
// removes strategy and preferredHolder at each renewal, and a strategy of the user
// may choose differently each time. The pause doubles to limit the number of writes.
func (d *decision) repeatAt(o *ElectorOptions) time.Time {
	return d.at.Add(backoff(o.PingWindow, d.repeats, o.Validity/2))
}

// verdict is the next step of a contest.
type verdict struct {
	ping    []*entrant
	collect []*entrant
	silent  []*entrant // did not answer their ping in time
	missed  string     // the candidate that was elected and never renewed
	elect   *ballot    // nil if there is no election now
	clear   bool       // remove preferredHolder
	err     error      // why nobody can be elected
	settled bool       // the Lease is as it should be
}

// isVacant reports whether the Lease has no holder to respect.
func (c *contest) isVacant(now time.Time) bool {
	return c.lease == nil || c.lease.Spec.RenewTime == nil || c.observed.Expired(now)
}

func preferredHolder(l *lease.Lease) string {
	if l == nil || l.Spec.PreferredHolder == nil {
		return ""
	}
	return *l.Spec.PreferredHolder
}

func strategyOf(l *lease.Lease) lease.CoordinatedLeaseStrategy {
	if l == nil || l.Spec.Strategy == nil {
		return ""
	}
	return *l.Spec.Strategy
}

// decide returns the next step, and sets when to decide again.
func (c *contest) decide(now time.Time, o *ElectorOptions) (v verdict) {
	c.due = time.Time{}
	moreToCome := c.awaitsArrivals(now, o)
	c.findSilent(&v, now, o)
	c.sweep(&v, now, o)
	c.recordMissed(&v, now, o)
	vacant := c.isVacant(now)
	if !vacant {
		c.wakeAt(c.observed.Expires())
	}
	if c.pausedOffers == c.offers && now.Before(c.pausedUntil) {
		c.wakeAt(c.pausedUntil)
		return v
	}
	if c.awaitsAnswers(&v, now, o) {
		return v
	}
	if !c.needsElection(&v, vacant, now, o) {
		c.endRound()
		v.settled = true
		return v
	}
	if again := c.decision.repeatAt(o); !vacant && c.isDecided() && now.Before(again) {
		c.wakeAt(again)
		return v
	}
	if c.round.IsZero() {
		c.round = now
	}
	if !c.awaitsAnswers(&v, now, o) && !(moreToCome && c.finalist == "") {
		c.concludeRound(&v, vacant, now, o)
	}
	return v
}

// isDecided reports whether neither the offers nor the holder have changed since
// the last decision.
func (c *contest) isDecided() bool {
	return c.decision.offers == c.offers && c.decision.holder == c.observed.Holder()
}

// recordDecision records that a candidate was chosen.
func (c *contest) recordDecision(holder string, vacant bool, now time.Time) {
	d := decision{at: now, offers: c.offers, holder: holder}
	if !vacant {
		d.holder = c.observed.Holder()
		if c.isDecided() {
			d.repeats = c.decision.repeats + 1
		}
	}
	c.decision = d
}

func (c *contest) endRound() { c.round, c.finalist = time.Time{}, "" }

// wakeAt makes the contest due at a time, unless it is due earlier.
func (c *contest) wakeAt(t time.Time) {
	if c.due.IsZero() || t.Before(c.due) {
		c.due = t
	}
}

// needsElection reports whether the Lease is vacant, or another candidate should hold
// it. Candidates that do not answer do not count.
func (c *contest) needsElection(v *verdict, vacant bool, now time.Time, o *ElectorOptions) bool {
	if !slices.ContainsFunc(c.entrants, func(t *entrant) bool { return t.isValid(now, o) }) {
		v.clear = !vacant && preferredHolder(c.lease) != ""
		return false
	}
	if vacant && (strategyOf(c.lease) == "" || o.strategy(strategyOf(c.lease)) != nil) {
		return true
	}
	best, err := c.favourite(now, o)
	if vacant {
		// A third party picks the holder, unless the candidates want another strategy.
		return err != nil || best != nil && best.strategy != strategyOf(c.lease)
	}
	holder, preferred := c.observed.Holder(), preferredHolder(c.lease)
	switch {
	case err != nil:
		v.err = err
		return false
	case best == nil || best.holder == holder:
		v.clear = preferred != ""
		return false
	}
	return best.holder != "" && best.holder != preferred
}

// favourite returns the outcome of an election among all candidates that answered their
// pings. It caches the outcome until the offers change, or the Validity or deferredUntil
// of an entrant ends.
func (c *contest) favourite(now time.Time, o *ElectorOptions) (*ballot, error) {
	if f := &c.favoured; f.offers == c.offers && now.Before(f.until) {
		c.wakeAt(f.until)
		return f.best, f.err
	}
	until := now.Add(o.Validity)
	for _, t := range c.entrants {
		if now.Before(t.deferredUntil) {
			until = earlier(until, t.deferredUntil)
		}
		if t.isValid(now, o) {
			until = earlier(until, t.seen.Add(o.Validity))
		}
	}
	best, err := c.elect(now, o, func(t *entrant) bool { return t.isValid(now, o) && !t.silent })
	c.favoured = favouriteResult{c.offers, until, best, err}
	c.wakeAt(until)
	return best, err
}

// favouriteResult is the last result of favourite.
type favouriteResult struct {
	offers int
	until  time.Time
	best   *ballot
	err    error
}

// setLease sets the state of the Lease, nil if there is none, that was seen at a time.
func (c *contest) setLease(l *lease.Lease, at time.Time) {
	c.lease = l
	if !c.observed.Observe(l, at) {
		return
	}
	// The coordinator did not write this state: the elected candidate has renewed the
	// Lease, or another holder has taken it.
	if t := c.entrant(c.appointed); t != nil && c.observed.Holder() == c.appointed {
		t.missed, t.deferredUntil = 0, time.Time{}
	}
	c.appointed = ""
}

// entrant returns the entrant of a name, or nil.
func (c *contest) entrant(name string) *entrant {
	if i, ok := c.find(name); ok {
		return c.entrants[i]
	}
	return nil
}

func (c *contest) find(name string) (int, bool) {
	return slices.BinarySearchFunc(c.entrants, name, func(t *entrant, name string) int { return strings.Compare(t.c.Name, name) })
}

// enter adds an entrant. It replaces an entrant of the same name.
func (c *contest) enter(t *entrant, now time.Time) {
	i, found := c.find(t.c.Name)
	if found {
		c.entrants[i] = t
	} else {
		c.entrants = slices.Insert(c.entrants, i, t)
	}
	c.offers++
	c.arrivals.add(now)
}

// leave removes an entrant.
func (c *contest) leave(name string) {
	if i, found := c.find(name); found {
		c.entrants = slices.Delete(c.entrants, i, i+1)
		c.offers++
	}
}
