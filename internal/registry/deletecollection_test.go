package registry_test

import (
	"context"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kubecoord/kubecoord/internal/kinds"
	"github.com/kubecoord/kubecoord/internal/registry"
	"github.com/kubecoord/kubecoord/store"
)

func TestDeleteCollectionAnswersTheObjectsAsTheyWere(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		st := newStore(t)
		leases := leasesIn(st)
		createAll(t, leases, "b/x", "a/y")
		mustCreate(t, leases, newLease("a/x", finalizers("a/f")))
		rec := record(t, st, fromNow())
		got, err := leases.DeleteCollection(t.Context(), kinds.DeleteOptions{}, registry.ListOptions{})
		require.NoError(t, err)

		assert.Equal(t, []string{"a/x", "a/y", "b/x"}, paths(got))
		assert.Equal(t, "1003", got[0].ResourceVersion)
		assert.Nil(t, got[0].DeletionTimestamp)
		left, _ := mustList(t, leases, registry.ListOptions{})
		assert.Equal(t, []string{"a/x"}, paths(left), "finalizers hold it")
		assert.NotNil(t, left[0].DeletionTimestamp)
		assert.Equal(t, []string{"MODIFIED a/x@1004", "DELETED a/y@1005", "DELETED b/x@1006"}, rec.take())
	})
}

func TestDeleteCollectionDeletesTheSelectedObjects(t *testing.T) {
	for name, row := range map[string]struct {
		list registry.ListOptions
		left []string
	}{
		"a namespace":               {registry.ListOptions{Namespace: "a"}, []string{"b/x"}},
		"a label":                   {registry.ListOptions{LabelSelector: "k=v"}, []string{"a/x", "b/x"}},
		"a name":                    {registry.ListOptions{FieldSelector: "metadata.name=x"}, []string{"a/y"}},
		"the first page":            {registry.ListOptions{Limit: 2}, []string{"b/x"}},
		"nothing":                   {registry.ListOptions{Namespace: "c"}, []string{"a/x", "a/y", "b/x"}},
		"a state of the past":       {registry.ListOptions{ResourceVersion: "1001", ResourceVersionMatch: registry.MatchExact}, []string{"a/y", "b/x"}},
		"the same by the old rules": {registry.ListOptions{ResourceVersion: "1001"}, []string{"a/y", "b/x"}},
		"one object, of now":        {registry.ListOptions{ResourceVersion: "1001", Namespace: "a", FieldSelector: "metadata.name=y"}, []string{"a/x", "b/x"}},
		"objects that are gone":     {registry.ListOptions{ResourceVersion: "1004", ResourceVersionMatch: registry.MatchExact}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			leases := leasesIn(newStore(t))
			createAll(t, leases, "a/x")
			mustCreate(t, leases, newLease("a/y", label("k", "v")))
			createAll(t, leases, "b/x", "z/gone")
			mustDelete(t, leases, "z/gone")
			_, err := leases.DeleteCollection(t.Context(), kinds.DeleteOptions{}, row.list)
			require.NoError(t, err)
			left, _ := mustList(t, leases, registry.ListOptions{})
			assert.ElementsMatch(t, row.left, paths(left))
		})
	}
}

func TestDeleteCollectionReturnsTheTokenOfItsPage(t *testing.T) {
	st := newStore(t)
	createAll(t, leasesIn(st), manyPaths("ns", 5)...)
	r := leaseResource(st)
	opts := registry.ListOptions{Limit: 2}
	var deleted []int
	for {
		l, err := r.DeleteCollection(t.Context(), registry.Request{}, opts, kinds.DeleteOptions{})
		require.NoError(t, err)
		deleted = append(deleted, len(l.Items))
		if opts.Continue = l.Continue; opts.Continue == "" {
			break
		}
	}
	assert.Equal(t, []int{2, 2, 1}, deleted)
}

func TestDeleteCollectionStopsAtAFailedPrecondition(t *testing.T) {
	leases := leasesIn(newStore(t))
	createAll(t, leases, "ns/a", "ns/b")
	_, err := leases.DeleteCollection(t.Context(), kinds.DeleteOptions{Preconditions: &kinds.Preconditions{ResourceVersion: new("1001")}}, registry.ListOptions{})
	require.ErrorIs(t, err, store.ErrConflict)
	left, _ := mustList(t, leases, registry.ListOptions{})
	assert.Equal(t, []string{"ns/b"}, paths(left))
}

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
