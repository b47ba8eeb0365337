package candidate

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/kubecoord/kubecoord/lease"
)

// place is the namespace and name of a lease.
type namespacedName struct{ namespace, name string }

// contest is the election of one lease: all that is known of the lease and its
// candidates, and what to do next. It makes no write itself.
type contest struct {
	namespacedName
	entrants []*entrant   // by name
	lease    *lease.Lease // the last known state; nil if there is none
	observed lease.Observation
	// leaseVersion is the resourceVersion of what is known, "" for nothing.
	leaseVersion string
	known        bool // the lease, or its absence, was seen
	// round is when the present round of the election began: entrants have
	// given a sign of life since, or shortly before, or are asked for one.
	round time.Time
	// finalist is who was asked again before a holder is to make way for them,
	// "" as long as nobody was in the present round.
	finalist string
	// offers counts the changes in who there is to choose from; decided is
	// the count at the last decision.
	offers, decided int
	decidedAt       time.Time
	// hold is until when nothing is tried after a failure, unless there are
	// other offers; failures counts those in a row.
	hold     time.Time
	holdErr  error
	heldFor  int
	failures int
	failure  string // what was told last
	favoured favoured
	// appointed is whom the last write made holder, until they renew.
	appointed string

	due     time.Time // when to look again without any news; zero is never
	index   int       // in the queue; -1 if it is not in there
	touched bool      // there is news
}

// verdict is what to do next about a contest.
type verdict struct {
	ping    []*entrant
	collect []*entrant
	silent  []*entrant // who just turned out not to answer
	missed  string     // who did not take up the lease
	elect   *ballot    // nil is nothing
	clear   bool       // of preferredHolder
	err     error      // why nobody can be elected
	settled bool       // there is nothing to elect
}

// isOutsiders tells whether a lease is none of the coordinator's business:
// somebody holds it, or held it last, without a strategy. One that was let go
// belongs to nobody; client-go's coordinated electors drop the strategy then.
func isOutsiders(l *lease.Lease) bool {
	return l != nil && l.Spec.Strategy == nil && l.Spec.HolderIdentity != nil && *l.Spec.HolderIdentity != ""
}

// isVacant tells whether the lease is there for the taking.
func (c *contest) isVacant(now time.Time) bool {
	return c.lease == nil || c.lease.Spec.RenewTime == nil || c.observed.Expired(now)
}

func preferredHolder(l *lease.Lease) string {
	if l == nil || l.Spec.PreferredHolder == nil {
		return ""
	}
	return *l.Spec.PreferredHolder
}

// decide returns what to do now, and sets when to look again.
func (c *contest) decide(now time.Time, o *ElectorOptions) (v verdict) {
	c.due = time.Time{}
	c.noteSilence(&v, now, o)
	c.sweep(&v, now, o)
	if isOutsiders(c.lease) {
		c.endRound()
		return v
	}
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
	if c.decided == c.offers && !vacant && now.Before(c.decidedAt.Add(o.PingWindow)) {
		// Nobody new to choose from: a strategy of the user's is undecided.
		c.wakeAt(c.decidedAt.Add(o.PingWindow))
		return v
	}
	if c.round.IsZero() {
		c.round = now
	}
	if !c.awaitsAnswers(&v, now, o) {
		c.count(&v, vacant, now, o)
	}
	return v
}

func (c *contest) endRound() { c.round, c.finalist = time.Time{}, "" }

// wakeAt makes the contest come up again at a time, or before.
func (c *contest) wakeAt(t time.Time) {
	if !t.IsZero() && (c.due.IsZero() || t.Before(c.due)) {
		c.due = t
	}
}

// noteSilence finds out who did not answer in time.
func (c *contest) noteSilence(v *verdict, now time.Time, o *ElectorOptions) {
	for _, t := range c.entrants {
		if t.silent || t.pings == 0 {
			continue
		}
		if end := t.pinged.Add(o.PingWindow); now.Before(end) {
			c.wakeAt(end)
			continue
		}
		t.fallSilent(now, o)
		c.offers++
		v.silent = append(v.silent, t)
	}
}

// sweep asks entrants that were silent for long whether they are still
// there, and collects those that are not.
func (c *contest) sweep(v *verdict, now time.Time, o *ElectorOptions) {
	for _, t := range c.entrants {
		age, ask := t.age(now), o.Validity/2
		switch {
		case age < ask:
			c.wakeAt(now.Add(ask - age))
		case t.pings == 0 || age >= o.Validity && !t.asked:
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

// noteMissed finds out whether the entrant who was made holder has let the
// lease run out without ever renewing it.
func (c *contest) noteMissed(v *verdict, now time.Time, o *ElectorOptions) {
	if c.appointed == "" || !c.observed.Expired(now) {
		return
	}
	if t := c.entrant(c.appointed); t != nil {
		v.missed = c.appointed
		if t.miss(now, o) {
			c.offers++
		}
	}
	c.appointed = ""
}

// breath is the least time between a sign of life and a ping: an answer that
// came at once could not be told from it where clocks are coarse, or virtual.
const breath = 10 * time.Millisecond

// awaitsAnswers asks all entrants who gave no recent sign of life for one,
// and tells whether there is somebody to wait for. Who left earlier pings
// without an answer is not waited for.
func (c *contest) awaitsAnswers(v *verdict, now time.Time, o *ElectorOptions) bool {
	if c.round.IsZero() {
		return false
	}
	end := c.round.Add(o.PingWindow)
	waiting := false
	for _, t := range c.entrants {
		switch {
		case !t.isValid(now, o) || c.isPresent(t, o):
		case t.pings == 0 && now.Before(t.seen.Add(breath)):
			c.wakeAt(t.seen.Add(breath))
			waiting = true
		case t.pings == 0:
			v.askOnce(t)
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

func (v *verdict) askOnce(t *entrant) {
	if !slices.Contains(v.ping, t) {
		v.ping = append(v.ping, t)
	}
}

// isPresent tells whether an entrant gave a sign of life in the present round,
// or shortly before, and owes none.
func (c *contest) isPresent(t *entrant, o *ElectorOptions) bool {
	return t.late == 0 && t.pings == 0 && !t.seen.Before(c.round.Add(-o.PingWindow))
}

// needsElection tells whether there is a holder to be found: the lease is
// vacant, or somebody else should have it. Those who do not answer do not count.
func (c *contest) needsElection(v *verdict, vacant bool, now time.Time, o *ElectorOptions) bool {
	if !slices.ContainsFunc(c.entrants, func(t *entrant) bool { return t.isValid(now, o) }) {
		v.clear = !vacant && preferredHolder(c.lease) != ""
		return false
	}
	if vacant && (c.lease == nil || o.strategy(strategyOf(c.lease)) != nil) {
		return true
	}
	best, err := c.favourite(now, o)
	if vacant {
		// The strategy is somebody else's, who will find a holder.
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

// favourite returns who would be elected if all answered who have not failed to.
// As long as the offers are the same so is the answer, until an entrant is
// valid or barred no longer.
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

// favoured remembers what favourite found.
type favoured struct {
	offers int
	until  time.Time
	best   *ballot
	err    error
}

func strategyOf(l *lease.Lease) lease.CoordinatedLeaseStrategy {
	if l == nil || l.Spec.Strategy == nil {
		return ""
	}
	return *l.Spec.Strategy
}

// count ends a round: it elects among those who are present. Before a holder is
// to make way for somebody who was there some time ago, they are asked again: a
// holder that is well would let the lease run out for nobody.
func (c *contest) count(v *verdict, vacant bool, now time.Time, o *ElectorOptions) {
	best, err := c.elect(now, o, func(t *entrant) bool { return t.isValid(now, o) && c.isPresent(t, o) })
	if best != nil && !vacant && best.holder != c.observed.Holder() && best.holder != c.finalist {
		if t := c.entrant(best.holder); t != nil && !now.Before(t.seen.Add(breath)) {
			c.round, c.finalist = now, best.holder
			v.askOnce(t)
			return
		}
	}
	c.endRound()
	switch {
	case err != nil:
		v.err = err
		c.holdBack(now, o, err)
	case best == nil:
		v.err = ErrNoCandidates
		c.askAgain(v, now, o)
	default:
		v.elect = best
		c.decided, c.decidedAt = c.offers, now
	}
}

// askAgain asks those once more who have not answered, where nobody has: later
// each time.
func (c *contest) askAgain(v *verdict, now time.Time, o *ElectorOptions) {
	for _, t := range c.entrants {
		if !t.isValid(now, o) || t.pings == 0 {
			continue
		}
		if at := t.nextPing(o); now.Before(at) {
			c.wakeAt(at)
		} else {
			v.askOnce(t)
		}
	}
}

// holdBack puts off the next attempt after one that failed: twice as long each
// time, unless the offers change.
func (c *contest) holdBack(now time.Time, o *ElectorOptions, err error) {
	if c.heldFor != c.offers {
		c.failures = 0
	}
	c.hold, c.heldFor, c.holdErr = now.Add(backoff(o.PingWindow, c.failures, o.Validity/2)), c.offers, err
	c.failures++
	c.wakeAt(c.hold)
}

// elect chooses among those of the entrants that a condition holds for. It
// returns nil where there are none, or none that will do. Those who did not
// take up the lease before come last.
func (c *contest) elect(now time.Time, o *ElectorOptions, is func(t *entrant) bool) (*ballot, error) {
	var all, able []*LeaseCandidate
	for _, t := range c.entrants {
		if !is(t) {
			continue
		}
		all = append(all, t.c)
		if !now.Before(t.barred) {
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
				return nil, fmt.Errorf("strategy %s chose %q, who is not among the candidates", name, best.Name)
			}
			return &ballot{name, best.Name}, nil
		}
	}
	return nil, nil
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

// takeLease takes in a state of the lease; nil is none. One that is seen for
// the first time is as old as it says, as far as that makes sense.
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
	// Somebody else wrote it: the holder, who has taken it up, or another.
	if t := c.entrant(c.appointed); t != nil && c.observed.Holder() == c.appointed {
		t.missed, t.barred = 0, time.Time{}
	}
	c.appointed = ""
}

// enter adds an entrant, or puts a new one in the place of another.
func (c *contest) enter(t *entrant) {
	i, found := c.find(t.c.Name)
	if found {
		c.entrants[i] = t
	} else {
		c.entrants = slices.Insert(c.entrants, i, t)
	}
	c.offers++
}

// leave removes an entrant.
func (c *contest) leave(name string) {
	if i, found := c.find(name); found {
		c.entrants = slices.Delete(c.entrants, i, i+1)
		c.offers++
	}
}
