package registry_test

import (
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kubecoord/kubecoord/internal/kinds"
	"github.com/kubecoord/kubecoord/internal/registry"
	"github.com/kubecoord/kubecoord/lease"
	"github.com/kubecoord/kubecoord/store"
	"github.com/kubecoord/kubecoord/store/meta"
)

// dryRun is a store with three leases, which must be the same after the test:
// "ns/a", "ns/held" with a finalizer, and "ns/going" that is terminating.
func dryRun(t *testing.T, test func(t *testing.T, leases collection)) {
	synctest.Test(t, func(t *testing.T) {
		st := newStore(t)
		leases := leasesIn(st)
		createAll(t, leases, "ns/a")
		mustCreate(t, leases, newLease("ns/held", finalizers("a/f")))
		mustCreate(t, leases, newLease("ns/going", finalizers("a/f")))
		mustDelete(t, leases, "ns/going")
		before, _ := mustList(t, leases, registry.ListOptions{})
		version := st.ResourceVersion()
		rec := record(t, st, fromNow())

		test(t, leases)

		after, _ := mustList(t, leases, registry.ListOptions{})
		assert.Equal(t, before, after, "a dry run stores nothing")
		assert.Equal(t, version, st.ResourceVersion(), "and takes no version")
		assert.Empty(t, rec.take(), "and sends no event")
	})
}

var dryAll = []string{kinds.DryRunAll}

func TestDryRunOfACreate(t *testing.T) {
	dryRun(t, func(t *testing.T, leases collection) {
		got, err := leases.Create(t.Context(), newLease("ns/new", holder("x")), store.CreateOptions{DryRun: true})
		require.NoError(t, err)
		assert.Regexp(t, uuid4, string(got.UID))
		assert.Equal(t, meta.NewTime(epoch), got.CreationTimestamp)
		assert.Empty(t, got.ResourceVersion)
		assert.Equal(t, "x", *got.Spec.HolderIdentity)

		_, err = leases.Create(t.Context(), newLease("ns/a"), store.CreateOptions{DryRun: true})
		require.ErrorIs(t, err, store.ErrAlreadyExists)
		_, err = leases.Create(t.Context(), newLease("ns/A"), store.CreateOptions{DryRun: true})
		require.ErrorIs(t, err, store.ErrInvalid)
		got, err = leases.Create(t.Context(), newLease("ns/", generate("w-")), store.CreateOptions{DryRun: true})
		require.NoError(t, err)
		assert.Regexp(t, "^w-.{5}$", got.Name)

		// What refuses a resourceVersion, and what sets it, is the storage, which a dry run does not get to.
		versioned := func(l *lease.Lease) { l.ResourceVersion = "7" }
		got, err = leases.Create(t.Context(), newLease("ns/new", versioned), store.CreateOptions{DryRun: true})
		require.NoError(t, err)
		assert.Equal(t, "7", got.ResourceVersion)
		_, err = leases.Create(t.Context(), newLease("ns/a", versioned), store.CreateOptions{DryRun: true})
		require.ErrorIs(t, err, store.ErrAlreadyExists)
	})
}

func TestDryRunOfAnUpdate(t *testing.T) {
	dryRun(t, func(t *testing.T, leases collection) {
		opts := store.UpdateOptions{DryRun: true}
		l := mustGet(t, leases, "ns/a")
		l.Spec.HolderIdentity = new("x")
		got, err := leases.Update(t.Context(), l, opts)
		require.NoError(t, err)
		l.ManagedFields = got.ManagedFields // they are told anew, too
		assert.Equal(t, l, got, "the new content under the old version")

		l.ResourceVersion = "1"
		_, err = leases.Update(t.Context(), l, opts)
		require.ErrorIs(t, err, store.ErrConflict)

		got, err = leases.Update(t.Context(), newLease("ns/new"), opts)
		require.NoError(t, err)
		assert.Empty(t, got.ResourceVersion, "what would be created has no version")
		assert.NotEmpty(t, got.UID)

		other := newLease("ns/a")
		other.UID = "another"
		_, err = leases.Update(t.Context(), other, opts)
		require.ErrorIs(t, err, store.ErrConflict)
		assert.ErrorContains(t, err, "Key: /leases/ns/a,", "not the key in the store of a real server")

		last := mustGet(t, leases, "ns/going")
		last.Finalizers = nil
		got, err = leases.Update(t.Context(), last, opts)
		require.NoError(t, err)
		last.ManagedFields = got.ManagedFields
		assert.Equal(t, last, got)
	})
}

func TestDryRunOfADelete(t *testing.T) {
	dryRun(t, func(t *testing.T, leases collection) {
		opts := kinds.DeleteOptions{DryRun: dryAll}
		before := mustGet(t, leases, "ns/a")
		got, err := leases.Delete(t.Context(), "ns", "a", opts)
		require.NoError(t, err)
		assert.Equal(t, before, got)

		before = mustGet(t, leases, "ns/held")
		got, err = leases.Delete(t.Context(), "ns", "held", opts)
		require.NoError(t, err)
		assert.NotNil(t, got.DeletionTimestamp, "the object as it would be")
		assert.Equal(t, before.ResourceVersion, got.ResourceVersion, "under its old version")

		got, err = leases.Delete(t.Context(), "ns", "going", opts)
		require.NoError(t, err)
		assert.Equal(t, mustGet(t, leases, "ns/going"), got)

		for name, removed := range map[string]bool{"a": true, "held": false, "going": false} {
			d, err := leases.r.Delete(t.Context(), registry.Request{Namespace: "ns", Name: name}, opts)
			require.NoError(t, err)
			assert.Equal(t, removed, d.Removed, name)
			assert.Zero(t, d.Version, name)
		}

		_, err = leases.Delete(t.Context(), "ns", "none", opts)
		require.ErrorIs(t, err, store.ErrNotFound)
		opts.Preconditions = &kinds.Preconditions{ResourceVersion: new("1")}
		_, err = leases.Delete(t.Context(), "ns", "a", opts)
		require.ErrorIs(t, err, store.ErrConflict)
	})
}

func TestDryRunOfADeleteThatRemovesTheLastFinalizer(t *testing.T) {
	leases := leasesIn(newStore(t))
	mustCreate(t, leases, newLease("ns/a", finalizers(meta.FinalizerOrphanDependents)))
	opts := kinds.DeleteOptions{DryRun: dryAll, PropagationPolicy: new(meta.DeletePropagationBackground)}
	d, err := leases.r.Delete(t.Context(), registry.Request{Namespace: "ns", Name: "a"}, opts)
	require.NoError(t, err)
	assert.True(t, d.Removed)
	assert.Empty(t, d.Item.Name(), "upstream drops the update half-way")
	mustGet(t, leases, "ns/a")
}

func TestDryRunOfADeleteCollection(t *testing.T) {
	dryRun(t, func(t *testing.T, leases collection) {
		before, _ := mustList(t, leases, registry.ListOptions{})
		got, err := leases.DeleteCollection(t.Context(), kinds.DeleteOptions{DryRun: dryAll}, registry.ListOptions{})
		require.NoError(t, err)
		assert.Equal(t, before, got)
	})
}
