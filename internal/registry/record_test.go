package registry_test

import (
	"context"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kubecoord/kubecoord/endpoints"
	"github.com/kubecoord/kubecoord/internal/kinds"
	"github.com/kubecoord/kubecoord/internal/registry"
	"github.com/kubecoord/kubecoord/lease"
	"github.com/kubecoord/kubecoord/store"
	"github.com/kubecoord/kubecoord/store/clock"
)

// recorded returns the changes and the state of a record in words.
func recorded(rec registry.Recorded) (changes, now []string) {
	version := func(it *registry.Item) string {
		if it == nil {
			return "-"
		}
		return it.ResourceVersion()
	}
	for _, c := range rec.Changes {
		changes = append(changes, fmt.Sprintf("%d %s %s %s from %s to %s by %d", c.Version, c.Type, c.Resource.Info().Plural, c.New.Name(), version(c.Old), version(c.New), c.Origin))
	}
	for _, s := range rec.Now {
		now = append(now, fmt.Sprint(s.Resource.Info().Plural, " ", s.Item.Name(), " ", s.Item.Version()))
	}
	return changes, now
}

func TestRecordOutlivesHistory(t *testing.T) {
	now := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	st := newStoreWith(t, registry.Options{History: 1, Clock: clock.Func(func() time.Time { return now })})
	st.Record(10)
	leases := leasesIn(st)
	mustCreate(t, leases, newLease("ns/a"))
	_, err := in(st, endpoints.Kind()).Create(t.Context(), newEndpoints("ns/e"), store.CreateOptions{})
	require.NoError(t, err)
	mustModify(t, leases, "ns/a", holder("x"))
	st.ExpireHistory()
	mustDelete(t, leases, "ns/a")

	rec := st.Recorded()
	changes, state := recorded(rec)
	assert.Equal(t, []string{
		"1001 ADDED leases a from - to 1001 by 0",
		"1002 ADDED endpoints e from - to 1002 by 0",
		"1003 MODIFIED leases a from 1001 to 1003 by 0",
		"1004 DELETED leases a from 1003 to 1004 by 0",
	}, changes)
	assert.Equal(t, []string{"endpoints e 1002"}, state)
	assert.True(t, rec.Complete)
	assert.EqualValues(t, 1000, rec.Since)
	assert.EqualValues(t, 1004, rec.Version)
	assert.Equal(t, now, rec.Changes[0].At)
}

func TestRecordHoldsTheLastChanges(t *testing.T) {
	st := newStore(t)
	st.Record(3)
	leases := leasesIn(st)
	for i := range 20 {
		mustCreate(t, leases, newLease(fmt.Sprint("ns/a", i)))
		rec := st.Recorded()
		require.Len(t, rec.Changes, min(i+1, 3))
		require.EqualValues(t, 1001+i, rec.Changes[len(rec.Changes)-1].Version)
		require.Equal(t, i < 3, rec.Complete)
		require.Equal(t, rec.Changes[0].Version-1, rec.Since)
	}
}

func TestRecordBeginsWhenItIsAskedFor(t *testing.T) {
	st := newStore(t)
	leases := leasesIn(st)
	holds := func(want ...string) {
		t.Helper()
		rec := st.Recorded()
		got, _ := recorded(rec)
		assert.Equal(t, want, got)
		assert.False(t, rec.Complete)
	}
	createAll(t, leases, "ns/a")
	st.Record(10)
	createAll(t, leases, "ns/b", "ns/c")
	holds("1002 ADDED leases b from - to 1002 by 0", "1003 ADDED leases c from - to 1003 by 0")
	assert.EqualValues(t, 1001, st.Recorded().Since)
	st.Record(1)
	holds("1003 ADDED leases c from - to 1003 by 0")

	st.Record(0)
	createAll(t, leases, "ns/d")
	holds()
	st.Record(10)
	holds()
	assert.EqualValues(t, 1004, st.Recorded().Since)
	createAll(t, leases, "ns/e")
	holds("1005 ADDED leases e from - to 1005 by 0")
}

func TestStoreThatRecordsNothingSaysSo(t *testing.T) {
	st := newStoreWith(t, registry.Options{})
	mustCreate(t, leasesIn(st), newLease("ns/a"))
	rec := st.Recorded()
	assert.Empty(t, rec.Changes)
	assert.False(t, rec.Complete)
	assert.Equal(t, rec.Version, rec.Since)
}

func TestRecordNamesTheOriginOfEachChange(t *testing.T) {
	st := newStore(t)
	st.Record(10)
	r := leaseResource(st)
	req := registry.Request{Namespace: "ns", Name: "a"}
	by := func(origin uint64) context.Context { return registry.WithOrigin(t.Context(), origin) }
	_, err := r.Create(by(1), newLease("ns/a"), req)
	require.NoError(t, err)
	_, _, err = r.Update(by(2), req, registry.Replacement(func(current *registry.Item) (kinds.Object, error) {
		l := current.Wire(0).(*lease.Lease)
		holder("x")(l)
		finalizers("a/b")(l)
		return l, nil
	}))
	require.NoError(t, err)
	_, err = r.Delete(by(3), req, kinds.DeleteOptions{})
	require.NoError(t, err)
	_, _, err = r.Update(by(4), req, registry.Replacement(func(current *registry.Item) (kinds.Object, error) {
		l := current.Wire(0).(*lease.Lease)
		l.Finalizers = nil
		return l, nil
	}))
	require.NoError(t, err)
	_, err = r.Create(by(5), newLease("ns/a"), req)
	require.NoError(t, err)
	_, err = r.DeleteCollection(registry.WithOrigin(t.Context(), 6), registry.Request{}, registry.ListOptions{}, kinds.DeleteOptions{})
	require.NoError(t, err)

	changes, _ := recorded(st.Recorded())
	assert.Equal(t, []string{
		"1001 ADDED leases a from - to 1001 by 1",
		"1002 MODIFIED leases a from 1001 to 1002 by 2",
		"1003 MODIFIED leases a from 1002 to 1003 by 3",
		"1004 DELETED leases a from 1003 to 1004 by 4",
		"1005 ADDED leases a from - to 1005 by 5",
		"1006 DELETED leases a from 1005 to 1006 by 6",
	}, changes)
}

// Only the race detector sees the fault: a write reads whether changes have a time while Record sets it.
func TestRecordingMayStartDuringWrites(t *testing.T) {
	st := newStore(t)
	leases := leasesIn(st)
	var writers sync.WaitGroup
	for i := range 2 {
		writers.Go(func() {
			for n := range 50 {
				_, err := leases.Create(t.Context(), newLease(fmt.Sprintf("ns/w%d-%d", i, n)), store.CreateOptions{})
				assert.NoError(t, err)
			}
		})
	}
	st.Record(10)
	writers.Wait()
	assert.Len(t, st.Recorded().Now, 100)
}
