package candidate

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/kubecoord/kubecoord/lease"
	"github.com/kubecoord/kubecoord/store/meta"
)

func TestOnlyTheRenewalOfTheAppointedEndsItsDeferment(t *testing.T) {
	now := time.Now()
	for holder, ended := range map[string]bool{"a": true, "b": false} {
		a := &entrant{c: offer("a", "1.0.0", "1.0.0"), missed: 2, deferredUntil: now.Add(time.Hour)}
		c := contest{entrants: []*entrant{a}, appointed: "a"}
		c.setLease(&lease.Lease{Spec: lease.LeaseSpec{HolderIdentity: &holder}}, now)
		assert.Equal(t, ended, a.missed == 0, holder)
		assert.Equal(t, ended, a.deferredUntil.IsZero(), holder)
		assert.Empty(t, c.appointed)
	}
	// A write of another field is no renewal.
	a := &entrant{c: offer("a", "1.0.0", "1.0.0"), missed: 2}
	c := contest{entrants: []*entrant{a}}
	l := lease.Lease{Spec: lease.LeaseSpec{HolderIdentity: new("a")}}
	c.setLease(&l, now)
	c.appointed = "a"
	l.Spec.Strategy = new(lease.OldestEmulationVersion)
	c.setLease(&l, now)
	assert.Equal(t, "a", c.appointed)
	assert.Equal(t, 2, a.missed)

	c = contest{appointed: "gone"}
	c.setLease(&lease.Lease{Spec: lease.LeaseSpec{HolderIdentity: new("gone")}}, now)
	assert.Empty(t, c.appointed)
}

func TestLeaveOfAStrangerChangesNothing(t *testing.T) {
	c := contest{entrants: []*entrant{{c: offer("b", "1.0.0", "1.0.0")}}}
	c.leave("a")
	assert.Len(t, c.entrants, 1)
	assert.Zero(t, c.offers)
}

// newTestContest returns a contest of entrants that have just renewed, for a Lease that x has held
// for a second of 15.
func newTestContest(now time.Time, entrants ...*LeaseCandidate) *contest {
	k := &contest{}
	for _, c := range entrants {
		k.entrants = append(k.entrants, &entrant{c: c, seen: now, since: now})
	}
	k.setLease(&lease.Lease{Spec: lease.LeaseSpec{
		HolderIdentity: new("x"), LeaseDurationSeconds: new(int32(15)), RenewTime: new(meta.NewMicroTime(now)), Strategy: new(lease.OldestEmulationVersion),
	}}, now.Add(-time.Second))
	return k
}

func TestElectionIsNeededIfTheLeaseIsVacantOrAnotherShouldHoldIt(t *testing.T) {
	now := time.Now()
	a, wantsY := offer("a", "1.0.0", "1.0.0"), offer("b", "1.0.0", "1.0.0")
	wantsY.Spec.Strategy = y
	oldest, nobody := lease.OldestEmulationVersion, []*LeaseCandidate(nil)
	type candidates = []*LeaseCandidate
	for name, row := range map[string]struct {
		candidates        candidates
		strategy          lease.CoordinatedLeaseStrategy // of the Lease
		holder, preferred string
		vacant            bool
		needed, clear     bool
		err               error
	}{
		"vacant, nobody":                               {candidates: nobody, strategy: oldest, vacant: true},
		"vacant, nobody, preferred":                    {candidates: nobody, strategy: oldest, vacant: true, preferred: "a"},
		"vacant":                                       {candidates: candidates{a}, strategy: oldest, vacant: true, needed: true},
		"vacant, of a plain elector":                   {candidates: candidates{a}, vacant: true, needed: true},
		"vacant, a third party picks":                  {candidates: candidates{wantsY}, strategy: y, vacant: true},
		"vacant, a third party no longer picks":        {candidates: candidates{a}, strategy: y, vacant: true, needed: true},
		"vacant, a third party, and candidates differ": {candidates: candidates{a, wantsY}, strategy: y, vacant: true, needed: true},
		"held, nobody":                                 {candidates: nobody, strategy: oldest, holder: "x"},
		"held, nobody, preferred":                      {candidates: nobody, strategy: oldest, holder: "x", preferred: "a", clear: true},
		"held by the best":                             {candidates: candidates{a}, strategy: oldest, holder: "a"},
		"held by the best, another preferred":          {candidates: candidates{a}, strategy: oldest, holder: "a", preferred: "x", clear: true},
		"held by another":                              {candidates: candidates{a}, strategy: oldest, holder: "x", needed: true},
		"held by another, the best preferred":          {candidates: candidates{a}, strategy: oldest, holder: "x", preferred: "a"},
		"held by another, a worse one preferred":       {candidates: candidates{a}, strategy: oldest, holder: "x", preferred: "b", needed: true},
		"held, a third party picks":                    {candidates: candidates{wantsY}, strategy: y, holder: "x"},
		"held, a third party picks, preferred":         {candidates: candidates{wantsY}, strategy: y, holder: "x", preferred: "a"},
		"held, and candidates differ":                  {candidates: candidates{a, wantsY}, strategy: oldest, holder: "x", err: ErrConflictingStrategies},
	} {
		var o ElectorOptions
		o.setDefaults()
		k := newTestContest(now, row.candidates...)
		k.lease.Spec.Strategy, k.lease.Spec.PreferredHolder, k.lease.Spec.HolderIdentity = &row.strategy, &row.preferred, &row.holder
		k.setLease(k.lease, now)
		var v verdict
		assert.Equal(t, row.needed, k.needsElection(&v, row.vacant, now, &o), name)
		assert.Equal(t, row.clear, v.clear, name)
		assert.ErrorIs(t, v.err, row.err, name)
	}
}

func TestFavouriteIsKeptUntilItCanChange(t *testing.T) {
	var o ElectorOptions
	o.setDefaults()
	now := time.Now()
	for name, row := range map[string]struct {
		change func(a *entrant)
		best   string
		lasts  time.Duration
	}{
		"all count":               {func(*entrant) {}, "a", o.Validity},
		"the best is silent":      {func(a *entrant) { a.silent = true }, "b", o.Validity},
		"the best is too old":     {func(a *entrant) { a.seen = now.Add(-o.Validity) }, "b", o.Validity},
		"the best is old":         {func(a *entrant) { a.seen = now.Add(-time.Minute) }, "a", o.Validity - time.Minute},
		"the best is deferred":    {func(a *entrant) { a.deferredUntil = now.Add(time.Minute) }, "b", time.Minute},
		"its deferment has ended": {func(a *entrant) { a.deferredUntil = now }, "a", o.Validity},
	} {
		k := newTestContest(now, offer("a", "1.0.0", "1.0.0"), offer("b", "1.0.0", "1.0.0"))
		row.change(k.entrants[0])
		for _, at := range []time.Time{now, now.Add(row.lasts - 1)} {
			k.due = time.Time{}
			best, err := k.favourite(at, &o)
			assert.NoError(t, err, name)
			assert.Equal(t, row.best, best.holder, name)
			assert.Equal(t, now.Add(row.lasts), k.due, name)
		}
		k.entrants[1].c = offer("b", "1.0.0", "0.9.0")
		best, _ := k.favourite(now, &o)
		assert.Equal(t, row.best, best.holder, "nobody said that it has changed")
		again := *k
		again.offers++
		best, _ = again.favourite(now, &o)
		assert.Equal(t, "b", best.holder, name)
		if k.entrants[0].isValid(now.Add(row.lasts), &o) {
			best, _ = k.favourite(now.Add(row.lasts), &o)
			assert.NotNil(t, best, name)
			assert.True(t, k.favoured.until.After(now.Add(row.lasts)), "it is chosen again")
		}
	}
}

func TestDecide(t *testing.T) {
	var o ElectorOptions
	o.setDefaults()
	now := time.Now()
	a := offer("a", "1.0.0", "1.0.0")
	elected := verdict{elect: &ballot{lease.OldestEmulationVersion, "a"}}
	decided := decision{at: now.Add(-time.Second), holder: "x"}
	vacant := func(k *contest) { k.setLease(nil, now) }
	failed := func(k *contest) { k.pausedUntil = now.Add(time.Second) }
	for name, row := range map[string]struct {
		change func(k *contest)
		want   verdict
		due    time.Duration // zero: not checked
		round  bool          // it goes on
	}{
		"another should hold the Lease":                             {func(*contest) {}, elected, 14 * time.Second, false},
		"the Lease is vacant":                                       {vacant, elected, 0, false},
		"the last attempt failed":                                   {failed, verdict{}, time.Second, false},
		"the last attempt failed, and then the offers changed":      {func(k *contest) { failed(k); k.offers++ }, elected, 0, false},
		"it was decided just now":                                   {func(k *contest) { k.decision = decided }, verdict{}, o.PingWindow - time.Second, false},
		"it was decided just now, and then the offers changed":      {func(k *contest) { k.decision = decided; k.offers++ }, elected, 0, false},
		"it was decided just now, and then the holder changed":      {func(k *contest) { k.decision = decided; k.decision.holder = "y" }, elected, 0, false},
		"it was decided just now, and then the Lease became vacant": {func(k *contest) { vacant(k); k.decision = decided; k.decision.holder = "" }, elected, 0, false},
		"it was decided a while ago":                                {func(k *contest) { k.decision = decided; k.decision.at = now.Add(-o.PingWindow) }, elected, 0, false},
		"it was decided twice":                                      {func(k *contest) { k.decision = decided; k.decision.repeats = 1 }, verdict{}, 2*o.PingWindow - time.Second, false},
		"the holder is the best, and is asked to make way": {func(k *contest) {
			k.lease.Spec.HolderIdentity, k.lease.Spec.PreferredHolder = new("a"), new("b")
			k.setLease(k.lease, now)
			k.round, k.finalist = now, "a"
		}, verdict{clear: true, settled: true}, 15 * time.Second, false},
		"somebody may still answer": {func(k *contest) {
			k.lease.Spec.PreferredHolder = new("a")
			k.entrants[0].seen, k.entrants[0].pinged, k.entrants[0].pings = now.Add(-time.Minute), now.Add(-time.Second), 1
			k.round = now.Add(-time.Second)
		}, verdict{}, o.PingWindow - time.Second, true},
		"the round is over before somebody has answered": {func(k *contest) {
			k.entrants = append(k.entrants, &entrant{c: offer("b", "1.0.0", "1.0.0"), seen: now.Add(-time.Minute), pinged: now.Add(-time.Second), pings: 1})
			k.round = now.Add(-o.PingWindow)
		}, elected, 0, false},
		"more candidates may come": {func(k *contest) { k.arrivals.add(now) }, verdict{}, o.arrivalPause(), true},
		"more candidates may come, and the best was asked": {func(k *contest) {
			k.arrivals.add(now)
			k.round, k.finalist = now, "a"
		}, elected, 0, false},
		"somebody is to be asked": {func(k *contest) {
			k.entrants[0].seen = now.Add(-o.Validity / 2)
			k.entrants[0].since = k.entrants[0].seen
		},
			verdict{ping: newTestContest(now, a).entrants}, o.PingWindow, true},
	} {
		t.Run(name, func(t *testing.T) {
			k := newTestContest(now, a)
			k.due = now.Add(-time.Hour) // it was due
			row.change(k)
			if row.want.ping != nil {
				row.want.ping = k.entrants
			}
			before := k.round
			assert.Equal(t, row.want, k.decide(now, &o))
			if row.due > 0 {
				assert.Equal(t, now.Add(row.due), k.due)
			}
			assert.Equal(t, row.round, !k.round.IsZero())
			if row.round && !before.IsZero() {
				assert.Equal(t, before, k.round)
			}
			if !row.round {
				assert.Empty(t, k.finalist)
			}
		})
	}
}

func TestRepeatedDecisionsAreCounted(t *testing.T) {
	now := time.Now()
	k := newTestContest(now)
	for _, row := range []struct {
		vacant  bool
		offers  int
		repeats int
	}{{false, 0, 0}, {false, 0, 1}, {false, 0, 2}, {false, 1, 0}, {false, 1, 1}, {true, 1, 0}, {true, 1, 0}} {
		k.offers = row.offers
		if k.decision.at.IsZero() {
			k.decision.offers = -1 // there is none
		}
		k.recordDecision("x", row.vacant, now)
		assert.Equal(t, decision{at: now, offers: row.offers, holder: "x", repeats: row.repeats}, k.decision)
	}
	k.recordDecision("a", false, now)
	assert.Equal(t, "x", k.decision.holder, "it was only asked to make way")
	k.recordDecision("a", true, now)
	assert.Equal(t, "a", k.decision.holder)
}
