package candidate

import (
	"context"
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kubecoord/kubecoord/lease"
	"github.com/kubecoord/kubecoord/store"
	"github.com/kubecoord/kubecoord/store/meta"
)

func TestCollectDeletesOnlyTheStateThatItKnows(t *testing.T) {
	var events []ElectionEventType
	c, candidates := newTestCoordinator(t, ElectorOptions{Log: func(e ElectionEvent) { events = append(events, e.Type) }})
	enter := func(name string) (*contest, *entrant) {
		lc, err := candidates.Create(t.Context(), offer(name, "1.0.0", "1.0.0"), store.CreateOptions{})
		require.NoError(t, err)
		c.applyCandidate(lc)
		k := c.mainContest()
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
	k := c.mainContest()
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	c.ctx = ended
	now := time.Now()
	k.due, k.touched = time.Time{}, false
	c.carryOut(k, verdict{collect: k.entrants}, now)
	assert.False(t, k.touched)
	assert.Equal(t, now.Add(c.opts.Validity), k.due)
	assert.Equal(t, context.Canceled.Error(), k.failure)
	assert.Len(t, k.entrants, 1)

	c.ctx = t.Context()
	c.carryOut(k, verdict{err: ErrConflictingStrategies, collect: k.entrants}, now)
	assert.Empty(t, k.entrants)
	assert.Equal(t, ErrConflictingStrategies.Error(), k.failure, "a collection does not end it")
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
				c, candidates := newTestCoordinatorAt(t, ElectorOptions{
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
				k := c.mainContest()
				a, offers := k.entrant("a"), k.offers
				time.Sleep(time.Minute)
				if row.before != nil {
					row.before(candidates)
				}
				if row.during != nil {
					during = func() { row.during(candidates) }
				}
				k.touched = false
				c.carryOut(k, verdict{ping: k.entrants}, time.Now())
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
			c, candidates := newTestCoordinatorAt(t, ElectorOptions{FieldManager: "me", Log: func(ev ElectionEvent) { last = ev.Time }},
				func() time.Time { return time.Now().Add(offset) })
			lc, err := candidates.Create(t.Context(), offer("a", "1.0.0", "1.0.0"), store.CreateOptions{})
			require.NoError(t, err)
			c.applyCandidate(lc)
			k := c.mainContest()
			a := k.entrant("a")
			a.c.Spec.RenewTime = nil
			_, err = candidates.Update(t.Context(), a.c, store.UpdateOptions{})
			require.NoError(t, err)
			c.ping(k, a, time.Now())
			assert.True(t, c.st.Now().Equal(a.c.Spec.PingTime.Time))
			assert.Equal(t, c.st.Now(), last)

			elect := func(name string) *lease.Lease {
				time.Sleep(time.Second)
				c.carryOut(k, verdict{elect: &ballot{lease.OldestEmulationVersion, name}}, time.Now())
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
		{Preferred, "b", ""},         // the one that was elected before is not missed
		{PreferenceCleared, "", "a"}, // it may still renew
		{StrategySet, "", "a"},
	} {
		var events []ElectionEvent
		c, _ := newTestCoordinator(t, ElectorOptions{Log: func(ev ElectionEvent) { events = append(events, ev) }})
		k := c.contest(namespacedName{"ns", "main"})
		l := held("x")
		l.Spec.PreferredHolder = new("b")
		l, err := c.leases.Create(t.Context(), l, store.CreateOptions{})
		require.NoError(t, err)
		k.setLease(l, time.Now()) // so that it is no news
		k.touched, k.appointed = false, "a"
		c.wrote(k, l, row.done)
		assert.Equal(t, l.ResourceVersion, k.leaseVersion)
		assert.Equal(t, row.appointed, k.appointed, row.done)
		require.Len(t, events, 1)
		assert.Equal(t, row.done, events[0].Type)
		assert.Equal(t, row.candidate, events[0].Candidate)
	}
}

func TestWritesThatFailLeaveTheKnownStateAsItWas(t *testing.T) {
	c, _ := newTestCoordinator(t, ElectorOptions{})
	l, err := c.leases.Create(t.Context(), held("x"), store.CreateOptions{})
	require.NoError(t, err)
	k := c.contest(namespacedName{"ns", "main"})
	ctx, cancel := context.WithCancel(t.Context())
	err = c.write(k, func(spec *lease.LeaseSpec) ElectionEventType {
		spec.HolderIdentity = new("a")
		cancel()
		c.ctx = ctx
		return Elected
	})
	assert.ErrorIs(t, err, context.Canceled)
	assert.Equal(t, l, k.lease)
}

func TestNothingToWriteIsNotWritten(t *testing.T) {
	var events []ElectionEvent
	c, _ := newTestCoordinator(t, ElectorOptions{Log: func(ev ElectionEvent) { events = append(events, ev) }})
	k := c.contest(namespacedName{"ns", "main"})
	c.carryOut(k, verdict{clear: true}, time.Now())
	_, err := c.leases.Get(t.Context(), "ns", "main")
	assert.ErrorIs(t, err, store.ErrNotFound)
	assert.Empty(t, events)
}

func TestFailureIsForgottenWhenTheLeaseIsAsItShouldBe(t *testing.T) {
	c, _ := newTestCoordinator(t, ElectorOptions{})
	k := &contest{failure: "an earlier one"}
	c.carryOut(k, verdict{}, time.Now())
	assert.NotEmpty(t, k.failure)
	c.carryOut(k, verdict{settled: true}, time.Now())
	assert.Empty(t, k.failure)
}
