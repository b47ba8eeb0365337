package candidate

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/kubecoord/kubecoord/store/meta"
)

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
