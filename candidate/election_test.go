package candidate

import (
	"context"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kubecoord/kubecoord/lease"
	"github.com/kubecoord/kubecoord/store"
	"github.com/kubecoord/kubecoord/store/meta"
)

// newTestElection returns an election for the Lease "main" which does not run. Its entrants have
// just renewed. Their candidates are not in the store, so that a ping is only recorded.
func newTestElection(t *testing.T, opts CoordinatorOptions, entrants ...*entrant) *election {
	s, _ := newTestCoordinator(t, opts)
	e := &election{elections: s, namespacedName: namespacedName{"ns", "main"}}
	s.byLease[e.namespacedName] = e
	for _, t := range entrants {
		e.add(t)
	}
	return e
}

func (e *election) add(t *entrant) {
	t.election = e
	e.entrants = append(e.entrants, t)
	e.elections.entrants[namespacedName{"ns", t.c.Name}] = t
}

// renewed returns an entrant that has just renewed.
func renewed(c *LeaseCandidate) *entrant {
	return &entrant{c: c, seen: c.Spec.RenewTime.Time, since: c.Spec.RenewTime.Time}
}

// hold sets the state of the Lease: x has held it for a second of 15.
func (e *election) hold(now time.Time, change ...func(*lease.LeaseSpec)) {
	l := held("x")
	for _, f := range change {
		f(&l.Spec)
	}
	e.setLease(l, now.Add(-time.Second))
}

func TestOnlyTheRenewalOfTheAppointedEndsItsDeferment(t *testing.T) {
	now := time.Now()
	for holder, ended := range map[string]bool{"a": true, "b": false} {
		a := &entrant{c: offer("a", "1.0.0", "1.0.0"), missed: 2, deferredUntil: now.Add(time.Hour)}
		e := newTestElection(t, CoordinatorOptions{}, a)
		e.appointed = "a"
		e.setLease(&lease.Lease{Spec: lease.LeaseSpec{HolderIdentity: &holder}}, now)
		assert.Equal(t, ended, a.missed == 0, holder)
		assert.Equal(t, ended, a.deferredUntil.IsZero(), holder)
		assert.Empty(t, e.appointed)
	}
	// A write of another field is no renewal.
	a := &entrant{c: offer("a", "1.0.0", "1.0.0"), missed: 2}
	e := newTestElection(t, CoordinatorOptions{}, a)
	l := lease.Lease{Spec: lease.LeaseSpec{HolderIdentity: new("a")}}
	e.setLease(&l, now)
	e.appointed = "a"
	l.Spec.Strategy = new(lease.OldestEmulationVersion)
	e.setLease(&l, now)
	assert.Equal(t, "a", e.appointed)
	assert.Equal(t, 2, a.missed)

	e.appointed = "gone"
	e.setLease(&lease.Lease{Spec: lease.LeaseSpec{HolderIdentity: new("gone")}}, now)
	assert.Empty(t, e.appointed)
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
		e := newTestElection(t, CoordinatorOptions{})
		for _, c := range row.candidates {
			e.add(renewed(c))
		}
		e.offers++
		e.hold(now, func(s *lease.LeaseSpec) {
			s.Strategy, s.PreferredHolder, s.HolderIdentity = &row.strategy, &row.preferred, &row.holder
		})
		needed, clear, err := e.needsElection(row.vacant, now)
		assert.Equal(t, row.needed, needed, name)
		assert.Equal(t, row.clear, clear, name)
		assert.ErrorIs(t, err, row.err, name)
	}
}

func TestFavouriteIsKeptUntilItCanChange(t *testing.T) {
	now := time.Now()
	const validity = 30 * time.Minute
	for name, row := range map[string]struct {
		change func(a *entrant)
		best   string
		lasts  time.Duration
	}{
		"all count":               {func(*entrant) {}, "a", validity},
		"the best is silent":      {func(a *entrant) { a.silent = true }, "b", validity},
		"the best is too old":     {func(a *entrant) { a.seen = now.Add(-validity) }, "b", validity},
		"the best is old":         {func(a *entrant) { a.seen = now.Add(-time.Minute) }, "a", validity - time.Minute},
		"the best is deferred":    {func(a *entrant) { a.deferredUntil = now.Add(time.Minute) }, "b", time.Minute},
		"its deferment has ended": {func(a *entrant) { a.deferredUntil = now }, "a", validity},
	} {
		a, b := offer("a", "1.0.0", "1.0.0"), offer("b", "1.0.0", "1.0.0")
		e := newTestElection(t, CoordinatorOptions{}, &entrant{c: a, seen: now}, &entrant{c: b, seen: now})
		row.change(e.entrants[0])
		check := func(at time.Time) {
			e.due = time.Time{}
			for _, t := range e.entrants {
				e.checkStanding(t, at)
			}
		}
		check(now)
		before := e.offers
		for _, at := range []time.Time{now, now.Add(row.lasts - 1)} {
			check(at)
			best, err := e.favourite(at)
			assert.NoError(t, err, name)
			assert.Equal(t, row.best, best.holder, name)
			assert.Equal(t, now.Add(row.lasts), e.due, name)
		}
		assert.Equal(t, before, e.offers, name)
		e.entrants[1].c = offer("b", "1.0.0", "0.9.0")
		best, _ := e.favourite(now)
		assert.Equal(t, row.best, best.holder, "nobody said that it has changed")
		check(now.Add(row.lasts))
		assert.Greater(t, e.offers, before, name)
		if e.entrants[1].isValid(now.Add(row.lasts)) {
			best, _ = e.favourite(now.Add(row.lasts))
			assert.Equal(t, "b", best.holder, name)
		}
	}
}

func TestStep(t *testing.T) {
	const window, validity, since = 5 * time.Second, 30 * time.Minute, time.Second
	vacant := func(e *election) {
		_, err := e.leases.Delete(e.ctx, "ns", "main", store.DeleteOptions{})
		require.NoError(t, err)
		e.lookUp()
	}
	failed := func(e *election) { e.last, e.repeatAt = attempt{e.offers, "x", true}, time.Now().Add(time.Second) }
	decided := func(e *election) { e.last, e.repeatAt = attempt{e.offers, "x", false}, time.Now().Add(4*time.Second) }
	for name, row := range map[string]struct {
		change  func(e *election)
		elected bool
		due     time.Duration // zero: not checked
		round   bool          // it goes on
	}{
		"another should hold the Lease":                             {func(*election) {}, true, 14 * time.Second, false},
		"the Lease is vacant":                                       {vacant, true, 0, false},
		"the last attempt failed":                                   {failed, false, time.Second, false},
		"the last attempt failed, and then the offers changed":      {func(e *election) { failed(e); e.offers++ }, true, 0, false},
		"it was decided just now":                                   {decided, false, 4 * time.Second, false},
		"it was decided just now, and then the offers changed":      {func(e *election) { decided(e); e.offers++ }, true, 0, false},
		"it was decided just now, and then the holder changed":      {func(e *election) { decided(e); e.last.holder = "y" }, true, 0, false},
		"it was decided just now, and then the Lease became vacant": {func(e *election) { decided(e); vacant(e); e.last.holder = "" }, true, 0, false},
		"it was decided a while ago":                                {func(e *election) { decided(e); e.repeatAt = time.Now() }, true, 0, false},
		"the holder is the best, and is asked to make way": {func(e *election) {
			_, err := e.leases.Modify(e.ctx, "ns", "main", func(l *lease.Lease) error {
				l.Spec.HolderIdentity, l.Spec.PreferredHolder = new("a"), new("b")
				return nil
			}, store.UpdateOptions{})
			require.NoError(t, err)
			e.lookUp()
			e.round, e.finalist = time.Now(), "a"
		}, true, 15 * time.Second, false},
		"somebody may still answer": {func(e *election) {
			a := e.entrants[0]
			a.seen, a.pinged, a.pings = a.seen.Add(-time.Minute), time.Now().Add(-since), 1
			e.round = time.Now().Add(-since)
		}, false, window - since, true},
		"the round is over before somebody has answered": {func(e *election) {
			e.add(&entrant{c: offer("b", "1.0.0", "1.0.0"), seen: time.Now().Add(-time.Minute), pinged: time.Now().Add(-since), pings: 1})
			e.round = time.Now().Add(-window)
		}, true, 0, false},
		"more candidates may come": {func(e *election) { e.firstArrival, e.lastArrival = time.Now(), time.Now() }, false, 200 * time.Millisecond, true},
		"more candidates may come, and the best was asked": {func(e *election) {
			e.firstArrival, e.lastArrival = time.Now(), time.Now()
			e.round, e.finalist = time.Now(), "a"
		}, true, 0, false},
		"somebody is to be asked": {func(e *election) {
			a := e.entrants[0]
			a.seen = time.Now().Add(-validity / 2)
			a.since = a.seen
		}, false, window, true},
	} {
		t.Run(name, func(t *testing.T) {
			in(t, func(t *testing.T) {
				e := newTestElection(t, CoordinatorOptions{})
				_, err := e.leases.Create(t.Context(), held("x"), store.CreateOptions{})
				require.NoError(t, err)
				e.lookUp()
				time.Sleep(since)
				a := offer("a", "1.0.0", "1.0.0")
				e.add(&entrant{c: a, seen: time.Now(), since: time.Now(), standing: standing{valid: true}})
				e.offers++
				e.due = time.Now().Add(-time.Hour) // it was due
				row.change(e)
				before := e.round
				e.step()
				l, err := e.leases.Get(t.Context(), "ns", "main")
				elected := err == nil && (*l.Spec.HolderIdentity == "a" || preferredHolder(l) == "a")
				assert.Equal(t, row.elected, elected)
				if row.due > 0 {
					assert.Equal(t, time.Now().Add(row.due), e.due)
				}
				assert.Equal(t, row.round, !e.round.IsZero())
				if row.round && !before.IsZero() {
					assert.Equal(t, before, e.round)
				}
				if !row.round {
					assert.Empty(t, e.finalist)
				}
				assert.NotEqual(t, "b", preferredHolder(l), "it was asked for nobody")
			})
		})
	}
}

// A candidate whose last answer came too late may still take part in a round: it is pinged again.
func TestARoundWaitsForACandidateThatAnsweredLate(t *testing.T) {
	now := time.Now()
	late := &entrant{c: offer("late", "1.0.0", "1.0.0"), seen: now, silences: 1}
	e := newTestElection(t, CoordinatorOptions{}, late)
	e.round = now.Add(-time.Second)
	assert.True(t, e.awaitsAnswers(now))
	assert.Zero(t, late.pings, "an answer at this time could not be told from the one before")
	assert.Equal(t, now.Add(minPingDelay), e.due)
	assert.True(t, e.awaitsAnswers(now.Add(minPingDelay)))
	assert.Equal(t, 1, late.pings)
	assert.False(t, e.awaitsAnswers(e.round.Add(e.opts.PingWindow)), "the round has an end")

	e.endRound()
	late.pings = 0
	assert.False(t, e.awaitsAnswers(now.Add(minPingDelay)))
	assert.Zero(t, late.pings, "nobody is asked without a round")
}

func TestEachSilentCandidateIsFound(t *testing.T) {
	const window = 5 * time.Second
	now := time.Now()
	var silent []string
	pinged := func(name string, ago time.Duration) *entrant {
		return &entrant{c: offer(name, "1.0.0", "1.0.0"), pings: 1, pinged: now.Add(-ago), seen: now}
	}
	a, b, c := pinged("a", window-time.Second), pinged("b", window), pinged("c", time.Hour)
	never, before := &entrant{c: offer("d", "1.0.0", "1.0.0"), seen: now}, pinged("e", time.Hour)
	before.silent, c.silences = true, 1000
	e := newTestElection(t, CoordinatorOptions{Log: func(ev ElectionEvent) { silent = append(silent, ev.Candidate) }}, never, a, before, b, c)
	for _, t := range e.entrants {
		t.standing = standing{valid: true, silent: t.silent, late: t.silences > 0}
	}
	require.NoError(t, e.checkEntrants(now))
	assert.Equal(t, []string{"b", "c"}, silent)
	assert.Equal(t, now.Add(time.Second), e.due)
	assert.Equal(t, 2, e.offers)
	assert.Equal(t, 1, b.silences)
	assert.Equal(t, now.Add(2*window), b.deferredUntil)
	assert.Equal(t, now.Add(e.opts.Validity), c.deferredUntil)
}

func TestCandidatesWithoutASignOfLifeArePingedAndThenCollected(t *testing.T) {
	const half, full, window = 15 * time.Minute, 30 * time.Minute, 5 * time.Second
	now := time.Now()
	ago := func(d time.Duration) time.Time { return now.Add(-d) }
	due := func(d time.Duration) time.Time { return now.Add(d) }
	for name, row := range map[string]struct {
		t             entrant
		ping, collect bool
		due           time.Time // not checked if zero
	}{
		"recent":                               {t: entrant{seen: ago(time.Minute)}, due: due(14 * time.Minute)},
		"half of the time":                     {t: entrant{seen: ago(half)}, ping: true},
		"never renewed":                        {t: entrant{since: ago(time.Minute)}, due: due(14 * time.Minute)},
		"never renewed, half of the time":      {t: entrant{since: ago(half)}, ping: true},
		"renewed, created later":               {t: entrant{seen: ago(full), since: ago(time.Minute)}, due: due(14 * time.Minute)},
		"pinged":                               {t: entrant{seen: ago(half), pings: 1}, due: due(half)},
		"the whole time, pinged before":        {t: entrant{seen: ago(full), pings: 1}, ping: true},
		"the whole time, not pinged":           {t: entrant{seen: ago(full)}, ping: true},
		"the whole time, may still answer":     {t: entrant{seen: ago(full), pings: 1, pingSeen: true, pinged: ago(4 * time.Second)}, due: due(time.Second)},
		"the whole time, without an answer":    {t: entrant{seen: ago(full), pings: 1, pingSeen: true, pinged: ago(window)}, collect: true},
		"long ago, without an answer":          {t: entrant{seen: ago(48 * time.Hour), since: ago(72 * time.Hour), pings: 9, pingSeen: true, pinged: ago(half)}, collect: true},
		"never renewed, and without an answer": {t: entrant{since: ago(full), pings: 1, pingSeen: true, pinged: ago(half)}, collect: true},
	} {
		row.t.c, row.t.silent = offer("a", "1.0.0", "1.0.0"), row.t.pings > 0
		e := newTestElection(t, CoordinatorOptions{}, &row.t)
		pings := row.t.pings
		require.NoError(t, e.checkEntrants(now))
		assert.Equal(t, row.ping, row.t.pings > pings, name)
		assert.Equal(t, row.collect, len(e.entrants) == 0, name)
		if !row.due.IsZero() {
			assert.Equal(t, row.due, e.due, name)
		}
	}
}

func TestRoundAsksWhoeverGaveNoSignOfLifeInIt(t *testing.T) {
	const validity = 30 * time.Minute
	now := time.Now()
	ago := func(d time.Duration) time.Time { return now.Add(-d) }
	for name, row := range map[string]struct {
		t           entrant
		ping, waits bool
	}{
		"is present":                  {t: entrant{seen: now}},
		"shortly before the round":    {t: entrant{seen: ago(6 * time.Second)}},
		"long before the round":       {t: entrant{seen: ago(time.Minute)}, ping: true, waits: true},
		"was asked":                   {t: entrant{seen: ago(time.Minute), pings: 1}, waits: true},
		"was asked, and is silent":    {t: entrant{seen: ago(time.Minute), pings: 1, silent: true}},
		"answered late the last time": {t: entrant{seen: ago(time.Second), silences: 1}, ping: true, waits: true},
		"does not count any more":     {t: entrant{seen: ago(validity)}},
		"never renewed":               {},
	} {
		row.t.c = offer("a", "1.0.0", "1.0.0")
		e := newTestElection(t, CoordinatorOptions{}, &row.t)
		e.round = ago(time.Second)
		pings := row.t.pings
		assert.Equal(t, row.waits, e.awaitsAnswers(now), name)
		assert.Equal(t, row.ping, row.t.pings > pings, name)
		assert.Equal(t, row.waits, e.due.Equal(e.round.Add(e.opts.PingWindow)), name)
	}
}

// A healthy holder stops for the better candidate. So that one must be alive.
func TestBetterCandidateIsAskedOnceMoreBeforeTheHolder(t *testing.T) {
	for name, row := range map[string]struct {
		window   time.Duration // zero is the default
		seen     time.Duration // ago, of b
		holder   string
		vacant   bool
		finalist string
		strategy lease.CoordinatedLeaseStrategy
		asks     bool
	}{
		"held by another":                   {holder: "x", seen: time.Second, asks: true},
		"it has answered":                   {holder: "x", seen: time.Second, finalist: "b"},
		"another was asked":                 {holder: "x", seen: time.Second, finalist: "c", asks: true},
		"nobody holds the Lease":            {holder: "x", vacant: true, seen: time.Second},
		"it is the holder":                  {holder: "b", seen: time.Second},
		"seen just now":                     {holder: "x", seen: 400*time.Millisecond - 1},
		"seen a little earlier":             {holder: "x", seen: 400 * time.Millisecond, asks: true},
		"seen just now, in a short window":  {holder: "x", window: 50 * time.Millisecond, seen: 9 * time.Millisecond},
		"seen earlier, in a short window":   {holder: "x", window: 50 * time.Millisecond, seen: minPingDelay, asks: true},
		"a third party picks the candidate": {holder: "x", seen: time.Second, strategy: y, finalist: "b"},
	} {
		in(t, func(t *testing.T) {
			now := time.Now()
			b := &entrant{c: offer("b", "1.0.0", "1.0.0"), seen: now.Add(-row.seen)}
			if row.strategy != "" {
				b.c.Spec.Strategy = row.strategy
			}
			e := newTestElection(t, CoordinatorOptions{PingWindow: row.window}, b)
			if !row.vacant {
				l := held(row.holder)
				l.Spec.Strategy = nil
				_, err := e.leases.Create(t.Context(), l, store.CreateOptions{})
				require.NoError(t, err)
				e.lookUp()
			}
			e.round, e.finalist = now.Add(-time.Millisecond), row.finalist
			settled, err := e.conclude(row.vacant, now)
			require.NoError(t, err)
			assert.Equal(t, !row.asks, settled, name)
			assert.Equal(t, row.asks, b.pings > 0, name)
			l, err := e.leases.Get(t.Context(), "ns", "main")
			assert.Equal(t, row.asks, err != nil || l.Spec.Strategy == nil, "%s: nothing is written", name)
			if row.asks {
				assert.Equal(t, now, e.round, "it has a whole window to answer")
				assert.Equal(t, "b", e.finalist)
				return
			}
			assert.Zero(t, e.round, name)
			assert.Empty(t, e.finalist, name)
			assert.False(t, e.last.failed)
			assert.Equal(t, now.Add(e.opts.PingWindow), e.repeatAt)
		})
	}
}

// Nobody has answered.
func TestPingsAreRepeatedLessAndLessOften(t *testing.T) {
	const validity = 30 * time.Minute
	now := time.Now()
	ago := func(d time.Duration) time.Time { return now.Add(-d) }
	minute := ago(time.Minute)
	for name, row := range map[string]struct {
		t    entrant
		ping bool
		due  time.Time
	}{
		"once":              {t: entrant{seen: minute, pings: 1, pinged: ago(9 * time.Second)}, due: now.Add(time.Second)},
		"once, 10s ago":     {t: entrant{seen: minute, pings: 1, pinged: ago(10 * time.Second)}, ping: true},
		"twice":             {t: entrant{seen: minute, pings: 2, pinged: ago(10 * time.Second)}, due: now.Add(10 * time.Second)},
		"many times":        {t: entrant{seen: minute, pings: 99, pinged: now}, due: now.Add(validity / 2)},
		"it has just come":  {t: entrant{seen: minute}},
		"it does not count": {t: entrant{seen: ago(validity), pings: 1, pinged: ago(time.Hour)}},
	} {
		row.t.c = offer("a", "1.0.0", "1.0.0")
		e := newTestElection(t, CoordinatorOptions{}, &row.t)
		pings := row.t.pings
		e.pingAgain(now)
		assert.Equal(t, row.ping, row.t.pings > pings, name)
		assert.Equal(t, row.due, e.due, name)
	}
}

func TestElectedCandidateThatLetsItsLeaseExpireIsMissed(t *testing.T) {
	const validity = 30 * time.Minute
	now := time.Now()
	for name, row := range map[string]struct {
		appointed string
		left      time.Duration // until the Lease expires
		before    int           // how often it was missed
		missed    string
		deferred  time.Duration
	}{
		"it may still renew":    {"a", 1, 5, "", 0},
		"it has renewed":        {"", 0, 0, "", 0},
		"the first time":        {"a", 0, 0, "a", 0},
		"the second time":       {"a", 0, 1, "a", 10 * time.Second},
		"the third time":        {"a", 0, 2, "a", 20 * time.Second},
		"always":                {"a", 0, 99, "a", validity},
		"its candidate is gone": {"gone", 0, 0, "", 0},
	} {
		missed := ""
		a := &entrant{c: offer("a", "1.0.0", "1.0.0"), missed: row.before}
		e := newTestElection(t, CoordinatorOptions{Log: func(ev ElectionEvent) { missed = ev.Candidate }}, a)
		e.setLease(&lease.Lease{Spec: lease.LeaseSpec{HolderIdentity: new("a"), LeaseDurationSeconds: new(int32(15))}}, now.Add(row.left-15*time.Second))
		e.appointed = row.appointed
		e.checkAppointed(now)
		assert.Equal(t, row.missed, missed, name)
		assert.Equal(t, row.missed != "", a.missed > row.before, name)
		assert.Equal(t, row.left > 0, e.appointed != "", name)
		if row.deferred == 0 {
			assert.Zero(t, a.deferredUntil, name)
		} else {
			assert.Equal(t, now.Add(row.deferred), a.deferredUntil, name)
		}
	}
}

func TestConclusionTellsWhyNobodyIsElected(t *testing.T) {
	now := time.Now()
	e := newTestElection(t, CoordinatorOptions{})
	_, err := e.conclude(true, now)
	assert.Equal(t, ErrNoCandidates, err)
	a, b := offer("a", "1.0.0", "1.0.0"), offer("b", "1.0.0", "1.0.0")
	b.Spec.Strategy = y
	e = newTestElection(t, CoordinatorOptions{}, &entrant{c: a, seen: now}, &entrant{c: b, seen: now})
	e.round = now
	_, err = e.conclude(true, now)
	assert.ErrorIs(t, err, ErrConflictingStrategies)
	assert.True(t, e.isRepeated(true, now))
	assert.Equal(t, now.Add(e.opts.PingWindow), e.due)
}

func TestCollectDeletesOnlyTheStateThatItKnows(t *testing.T) {
	var events []ElectionEventType
	c, candidates := newTestCoordinator(t, CoordinatorOptions{Log: func(e ElectionEvent) { events = append(events, e.Type) }})
	enter := func(name string) (*election, *entrant) {
		lc, err := candidates.Create(t.Context(), offer(name, "1.0.0", "1.0.0"), store.CreateOptions{})
		require.NoError(t, err)
		c.applyCandidate(lc)
		e := c.mainElection()
		return e, e.entrant(name)
	}
	e, known := enter("known")
	require.NoError(t, e.collect(known))
	assert.Nil(t, e.entrant("known"))
	assert.Equal(t, []ElectionEventType{Collected}, events)

	e, gone := enter("gone")
	_, err := candidates.Delete(t.Context(), "ns", "gone", store.DeleteOptions{})
	require.NoError(t, err)
	require.NoError(t, e.collect(gone))
	assert.Nil(t, e.entrant("gone"))

	e, changed := enter("changed")
	_, err = candidates.Modify(t.Context(), "ns", "changed", func(lc *LeaseCandidate) error {
		lc.Spec.BinaryVersion = "2.0.0"
		return nil
	}, store.UpdateOptions{})
	require.NoError(t, err)
	require.NoError(t, e.collect(changed))
	assert.Equal(t, "2.0.0", e.entrant("changed").c.Spec.BinaryVersion, "it has given a sign of life")
	_, err = candidates.Get(t.Context(), "ns", "changed")
	assert.NoError(t, err)
	assert.Len(t, events, 1)
}

func TestCollectionThatFailsIsTriedAgain(t *testing.T) {
	var errs []error
	dead := &entrant{c: offer("a", "1.0.0", "1.0.0"), pings: 1, pingSeen: true, silent: true}
	e := newTestElection(t, CoordinatorOptions{Log: func(ev ElectionEvent) {
		if ev.Err != nil {
			errs = append(errs, ev.Err)
		}
	}}, dead)
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	e.ctx = ended
	now := time.Now()
	for range 2 {
		e.step()
		assert.WithinDuration(t, now.Add(e.opts.Validity), e.due, time.Minute)
		assert.Equal(t, context.Canceled.Error(), e.failure)
		assert.Len(t, e.entrants, 1)
	}
	assert.Equal(t, []error{context.Canceled}, errs, "once")

	e.ctx = t.Context()
	e.step()
	assert.Empty(t, e.entrants)
}

func TestOnlyAWriteThatFailsIsFollowedByAPause(t *testing.T) {
	c, _ := newTestCoordinator(t, CoordinatorOptions{})
	for name, fails := range map[string]bool{"main": false, "Not A Name": true} {
		e := c.election(namespacedName{"ns", name})
		err := e.write(&ballot{lease.OldestEmulationVersion, "a"}, time.Now())
		assert.Equal(t, fails, err != nil, name)
		assert.Equal(t, fails, e.isRepeated(true, time.Now()), name)
	}
}

func TestFailureIsLoggedAgainAfterASuccess(t *testing.T) {
	var errs []string
	in(t, func(t *testing.T) {
		e := newTestElection(t, CoordinatorOptions{Log: func(ev ElectionEvent) {
			if ev.Err != nil {
				errs = append(errs, ev.Err.Error())
			}
		}}, renewed(offer("a", "1.0.0", "1.0.0")))
		for i, conflicting := range []bool{true, true, false, true} {
			e.entrants = e.entrants[:1]
			if conflicting {
				b := offer("b", "1.0.0", "1.0.0")
				b.Spec.Strategy = y
				e.add(renewed(b))
			}
			e.hold(time.Now(), func(s *lease.LeaseSpec) { s.HolderIdentity = new("a") })
			e.offers++
			e.step()
			assert.Equal(t, conflicting, e.failure != "", i)
		}
	})
	conflict := `conflicting strategies: candidates "a", "b" at same binary version but received differing strategies OldestEmulationVersion, example.com/y`
	assert.Equal(t, []string{conflict, conflict}, errs)
}

func TestOnlyTheCandidateThatIsKnownIsPinged(t *testing.T) {
	modify := func(change func(c *LeaseCandidate)) func(*store.Collection[LeaseCandidate]) {
		return func(candidates *store.Collection[LeaseCandidate]) {
			_, err := candidates.Modify(t.Context(), "ns", "a", func(c *LeaseCandidate) error { change(c); return nil }, store.UpdateOptions{})
			assert.NoError(t, err)
		}
	}
	gone := func(candidates *store.Collection[LeaseCandidate]) {
		_, err := candidates.Delete(t.Context(), "ns", "a", store.DeleteOptions{})
		assert.NoError(t, err)
	}
	label := modify(func(c *LeaseCandidate) { c.Labels = map[string]string{"a": "b"} })
	for name, row := range map[string]struct {
		before, during func(*store.Collection[LeaseCandidate]) // the ping
		pinged         bool
		offers         int
	}{
		"it is as it was":            {pinged: true},
		"it has changed":             {before: label, pinged: true},
		"it changes meanwhile":       {during: label, pinged: true},
		"it has changed its version": {before: modify(func(c *LeaseCandidate) { c.Spec.BinaryVersion = "2.0.0" }), pinged: true, offers: 1},
		"it has renewed":             {before: modify(func(c *LeaseCandidate) { c.Spec.RenewTime = new(meta.NewMicroTime(time.Now())) })},
		"it renews meanwhile":        {during: modify(func(c *LeaseCandidate) { c.Spec.RenewTime = new(meta.NewMicroTime(time.Now())) })},
		"it is gone":                 {before: gone},
		"it goes meanwhile":          {during: gone},
		"another has its name meanwhile": {before: func(candidates *store.Collection[LeaseCandidate]) {
			old, err := candidates.Get(t.Context(), "ns", "a")
			require.NoError(t, err)
			gone(candidates)
			again := offer("a", "1.0.0", "1.0.0")
			again.Spec.RenewTime = old.Spec.RenewTime
			_, err = candidates.Create(t.Context(), again, store.CreateOptions{})
			assert.NoError(t, err)
		}},
	} {
		t.Run(name, func(t *testing.T) {
			in(t, func(t *testing.T) {
				var during func()
				var events []ElectionEventType
				c, candidates := newTestCoordinatorAt(t, CoordinatorOptions{
					FieldManager: "me", Log: func(ev ElectionEvent) { events = append(events, ev.Type) },
				}, func() time.Time { // the coordinator reads the clock before it writes
					if f := during; f != nil {
						during = nil
						f()
					}
					return time.Now()
				})
				lc, err := candidates.Create(t.Context(), offer("a", "1.0.0", "1.0.0"), store.CreateOptions{})
				require.NoError(t, err)
				c.applyCandidate(lc)
				k := c.mainElection()
				a, offers := k.entrant("a"), k.offers
				time.Sleep(time.Minute)
				if row.before != nil {
					row.before(candidates)
				}
				if row.during != nil {
					during = func() { row.during(candidates) }
				}
				k.touched = false
				k.ping(a, time.Now())
				assert.True(t, k.touched)
				assert.Equal(t, offers+row.offers, k.offers)
				assert.Equal(t, 1, a.pings, "it is not asked again at once")
				assert.Equal(t, time.Now(), a.pinged)
				assert.Equal(t, row.pinged, slices.Contains(events, Pinged))
				if lc, err = candidates.Get(t.Context(), "ns", "a"); err == nil {
					assert.Equal(t, row.pinged, isUnanswered(lc))
					assert.Equal(t, row.pinged, slices.ContainsFunc(lc.ManagedFields, func(f meta.ManagedFieldsEntry) bool { return f.Manager == "me" }))
				}
			})
		})
	}
}

// The clock that the coordinator waits by may differ.
func TestTimesThatAreWrittenAreThoseOfTheStoreClock(t *testing.T) {
	for _, offset := range []time.Duration{-time.Hour, time.Hour} {
		in(t, func(t *testing.T) {
			var last time.Time
			c, candidates := newTestCoordinatorAt(t, CoordinatorOptions{FieldManager: "me", Log: func(ev ElectionEvent) { last = ev.Time }},
				func() time.Time { return time.Now().Add(offset) })
			lc, err := candidates.Create(t.Context(), offer("a", "1.0.0", "1.0.0"), store.CreateOptions{})
			require.NoError(t, err)
			c.applyCandidate(lc)
			k := c.mainElection()
			a := k.entrant("a")
			a.c.Spec.RenewTime = nil
			_, err = candidates.Update(t.Context(), a.c, store.UpdateOptions{})
			require.NoError(t, err)
			k.ping(a, time.Now())
			assert.True(t, c.st.Now().Equal(a.c.Spec.PingTime.Time))
			assert.Equal(t, c.st.Now(), last)

			elect := func(name string) *lease.Lease {
				time.Sleep(time.Second)
				require.NoError(t, k.write(&ballot{lease.OldestEmulationVersion, name}, time.Now()))
				l, err := c.leases.Get(t.Context(), "ns", "main")
				require.NoError(t, err)
				for _, f := range l.ManagedFields {
					assert.Equal(t, "me", f.Manager)
				}
				return l
			}
			l := elect("a")
			assert.True(t, c.st.Now().Equal(l.Spec.RenewTime.Time))
			assert.Equal(t, "a", *l.Spec.HolderIdentity)
			l = elect("b")
			assert.Equal(t, "a", *l.Spec.HolderIdentity, "it has not expired")
			assert.Equal(t, "b", *l.Spec.PreferredHolder)
		})
	}
}

func TestWhatTheCoordinatorHasWrittenIsKnownToIt(t *testing.T) {
	for _, row := range []struct {
		done                 ElectionEventType
		candidate, appointed string // of the event, and afterwards
	}{
		{Elected, "x", "x"},
		{Preferred, "b", ""},         // the candidate that was elected before is not missed
		{PreferenceCleared, "", "a"}, // it may still renew
		{StrategySet, "", "a"},
	} {
		var events []ElectionEvent
		c, _ := newTestCoordinator(t, CoordinatorOptions{Log: func(ev ElectionEvent) { events = append(events, ev) }})
		k := c.election(namespacedName{"ns", "main"})
		l := held("x")
		l.Spec.PreferredHolder = new("b")
		l, err := c.leases.Create(t.Context(), l, store.CreateOptions{})
		require.NoError(t, err)
		k.setLease(l, time.Now()) // so that it is no news
		k.touched, k.appointed = false, "a"
		k.wrote(l, row.done)
		assert.Equal(t, versionOf(l), k.leaseVersion)
		assert.Equal(t, row.appointed, k.appointed, row.done)
		require.Len(t, events, 1)
		assert.Equal(t, row.done, events[0].Type)
		assert.Equal(t, row.candidate, events[0].Candidate)
	}
}

func TestNothingToWriteIsNotWritten(t *testing.T) {
	var events []ElectionEvent
	c, _ := newTestCoordinator(t, CoordinatorOptions{Log: func(ev ElectionEvent) { events = append(events, ev) }})
	k := c.election(namespacedName{"ns", "main"})
	require.NoError(t, k.write(nil, time.Now()))
	_, err := c.leases.Get(t.Context(), "ns", "main")
	assert.ErrorIs(t, err, store.ErrNotFound)
	assert.Empty(t, events)
}
