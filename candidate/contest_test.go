package candidate

import (
	"container/heap"
	"context"
	"errors"
	"math/rand/v2"
	"runtime"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kubecoord/kubecoord/internal/registry"
	"github.com/kubecoord/kubecoord/lease"
	"github.com/kubecoord/kubecoord/store"
	"github.com/kubecoord/kubecoord/store/clock"
	"github.com/kubecoord/kubecoord/store/meta"
)

// newTestCoordinator returns a coordinator that is not running, and its candidates.
func newTestCoordinator(t *testing.T, opts ElectorOptions) (*coordinator, *store.Collection[LeaseCandidate]) {
	st := store.New(store.Options{})
	t.Cleanup(st.Close)
	e, err := NewElector(st, opts)
	require.NoError(t, err)
	c := newCoordinator(e)
	c.ctx = t.Context()
	return c, In(st)
}

func TestVersionsOfObjectsAreComparedAsNumbers(t *testing.T) {
	ordered := []string{"", "8", "9", "10", "11", "100"}
	for i, a := range ordered {
		for j, b := range ordered {
			assert.Equal(t, i > j, isNewer(a, b), "%q and %q", a, b)
		}
	}
}

func TestContestsAreDueInTheirOrder(t *testing.T) {
	rnd := rand.New(rand.NewPCG(1, 1))
	var q queue
	var all []*contest
	due := func() time.Time { return time.Unix(rnd.Int64N(1000), 0) }
	for range 200 {
		k := &contest{due: due(), index: -1}
		all = append(all, k)
		heap.Push(&q, k)
	}
	for i, k := range all {
		switch i % 3 {
		case 0:
			k.due = due()
			heap.Fix(&q, k.index)
		case 1:
			heap.Remove(&q, k.index)
			assert.Equal(t, -1, k.index)
		}
		for place, k := range q {
			require.Equal(t, place, k.index)
		}
	}
	for last := time.Time(time.Unix(0, 0)); len(q) > 0; {
		k := heap.Pop(&q).(*contest)
		assert.False(t, k.due.Before(last))
		assert.Equal(t, -1, k.index)
		last = k.due
	}
}

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
	c := contest{appointed: "gone"}
	c.setLease(&lease.Lease{Spec: lease.LeaseSpec{HolderIdentity: new("gone")}}, now)
	assert.Empty(t, c.appointed)
}

func TestLeaveOfAStrangerChangesNothing(t *testing.T) {
	c := contest{entrants: []*entrant{{c: offer("b", "1.0.0", "1.0.0")}}}
	c.leave("a")
	assert.Len(t, c.entrants, 1)
	assert.Zero(t, c.offers)
}

func TestContestThatIsNewOrHasLostItsLeaseIsDecided(t *testing.T) {
	c, _ := newTestCoordinator(t, ElectorOptions{})
	k := c.contest(namespacedName{"ns", "main"})
	assert.True(t, k.touched)
	assert.Equal(t, []*contest{k}, c.touched)
}

// clockFunc is a clock that calls a function before each reading.
type clockFunc struct {
	clock.Clock
	before func()
}

func (c clockFunc) Now() time.Time {
	c.before()
	return c.Clock.Now()
}

// Otherwise a write between the two would concern nobody.
func TestContestIsKnownBeforeItsLeaseIsRead(t *testing.T) {
	c, _ := newTestCoordinator(t, ElectorOptions{})
	p := namespacedName{"ns", "main"}
	reads := 0
	c.clock = clockFunc{c.clock, func() {
		reads++
		assert.NotNil(t, c.contests[p])
	}}
	c.contest(p)
	assert.NotZero(t, reads)
}

func TestWritersAndTheCoordinatorShareTheContests(t *testing.T) {
	c, _ := newTestCoordinator(t, ElectorOptions{})
	leases := c.st.Resource(lease.Kind().Registered())
	it, err := leases.Create(t.Context(), &lease.Lease{ObjectMeta: meta.ObjectMeta{Namespace: "ns", Name: "main"}}, registry.Request{Namespace: "ns"})
	require.NoError(t, err)
	waits := func(lock, unlock, call func()) {
		lock()
		done := make(chan struct{})
		go func() {
			defer close(done)
			call()
		}()
		for range 1000 {
			runtime.Gosched()
		}
		select {
		case <-done:
			assert.Fail(t, "it did not lock")
		default:
		}
		unlock()
		<-done
	}
	waits(c.mu.Lock, c.mu.Unlock, func() { c.wantsLease(it) })
	waits(c.mu.RLock, c.mu.RUnlock, func() { c.contest(namespacedName{"ns", "main"}) })
	waits(c.mu.RLock, c.mu.RUnlock, func() { c.settle(t.Context()) })
	assert.Empty(t, c.contests)
}

func TestFollowPassesOnChangesOfTheirOwn(t *testing.T) {
	in(t, func(t *testing.T) {
		m := clock.NewManual(time.Now())
		st := store.New(store.Options{Clock: m})
		defer st.Close()
		candidates := In(st)
		ctx, cancel := context.WithCancel(t.Context())
		out, done := make(chan batch), make(chan error, 1)
		go func() { done <- follow(ctx, m, (*registry.Store)(st).Resource(Kind().Registered()), nil, out) }()
		next := func() batch {
			n := <-out
			n.release()
			return n
		}
		create := func(name string) {
			_, err := candidates.Create(t.Context(), offer(name, "1.0.0", "1.0.0"), store.CreateOptions{})
			require.NoError(t, err)
		}
		assert.True(t, next().Relisted)
		create("a")
		a := next()
		create("b")
		b := next()
		require.Len(t, a.Events, 1)
		require.Len(t, b.Events, 1)
		assert.Equal(t, "a", a.Events[0].Item.Name())
		assert.Equal(t, "b", b.Events[0].Item.Name())

		create("c")
		synctest.Wait() // nobody receives it
		cancel()
		assert.ErrorIs(t, <-done, context.Canceled)
		m.FastForward(time.Second) // otherwise the bubble has a deadlock
	})
}

func TestClockIsReleasedOnce(t *testing.T) {
	c, _ := newTestCoordinator(t, ElectorOptions{})
	calls := 0
	c.holds = append(c.holds, func() { calls++ })
	c.release()
	c.release()
	assert.Equal(t, 1, calls)
}

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

func TestEachSilentCandidateIsFound(t *testing.T) {
	var o ElectorOptions
	o.setDefaults()
	now := time.Now()
	pinged := func(name string, ago time.Duration) *entrant {
		return &entrant{c: offer(name, "1.0.0", "1.0.0"), pings: 1, pinged: now.Add(-ago)}
	}
	a, b, c := pinged("a", o.PingWindow-time.Second), pinged("b", o.PingWindow), pinged("c", time.Hour)
	never, before := &entrant{c: offer("d", "1.0.0", "1.0.0")}, pinged("e", time.Hour)
	before.silent = true
	k := contest{entrants: []*entrant{never, a, before, b, c}}
	var v verdict
	k.findSilent(&v, now, &o)
	assert.Equal(t, []*entrant{b, c}, v.silent)
	assert.Equal(t, now.Add(time.Second), k.due)
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

func TestCollectDeletesOnlyTheStateThatItKnows(t *testing.T) {
	var events []ElectionEventType
	c, candidates := newTestCoordinator(t, ElectorOptions{Log: func(e ElectionEvent) { events = append(events, e.Type) }})
	enter := func(name string) (*contest, *entrant) {
		lc, err := candidates.Create(t.Context(), offer(name, "1.0.0", "1.0.0"), store.CreateOptions{})
		require.NoError(t, err)
		c.applyCandidate(lc)
		k := c.contests[namespacedName{"ns", "main"}]
		return k, k.entrant(name)
	}
	k, known := enter("known")
	require.NoError(t, c.collect(k, known))
	assert.Nil(t, k.entrant("known"))
	assert.Equal(t, []ElectionEventType{Collected}, events)

	k, gone := enter("gone")
	_, err := candidates.Delete(t.Context(), "ns", "gone", store.DeleteOptions{})
	require.NoError(t, err)
	require.NoError(t, c.collect(k, gone))
	assert.Nil(t, k.entrant("gone"))

	k, changed := enter("changed")
	_, err = candidates.Modify(t.Context(), "ns", "changed", func(lc *LeaseCandidate) error {
		lc.Spec.BinaryVersion = "2.0.0"
		return nil
	}, store.UpdateOptions{})
	require.NoError(t, err)
	require.NoError(t, c.collect(k, changed))
	assert.Equal(t, "2.0.0", k.entrant("changed").c.Spec.BinaryVersion, "it has given a sign of life")
	_, err = candidates.Get(t.Context(), "ns", "changed")
	assert.NoError(t, err)
	assert.Len(t, events, 1)
}

func TestCollectionThatFailsIsTriedAgain(t *testing.T) {
	c, candidates := newTestCoordinator(t, ElectorOptions{})
	lc, err := candidates.Create(t.Context(), offer("a", "1.0.0", "1.0.0"), store.CreateOptions{})
	require.NoError(t, err)
	c.applyCandidate(lc)
	k := c.contests[namespacedName{"ns", "main"}]
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	c.ctx = ended
	now := time.Now()
	k.due = time.Time{}
	assert.False(t, c.carryOut(k, verdict{collect: k.entrants}, now))
	assert.Equal(t, now.Add(c.opts.Validity), k.due)
	assert.Equal(t, context.Canceled.Error(), k.failure)
	assert.Len(t, k.entrants, 1)
}

func TestOnlyAWriteThatFailsIsFollowedByAPause(t *testing.T) {
	c, _ := newTestCoordinator(t, ElectorOptions{})
	for name, paused := range map[string]bool{"main": false, "Not A Name": true} {
		k := c.contest(namespacedName{"ns", name})
		k.failure = "an earlier one"
		c.carryOut(k, verdict{elect: &ballot{lease.OldestEmulationVersion, "a"}}, time.Now())
		assert.Equal(t, paused, !k.pausedUntil.IsZero(), name)
		assert.Equal(t, paused, k.failure != "", "an election ends it")
	}
}

func TestFailureIsLoggedAgainAfterASuccess(t *testing.T) {
	var errs []string
	c, _ := newTestCoordinator(t, ElectorOptions{Log: func(e ElectionEvent) { errs = append(errs, e.Err.Error()) }})
	k := &contest{}
	one, two := errors.New("one"), errors.New("two")
	for _, row := range []struct {
		err  error
		over bool
	}{{one, false}, {one, false}, {nil, false}, {one, false}, {two, false}, {one, false}, {nil, true}, {one, false}} {
		c.logFailure(k, row.err, row.over)
	}
	assert.Equal(t, []string{"one", "two", "one", "one"}, errs)
}

// A preferredHolder without candidates asks the holder to make way for nobody.
func TestElectorClearsAPreferredHolderWithoutCandidates(t *testing.T) {
	in(t, func(t *testing.T) {
		w := newWorld(t, ElectorOptions{})
		prefer := func(name string) {
			_, err := w.leases.Create(t.Context(), &lease.Lease{ObjectMeta: meta.ObjectMeta{Namespace: "ns", Name: name}, Spec: lease.LeaseSpec{
				HolderIdentity: new("x"), LeaseDurationSeconds: new(int32(3600)), RenewTime: new(meta.NewMicroTime(time.Now())),
				Strategy: new(lease.OldestEmulationVersion), PreferredHolder: new("gone"),
			}}, store.CreateOptions{})
			require.NoError(t, err)
		}
		synctest.Wait()
		prefer("while-it-runs")
		synctest.Wait()
		assert.Equal(t, []string{"PreferenceCleared"}, w.takeEvents())
		w.stop()
		prefer("before-it-runs")
		w.elect(ElectorOptions{})
		synctest.Wait()
		assert.Equal(t, []string{"PreferenceCleared"}, w.takeEvents())
	})
}

func TestElectorThatIsPausedEndsWithItsContext(t *testing.T) {
	in(t, func(t *testing.T) {
		w := newWorld(t, ElectorOptions{Identity: "one"})
		synctest.Wait()
		_, err := w.leases.Delete(t.Context(), holderNamespace, holderLease, store.DeleteOptions{})
		require.NoError(t, err)
		time.Sleep(time.Second) // it contends again a second later
		start := time.Now()
		w.stop() // checks the error
		assert.Zero(t, time.Since(start))
	})
}

func TestStrategyOfAnObjectComesBeforeItsList(t *testing.T) {
	for _, row := range []struct {
		strategy, want lease.CoordinatedLeaseStrategy
	}{{"", x}, {y, y}} {
		c := &LeaseCandidate{Spec: LeaseCandidateSpec{Strategy: row.strategy, PreferredStrategies: strategies{x}}}
		setDefaults(c)
		assert.Equal(t, row.want, c.Spec.Strategy)
	}
}
