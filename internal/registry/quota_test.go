package registry_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kubecoord/kubecoord/internal/registry"
	"github.com/kubecoord/kubecoord/lease"
	"github.com/kubecoord/kubecoord/store"
	"github.com/kubecoord/kubecoord/store/meta"
)

func annotated(size int) func(*lease.Lease) {
	return func(l *lease.Lease) { l.Annotations = map[string]string{"a": strings.Repeat("x", size)} }
}

func TestStoreThatIsFullTakesNoMoreBytes(t *testing.T) {
	const full = "etcdserver: mvcc: database space exceeded"
	st := newStoreWith(t, registry.Options{Quota: 100 << 10})
	leases := leasesIn(st)
	for _, name := range []string{"ns/a", "ns/b", "ns/c"} {
		mustCreate(t, leases, newLease(name, annotated(30<<10), finalizers("a/b")))
	}
	check := func(t *testing.T, leases collection) {
		_, err := leases.Create(t.Context(), newLease("ns/d", annotated(30<<10)), store.CreateOptions{})
		assertPlain(t, err, full)
		_, err = leases.Create(t.Context(), newLease("ns/a", annotated(30<<10)), store.CreateOptions{})
		require.ErrorIs(t, err, store.ErrAlreadyExists)
		_, err = leases.Create(t.Context(), newLease("ns/d", annotated(30<<10)), store.CreateOptions{DryRun: true})
		require.NoError(t, err, "a dry run stores nothing")
		_, err = leases.Modify(t.Context(), "ns", "a", func(l *lease.Lease) error { annotated(60 << 10)(l); return nil }, store.UpdateOptions{})
		assertPlain(t, err, full)
		mustModify(t, leases, "ns/a", func(l *lease.Lease) { l.Annotations["a"] = strings.Repeat("y", 30<<10) })
		mustDelete(t, leases, "ns/b")
		_, err = leases.Create(t.Context(), newLease("ns/d", annotated(30<<10)), store.CreateOptions{})
		assertPlain(t, err, full) // the finalizer holds the object back
		mustModify(t, leases, "ns/b", func(l *lease.Lease) { l.Finalizers = nil })
		all, _ := mustList(t, leases, registry.ListOptions{})
		assert.Equal(t, []string{"ns/a", "ns/c"}, paths(all))
		mustCreate(t, leases, newLease("ns/d", annotated(30<<10)))
		_, err = leases.Create(t.Context(), newLease("ns/e", annotated(30<<10)), store.CreateOptions{})
		assertPlain(t, err, full)
	}
	fork, err := st.Fork()
	require.NoError(t, err)
	t.Cleanup(fork.Close)
	t.Run("store", func(t *testing.T) { check(t, leases) })
	t.Run("fork", func(t *testing.T) { check(t, leasesIn(fork)) })
}

// An object counts its size and 1 KiB. The quota itself may be reached.
func TestQuotaIsExact(t *testing.T) {
	all := leasesIn(newStore(t))
	small := mustCreate(t, all, newLease("ns/a", annotated(100)))
	small.ResourceVersion = "" // a create stores none
	large := mustModify(t, all, "ns/a", annotated(200))
	quota := func(l *lease.Lease) int64 { return int64(all.r.Schema(0).Size(l)) + 1<<10 }
	for missing, fits := range []bool{true, false} {
		leases := leasesIn(newStoreWith(t, registry.Options{Quota: quota(small) - int64(missing)}))
		_, err := leases.Create(t.Context(), newLease("ns/a", annotated(100)), store.CreateOptions{})
		assert.Equal(t, fits, err == nil, "create: %v", err)

		leases = leasesIn(newStoreWith(t, registry.Options{Quota: quota(large) - int64(missing)}))
		mustCreate(t, leases, newLease("ns/a", annotated(100)))
		_, err = leases.Modify(t.Context(), "ns", "a", func(l *lease.Lease) error { annotated(200)(l); return nil }, store.UpdateOptions{})
		assert.Equal(t, fits, err == nil, "update: %v", err)
	}
}

func TestWriteThatDoesNotGrowAnObjectNeedsNoRoom(t *testing.T) {
	st := newStoreWith(t, registry.Options{Quota: 1})
	require.NoError(t, st.Restore(prepare(t, st, newLease("ns/a", annotated(1000))), 0), "a dump is loaded whatever its size")
	mustModify(t, leasesIn(st), "ns/a", annotated(10))
	mustModify(t, leasesIn(st), "ns/a", func(l *lease.Lease) { l.Annotations["a"] = "as before!" })
}

func TestHistoryIsBoundedByBytes(t *testing.T) {
	st := newStoreWith(t, registry.Options{HistoryBytes: 1 << 20})
	leases := leasesIn(st)
	mustCreate(t, leases, newLease("ns/a"))
	for i := range 50 {
		mustModify(t, leases, "ns/a", annotated(100<<10+i))
	}
	changes, complete := leaseResource(st).History()
	assert.False(t, complete)
	assert.Len(t, changes, 10)
	_, _, err := leases.List(t.Context(), registry.ListOptions{ResourceVersion: "1001", ResourceVersionMatch: "Exact"})
	assert.ErrorIs(t, err, meta.ReasonExpired)
}
