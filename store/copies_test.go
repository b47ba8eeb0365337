package store_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kubecoord/kubecoord/lease"
	"github.com/kubecoord/kubecoord/store"
	"github.com/kubecoord/kubecoord/store/meta"
)

// rich returns a lease with something behind every sort of reference.
func rich(path string) *lease.Lease {
	return newLease(path, holder("x"), label("k", "v"), finalizers("a/f"), func(l *lease.Lease) {
		l.Annotations = map[string]string{"k": "v"}
		l.OwnerReferences = []meta.OwnerReference{{APIVersion: "v1", Kind: "K", Name: "n", UID: "u", Controller: new(true)}}
		l.Spec.RenewTime = new(meta.NewMicroTime(epoch))
	})
}

// spoil overwrites all that a rich lease refers to.
func spoil(l *lease.Lease) {
	l.Labels["k"], l.Annotations["k"], l.Annotations["new"] = "spoiled", "spoiled", "spoiled"
	l.Finalizers[0], l.OwnerReferences[0].Name = "spoiled/f", "spoiled"
	*l.OwnerReferences[0].Controller = false
	*l.Spec.HolderIdentity = "spoiled"
	l.Spec.RenewTime.Time = l.Spec.RenewTime.AddDate(1, 0, 0)
	l.Name = "spoiled"
}

func TestObjectsThatGoInAndComeOutAreCopies(t *testing.T) {
	leases := lease.In(newStore(t))
	in := rich("ns/a")
	created := mustCreate(t, leases, in)
	other := mustCreate(t, leases, rich("ns/b"))
	want := mustGet(t, leases, "ns/a")

	listed := mustList(t, leases, store.ListOptions{})
	for _, l := range []*lease.Lease{in, created, mustGet(t, leases, "ns/a"), listed.Items[0]} {
		spoil(l)
	}
	for l, err := range leases.All(t.Context(), "") {
		require.NoError(t, err)
		spoil(l)
	}
	for ev, err := range leases.Watch(t.Context(), store.WatchOptions{}) {
		require.NoError(t, err)
		spoil(ev.Object)
		break
	}
	assert.Equal(t, want, mustGet(t, leases, "ns/a"))
	assert.Equal(t, other, mustGet(t, leases, "ns/b"), "objects may share what is equal, their readers may not")
}

func TestUpdatedObjectsAreCopies(t *testing.T) {
	st := newStore(t)
	leases := lease.In(st)
	mustCreate(t, leases, rich("ns/a"))
	before := mustGet(t, leases, "ns/a")

	sent := mustGet(t, leases, "ns/a")
	sent.Spec.LeaseTransitions = new(int32(1))
	updated := mustUpdate(t, leases, sent)
	var kept *lease.Lease
	modified := mustModify(t, leases, "ns/a", func(l *lease.Lease) {
		*l.Spec.LeaseTransitions++
		kept = l
	})
	same := mustUpdate(t, leases, mustGet(t, leases, "ns/a"))
	want := mustGet(t, leases, "ns/a")
	for _, l := range []*lease.Lease{sent, updated, kept, modified, same} {
		spoil(l)
	}
	assert.Equal(t, want, mustGet(t, leases, "ns/a"))
	past := mustList(t, leases, store.ListOptions{ResourceVersion: "1001", ResourceVersionMatch: store.MatchExact})
	assert.Equal(t, before, past.Items[0], "the past does not change either")
}

func TestUpdateThatChangesAMapInPlaceIsAChange(t *testing.T) {
	leases := lease.In(newStore(t))
	created := mustCreate(t, leases, rich("ns/a"))
	created.Labels["k"] = "w"
	updated := mustUpdate(t, leases, created)
	assert.Equal(t, "1002", updated.ResourceVersion)
	assert.Equal(t, "w", mustGet(t, leases, "ns/a").Labels["k"])

	updated.Labels["-"] = "bad"
	_, err := leases.Update(t.Context(), updated, store.UpdateOptions{})
	require.ErrorIs(t, err, store.ErrInvalid)
	delete(updated.Labels, "-")
	updated.Annotations["-"] = "bad"
	_, err = leases.Update(t.Context(), updated, store.UpdateOptions{})
	require.ErrorIs(t, err, store.ErrInvalid)
}

func TestDeletedObjectsAreCopies(t *testing.T) {
	leases := lease.In(newStore(t))
	mustCreate(t, leases, rich("ns/a"))
	spoil(mustDelete(t, leases, "ns/a"))
	assert.Equal(t, "v", mustGet(t, leases, "ns/a").Labels["k"])
	gone := mustModify(t, leases, "ns/a", func(l *lease.Lease) { l.Finalizers = nil })
	gone.Labels["k"] = "spoiled"
	for ev, err := range leases.Watch(t.Context(), store.WatchOptions{ResourceVersion: "1002"}) {
		require.NoError(t, err)
		assert.Equal(t, "v", ev.Object.Labels["k"])
		break
	}
}
