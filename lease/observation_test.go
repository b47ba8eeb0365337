package lease

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/kubecoord/kubecoord/store/meta"
)

func TestObservationCountsFromTheLastObservedChange(t *testing.T) {
	start := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	at := func(seconds int) time.Time { return start.Add(time.Duration(seconds) * time.Second) }
	// The holder's clock is a year behind, which must not matter.
	renewed := func(seconds int) *meta.MicroTime { return new(meta.NewMicroTime(at(seconds).AddDate(-1, 0, 0))) }
	l := &Lease{Spec: LeaseSpec{HolderIdentity: new("a"), LeaseDurationSeconds: new(int32(15)), RenewTime: renewed(0)}}

	var o Observation
	assert.True(t, o.Expired(start), "a missing Lease is free")
	assert.False(t, o.Observe(nil, start), "it was missing before")
	assert.True(t, o.Observe(l, at(0)))
	assert.Equal(t, "a", o.Holder())
	assert.Equal(t, at(15), o.Expires())

	assert.False(t, o.Observe(l, at(10)), "nothing changed")
	assert.False(t, o.Expired(at(15).Add(-1)))
	assert.True(t, o.Expired(at(15)))

	l.Spec.RenewTime = renewed(10)
	assert.True(t, o.Observe(l, at(12)))
	assert.Equal(t, at(27), o.Expires())

	l.Spec.PreferredHolder, l.Spec.Strategy = new("b"), new(OldestEmulationVersion)
	assert.False(t, o.Observe(l, at(13)), "these changes are not renewals")
	assert.Equal(t, at(27), o.Expires())

	assert.True(t, o.Observe(nil, at(14)))
	assert.True(t, o.Expired(at(14)), "it was deleted")
	assert.Empty(t, o.Holder())
}

func TestObservationSeesEachFieldOfTheRecord(t *testing.T) {
	now := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	for name, change := range map[string]func(s *LeaseSpec){
		"holder":      func(s *LeaseSpec) { *s.HolderIdentity = "b" },
		"no holder":   func(s *LeaseSpec) { s.HolderIdentity = nil },
		"duration":    func(s *LeaseSpec) { *s.LeaseDurationSeconds = 1 },
		"renewal":     func(s *LeaseSpec) { s.RenewTime.Time = now.Add(time.Microsecond) },
		"acquisition": func(s *LeaseSpec) { s.AcquireTime.Time = now.Add(time.Microsecond) },
		"no times":    func(s *LeaseSpec) { s.AcquireTime = nil },
		"transitions": func(s *LeaseSpec) { *s.LeaseTransitions = 2 },
	} {
		t.Run(name, func(t *testing.T) {
			l := &Lease{Spec: LeaseSpec{
				HolderIdentity: new("a"), LeaseDurationSeconds: new(int32(15)), LeaseTransitions: new(int32(1)),
				RenewTime: new(meta.NewMicroTime(now)), AcquireTime: new(meta.NewMicroTime(now)),
			}}
			var o Observation
			o.Observe(l, now)
			change(&l.Spec) // in place, because the observation has a copy
			assert.True(t, o.Observe(l, now))
		})
	}
}

func TestObservationOfAFreeLease(t *testing.T) {
	now := time.Now()
	for name, spec := range map[string]LeaseSpec{
		"no holder":       {LeaseDurationSeconds: new(int32(15))},
		"released":        {HolderIdentity: new(""), LeaseDurationSeconds: new(int32(15))},
		"without a limit": {HolderIdentity: new("a")},
		"empty":           {},
	} {
		t.Run(name, func(t *testing.T) {
			var o Observation
			assert.True(t, o.Observe(&Lease{Spec: spec}, now))
			assert.False(t, o.Observe(&Lease{Spec: spec}, now))
			assert.True(t, o.Expired(now))
			assert.Zero(t, o.Expires())
			assert.True(t, o.Observe(nil, now))
		})
	}
}
