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
	// Of a store's table of equal parts two may have one slot, and then each write stores them again.
	first, second := allocations(t), allocations(t)
	for verb, most := range map[string]float64{"get": 5, "update": 13, "modify": 18, "create": 23, "delete": 8} {
		assert.LessOrEqual(t, min(first[verb], second[verb]), most, verb)
	}
}

// allocations returns the allocations of each verb in a new store.
func allocations(t *testing.T) map[string]float64 {
	leases := leasesIn(newStore(t))
	ctx := t.Context()
	current := mustCreate(t, leases, benchLease("ns/l"))
	fresh := benchLease("ns/x")
	n := 0
	all := map[string]float64{}
	for _, row := range []struct {
		verb string
		do   func() error
	}{
		{"get", func() error {
			_, err := leases.Get(ctx, "ns", "l")
			return err
		}},
		{"update", func() (err error) {
			current.Spec.RenewTime.Time = current.Spec.RenewTime.Add(time.Second)
			current, err = leases.Update(ctx, current, store.UpdateOptions{})
			return err
		}},
		{"modify", func() error {
			_, err := leases.Modify(ctx, "ns", "l", func(l *lease.Lease) error {
				l.Spec.RenewTime.Time = l.Spec.RenewTime.Add(time.Second)
				return nil
			}, store.UpdateOptions{})
			return err
		}},
		{"create", func() error {
			n++
			fresh.Name = strconv.Itoa(n)
			_, err := leases.Create(ctx, fresh, store.CreateOptions{FieldManager: "m"})
			return err
		}},
		{"delete", func() error {
			_, err := leases.Delete(ctx, "ns", strconv.Itoa(n), kinds.DeleteOptions{})
			n--
			return err
		}},
	} {
		all[row.verb] = testing.AllocsPerRun(500, func() { require.NoError(t, row.do()) })
	}
	return all
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
	w, err := leaseResource(st).Watch(t.Context(), registry.ListOptions{})
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
