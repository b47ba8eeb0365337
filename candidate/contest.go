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
	// leaseVersion is the resourceVersion of the last known state, "" before the
	// first look.
	leaseVersion string
	known        bool // the Lease, or its absence, has been seen
	// arrivals is zero unless new candidates have come since the last decision.
	arrivals arrivals
	// round is the start of the present round: an entrant takes part if it gave a
	// sign of life since then, or at most PingWindow before. Zero means that no
	// round is under way.
	round time.Time
	// finalist is the entrant that was pinged again before the holder is asked to
	// make way for it; "" while the round has none.
	finalist string
	// offers counts the changes of the candidates that matter for the choice.
	offers   int
	decision decision // the last one
	// hold is the end of the pause after a failure. A change of offers ends the
	// pause too. failures counts failures in a row.
	hold     time.Time
	holdErr  error
	heldFor  int
	failures int
	failure  string // the error that was logged last
	favoured favoured
	// appointed is the candidate that the coordinator made holder, until it renews.
	appointed string

	due     time.Time // when to look again if nothing changes; zero is never
	index   int       // in the queue; -1 if it is not there
	touched bool      // something has changed since the last look
}

// decision is a choice that was written into the Lease.
type decision struct {
	at     time.Time
	offers int    // contest.offers at the time
	holder string // of the Lease after the decision
	// repeats counts the same decisions before this one: same offers, same holder.
	repeats int
}

// again returns when the same decision may be made once more. A plain elector
// removes strategy and preferredHolder at each renewal, and a strategy of the user
// may change its mind. The pause doubles so that neither becomes a stream of writes.
func (d *decision) again(o *ElectorOptions) time.Time {
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
	gathering := c.gathers(now, o)
	c.noteSilence(&v, now, o)
	c.sweep(&v, now, o)
	c.noteMissed(&v, now, o)
	vacant := c.isVacant(now)
	if !vacant {
		c.wakeAt(c.observed.Expires())
	}
	if c.heldFor == c.offers && now.Before(c.hold) {
		c.wakeAt(c.hold)
		v.err = c.holdErr
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
	if again := c.decision.again(o); !vacant && c.isDecided() && now.Before(again) {
		c.wakeAt(again)
		return v
	}
	if c.round.IsZero() {
		c.round = now
	}
	if !c.awaitsAnswers(&v, now, o) && !(gathering && c.finalist == "") {
		c.count(&v, vacant, now, o)
	}
	return v
}

// isDecided reports whether neither the offers nor the holder have changed since
// the last decision.
func (c *contest) isDecided() bool {
	return c.decision.offers == c.offers && c.decision.holder == c.observed.Holder()
}

// decided notes that a candidate was chosen.
func (c *contest) decided(holder string, vacant bool, now time.Time) {
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

// wakeAt makes sure that the contest is looked at again at a time, or earlier.
func (c *contest) wakeAt(t time.Time) {
	if !t.IsZero() && (c.due.IsZero() || t.Before(c.due)) {
		c.due = t
	}
}

// needsElection reports whether a holder has to be found: the Lease is vacant, or
// another candidate should hold it. Candidates that do not answer do not count.
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
		// A third party finds the holder, unless the candidates want another strategy.
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

// favourite returns the outcome of an election of all candidates that answered their
// pings. The outcome is remembered: it stays the same until
// the offers change, or the time of an entrant's Validity or bar is over.
func (c *contest) favourite(now time.Time, o *ElectorOptions) (*ballot, error) {
	if f := &c.favoured; f.offers == c.offers && now.Before(f.until) {
		c.wakeAt(f.until)
		return f.best, f.err
	}
	until := now.Add(o.Validity)
	for _, t := range c.entrants {
		if now.Before(t.barred) {
			until = earlier(until, t.barred)
		}
		if t.isValid(now, o) {
			until = earlier(until, t.seen.Add(o.Validity))
		}
	}
	best, err := c.elect(now, o, func(t *entrant) bool { return t.isValid(now, o) && !t.silent })
	c.favoured = favoured{c.offers, until, best, err}
	c.wakeAt(until)
	return best, err
}

// favoured is the last result of favourite.
type favoured struct {
	offers int
	until  time.Time
	best   *ballot
	err    error
}

// takeLease sets the state of the Lease; nil is none. A Lease that is seen for
// the first time counts as renewed at its renewTime, or now if that is later.
func (c *contest) takeLease(l *lease.Lease, now time.Time, skew time.Duration) {
	at := now
	if !c.known && l != nil && l.Spec.RenewTime != nil {
		at = earlier(l.Spec.RenewTime.Add(skew), now)
	}
	c.known = true
	c.lease = l
	if !c.observed.Observe(l, at) || c.appointed == "" {
		return
	}
	// The coordinator did not write this state: the elected candidate has taken
	// the Lease up, or somebody else has taken it.
	if t := c.entrant(c.appointed); t != nil && c.observed.Holder() == c.appointed {
		t.missed, t.barred = 0, time.Time{}
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
