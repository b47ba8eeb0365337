package candidate

import (
	"context"
	"math"
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
func newTestCoordinator(t *testing.T, opts CoordinatorOptions) (*elections, *store.Collection[LeaseCandidate]) {
	return newTestCoordinatorAt(t, opts, time.Now)
}

// newTestCoordinatorAt is like newTestCoordinator, with the clock of the store. The coordinator
// waits by the real one.
func newTestCoordinatorAt(t *testing.T, opts CoordinatorOptions, now clock.Func) (*elections, *store.Collection[LeaseCandidate]) {
	st := store.New(store.Options{Clock: now, HistoryAge: math.MaxInt64}) // with the times of changes
	t.Cleanup(st.Close)
	e, err := NewCoordinator(st, opts)
	require.NoError(t, err)
	c := newElections(e)
	c.ctx = t.Context()
	return c, In(st)
}

// held returns a Lease "main" with a holder and a duration of 15s.
func held(holder string) *lease.Lease {
	return &lease.Lease{ObjectMeta: meta.ObjectMeta{Namespace: "ns", Name: "main"}, Spec: lease.LeaseSpec{
		HolderIdentity: &holder, LeaseDurationSeconds: new(int32(15)), RenewTime: new(meta.NewMicroTime(time.Now())),
		Strategy: new(lease.OldestEmulationVersion),
	}}
}

// mainElection returns the contest for the Lease "main", or nil.
func (c *elections) mainElection() *election { return c.byLease[namespacedName{"ns", "main"}] }

// A coordinator that has just started counts from when its store saw an object, by the clock that
// it waits by.
func TestTimesOfObjectsAreThoseOfTheStoreClock(t *testing.T) {
	for name, row := range map[string]struct{ before, after, age time.Duration }{
		"the clocks agree":            {0, 0, 10 * time.Second},
		"the store's is behind":       {-1000 * time.Hour, -1000 * time.Hour, 10 * time.Second},
		"the store's is ahead":        {1000 * time.Hour, 1000 * time.Hour, 10 * time.Second},
		"the store's has jumped back": {0, -time.Hour, 0},
	} {
		t.Run(name, func(t *testing.T) {
			in(t, func(t *testing.T) {
				offset := row.before
				c, candidates := newTestCoordinatorAt(t, CoordinatorOptions{}, func() time.Time { return time.Now().Add(offset) })
				_, err := c.leases.Create(t.Context(), held("x"), store.CreateOptions{})
				require.NoError(t, err)
				lc := offer("a", "1.0.0", "1.0.0")
				lc.Spec.RenewTime = new(meta.NewMicroTime(c.st.Now().Add(-time.Microsecond)))
				lc.Spec.PingTime = new(meta.NewMicroTime(c.st.Now()))
				lc, err = candidates.Create(t.Context(), lc, store.CreateOptions{})
				require.NoError(t, err)
				time.Sleep(10 * time.Second)
				offset = row.after
				c.applyCandidate(lc)
				k, then := c.mainElection(), time.Now().Add(-row.age)
				assert.Equal(t, then.Add(15*time.Second), k.observed.Expires())
				a := k.entrant("a")
				assert.WithinDuration(t, then, a.seen, time.Microsecond)
				assert.WithinDuration(t, then, a.pinged, 0)
				assert.WithinDuration(t, then, a.since, time.Second)
				renewed := *lc
				renewed.Spec.RenewTime = new(meta.NewMicroTime(c.st.Now()))
				lc, err = candidates.Update(t.Context(), &renewed, store.UpdateOptions{})
				require.NoError(t, err)
				c.applyCandidate(lc)
				assert.Equal(t, time.Now(), a.seen)
			})
		})
	}
}

// A list or an event may be older than a state that was read since.
func TestOldStatesChangeNothing(t *testing.T) {
	c, candidates := newTestCoordinator(t, CoordinatorOptions{})
	old, err := candidates.Create(t.Context(), offer("a", "1.0.0", "1.0.0"), store.CreateOptions{})
	require.NoError(t, err)
	later := *old
	later.Spec.BinaryVersion = "2.0.0"
	lc, err := candidates.Update(t.Context(), &later, store.UpdateOptions{})
	require.NoError(t, err)
	c.applyCandidate(lc)
	k := c.mainElection()
	c.settle()
	c.applyCandidate(old)
	assert.Equal(t, lc, k.entrant("a").c)
	assert.False(t, k.touched)

	first, err := c.leases.Create(t.Context(), held("x"), store.CreateOptions{})
	require.NoError(t, err)
	second := *first
	second.Spec.HolderIdentity = new("y")
	l, err := c.leases.Update(t.Context(), &second, store.UpdateOptions{})
	require.NoError(t, err)
	k.applyLease(l, versionOf(l))
	k.applyLease(first, versionOf(first))
	assert.Equal(t, l, k.lease)
	third := *l
	third.Spec.HolderIdentity = new("z")
	last, err := c.leases.Update(t.Context(), &third, store.UpdateOptions{})
	require.NoError(t, err)
	_, err = c.leases.Delete(t.Context(), "ns", "main", store.DeleteOptions{})
	require.NoError(t, err)
	k.lookUp()
	k.applyLease(last, versionOf(last))
	assert.Nil(t, k.lease, "it was missing later")
}

// What happened before the list has no events.
func TestListIsTheWholeState(t *testing.T) {
	c, candidates := newTestCoordinator(t, CoordinatorOptions{})
	_, err := c.leases.Create(t.Context(), held("x"), store.CreateOptions{})
	require.NoError(t, err)
	lc, err := candidates.Create(t.Context(), offer("a", "1.0.0", "1.0.0"), store.CreateOptions{})
	require.NoError(t, err)
	c.applyCandidate(lc)
	k := c.mainElection()
	require.NotNil(t, k.lease)
	_, err = c.leases.Delete(t.Context(), "ns", "main", store.DeleteOptions{})
	require.NoError(t, err)
	_, err = candidates.Delete(t.Context(), "ns", "a", store.DeleteOptions{})
	require.NoError(t, err)
	_, err = candidates.Create(t.Context(), offer("b", "1.0.0", "1.0.0"), store.CreateOptions{})
	require.NoError(t, err)
	require.NoError(t, c.relist())
	assert.Nil(t, k.lease)
	assert.Nil(t, k.entrant("a"))
	assert.NotNil(t, k.entrant("b"))
	_, err = candidates.Delete(t.Context(), "ns", "b", store.DeleteOptions{})
	require.NoError(t, err)
	require.NoError(t, c.relist())
	assert.Empty(t, k.entrants)
	assert.Empty(t, c.entrants)
}

// A list may have changes that the feed returns after it.
func TestChangesThatAListHasChangeNothing(t *testing.T) {
	c, candidates := newTestCoordinator(t, CoordinatorOptions{})
	feed := c.st.Feed(nil)
	_, relist, err := feed.Poll()
	require.NoError(t, err)
	require.True(t, relist)
	for _, version := range []string{"1.0.0", "2.0.0"} { // the first one is deleted
		candidates.Delete(t.Context(), "ns", "a", store.DeleteOptions{})
		_, err := candidates.Create(t.Context(), offer("a", version, "1.0.0"), store.CreateOptions{})
		require.NoError(t, err)
		c.leases.Delete(t.Context(), "ns", "main", store.DeleteOptions{})
		_, err = c.leases.Create(t.Context(), held(version), store.CreateOptions{})
		require.NoError(t, err)
	}
	require.NoError(t, c.relist())
	k := c.mainElection()
	c.settle()
	a, l := k.entrant("a"), k.lease
	changes, relist, err := feed.Poll()
	require.NoError(t, err)
	require.False(t, relist)
	require.Len(t, changes, 6)
	for _, change := range changes {
		require.NoError(t, c.apply([]registry.ObjectChange{change}, false, nil))
		assert.Same(t, l, k.lease)
		assert.Same(t, a, k.entrant("a"))
	}
}

func TestCandidateThatIsCreatedAgainIsANewOne(t *testing.T) {
	c, candidates := newTestCoordinator(t, CoordinatorOptions{})
	enter := func(leaseName string) *election {
		lc := offer("a", "1.0.0", "1.0.0")
		lc.Spec.LeaseName = leaseName
		lc, err := candidates.Create(t.Context(), lc, store.CreateOptions{})
		require.NoError(t, err)
		_, err = candidates.Delete(t.Context(), "ns", "a", store.DeleteOptions{})
		require.NoError(t, err)
		c.applyCandidate(lc) // without the deletion, as a list shows it
		return c.byLease[namespacedName{"ns", leaseName}]
	}
	k := enter("main")
	k.entrant("a").missed = 2
	assert.Same(t, k, enter("main"))
	assert.Zero(t, k.entrant("a").missed)
	other := enter("other")
	assert.Empty(t, k.entrants)
	assert.Len(t, other.entrants, 1)
}

// dueInOrder returns the names of the elections that are due, in their order.
func (s *elections) dueInOrder() (names []string) {
	s.queue.Ascend(func(e *election) bool {
		names = append(names, e.name)
		return true
	})
	return names
}

func TestElectionIsMovedToItsNewTime(t *testing.T) {
	c, _ := newTestCoordinator(t, CoordinatorOptions{})
	expire := func(name string, seconds int32) {
		k := c.election(namespacedName{"ns", name})
		l := held("x")
		l.Name, l.Spec.LeaseDurationSeconds = name, &seconds
		k.setLease(l, time.Now())
		c.settle()
	}
	expire("a", 20)
	expire("b", 10)
	assert.Equal(t, []string{"b", "a"}, c.dueInOrder())
	expire("a", 5)
	assert.Equal(t, []string{"a", "b"}, c.dueInOrder())
}

func TestElectionEndsWhenThereIsNothingToWaitFor(t *testing.T) {
	in(t, func(t *testing.T) {
		c, candidates := newTestCoordinator(t, CoordinatorOptions{})
		lc, err := candidates.Create(t.Context(), offer("dead", "1.0.0", "1.0.0"), store.CreateOptions{})
		require.NoError(t, err)
		c.applyCandidate(lc)
		last := c.mainElection()
		dead := last.entrants[0]
		dead.seen, dead.pings, dead.pingSeen = time.Time{}, 1, true
		time.Sleep(time.Hour)
		c.settle()
		assert.Empty(t, last.entrants, "it was collected")
		assert.Empty(t, c.byLease)

		l := held("x")
		l.Spec.PreferredHolder = new("gone")
		_, err = c.leases.Create(t.Context(), l, store.CreateOptions{})
		require.NoError(t, err)
		k := c.election(namespacedName{"ns", "main"})
		c.settle()
		assert.Same(t, k, c.mainElection(), "the Lease will expire")
		assert.Equal(t, []string{"main"}, c.dueInOrder())
		_, err = c.leases.Delete(t.Context(), "ns", "main", store.DeleteOptions{})
		require.NoError(t, err)
		k.lookUp()
		c.settle()
		assert.Empty(t, c.byLease)
		assert.Empty(t, c.dueInOrder())
	})
}

func TestCoordinatorThatEndsDecidesNothing(t *testing.T) {
	c, _ := newTestCoordinator(t, CoordinatorOptions{})
	_, err := c.leases.Create(t.Context(), held("x"), store.CreateOptions{})
	require.NoError(t, err)
	k := c.election(namespacedName{"ns", "main"})
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	c.ctx = ctx
	c.settle()
	assert.Equal(t, []*election{k}, c.touched)
	c.st.Close()
	k.lookUp()
	assert.NotNil(t, k.lease, "nobody said that it is gone")
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
	c, _ := newTestCoordinator(t, CoordinatorOptions{})
	p := namespacedName{"ns", "main"}
	reads := 0
	c.clock = clockFunc{c.clock, func() {
		reads++
		assert.NotNil(t, c.byLease[p])
	}}
	c.election(p)
	assert.NotZero(t, reads)
}

// A preferredHolder without candidates asks the holder to make way for nobody.
func TestCoordinatorClearsAPreferredHolderWithoutCandidates(t *testing.T) {
	in(t, func(t *testing.T) {
		w := newWorld(t, CoordinatorOptions{})
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
		w.elect(CoordinatorOptions{})
		synctest.Wait()
		assert.Equal(t, []string{"PreferenceCleared"}, w.takeEvents())
	})
}
