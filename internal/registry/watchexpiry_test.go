package registry_test

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kubecoord/kubecoord/internal/registry"
	"github.com/kubecoord/kubecoord/store"
	"github.com/kubecoord/kubecoord/store/clock"
)

// openLeases opens a watch that is read by the test itself.
func openLeases(t *testing.T, st *registry.Store, opts registry.ListOptions) *registry.Watcher {
	t.Helper()
	w, err := leaseResource(st).Watch(t.Context(), opts)
	require.NoError(t, err)
	t.Cleanup(w.Close)
	return w
}

func TestSlowWatchEndsWithExpired(t *testing.T) {
	st := newStoreWith(t, registry.Options{History: 8})
	leases := leasesIn(st)
	w := openLeases(t, st, registry.ListOptions{ResourceVersion: "1000"})
	createAll(t, leases, manyPaths("ns", 8)...)
	events, err := w.Next(t.Context())
	require.NoError(t, err, "all of it is still there")
	assert.Len(t, events, 8)

	createAll(t, leases, manyPaths("other", 9)...)
	_, err = w.Next(t.Context())
	assertStatus(t, err, 410, store.ErrExpired, "too old resource version: 1008 (1009)")
	_, err = w.Next(t.Context())
	require.ErrorIs(t, err, store.ErrExpired, "an end stays one")
	w.Close()
	assert.Zero(t, st.Watchers())
}

func TestSlowWatchOfTheInitialStateExpiresAfterIt(t *testing.T) {
	st := newStoreWith(t, registry.Options{History: 8})
	leases := leasesIn(st)
	createAll(t, leases, "ns/a")
	w := openLeases(t, st, registry.ListOptions{AllowWatchBookmarks: true})
	createAll(t, leases, manyPaths("other", 9)...)
	events, err := w.Next(t.Context())
	require.NoError(t, err, "the state is its own")
	assert.Len(t, events, 2)
	_, err = w.Next(t.Context())
	require.ErrorIs(t, err, store.ErrExpired)
}

func TestIdleWatchDoesNotExpireHoweverMuchHappensElsewhere(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		st := newStoreWith(t, registry.Options{History: 8})
		leases := leasesIn(st)
		createAll(t, leases, "ns/a")
		one := openLeases(t, st, registry.ListOptions{Namespace: "ns", Name: "a", ResourceVersion: "1001", AllowWatchBookmarks: true})
		namespace := record(t, st, registry.ListOptions{Namespace: "ns", ResourceVersion: "1001"})
		busy := func() {
			createAll(t, leases, manyPaths("other", 100)...)
			for _, path := range manyPaths("other", 100) {
				mustDelete(t, leases, path)
			}
		}
		busy()
		time.Sleep(time.Minute)
		events, err := one.Next(t.Context())
		require.NoError(t, err)
		assert.Equal(t, "BOOKMARK @1201", eventText(events[0]), "nothing is missing up to there")
		busy()
		mustModify(t, leases, "ns/a", holder("x"))
		events, err = one.Next(t.Context())
		require.NoError(t, err)
		require.Len(t, events, 1)
		assert.Equal(t, "MODIFIED ns/a@1402", eventText(events[0]))
		assert.Equal(t, []string{"MODIFIED ns/a@1402"}, namespace.take())
		busy()
		assert.Empty(t, namespace.take())
		assert.NoError(t, namespace.ended())
	})
}

// A selector is not a scope: what it passes over has to be read all the same.
func TestWatchWithASelectorThatReadsAlongDoesNotExpire(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		st := newStoreWith(t, registry.Options{History: 8})
		leases := leasesIn(st)
		rec := record(t, st, registry.ListOptions{LabelSelector: "k=v", ResourceVersion: "1000"})
		for _, path := range manyPaths("ns", 100) {
			mustCreate(t, leases, newLease(path))
			synctest.Wait()
		}
		mustModify(t, leases, "ns/l00042", label("k", "v"))
		assert.Equal(t, []string{"ADDED ns/l00042@1101"}, rec.take())
	})
}

func TestHistoryByAgeExpiresAWatchThatStoppedReading(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		st := newStoreWith(t, registry.Options{HistoryAge: time.Minute, Clock: clock.Real{}})
		leases := leasesIn(st)
		w := openLeases(t, st, registry.ListOptions{ResourceVersion: "1000"})
		createAll(t, leases, "ns/a")
		time.Sleep(2 * time.Minute)
		createAll(t, leases, "ns/b")
		_, err := w.Next(t.Context())
		assertStatus(t, err, 410, store.ErrExpired, "too old resource version: 1000 (1001)")
	})
}

func TestExpireHistoryAnswersOldVersionsWith410AndSparesTheRest(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		st := newStore(t)
		leases := leasesIn(st)
		createAll(t, leases, "ns/a", "ns/b", "ns/c")
		follower := record(t, st, registry.ListOptions{ResourceVersion: "1000"})
		lagging := openLeases(t, st, registry.ListOptions{ResourceVersion: "1000"})
		_, page := mustList(t, leases, registry.ListOptions{Limit: 1, ResourceVersion: "1002"})
		synctest.Wait()
		follower.take()

		st.ExpireHistory()
		_, err := lagging.Next(t.Context())
		assertStatus(t, err, 410, store.ErrExpired, "too old resource version: 1000 (1003)")
		_, err = openLeases(t, st, registry.ListOptions{ResourceVersion: "1002"}).Next(t.Context())
		assertStatus(t, err, 410, store.ErrExpired, "too old resource version: 1002 (1003)")
		_, _, err = leases.List(t.Context(), registry.ListOptions{ResourceVersion: "1002", ResourceVersionMatch: "Exact"})
		require.ErrorIs(t, err, store.ErrExpired, "also where the state of that version was kept")
		_, _, err = leases.List(t.Context(), registry.ListOptions{Limit: 1, Continue: page.Continue})
		require.ErrorIs(t, err, store.ErrExpired)

		items, m := mustList(t, leases, registry.ListOptions{})
		assert.Len(t, items, 3, "the present is as it was")
		assert.Equal(t, "1003", m.ResourceVersion)
		next := record(t, st, registry.ListOptions{ResourceVersion: "1003"})
		createAll(t, leases, "ns/d")
		assert.Equal(t, []string{"ADDED ns/d@1004"}, follower.take())
		assert.Equal(t, []string{"ADDED ns/d@1004"}, next.take())
	})
}
