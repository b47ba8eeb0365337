package registry_test

import (
	"io"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kubecoord/kubecoord/endpoints"
	"github.com/kubecoord/kubecoord/internal/kinds"
	"github.com/kubecoord/kubecoord/internal/registry"
	"github.com/kubecoord/kubecoord/lease"
	"github.com/kubecoord/kubecoord/store"
	"github.com/kubecoord/kubecoord/store/clock"
	"github.com/kubecoord/kubecoord/store/kind"
)

// newFork returns a fork that is closed at the end of the test.
func newFork(t testing.TB, st *registry.Store) *registry.Store {
	t.Helper()
	f, err := st.Fork()
	require.NoError(t, err)
	t.Cleanup(f.Close)
	return f
}

func TestForkOfAClosedStoreIsAnError(t *testing.T) {
	st := newStore(t)
	fork := newFork(t, st)
	st.Close()
	_, err := st.Fork()
	assert.ErrorIs(t, err, registry.ErrClosed)
	assert.EqualError(t, err, "store.Fork: got a store that was closed, want one that is open: store: closed")
	_, err = newFork(t, fork).Fork()
	assert.NoError(t, err, "the forks of a closed store are open")
}

// A write that is under way in one world takes no notice of the other, though both
// have the same object in hand. In one and the same world it does.
func TestWriteOfAForkIsNoConflict(t *testing.T) {
	for name, row := range map[string]struct {
		other func(parent *registry.Store) *registry.Store
		calls int
	}{
		"in a fork":           {func(parent *registry.Store) *registry.Store { return newFork(t, parent) }, 1},
		"in the same store":   {func(parent *registry.Store) *registry.Store { return parent }, 2},
		"in a fork of a fork": {func(parent *registry.Store) *registry.Store { return newFork(t, newFork(t, parent)) }, 1},
	} {
		for _, verb := range []string{"update", "delete"} {
			t.Run(verb+" "+name, func(t *testing.T) {
				mine := newStore(t)
				createAll(t, leasesIn(mine), "ns/a")
				other := row.other(mine)
				calls := 0
				_, err := leasesIn(mine).Modify(t.Context(), "ns", "a", func(l *lease.Lease) error {
					if calls++; calls == 1 {
						mustModify(t, leasesIn(other), "ns/a", holder("other"))
						if verb == "delete" {
							mustDelete(t, leasesIn(other), "ns/a")
						}
					}
					l.Spec.LeaseTransitions = new(int32(calls))
					return nil
				}, store.UpdateOptions{})
				if verb == "delete" && mine == other {
					assert.ErrorIs(t, err, store.ErrNotFound)
					return
				}
				require.NoError(t, err)
				assert.Equal(t, row.calls, calls)
				if mine != other {
					assert.Nil(t, mustGet(t, leasesIn(mine), "ns/a").Spec.HolderIdentity)
				}
			})
		}
	}
}

func TestWatchFromBeforeTheForkSeesSharedHistoryThenItsOwn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		parent := newStore(t)
		leases := leasesIn(parent)
		createAll(t, leases, "ns/a")
		open := record(t, parent, registry.ListOptions{ResourceVersion: "1000"})
		mustModify(t, leases, "ns/a", holder("before"))
		fork := newFork(t, parent)
		late := record(t, fork, registry.ListOptions{ResourceVersion: "1000"})
		assert.Equal(t, 1, parent.Watchers())
		assert.Equal(t, 1, fork.Watchers(), "the watch that was open belongs to the parent")
		createAll(t, leases, "ns/parent")
		createAll(t, leasesIn(fork), "ns/fork")
		mustDelete(t, leasesIn(fork), "ns/a")
		assert.Equal(t, []string{"ADDED ns/a@1001", "MODIFIED ns/a@1002", "ADDED ns/parent@1003"}, open.take())
		assert.Equal(t, []string{"ADDED ns/a@1001", "MODIFIED ns/a@1002", "ADDED ns/fork@1003", "DELETED ns/a@1004"}, late.take())
		parent.Close()
		assert.ErrorIs(t, open.ended(), registry.ErrClosed)
		assert.NoError(t, late.ended(), "the end of one is not the end of the other")
		createAll(t, leasesIn(fork), "ns/later")
		assert.Equal(t, []string{"ADDED ns/later@1005"}, late.take())
	})
}

func TestReadOfAVersionToComeWaitsForItsOwnWorld(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		parent := newStore(t)
		fork := newFork(t, parent)
		createAll(t, leasesIn(parent), "ns/a")
		start := time.Now()
		_, _, err := leasesIn(fork).List(t.Context(), registry.ListOptions{ResourceVersion: "1001"})
		assert.ErrorIs(t, err, store.ErrTimeout)
		assert.Equal(t, 3*time.Second, time.Since(start))
	})
}

func TestForkKeepsTheClockAndTheLimitsOfHistory(t *testing.T) {
	now := epoch
	parent := newStoreWith(t, registry.Options{History: 3, HistoryAge: time.Minute, FirstResourceVersion: 50, Clock: clock.Func(func() time.Time { return now })})
	createAll(t, leasesIn(parent), "ns/a")
	fork := newFork(t, parent)
	assert.Equal(t, now, fork.Now())
	_, complete := leaseResource(fork).History()
	assert.True(t, complete, "the history of the fork begins with the history of its parent")
	at := func(st *registry.Store, version string) error {
		_, _, err := leasesIn(st).List(t.Context(), registry.ListOptions{ResourceVersion: version, ResourceVersionMatch: registry.MatchExact})
		return err
	}
	now = now.Add(2 * time.Minute)
	createAll(t, leasesIn(fork), "ns/b")
	assert.ErrorIs(t, at(fork, "50"), store.ErrExpired, "it is too old")
	createAll(t, leasesIn(fork), "ns/c", "ns/d", "ns/e")
	assert.NoError(t, at(fork, "52"))
	assert.ErrorIs(t, at(fork, "51"), store.ErrExpired, "more than three changes ago")
	fork.ExpireHistory()
	assert.ErrorIs(t, at(fork, "54"), store.ErrExpired)
	now = epoch
	assert.NoError(t, at(parent, "50"), "the history of the parent is its own")
}

// A clock that is moved by hand is moved for one world alone.
func TestForkHasAManualClockOfItsOwn(t *testing.T) {
	m := clock.NewManual(epoch)
	parent := newStoreWith(t, registry.Options{HistoryAge: time.Minute, Clock: m})
	createAll(t, leasesIn(parent), "ns/a")
	fork := newFork(t, parent)
	forked := fork.Clock().(*clock.Manual)
	timers := 0
	m.AfterFunc(time.Second, func() { timers++ })
	forked.FastForward(time.Hour)
	assert.Zero(t, timers)
	assert.True(t, epoch.Equal(parent.Now()))
	assert.True(t, epoch.Add(time.Hour).Equal(fork.Now()))
	createAll(t, leasesIn(fork), "ns/b")
	assert.True(t, epoch.Add(time.Hour).Truncate(time.Second).Equal(mustGet(t, leasesIn(fork), "ns/b").CreationTimestamp.Time))
	m.FastForward(time.Minute)
	assert.Equal(t, 1, timers)
	assert.True(t, epoch.Add(time.Hour).Equal(fork.Now()))
}

// Kinds that one world comes to know are new to the other.
func TestKindsThatComeAfterTheForkAreKeptApart(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		parent := newStore(t)
		createAll(t, leasesIn(parent), "ns/a")
		fork := newFork(t, parent)
		widgets := store.MustKind(kind.Descriptor[*store.Unstructured]{
			Resource: kind.Resource{Group: "example.com", Kind: "Widget"},
			Versions: []kind.Version[*store.Unstructured]{{Name: "v1"}},
		})
		_, err := in(parent, widgets).Create(t.Context(), &store.Unstructured{ObjectMeta: objectMeta("ns/w")}, store.CreateOptions{})
		require.NoError(t, err)
		_, err = in(fork, endpoints.Kind()).Create(t.Context(), newEndpoints("ns/e"), store.CreateOptions{})
		require.NoError(t, err)
		w, err := fork.Resource(kinds.Of(widgets)).Watch(t.Context(), registry.ListOptions{ResourceVersion: "1000", Timeout: time.Minute})
		require.NoError(t, err)
		defer w.Close()
		_, err = w.Next(t.Context())
		assert.Equal(t, io.EOF, err, "there is no widget in this world")
		items, _, err := in(fork, widgets).List(t.Context(), registry.ListOptions{})
		require.NoError(t, err)
		assert.Empty(t, items)
	})
}
