package candidate

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/kubecoord/kubecoord/lease"
)

// A candidate whose last answer came too late may still take part in a round: it is pinged again.
func TestARoundWaitsForACandidateThatAnsweredLate(t *testing.T) {
	var o ElectorOptions
	o.setDefaults()
	now := time.Now()
	late := &entrant{c: offer("late", "1.0.0", "1.0.0"), seen: now, silences: 1}
	c := contest{round: now.Add(-time.Second), entrants: []*entrant{late}}
	var v verdict
	assert.True(t, c.awaitsAnswers(&v, now, &o))
	assert.Empty(t, v.ping, "an answer at this time could not be told from the one before")
	assert.Equal(t, now.Add(minPingDelay), c.due)
	assert.True(t, c.awaitsAnswers(&v, now.Add(minPingDelay), &o))
	assert.Equal(t, []*entrant{late}, v.ping)
	assert.False(t, c.awaitsAnswers(&v, c.round.Add(o.PingWindow), &o), "the round has an end")

	c.endRound()
	v = verdict{}
	assert.False(t, c.awaitsAnswers(&v, now.Add(minPingDelay), &o))
	assert.Empty(t, v.ping, "nobody is asked without a round")
}

func TestEachSilentCandidateIsFound(t *testing.T) {
	var o ElectorOptions
	o.setDefaults()
	now := time.Now()
	pinged := func(name string, ago time.Duration) *entrant {
		return &entrant{c: offer(name, "1.0.0", "1.0.0"), pings: 1, pinged: now.Add(-ago)}
	}
	a, b, c := pinged("a", o.PingWindow-time.Second), pinged("b", o.PingWindow), pinged("c", time.Hour)
	never, before := &entrant{c: offer("d", "1.0.0", "1.0.0")}, pinged("e", time.Hour)
	before.silent, c.silences = true, 1000
	k := contest{entrants: []*entrant{never, a, before, b, c}}
	var v verdict
	k.findSilent(&v, now, &o)
	assert.Equal(t, []*entrant{b, c}, v.silent)
	assert.Equal(t, now.Add(time.Second), k.due)
	assert.Equal(t, 2, k.offers)
	assert.Equal(t, 1, b.silences)
	assert.Equal(t, now.Add(2*o.PingWindow), b.deferredUntil)
	assert.Equal(t, now.Add(o.Validity), c.deferredUntil)
}

func TestCandidatesWithoutASignOfLifeArePingedAndThenCollected(t *testing.T) {
	var o ElectorOptions
	o.setDefaults()
	const half, full = 15 * time.Minute, 30 * time.Minute
	now := time.Now()
	ago := func(d time.Duration) time.Time { return now.Add(-d) }
	due := func(d time.Duration) time.Time { return now.Add(d) }
	for name, row := range map[string]struct {
		t             entrant
		ping, collect bool
		due           time.Time
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
		"the whole time, without an answer":    {t: entrant{seen: ago(full), pings: 1, pingSeen: true, pinged: ago(o.PingWindow)}, collect: true},
		"long ago, without an answer":          {t: entrant{seen: ago(48 * time.Hour), since: ago(72 * time.Hour), pings: 9, pingSeen: true, pinged: ago(half)}, collect: true},
		"never renewed, and without an answer": {t: entrant{since: ago(full), pings: 1, pingSeen: true, pinged: ago(half)}, collect: true},
	} {
		k, v := contest{entrants: []*entrant{&row.t}}, verdict{}
		k.sweep(&v, now, &o)
		assert.Equal(t, row.ping, v.ping != nil, name)
		assert.Equal(t, row.collect, v.collect != nil, name)
		assert.Equal(t, row.due, k.due, name)
	}
}

func TestRoundAsksWhoeverGaveNoSignOfLifeInIt(t *testing.T) {
	var o ElectorOptions
	o.setDefaults()
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
		"does not count any more":     {t: entrant{seen: ago(o.Validity)}},
		"never renewed":               {},
	} {
		c, v := contest{round: ago(time.Second), entrants: []*entrant{&row.t}}, verdict{}
		assert.Equal(t, row.waits, c.awaitsAnswers(&v, now, &o), name)
		assert.Equal(t, row.ping, v.ping != nil, name)
		assert.Equal(t, row.waits, c.due.Equal(c.round.Add(o.PingWindow)), name)
	}
}

// A healthy holder stops for the better candidate. So that one must be alive.
func TestBetterCandidateIsAskedOnceMoreBeforeTheHolder(t *testing.T) {
	now := time.Now()
	ago := func(d time.Duration) time.Time { return now.Add(-d) }
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
		o := ElectorOptions{PingWindow: row.window}
		o.setDefaults()
		b := &entrant{c: offer("b", "1.0.0", "1.0.0"), seen: ago(row.seen)}
		want := &ballot{lease.OldestEmulationVersion, "b"}
		if row.strategy != "" {
			b.c.Spec.Strategy = row.strategy
			want = &ballot{strategy: row.strategy}
		}
		k := contest{entrants: []*entrant{b}, round: ago(time.Millisecond), finalist: row.finalist}
		k.setLease(&lease.Lease{Spec: lease.LeaseSpec{HolderIdentity: &row.holder}}, now)
		var v verdict
		k.concludeRound(&v, row.vacant, now, &o)
		if row.asks {
			assert.Equal(t, verdict{ping: []*entrant{b}}, v, name)
			assert.Equal(t, now, k.round, "it has a whole window to answer")
			assert.Equal(t, "b", k.finalist)
			continue
		}
		assert.Equal(t, verdict{elect: want}, v, name)
		assert.Zero(t, k.round, name)
		assert.Empty(t, k.finalist, name)
		assert.Equal(t, now, k.decision.at)
	}
}

// Nobody has answered.
func TestPingsAreRepeatedLessAndLessOften(t *testing.T) {
	var o ElectorOptions
	o.setDefaults()
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
		"many times":        {t: entrant{seen: minute, pings: 99, pinged: now}, due: now.Add(o.Validity / 2)},
		"it has just come":  {t: entrant{seen: minute}},
		"it does not count": {t: entrant{seen: ago(o.Validity), pings: 1, pinged: ago(time.Hour)}},
	} {
		k, v := contest{entrants: []*entrant{&row.t}}, verdict{}
		k.pingAgain(&v, now, &o)
		assert.Equal(t, row.ping, v.ping != nil, name)
		assert.Equal(t, row.due, k.due, name)
	}
}

func TestPauseDoublesWithEachFailureOfTheSameOffers(t *testing.T) {
	var o ElectorOptions
	o.setDefaults()
	now := time.Now()
	var k contest
	for _, row := range []struct {
		offers int
		pause  time.Duration
	}{{0, 5 * time.Second}, {0, 10 * time.Second}, {0, 20 * time.Second}, {1, 5 * time.Second}, {1, 10 * time.Second}} {
		k.offers, k.due = row.offers, time.Time{}
		k.pauseAfterFailure(now, &o)
		assert.Equal(t, now.Add(row.pause), k.pausedUntil)
		assert.Equal(t, now.Add(row.pause), k.due)
		assert.Equal(t, row.offers, k.pausedOffers)
	}
}

func TestDeferredCandidatesAreChosenIfThereIsNoOther(t *testing.T) {
	now := time.Now()
	choosy := func(name string) Strategy {
		return func(all []*LeaseCandidate) *LeaseCandidate {
			if assert.NotEmpty(t, all) && all[0].Name == name {
				return nil
			}
			return all[0]
		}
	}
	for name, row := range map[string]struct {
		a, b     time.Duration // their deferment ends in that time
		strategy Strategy
		want     string
	}{
		"none is deferred":                     {0, 0, nil, "a"},
		"a is":                                 {1, 0, nil, "b"},
		"both are":                             {1, 1, nil, "a"},
		"both are, and the strategy needs one": {1, 1, choosy("c"), "a"},
		"the others are not suitable":          {1, 0, choosy("b"), "a"},
		"nobody is suitable":                   {0, 1, choosy("a"), ""},
		"a stranger": {0, 0, func([]*LeaseCandidate) *LeaseCandidate { return offer("s", "1.0.0", "1.0.0") },
			`strategy OldestEmulationVersion chose "s", which is not a candidate`},
	} {
		var o ElectorOptions
		if row.strategy != nil {
			o.Strategies = map[lease.CoordinatedLeaseStrategy]Strategy{lease.OldestEmulationVersion: row.strategy} // comes first
		}
		o.setDefaults()
		k := contest{entrants: []*entrant{
			{c: offer("a", "1.0.0", "1.0.0"), deferredUntil: now.Add(row.a)}, {c: offer("b", "1.0.0", "1.0.0"), deferredUntil: now.Add(row.b)},
		}}
		got := ""
		best, err := k.elect(now, &o, func(*entrant) bool { return true })
		if err != nil {
			got = err.Error()
		} else if best != nil {
			got = best.holder
		}
		assert.Equal(t, row.want, got, name)
	}
}

func TestElectedCandidateThatLetsItsLeaseExpireIsMissed(t *testing.T) {
	var o ElectorOptions
	o.setDefaults()
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
		"always":                {"a", 0, 99, "a", o.Validity},
		"its candidate is gone": {"gone", 0, 0, "", 0},
	} {
		a := &entrant{c: offer("a", "1.0.0", "1.0.0"), missed: row.before}
		k := contest{entrants: []*entrant{a}}
		k.setLease(&lease.Lease{Spec: lease.LeaseSpec{HolderIdentity: new("a"), LeaseDurationSeconds: new(int32(15))}}, now.Add(row.left-15*time.Second))
		k.appointed = row.appointed
		var v verdict
		k.recordMissed(&v, now, &o)
		assert.Equal(t, row.missed, v.missed, name)
		assert.Equal(t, row.missed != "", a.missed > row.before, name)
		assert.Equal(t, row.left > 0, k.appointed != "", name)
		if row.deferred == 0 {
			assert.Zero(t, a.deferredUntil, name)
			assert.Zero(t, k.offers, name)
		} else {
			assert.Equal(t, now.Add(row.deferred), a.deferredUntil, name)
			assert.Equal(t, 1, k.offers, "it changes the choice")
		}
	}
}

func TestConclusionTellsWhyNobodyIsElected(t *testing.T) {
	var o ElectorOptions
	o.setDefaults()
	now := time.Now()
	k := contest{round: now}
	var v verdict
	k.concludeRound(&v, true, now, &o)
	assert.Equal(t, ErrNoCandidates, v.err)
	a, b := offer("a", "1.0.0", "1.0.0"), offer("b", "1.0.0", "1.0.0")
	b.Spec.Strategy = y
	k = contest{round: now, entrants: []*entrant{{c: a, seen: now}, {c: b, seen: now}}}
	v = verdict{}
	k.concludeRound(&v, true, now, &o)
	assert.ErrorIs(t, v.err, ErrConflictingStrategies)
	assert.Equal(t, now.Add(o.PingWindow), k.due)
}
