package registry_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kubecoord/kubecoord/internal/kinds"
	"github.com/kubecoord/kubecoord/internal/registry"
	"github.com/kubecoord/kubecoord/store"
)

func TestDeleteCollectionChecksItsOptions(t *testing.T) {
	leases := leasesIn(newStore(t))
	createAll(t, leases, "ns/a")
	_, err := leases.DeleteCollection(t.Context(), kinds.DeleteOptions{IgnoreStoreReadErrorWithClusterBreakingPotential: new(true)}, registry.ListOptions{})
	assertStatus(t, err, 422, store.ErrInvalid, `DeleteOptions.meta.k8s.io "" is invalid: ignoreStoreReadErrorWithClusterBreakingPotential: Invalid value: true: is not allowed with DELETECOLLECTION, try again after removing the option`)
	_, err = leases.DeleteCollection(t.Context(), kinds.DeleteOptions{}, registry.ListOptions{LabelSelector: ","})
	require.ErrorIs(t, err, store.ErrBadRequest)
	mustGet(t, leases, "ns/a")
}

func TestDeleteCollectionEndsWithItsContext(t *testing.T) {
	leases := leasesIn(newStore(t))
	createAll(t, leases, "ns/a")
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err := leases.DeleteCollection(ctx, kinds.DeleteOptions{}, registry.ListOptions{})
	require.ErrorIs(t, err, context.Canceled)
	mustGet(t, leases, "ns/a")
}

// A deletion makes as many versions as it deletes objects, which may be more
// than history keeps.
func TestDeleteCollectionOfMoreThanHistoryHolds(t *testing.T) {
	const n = 10_001
	st := newStoreWith(t, registry.Options{History: 100})
	leases := leasesIn(st)
	createAll(t, leases, manyPaths("ns", n)...)
	got, err := leases.DeleteCollection(t.Context(), kinds.DeleteOptions{}, registry.ListOptions{})
	require.NoError(t, err)
	assert.Equal(t, n, len(got))
	left, _ := mustList(t, leases, registry.ListOptions{})
	assert.Equal(t, 0, len(left))
}
