package candidate

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/kubecoord/kubecoord/store/meta"
)

// The clock of the store is behind the one that the Coordinator waits by, or ahead of it.
func TestRenewalIsNewsIfTheCandidateDidNotCount(t *testing.T) {
	for _, skew := range []time.Duration{-1000 * time.Hour, 0, 1000 * time.Hour} {
		in(t, func(t *testing.T) {
			now := time.Now()
			s, _ := newTestCoordinatorAt(t, CoordinatorOptions{}, func() time.Time { return now.Add(skew) })
			for name, row := range map[string]struct {
				t    entrant
				want bool
			}{
				"valid":                     {entrant{seen: now.Add(-time.Minute)}, false},
				"no longer valid":           {entrant{seen: now.Add(-s.opts.Validity)}, true},
				"silent":                    {entrant{seen: now.Add(-time.Minute), silent: true}, true},
				"answers its ping":          {entrant{seen: now.Add(-time.Minute), pings: 1, pinged: now}, false},
				"answers after silences":    {entrant{seen: now.Add(-time.Minute), pings: 1, pinged: now, silences: 1}, true},
				"answers late, by silences": {entrant{seen: now.Add(-time.Minute), pings: 1, pinged: now.Add(-s.opts.PingWindow), silences: 1}, false},
			} {
				renewed := func(ago time.Duration) *LeaseCandidate {
					c := offer("a", "1.0.0", "1.0.0")
					c.Spec.RenewTime = new(meta.NewMicroTime(s.st.Now().Add(-ago)))
					return c
				}
				e := &election{elections: s}
				row.t.election, row.t.c = e, renewed(time.Minute)
				e.checkStanding(&row.t, now)
				before := e.offers
				e.update(&row.t, renewed(0))
				e.checkStanding(&row.t, now)
				assert.Equal(t, row.want, e.offers > before, "%s, %s", name, skew)
				assert.Equal(t, now, row.t.seen)
			}
		})
	}
}

func TestTimesOfANewCandidateAreNotInTheFuture(t *testing.T) {
	now := time.Now().Round(0)
	at := func(d time.Duration) *meta.MicroTime { return new(meta.NewMicroTime(now.Add(d))) }
	for name, row := range map[string]struct {
		renewed, pinged *meta.MicroTime
		want            entrant
	}{
		"never renewed":             {nil, nil, entrant{}},
		"never renewed, was pinged": {nil, at(-time.Minute), entrant{pinged: now.Add(-time.Minute), pings: 1}},
		"renewed":                   {at(-time.Minute), nil, entrant{seen: now.Add(-time.Minute)}},
		"renewed in the future":     {at(time.Minute), nil, entrant{seen: now}},
		"has not answered":          {at(-time.Minute), at(-time.Second), entrant{seen: now.Add(-time.Minute), pinged: now.Add(-time.Second), pings: 1}},
		"pinged in the future":      {at(-time.Minute), at(time.Hour), entrant{seen: now.Add(-time.Minute), pinged: now, pings: 1}},
		"has answered":              {at(-time.Minute), at(-time.Minute), entrant{seen: now.Add(-time.Minute)}},
	} {
		for _, created := range []time.Duration{-time.Hour, time.Hour} {
			c := &LeaseCandidate{ObjectMeta: meta.ObjectMeta{CreationTimestamp: meta.NewTime(now.Add(created))}}
			c.Spec.RenewTime, c.Spec.PingTime = row.renewed, row.pinged
			got := newEntrant(c, now, 0)
			assert.WithinDuration(t, now.Add(min(created, 0)), got.since, time.Second, name)
			for _, at := range [][2]time.Time{{row.want.seen, got.seen}, {row.want.pinged, got.pinged}} {
				assert.WithinDuration(t, at[0], at[1], time.Microsecond, name)
			}
			assert.Equal(t, row.want.pings, got.pings, name)
		}
	}
}

// Others are old states that somebody has written.
func TestOnlyANewRenewTimeIsASignOfLife(t *testing.T) {
	const never = 1000 * time.Hour
	for name, row := range map[string]struct {
		was, is  time.Duration // how long before the store's clock renewTime is
		validity time.Duration // zero is the default
		want     bool
	}{
		"the first":                     {never, time.Second, 0, true},
		"the first, by a clock behind":  {never, 30 * time.Minute, 0, false},
		"later":                         {time.Minute, time.Second, 0, true},
		"later, by a clock ahead":       {-time.Minute, -time.Hour, 0, true},
		"later, by a clock behind":      {24 * time.Hour, 24*time.Hour - 1000, 0, true},
		"later, a day behind":           {25 * time.Hour, 24 * time.Hour, 0, false},
		"later, with a longer validity": {47 * time.Hour, 46 * time.Hour, 48 * time.Hour, true},
		"earlier, by a clock set back":  {time.Second, 30*time.Minute - 1000, 0, true},
		"earlier, longer ago":           {time.Second, 30 * time.Minute, 0, false},
		"the same":                      {time.Second, time.Second, 0, false},
		"removed":                       {time.Second, never, 0, false},
	} {
		in(t, func(t *testing.T) {
			s, _ := newTestCoordinator(t, CoordinatorOptions{Validity: row.validity})
			now := time.Now()
			renewed := func(ago time.Duration) *LeaseCandidate {
				c := offer("a", "1.0.0", "1.0.0")
				if c.Spec.RenewTime = nil; ago != never {
					c.Spec.RenewTime = &meta.MicroTime{Time: now.Add(-ago)}
				}
				return c
			}
			e := &election{elections: s}
			a, is := &entrant{election: e, c: renewed(row.was)}, renewed(row.is)
			e.update(a, is)
			assert.Equal(t, row.want, a.seen.Equal(now), name)
			assert.Same(t, is, a.c)
			assert.True(t, e.touched)
		})
	}
}

func TestPingsOfOthersCount(t *testing.T) {
	in(t, func(t *testing.T) {
		s, _ := newTestCoordinator(t, CoordinatorOptions{})
		now := time.Now()
		at := func(d time.Duration) *meta.MicroTime { return &meta.MicroTime{Time: now.Add(d)} }
		for name, row := range map[string]struct {
			was, is *meta.MicroTime // pingTime; renewTime is a minute ago
			pings   int
		}{
			"the first":         {nil, at(0), 1},
			"another":           {at(-time.Second), at(0), 2},
			"the same":          {at(-time.Second), at(-time.Second), 1},
			"an old one":        {nil, at(-time.Hour), 0},
			"one is taken back": {at(-time.Second), nil, 1},
		} {
			pinged := func(at *meta.MicroTime) *LeaseCandidate {
				c := offer("a", "1.0.0", "1.0.0")
				c.Spec.RenewTime, c.Spec.PingTime = &meta.MicroTime{Time: now.Add(-time.Minute)}, at
				return c
			}
			a := newEntrant(pinged(row.was), now, 0)
			before := *a
			e := &election{elections: s}
			e.update(a, pinged(row.is))
			assert.Zero(t, e.offers, name)
			assert.Equal(t, row.pings, a.pings, name)
			assert.Equal(t, row.pings > before.pings, a.pingSeen, name)
			if a.pingSeen {
				assert.Equal(t, now, a.pinged, name)
			}
		}
	})
}

func TestEachFieldThatStrategiesReadChangesTheChoice(t *testing.T) {
	s, _ := newTestCoordinator(t, CoordinatorOptions{})
	for name, row := range map[string]struct {
		change func(c *LeaseCandidate)
		want   int
	}{
		"nothing":             {func(*LeaseCandidate) {}, 0},
		"labels":              {func(c *LeaseCandidate) { c.Labels = map[string]string{"a": "b"} }, 0},
		"binaryVersion":       {func(c *LeaseCandidate) { c.Spec.BinaryVersion = "2.0.0" }, 1},
		"emulationVersion":    {func(c *LeaseCandidate) { c.Spec.EmulationVersion = "2.0.0" }, 1},
		"strategy":            {func(c *LeaseCandidate) { c.Spec.Strategy = x }, 1},
		"preferredStrategies": {func(c *LeaseCandidate) { c.Spec.PreferredStrategies = strategies{x} }, 1},
	} {
		c := offer("a", "1.0.0", "1.0.0")
		e := &election{elections: s}
		changed := *c
		row.change(&changed)
		e.update(newEntrant(c, time.Now(), 0), &changed)
		assert.Equal(t, row.want, e.offers, name)
	}
}

func TestBackoffDoublesUpToALimit(t *testing.T) {
	for _, row := range []struct {
		n           int
		limit, want time.Duration
	}{{0, time.Minute, 5 * time.Second}, {1, time.Minute, 10 * time.Second}, {3, time.Minute, 40 * time.Second},
		{4, time.Minute, time.Minute}, {1000, time.Minute, time.Minute}, {0, time.Second, time.Second}} {
		assert.Equal(t, row.want, backoff(5*time.Second, row.n, row.limit), "%d", row.n)
	}
}

func TestDefermentIsNeverShortened(t *testing.T) {
	now := time.Now()
	var a entrant
	for _, until := range []time.Time{now.Add(time.Minute), now.Add(time.Second)} {
		a.deferUntil(until)
		assert.Equal(t, now.Add(time.Minute), a.deferredUntil)
	}
}

func TestPingIsLaterThanAllTimesOfTheCandidate(t *testing.T) {
	now := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	at := func(d time.Duration) *meta.MicroTime { return new(meta.NewMicroTime(now.Add(d))) }
	for name, row := range map[string]struct{ renewed, pinged, want *meta.MicroTime }{
		"none":                             {nil, nil, at(0)},
		"earlier":                          {at(-time.Second), at(-time.Second), at(0)},
		"renewed at the same time":         {at(0), nil, at(time.Microsecond)},
		"renewed by a clock ahead":         {at(time.Hour), nil, at(time.Hour + time.Microsecond)},
		"pinged at the same time":          {nil, at(0), at(time.Microsecond)},
		"pinged by a clock ahead":          {at(time.Hour), at(2 * time.Hour), at(2*time.Hour + time.Microsecond)},
		"renewed by a clock ahead of that": {at(2 * time.Hour), at(time.Hour), at(2*time.Hour + time.Microsecond)},
	} {
		a := entrant{c: &LeaseCandidate{Spec: LeaseCandidateSpec{RenewTime: row.renewed, PingTime: row.pinged}}}
		assert.Equal(t, row.want, a.pingTime(now), name)
	}
}
