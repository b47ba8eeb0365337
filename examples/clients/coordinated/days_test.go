package main

import (
	"flag"
	"math/rand/v2"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kubecoord/kubecoord/candidate"
	"github.com/kubecoord/kubecoord/lease"
	"github.com/kubecoord/kubecoord/store"
)

var (
	seedFlag = flag.Uint64("seed", 0, "`number` that faults follow from; 0 is a new one")
	daysFlag = flag.Float64("days", 0, "simulated `days`; 0 is a quarter of one with client-go's timings, and one with slow renewals")
)

// TestDaysOfFailures lets processes contend for a Lease through starts, crashes,
// drains, upgrades, partitions, slow and lost answers, and restarts of the
// Coordinator, which follow from a seed; what goroutine comes first does not. See
// bounds for what is checked at every change. In between it is quiet, and then
// the best leads and nobody writes but to renew.
func TestDaysOfFailures(t *testing.T) {
	for name, row := range map[string]struct {
		timing timing
		elect  time.Duration // the time for an elected candidate to take up the Lease
		days   float64
	}{
		"client-go's timings": {classicTiming, 5 * time.Second, 0.25},
		// As OpenShift has it, say.
		"slow renewals": {timing{137 * time.Second, 107 * time.Second, 26 * time.Second}, time.Minute, 1},
	} {
		t.Run(name, func(t *testing.T) {
			days, seed := row.days, *seedFlag
			if *daysFlag > 0 {
				days = *daysFlag
			}
			if seed == 0 {
				seed = rand.Uint64()
			}
			t.Logf("-seed %d -days %g", seed, days)
			if days > 2 {
				// In virtual time one thing happens after another: a second thread
				// only has to be woken, and there is little to collect.
				defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
				defer debug.SetGCPercent(debug.SetGCPercent(800))
			}
			begin := time.Now()
			synctest.Test(t, func(t *testing.T) {
				simulate(t, seed, row.timing, candidate.CoordinatorOptions{
					PingWindow: 5 * time.Second, LeaseDuration: row.elect, Validity: 30 * time.Minute,
				}, time.Duration(days*24*float64(time.Hour)))
			})
			t.Logf("took %s", time.Since(begin).Round(time.Millisecond))
		})
	}
}

func simulate(t *testing.T, seed uint64, tm timing, o candidate.CoordinatorOptions, d time.Duration) {
	w := newWorld(t, seed, tm, o, 3)
	defer w.close()
	w.startCoordinator()
	for _, s := range w.slots {
		w.later.add(w.between(0, time.Minute), func() { w.ensure(s) })
	}
	var settled time.Duration
	quiets := 0
	for w.verdict() == nil && w.referee.verdict() == nil && time.Since(w.monitor.began) < d {
		w.storm(w.between(0, 400*tm.leaseDuration))
		settled = max(settled, w.quiet())
		quiets++
	}
	if !assert.NoError(t, w.verdict()) || !assert.NoError(t, w.referee.verdict(), "by what they believe") {
		t.Logf("what happened before:\n%s", strings.Join(w.log, "\n"))
	}
	t.Logf("%s, %d failures and repairs, %d terms, %d quiet times; at the longest %s without a leader of at most %s, settled after %s of at most %s",
		time.Since(w.monitor.began).Round(time.Second), w.faults, w.follower.terms, quiets, w.longest, w.lead, settled.Round(time.Second), w.settle)
}

// quiet waits until the best leads, and then for an hour in which nothing but
// renewals may happen. It returns how long the first took.
func (w *world) quiet() time.Duration {
	begin := time.Now()
	w.note("all is quiet now")
	for since := begin; time.Since(since) < 2*w.options.PingWindow; time.Sleep(time.Second) {
		if !w.isSettled() {
			since = time.Now() // and no round of an election is under way for so long
		}
		if time.Since(begin) > w.settle {
			w.wrong("%q leads %s after the last failure, want %s", w.referee.leader(), time.Since(begin), w.best())
			return time.Since(begin)
		}
	}
	took := time.Since(begin)
	best := w.best()
	w.follower.expect(best)
	ended := 0 // candidates that will never renew
	for _, c := range w.candidates() {
		if !w.runs(c.Name) {
			ended++
		}
	}
	const d = time.Hour
	time.Sleep(d)
	writes, outsider := w.follower.counted()
	if outsider != "" || w.referee.leader() != best {
		w.wrong("%s held the Lease while all was quiet, and %q leads, want %s", outsider, w.referee.leader(), best)
	}
	if most := int(d/w.timing.retryPeriod) + 1; writes["lease"] > most {
		w.wrong("%d writes of the Lease in %s, want at most %d", writes["lease"], d, most)
	}
	for name, n := range writes {
		// A candidate renews every 5 minutes, and once more for each request that
		// failed earlier. Others are pinged, once more when that was long ago, and
		// deleted.
		most := 3
		if w.runs(name) {
			most = int(d/(5*time.Minute)) + 2
		}
		if name != "lease" && n > most {
			w.wrong("%d writes of the candidate %s in %s, want at most %d", n, name, d, most)
		}
	}
	return took
}

// isSettled tells whether the best leads, and nobody wants another.
func (w *world) isSettled() bool {
	l, err := lease.In(w.st).Get(w.t.Context(), leaseNamespace, leaseName)
	return err == nil && l.Spec.PreferredHolder == nil && w.referee.leader() == w.best() && w.allAreSound()
}

func (w *world) candidates() []*candidate.LeaseCandidate {
	all, err := candidate.In(w.st).List(w.t.Context(), store.ListOptions{Namespace: leaseNamespace})
	require.NoError(w.t, err)
	return all.Items
}

// best returns the running candidate that should lead.
func (w *world) best() string {
	alive := slices.DeleteFunc(w.candidates(), func(c *candidate.LeaseCandidate) bool { return !w.runs(c.Name) })
	if best := candidate.OldestEmulationVersion(alive); best != nil {
		return best.Name
	}
	return "somebody"
}

func (w *world) runs(name string) bool {
	return slices.ContainsFunc(w.slots, func(s *slot) bool { return s.process != nil && s.name == name })
}

func (w *world) allAreSound() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, h := range w.healths {
		if !h.sound {
			return false
		}
	}
	return true
}
