//go:build !race

package registry_test

import (
	"runtime"
	"slices"
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kubecoord/kubecoord/internal/kinds"
	"github.com/kubecoord/kubecoord/internal/registry"
	"github.com/kubecoord/kubecoord/lease"
	"github.com/kubecoord/kubecoord/store"
	"github.com/kubecoord/kubecoord/watch"
)

// TestAllocations holds the verbs of the Go API to their number of allocations: what a
// verb returns takes 5, among them a block for the object, a map of labels and the entry of its manager. A
// reused buffer that the collector took is one more. The race detector drops such buffers, so the test is built without it.
func TestAllocations(t *testing.T) {
	leases := leasesIn(newStore(t))
	ctx := t.Context()
	current := mustCreate(t, leases, benchLease("ns/l"))
	fresh := benchLease("ns/x")
	n := 0
	create := func() {
		n++
		fresh.Name = strconv.Itoa(n)
		_, err := leases.Create(ctx, fresh, store.CreateOptions{FieldManager: "m"})
		require.NoError(t, err)
	}
	remove := func() {
		_, err := leases.Delete(ctx, "ns", strconv.Itoa(n), kinds.DeleteOptions{})
		require.NoError(t, err)
		n--
	}
	for _, row := range []struct {
		verb string
		most float64
		do   func()
	}{
		{"get", 5, func() {
			_, err := leases.Get(ctx, "ns", "l")
			require.NoError(t, err)
		}},
		{"update", 13, func() {
			current.Spec.RenewTime.Time = current.Spec.RenewTime.Add(time.Second)
			var err error
			current, err = leases.Update(ctx, current, store.UpdateOptions{})
			require.NoError(t, err)
		}},
		{"modify", 18, func() {
			_, err := leases.Modify(ctx, "ns", "l", func(l *lease.Lease) error {
				l.Spec.RenewTime.Time = l.Spec.RenewTime.Add(time.Second)
				return nil
			}, store.UpdateOptions{})
			require.NoError(t, err)
		}},
		{"create", 23, create},
		{"delete", 8, remove},
	} {
		assert.LessOrEqual(t, testing.AllocsPerRun(500, row.do), row.most, row.verb)
	}
}

// A watch that is not read holds the state that all share, whatever its size, and no list of it.
func TestWatchOfManyObjectsHoldsNoListOfThem(t *testing.T) {
	st := newStore(t)
	leases := leasesIn(st)
	const objects = 10_000 // 80 kB of pointers
	for i := range objects {
		mustCreate(t, leases, newLease("ns/l"+strconv.Itoa(i)))
	}
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	w, err := leaseResource(st).Watch(t.Context(), registry.WatchOptions{})
	require.NoError(t, err)
	runtime.ReadMemStats(&after)
	defer w.Close()
	assert.Less(t, after.TotalAlloc-before.TotalAlloc, uint64(20_000))

	mustDelete(t, leases, "ns/l77")
	var names []string
	for len(names) < objects {
		events, err := w.Next(t.Context())
		require.NoError(t, err)
		for _, ev := range events {
			require.Equal(t, watch.Added, ev.Type)
			names = append(names, ev.Item.Name())
		}
	}
	assert.True(t, slices.IsSorted(names), "each once, and in order")
	assert.Len(t, slices.Compact(names), objects)
	events, err := w.Next(t.Context())
	require.NoError(t, err)
	assert.Equal(t, watch.Deleted, events[0].Type, "what came after that state")
}
