package candidate

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kubecoord/kubecoord/internal/registry"
	"github.com/kubecoord/kubecoord/lease"
	"github.com/kubecoord/kubecoord/store"
	"github.com/kubecoord/kubecoord/store/meta"
)

// Each renewal of each Lease would wake the coordinator otherwise.
func TestCoordinatorWantsOnlyLeasesThatConcernIt(t *testing.T) {
	st := store.New(store.Options{})
	defer st.Close()
	for name, spec := range map[string]lease.LeaseSpec{
		"main": {}, "other": {HolderIdentity: new("a")}, "preferred": {Strategy: new(lease.OldestEmulationVersion), PreferredHolder: new("b")},
	} {
		_, err := lease.In(st).Create(t.Context(), &lease.Lease{ObjectMeta: meta.ObjectMeta{Namespace: "ns", Name: name}, Spec: spec}, store.CreateOptions{})
		require.NoError(t, err)
	}
	e, err := NewCoordinator(st, CoordinatorOptions{})
	require.NoError(t, err)
	c := newElections(e)
	c.ctx = t.Context()
	wanted := func() (names []string) {
		for _, name := range []string{"main", "other", "preferred"} {
			if c.wantsLease((*registry.Store)(st).Resource(lease.Kind().Registered()).Peek("ns", name)) {
				names = append(names, name)
			}
		}
		return names
	}
	assert.Equal(t, []string{"preferred"}, wanted())
	k := c.election(namespacedName{"ns", "main"})
	assert.Equal(t, []string{"main", "preferred"}, wanted())
	c.settle()
	assert.Empty(t, k.entrants)
	assert.Equal(t, []string{"preferred"}, wanted(), "a contest without candidates ends")
}

func TestCoordinatorSleepsThroughRenewalsOfOtherLeases(t *testing.T) {
	in(t, func(t *testing.T) {
		st := store.New(store.Options{})
		defer st.Close()
		e, err := NewCoordinator(st, CoordinatorOptions{})
		require.NoError(t, err)
		readings := 0
		e.clock = clockFunc{e.clock, func() { readings++ }}
		l, err := e.leases.Create(t.Context(), held("x"), store.CreateOptions{})
		require.NoError(t, err)
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan error, 1)
		go func() { done <- e.Run(ctx) }()
		synctest.Wait()
		before := readings
		l.Spec.RenewTime = new(meta.NewMicroTime(time.Now().Add(time.Second)))
		_, err = e.leases.Update(t.Context(), l, store.UpdateOptions{})
		require.NoError(t, err)
		synctest.Wait()
		assert.Equal(t, before, readings)
		cancel()
		assert.ErrorIs(t, <-done, context.Canceled)
	})
}
