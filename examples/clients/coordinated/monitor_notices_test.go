package main

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/kubecoord/kubecoord/candidate"
	"github.com/kubecoord/kubecoord/lease"
	"github.com/kubecoord/kubecoord/store/meta"
	"github.com/kubecoord/kubecoord/watch"
)

// A simulation is worth what it would notice.
func TestMonitorNotices(t *testing.T) {
	sound := func(now time.Time) *health {
		return &health{name: "a", clear: true, clearSince: now, watches: 1, exists: true}
	}
	for name, row := range map[string]struct {
		happens func(m *monitor)
		want    string
	}{
		"nothing where a healthy one leads": {func(m *monitor) {
			m.update(func(now time.Time) { m.electors = 1; m.healths["a"] = sound(now) })
			time.Sleep(m.lead - time.Second)
			m.heard("a")
			time.Sleep(time.Hour)
		}, ""},
		"nobody leads in time": {func(m *monitor) {
			m.update(func(now time.Time) { m.electors = 1; m.healths["a"] = sound(now) })
			time.Sleep(m.lead + time.Second)
		}, "25.9s: nobody healthy leads 25.9s after the last failure, want at most 25.9s"},
		"one that cannot be reached leads": {func(m *monitor) {
			m.update(func(now time.Time) {
				m.electors, m.healths["a"], m.healths["b"] = 1, sound(now), &health{name: "b"}
			})
			m.heard("b")
			time.Sleep(m.lead + time.Second)
		}, "25.9s: nobody healthy leads 25.9s after the last failure, want at most 25.9s"},
		"a candidate does not come back": {func(m *monitor) {
			m.update(func(now time.Time) { m.healths["a"] = &health{name: "a", clear: true, clearSince: now, exists: true} })
			time.Sleep(m.recover + time.Second)
		}, "a is no healthy candidate 6m0.65s after its link was mended"},
		"the lease is taken too early": {func(m *monitor) {
			f := newFollower(m)
			f.takeLease(watch.Added, heldBy("a", 15))
			time.Sleep(14 * time.Second)
			f.takeLease(watch.Modified, heldBy("b", 15))
		}, "14s: b got the Lease 1s before that of a has run out"},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				m := newMonitor(newBounds(classicTiming, candidate.CoordinatorOptions{
					PingWindow: 5 * time.Second, LeaseDuration: 5 * time.Second, Validity: 30 * time.Minute,
				}))
				defer inBackground(m.run)()
				row.happens(m)
				if row.want == "" {
					assert.NoError(t, m.verdict())
				} else {
					assert.ErrorContains(t, m.verdict(), row.want)
				}
			})
		})
	}
}

func heldBy(holder string, seconds int32) *lease.Lease {
	return &lease.Lease{Spec: lease.LeaseSpec{
		HolderIdentity: &holder, LeaseDurationSeconds: &seconds, RenewTime: new(meta.NewMicroTime(time.Now())),
	}}
}
