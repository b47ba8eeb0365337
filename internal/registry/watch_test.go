package registry_test

import (
	"context"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kubecoord/kubecoord/internal/registry"
	"github.com/kubecoord/kubecoord/lease"
	"github.com/kubecoord/kubecoord/store"
)

func TestWatchOfANameRefusesAnotherFieldSelector(t *testing.T) {
	st := newStore(t)
	for _, fields := range []string{"metadata.name=y", "metadata.namespace=ns", "metadata.name!=x"} {
		_, err := leaseResource(st).Watch(t.Context(), registry.ListOptions{Name: "x", FieldSelector: fields})
		assertStatus(t, err, 400, store.ErrBadRequest, "fieldSelector metadata.name doesn't match requested name")
	}
	assert.Zero(t, st.Watchers())
}

func TestSelectorTurnsChangesIntoComingsAndGoings(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		st := newStore(t)
		leases := leasesIn(st)
		opts := registry.ListOptions{ResourceVersion: "1000", LabelSelector: "k=in"}
		rec := record(t, st, opts)
		other := record(t, st, opts)
		in := func(h string) func(*lease.Lease) {
			return func(l *lease.Lease) { l.Labels, l.Spec.HolderIdentity = map[string]string{"k": "in"}, new(h) }
		}
		out := func(h string) func(*lease.Lease) {
			return func(l *lease.Lease) { l.Labels, l.Spec.HolderIdentity = nil, new(h) }
		}
		mustCreate(t, leases, newLease("ns/a", out("1"))) // 1001 not seen
		mustModify(t, leases, "ns/a", out("2"))           // 1002 not seen
		mustModify(t, leases, "ns/a", in("3"))            // 1003 comes
		mustModify(t, leases, "ns/a", in("4"))            // 1004 changes
		mustModify(t, leases, "ns/a", out("5"))           // 1005 goes
		mustModify(t, leases, "ns/a", in("6"))            // 1006 comes again
		mustDelete(t, leases, "ns/a")                     // 1007 goes for good
		mustCreate(t, leases, newLease("ns/b", out("8"))) // 1008 not seen
		mustDelete(t, leases, "ns/b")                     // 1009 not seen
		mustCreate(t, leases, newLease("ns/c", in("10")))

		assert.Equal(t, []string{
			"ADDED ns/a@1003", "MODIFIED ns/a@1004", "DELETED ns/a@1005", "ADDED ns/a@1006", "DELETED ns/a@1007", "ADDED ns/c@1010",
		}, rec.take())
		var holders []string
		items, others := rec.takeItems(), other.takeItems()
		for _, it := range items {
			holders = append(holders, *it.Wire().(*lease.Lease).Spec.HolderIdentity)
		}
		assert.Equal(t, []string{"3", "4", "4", "6", "6", "10"}, holders, "what goes is told as it was before")
		assert.Equal(t, "in", items[2].Metadata().Labels["k"])
		for i := range items {
			assert.Same(t, items[i], others[i], "watchers share the states that they are told")
		}
	})
}

// A server asks the context and the timeout between any two events; a watch
// that never runs dry must end by them all the same.
func TestBusyWatchEndsWithItsContext(t *testing.T) {
	st := newStore(t)
	leases := leasesIn(st)
	createAll(t, leases, "ns/a")
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	events := 0
	var end error
	for _, err := range leases.Watch(ctx, store.WatchOptions{}) {
		if end = err; err != nil {
			break
		}
		cancel()
		if events++; events == 100 {
			break
		}
		mustModify(t, leases, "ns/a", func(l *lease.Lease) { l.Spec.LeaseTransitions = new(int32(events)) })
	}
	assert.ErrorIs(t, end, context.Canceled, "got %d events after the end of the context", events)
}

func TestCloseLeavesNothing(t *testing.T) {
	st := newStore(t)
	r := leaseResource(st)
	var open []*registry.Watcher
	for _, opts := range []registry.ListOptions{{}, {Namespace: "ns"}, {Namespace: "ns", Name: "a"}, fromNow(), {Namespace: "ns"}} {
		w, err := r.Watch(t.Context(), opts)
		require.NoError(t, err)
		open = append(open, w)
	}
	assert.Equal(t, 5, st.Watchers())
	for i, w := range open {
		w.Close()
		w.Close()
		assert.Equal(t, 4-i, st.Watchers())
	}
}

func TestClosedStoreEndsAllWatches(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		st := newStore(t)
		leases := leasesIn(st)
		waiting := record(t, st, fromNow())
		unread, err := leaseResource(st).Watch(t.Context(), registry.ListOptions{})
		require.NoError(t, err)
		defer unread.Close()
		createAll(t, leases, "ns/a")
		synctest.Wait()
		st.Close()
		st.Close()

		assert.ErrorIs(t, waiting.ended(), registry.ErrClosed)
		_, err = unread.Next(t.Context())
		assert.ErrorIs(t, err, registry.ErrClosed)
		assert.ErrorIs(t, record(t, st, registry.ListOptions{}).ended(), registry.ErrClosed, "watches to come end at once")
		unread.Close()
		assert.Zero(t, st.Watchers())

		createAll(t, leases, "ns/b")
		items, _ := mustList(t, leases, registry.ListOptions{})
		assert.Len(t, items, 2, "objects can still be read and written")
	})
}

// A watch reads on through changes of others, however many there are.
func TestWatchFindsTheOneChangeOfItsSelection(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		st := newStore(t)
		leases := leasesIn(st)
		createAll(t, leases, "ns/other")
		for i := range 1000 {
			mustModify(t, leases, "ns/other", func(l *lease.Lease) { l.Spec.LeaseTransitions = new(int32(i)) })
		}
		mustCreate(t, leases, newLease("ns/mine", label("k", "v")))
		w := record(t, st, registry.ListOptions{LabelSelector: "k=v", ResourceVersion: "1000"})
		assert.Equal(t, []string{"ADDED ns/mine@2002"}, w.take())
	})
}
