package candidate

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/kubecoord/kubecoord/store/meta"
)

// The clock of the store is behind the one that the coordinator waits by, or ahead of it.
func TestRenewalIsNewsIfTheCandidateDidNotCount(t *testing.T) {
	var o ElectorOptions
	o.setDefaults()
	now := time.Now()
	for _, skew := range []time.Duration{-1000 * time.Hour, 0, 1000 * time.Hour} {
		for name, row := range map[string]struct {
			t    entrant
			want bool
		}{
			"valid":                     {entrant{seen: now.Add(-time.Minute)}, false},
			"no longer valid":           {entrant{seen: now.Add(-o.Validity)}, true},
			"silent":                    {entrant{seen: now.Add(-time.Minute), silent: true}, true},
			"answers its ping":          {entrant{seen: now.Add(-time.Minute), pings: 1, pinged: now}, false},
			"answers after silences":    {entrant{seen: now.Add(-time.Minute), pings: 1, pinged: now, silences: 1}, true},
			"answers late, by silences": {entrant{seen: now.Add(-time.Minute), pings: 1, pinged: now.Add(-o.PingWindow), silences: 1}, false},
		} {
			clock := now.Add(skew)
			row.t.c = offer("a", "1.0.0", "1.0.0")
			row.t.c.Spec.RenewTime = new(meta.NewMicroTime(clock.Add(-time.Minute)))
			renewed := offer("a", "1.0.0", "1.0.0")
			renewed.Spec.RenewTime = new(meta.NewMicroTime(clock))
			assert.Equal(t, row.want, row.t.update(renewed, now, clock, &o), "%s, %s", name, skew)
			assert.Equal(t, now, row.t.seen)
		}
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
		o := ElectorOptions{Validity: row.validity}
		o.setDefaults()
		now := time.Now()
		renewed := func(ago time.Duration) *LeaseCandidate {
			c := offer("a", "1.0.0", "1.0.0")
			if c.Spec.RenewTime = nil; ago != never {
				c.Spec.RenewTime = &meta.MicroTime{Time: now.Add(-ago)}
			}
			return c
		}
		a := &entrant{c: renewed(row.was)}
		is := renewed(row.is)
		a.update(is, now, now, &o)
		assert.Equal(t, row.want, a.seen.Equal(now), name)
		assert.Same(t, is, a.c)
	}
}

func TestPingsOfOthersCount(t *testing.T) {
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
		var o ElectorOptions
		o.setDefaults()
		a := newEntrant(pinged(row.was), now, 0)
		before := *a
		assert.False(t, a.update(pinged(row.is), now, now, &o), name)
		assert.Equal(t, row.pings, a.pings, name)
		assert.Equal(t, row.pings > before.pings, a.pingSeen, name)
		if a.pingSeen {
			assert.Equal(t, now, a.pinged, name)
		}
	}
}

func TestEachFieldThatStrategiesReadChangesTheChoice(t *testing.T) {
	var o ElectorOptions
	o.setDefaults()
	for name, row := range map[string]struct {
		change func(c *LeaseCandidate)
		want   bool
	}{
		"nothing":             {func(*LeaseCandidate) {}, false},
		"labels":              {func(c *LeaseCandidate) { c.Labels = map[string]string{"a": "b"} }, false},
		"binaryVersion":       {func(c *LeaseCandidate) { c.Spec.BinaryVersion = "2.0.0" }, true},
		"emulationVersion":    {func(c *LeaseCandidate) { c.Spec.EmulationVersion = "2.0.0" }, true},
		"strategy":            {func(c *LeaseCandidate) { c.Spec.Strategy = x }, true},
		"preferredStrategies": {func(c *LeaseCandidate) { c.Spec.PreferredStrategies = strategies{x} }, true},
	} {
		now := time.Now()
		c := offer("a", "1.0.0", "1.0.0")
		a := newEntrant(c, now, 0)
		changed := *c
		row.change(&changed)
		assert.Equal(t, row.want, a.update(&changed, now, now, &o), name)
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
