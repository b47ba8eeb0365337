package registry_test

import (
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kubecoord/kubecoord/endpoints"
	"github.com/kubecoord/kubecoord/internal/registry"
	"github.com/kubecoord/kubecoord/internal/test/engine"
	"github.com/kubecoord/kubecoord/lease"
	"github.com/kubecoord/kubecoord/store"
)

// openOn returns a store on an engine, which has its state.
func openOn(t testing.TB, e *engine.Engine, o registry.Options) *registry.Store {
	t.Helper()
	st, err := registry.Open(o, e, lease.Kind().Registered(), endpoints.Kind().Registered())
	require.NoError(t, err)
	t.Cleanup(st.Close)
	require.NoError(t, st.Loaded(t.Context()))
	return st
}

func TestStoresOnOneEngineSeeEachOther(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := engine.New(1000)
		a, b := openOn(t, e, registry.Options{}), openOn(t, e, registry.Options{})
		events := record(t, b, registry.WatchOptions{ResourceVersion: "1000"})
		created, err := leasesIn(a).Create(t.Context(), newLease("ns/a", holder("one")), store.CreateOptions{})
		require.NoError(t, err)
		assert.Equal(t, "1001", created.ResourceVersion)
		got, err := leasesIn(b).Get(t.Context(), "ns", "a")
		require.NoError(t, err)
		assert.Equal(t, created, got)
		got.Spec.HolderIdentity = new("two")
		updated, err := leasesIn(b).Update(t.Context(), got, store.UpdateOptions{})
		require.NoError(t, err)
		items, m := mustList(t, leasesIn(a), registry.ListOptions{})
		assert.Equal(t, []*lease.Lease{updated}, items)
		assert.Equal(t, "1002", m.ResourceVersion)
		_, err = leasesIn(a).Delete(t.Context(), "ns", "a", registry.DeleteOptions{})
		require.NoError(t, err)
		_, err = leasesIn(b).Get(t.Context(), "ns", "a")
		assert.ErrorIs(t, err, store.ErrNotFound)
		assert.Equal(t, []string{"ADDED ns/a@1001", "MODIFIED ns/a@1002", "DELETED ns/a@1003"}, events.take())
	})
}
