package candidate

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/kubecoord/kubecoord/lease"
	"github.com/kubecoord/kubecoord/store"
	"github.com/kubecoord/kubecoord/store/meta"
)

// election is the last known state of one Lease and of its candidates, and how far their election has come.
type election struct {
	*elections
	namespacedName
	entrants []*entrant   // sorted by name
	lease    *lease.Lease // the last known state; nil if there is none
	observed lease.Observation
	// leaseVersion is the resourceVersion of the last known state; 0 before the first read.
	leaseVersion uint64
	// The arrivals of a group of new candidates; zero without a group.
	firstArrival, lastArrival time.Time
	// round is the start of the current round, or zero: an entrant takes part if it gave a sign
	// of life since then, or at most PingWindow before.
	round time.Time
	// finalist is the entrant that the round pinged again before it asks the holder to make way.
	finalist string
	offers   int       // how often candidates changed in a way that can change the choice
	favoured favourite // the last result of favourite
	// last is the last attempt, repeats how often it was made again, and repeatAt when it may be
	// made again: a pause that doubles limits the number of writes.
	last      attempt
	repeats   int
	repeatAt  time.Time
	failure   string // the error that was logged last
	appointed string // the candidate that the Coordinator made the holder, until it renews the Lease

	due     time.Time // of the next step if nothing changes; zero is never
	touched bool      // something has changed since the last step
}

// attempt is a try to change the Lease, with the holder after it.
type attempt struct {
	offers int
	holder string
	failed bool
}

// favourite is the outcome of an election for certain offers.
type favourite struct {
	offers int
	best   *ballot
	err    error
}

// step takes the next step of the election (upstream: leaderelection_controller.go,
// reconcileElectionStep), and sets due. A change by the step is followed by another step.
func (e *election) step() {
	now := e.clock.Now()
	e.due = time.Time{}
	e.checkAppointed(now)
	failed := e.checkEntrants(now)
	settled, err := e.decide(now)
	err = cmp.Or(err, failed)
	switch {
	case err == nil && settled:
		e.failure = ""
	case err != nil && e.failure != err.Error(): // once, until it no longer applies
		e.failure = err.Error()
		e.log(Failed, "", err)
	}
}

// decide holds the election if it is time to, and reports whether the Lease is as it should be.
func (e *election) decide(now time.Time) (settled bool, err error) {
	moreToCome := e.awaitsArrivals(now)
	vacant := e.isVacant(now)
	if !vacant {
		e.wakeAt(e.observed.Expires())
	}
	if e.isRepeated(true, now) || e.awaitsAnswers(now) {
		return false, nil
	}
	needed, clear, err := e.needsElection(vacant, now)
	switch {
	case !needed:
		e.endRound()
		if clear {
			err = e.write(nil, now)
		}
		return true, err
	case !vacant && e.isRepeated(false, now):
		return false, nil
	case e.round.IsZero():
		e.round = now
	}
	if e.awaitsAnswers(now) || moreToCome && e.finalist == "" {
		return false, nil
	}
	return e.conclude(vacant, now)
}

// wakeAt makes the election due at a time, unless it is due earlier.
func (e *election) wakeAt(t time.Time) {
	if e.due.IsZero() || t.Before(e.due) {
		e.due = t
	}
}

// arrivalPause is the time without a new candidate that ends a group of arrivals: by default 200ms.
func (o *CoordinatorOptions) arrivalPause() time.Duration { return o.PingWindow / 25 }

// awaitsArrivals reports whether more candidates may come soon. The election waits for all
// processes that start together, or the first one would be elected and the best one would have to
// wait until the Lease expires. It waits for five pauses at most.
func (e *election) awaitsArrivals(now time.Time) bool {
	pause := e.opts.arrivalPause()
	if end := earlier(e.lastArrival.Add(pause), e.firstArrival.Add(5*pause)); now.Before(end) {
		e.wakeAt(end)
		return true
	}
	e.firstArrival = time.Time{}
	return false
}

// minPingDelay is the least time between a sign of life and a ping: an answer in the same tick of a
// coarse or virtual clock would look like the earlier sign of life.
const minPingDelay = 10 * time.Millisecond

// awaitsAnswers pings all entrants that gave no recent sign of life, and reports whether the round
// has to wait for an answer. It does not wait for silent entrants.
func (e *election) awaitsAnswers(now time.Time) bool {
	if e.round.IsZero() {
		return false
	}
	waiting := false
	for _, t := range e.entrants {
		switch {
		case !t.isValid(now) || e.isPresent(t):
		case t.pings == 0 && now.Before(t.seen.Add(minPingDelay)):
			e.wakeAt(t.seen.Add(minPingDelay))
			waiting = true
		case t.pings == 0:
			e.ping(t, now)
			waiting = true
		case !t.silent:
			waiting = true
		}
	}
	end := e.round.Add(e.opts.PingWindow)
	if !waiting || !now.Before(end) {
		return false
	}
	e.wakeAt(end)
	return true
}

// isPresent reports whether an entrant takes part in the current round: it gave a sign of life in
// the round or at most PingWindow before, and has answered its last ping in time.
func (e *election) isPresent(t *entrant) bool {
	return t.silences == 0 && t.pings == 0 && !t.seen.Before(e.round.Add(-e.opts.PingWindow))
}

// needsElection reports whether the Lease is vacant, or another candidate should hold it, or whether
// only preferredHolder is to be cleared. Candidates that do not answer do not count.
func (e *election) needsElection(vacant bool, now time.Time) (needed, clear bool, err error) {
	preferred, strategy := preferredHolder(e.lease), strategyOf(e.lease)
	if !slices.ContainsFunc(e.entrants, func(t *entrant) bool { return t.isValid(now) }) {
		return false, !vacant && preferred != "", nil
	}
	if vacant && (strategy == "" || e.opts.Strategies[strategy] != nil) {
		return true, false, nil
	}
	best, err := e.favourite(now)
	switch {
	case vacant: // a third party picks the holder, unless the candidates want another strategy
		return err != nil || best != nil && best.strategy != strategy, false, nil
	case err != nil:
		return false, false, err
	case best == nil || best.holder == e.observed.Holder():
		return false, preferred != "", nil
	}
	return best.holder != "" && best.holder != preferred, false, nil
}

// favourite returns the outcome of an election among all candidates that answered their pings. It is
// computed once for the same offers: a renewal of the Lease does not change it.
func (e *election) favourite(now time.Time) (*ballot, error) {
	if e.favoured.offers != e.offers {
		best, err := e.choose(now, func(t *entrant) bool { return t.isValid(now) && !t.silent })
		e.favoured = favourite{e.offers, best, err}
	}
	return e.favoured.best, e.favoured.err
}

// choose chooses among the entrants for which is returns true. It returns nil if there are none, or
// if the strategy chooses none of them. It chooses an entrant before its deferredUntil only if
// there is no other.
func (e *election) choose(now time.Time, is func(t *entrant) bool) (*ballot, error) {
	var all, able []*LeaseCandidate
	for _, t := range e.entrants {
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
	strategy := e.opts.Strategies[name]
	if strategy == nil {
		return &ballot{strategy: name}, nil
	}
	for _, among := range [][]*LeaseCandidate{able, all} {
		if len(among) == 0 {
			continue
		}
		if best := strategy(among); best != nil {
			if e.entrant(best.Name) == nil {
				return nil, fmt.Errorf("strategy %s chose %q, which is not a candidate", name, best.Name)
			}
			return &ballot{name, best.Name}, nil
		}
	}
	return nil, nil
}

// conclude chooses among the entrants that are present. A healthy holder lets its Lease expire for a
// preferredHolder. So the best entrant is pinged once more first, unless it has just given a sign
// of life or is new.
func (e *election) conclude(vacant bool, now time.Time) (settled bool, err error) {
	best, err := e.choose(now, func(t *entrant) bool { return t.isValid(now) && e.isPresent(t) })
	if best != nil && !vacant && best.holder != e.observed.Holder() && best.holder != e.finalist {
		if t := e.entrant(best.holder); t != nil && !now.Before(t.seen.Add(max(minPingDelay, 2*e.opts.arrivalPause()))) {
			e.round, e.finalist = now, best.holder
			e.ping(t, now)
			return false, nil
		}
	}
	e.endRound()
	switch {
	case err != nil:
		e.record(true, now)
		return false, err
	case best == nil:
		e.pingAgain(now)
		return false, ErrNoCandidates
	}
	return true, e.write(best, now)
}

func (e *election) endRound() { e.round, e.finalist = time.Time{}, "" }

// pingAgain pings the valid entrants again if none has answered. The pause before each ping doubles.
func (e *election) pingAgain(now time.Time) {
	for _, t := range e.entrants {
		if !t.isValid(now) || t.pings == 0 {
			continue
		}
		if at := t.pinged.Add(backoff(e.opts.PingWindow, t.pings, e.opts.Validity/2)); now.Before(at) {
			e.wakeAt(at)
		} else {
			e.ping(t, now)
		}
	}
}

// record records an attempt. A plain elector removes strategy and preferredHolder at each
// renewal, and a strategy of the user may choose differently each time.
func (e *election) record(failed bool, now time.Time) {
	a := attempt{e.offers, e.observed.Holder(), failed}
	if e.repeats++; a != e.last {
		e.last, e.repeats = a, 0
	}
	e.repeatAt = now.Add(backoff(e.opts.PingWindow, e.repeats, e.opts.Validity/2))
}

// isRepeated reports whether the next attempt would be the last one again, too soon.
func (e *election) isRepeated(failed bool, now time.Time) bool {
	if e.last != (attempt{e.offers, e.observed.Holder(), failed}) || !now.Before(e.repeatAt) {
		return false
	}
	e.wakeAt(e.repeatAt)
	return true
}

// isVacant reports whether the Lease has no holder to respect.
func (e *election) isVacant(now time.Time) bool {
	return e.lease == nil || e.lease.Spec.RenewTime == nil || e.observed.Expired(now)
}

// checkAppointed records that the elected candidate let the Lease expire without renewing it. From
// the second time in a row others are preferred.
func (e *election) checkAppointed(now time.Time) {
	if !e.observed.Expired(now) {
		return
	}
	if t := e.entrant(e.appointed); t != nil {
		e.log(Missed, e.appointed, nil)
		if t.missed++; t.missed > 1 {
			t.deferUntil(now.Add(backoff(e.opts.PingWindow, t.missed-1, e.opts.Validity)))
		}
	}
	e.appointed = ""
}

func (e *election) entrant(name string) *entrant {
	if t := e.elections.entrants[namespacedName{e.namespace, name}]; t != nil && t.election == e {
		return t
	}
	return nil
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

func (e *election) lookUp() {
	version := e.st.ResourceVersion()
	l, err := e.leases.Get(e.ctx, e.namespace, e.name)
	switch {
	case err == nil:
		e.applyLease(l, versionOf(l))
	case errors.Is(err, store.ErrNotFound): // at that version or a later one
		e.leaseVersion = version
		e.setLease(nil, e.clock.Now())
	}
}

// applyLease applies a state of the Lease, nil if deleted, unless it is older than the last known
// state. The time of the first state comes from the history of the store, because the clock of the
// holder may differ.
func (e *election) applyLease(l *lease.Lease, version uint64) {
	if version <= e.leaseVersion {
		return
	}
	at := e.clock.Now()
	if e.leaseVersion == 0 {
		if seen := e.st.SeenAt(version); !seen.IsZero() {
			at = earlier(seen.Add(e.skew()), at)
		}
	}
	e.leaseVersion = version
	e.setLease(l, at)
}

// setLease sets the state of the Lease, nil if there is none, that was seen at a time.
func (e *election) setLease(l *lease.Lease, at time.Time) {
	e.lease = l
	e.touch(e)
	if !e.observed.Observe(l, at) {
		return
	}
	// Not by the Coordinator: the elected candidate has renewed the Lease, or another took it.
	if t := e.entrant(e.appointed); t != nil && e.observed.Holder() == e.appointed {
		t.missed, t.deferredUntil = 0, time.Time{}
	}
	e.appointed = ""
}

// write writes a ballot into the Lease, and creates it if there is none, again after each conflict.
func (e *election) write(b *ballot, now time.Time) error {
	for {
		e.lookUp()
		l := &lease.Lease{
			ObjectMeta: meta.ObjectMeta{Namespace: e.namespace, Name: e.name},
			Spec:       lease.LeaseSpec{LeaseDurationSeconds: new(e.seconds()), RenewTime: new(meta.NewMicroTime(e.st.Now()))},
		}
		if e.lease != nil {
			l = new(*e.lease)
		}
		done := b.carryOut(&l.Spec, e.isVacant(e.clock.Now()), meta.NewMicroTime(e.st.Now()), e.seconds())
		var err error
		switch {
		case done == "":
		case e.lease == nil:
			l, err = e.leases.Create(e.ctx, l, store.CreateOptions{FieldManager: e.opts.FieldManager})
		default:
			l, err = e.leases.Update(e.ctx, l, store.UpdateOptions{FieldManager: e.opts.FieldManager})
		}
		if errors.Is(err, store.ErrConflict) || errors.Is(err, store.ErrAlreadyExists) {
			continue
		}
		if err == nil && done != "" {
			e.wrote(l, done)
		}
		if err != nil || b != nil {
			e.record(err != nil, now)
		}
		return err
	}
}

func (e *election) seconds() int32 { return int32(e.opts.LeaseDuration / time.Second) }

func (e *election) wrote(l *lease.Lease, done ElectionEventType) {
	e.applyLease(l, versionOf(l))
	switch done {
	case Elected:
		e.appointed = e.observed.Holder()
		e.log(done, e.appointed, nil)
	case Preferred:
		e.appointed = ""
		e.log(done, preferredHolder(l), nil)
	default:
		e.log(done, "", nil)
	}
}

func (e *election) log(typ ElectionEventType, candidate string, err error) {
	e.opts.Log(ElectionEvent{Time: e.st.Now(), Type: typ, Namespace: e.namespace, Lease: e.name, Candidate: candidate, Err: err})
}
