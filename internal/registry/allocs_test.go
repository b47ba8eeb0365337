package registry_test

import (
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kubecoord/kubecoord/internal/registry"
	"github.com/kubecoord/kubecoord/lease"
	"github.com/kubecoord/kubecoord/store"
)

// TestAllocations holds the verbs of the Go API to their number of allocations: what a
// verb returns takes 3, a block for the object with its manager, and a map of labels. A
// reused buffer that the collector took is one more.
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
		_, err := leases.Delete(ctx, "ns", strconv.Itoa(n), registry.DeleteOptions{})
		require.NoError(t, err)
		n--
	}
	for _, row := range []struct {
		verb string
		most float64
		do   func()
	}{
		{"get", 3, func() {
			_, err := leases.Get(ctx, "ns", "l")
			require.NoError(t, err)
		}},
		{"update", 8, func() {
			current.Spec.RenewTime.Time = current.Spec.RenewTime.Add(time.Second)
			var err error
			current, err = leases.Update(ctx, current, store.UpdateOptions{})
			require.NoError(t, err)
		}},
		{"modify", 11, func() {
			_, err := leases.Modify(ctx, "ns", "l", func(l *lease.Lease) error {
				l.Spec.RenewTime.Time = l.Spec.RenewTime.Add(time.Second)
				return nil
			}, store.UpdateOptions{})
			require.NoError(t, err)
		}},
		{"create", 13, create},
		{"delete", 5, remove},
	} {
		assert.LessOrEqual(t, testing.AllocsPerRun(500, row.do), row.most, row.verb)
	}
}
