package registry_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kubecoord/kubecoord/internal/kinds"
	"github.com/kubecoord/kubecoord/internal/registry"
	"github.com/kubecoord/kubecoord/lease"
	"github.com/kubecoord/kubecoord/store"
	"github.com/kubecoord/kubecoord/store/clock"
	"github.com/kubecoord/kubecoord/store/meta"
)

// Only a dump can hold a deletion in the future: there is no graceful deletion.
func TestDeleteEndsADeletionOfTheFuture(t *testing.T) {
	for name, row := range map[string]struct{ given, want time.Time }{
		"in the future": {epoch.Add(time.Hour), epoch},
		"in the past":   {epoch.Add(-time.Hour), epoch.Add(-time.Hour)},
	} {
		t.Run(name, func(t *testing.T) {
			st := newStore(t)
			require.NoError(t, st.Restore(prepare(t, st, newLease("ns/a", finalizers("a/f"), func(l *lease.Lease) {
				l.DeletionTimestamp = new(meta.NewTime(row.given))
			})), 0))
			got := mustDelete(t, leasesIn(st), "ns/a")
			assert.True(t, row.want.Truncate(time.Second).Equal(got.DeletionTimestamp.Time), got.DeletionTimestamp)
		})
	}
}

func TestGracePeriodOfATerminatingObjectStays(t *testing.T) {
	leases := leasesIn(newStore(t))
	mustCreate(t, leases, newLease("ns/a", finalizers("a/f")))
	mustDelete(t, leases, "ns/a")
	got := mustModify(t, leases, "ns/a", func(l *lease.Lease) { l.DeletionGracePeriodSeconds, l.Spec.HolderIdentity = nil, new("x") })
	assert.EqualValues(t, 0, *got.DeletionGracePeriodSeconds)
	_, err := leases.Modify(t.Context(), "ns", "a", func(l *lease.Lease) error { l.DeletionGracePeriodSeconds = new(int64(5)); return nil }, store.UpdateOptions{})
	assert.ErrorContains(t, err, "metadata.deletionGracePeriodSeconds: Invalid value: 5: field is immutable")
}

// The clock is asked when an object is marked, and before a commit, for the age of the history:
// that is when another writer comes in between here.
func TestDeleteIsRetriedOnTheNewerState(t *testing.T) {
	var between func()
	st := newStoreWith(t, registry.Options{HistoryAge: time.Hour, Clock: clock.Func(func() time.Time {
		if f := between; f != nil {
			between = nil
			f()
		}
		return epoch
	})})
	leases := leasesIn(st)
	mustCreate(t, leases, newLease("ns/a", finalizers("a/f")))
	between = func() { mustModify(t, leases, "ns/a", holder("another")) }
	marked := mustDelete(t, leases, "ns/a")
	assert.Equal(t, "another", *marked.Spec.HolderIdentity)
	assert.Equal(t, "1003", marked.ResourceVersion)

	mustCreate(t, leases, newLease("ns/b", finalizers("a/f")))
	between = func() { mustModify(t, leases, "ns/b", finalizers()) }
	mustDelete(t, leases, "ns/b")
	_, err := leases.Get(t.Context(), "ns", "b")
	require.ErrorIs(t, err, store.ErrNotFound, "nothing holds it any more")

	mustCreate(t, leases, newLease("ns/c", finalizers("a/f")))
	between = func() { mustModify(t, leases, "ns/c", holder("another")) }
	_, err = leases.Delete(t.Context(), "ns", "c", kinds.DeleteOptions{Preconditions: &kinds.Preconditions{ResourceVersion: new(rv(st.ResourceVersion()))}})
	require.ErrorIs(t, err, store.ErrConflict, "a precondition holds against the newer state")

	createAll(t, leases, "ns/d")
	between = func() { mustModify(t, leases, "ns/d", finalizers("a/f")) }
	assert.NotNil(t, mustDelete(t, leases, "ns/d").DeletionTimestamp, "the newer state must stay")
	assert.NotNil(t, mustGet(t, leases, "ns/d").DeletionTimestamp)
}

func TestDeletePreconditions(t *testing.T) {
	const cannot = `Operation cannot be fulfilled on Lease.coordination.k8s.io "a": `
	created := meta.UID("UID")
	for name, row := range map[string]struct {
		p    kinds.Preconditions
		want string // UID stands for the object's; "" for a deletion
	}{
		"none":                         {kinds.Preconditions{}, ""},
		"the right uid":                {kinds.Preconditions{UID: &created}, ""},
		"the right version":            {kinds.Preconditions{ResourceVersion: new("1001")}, ""},
		"both right":                   {kinds.Preconditions{UID: &created, ResourceVersion: new("1001")}, ""},
		"another uid":                  {kinds.Preconditions{UID: new(meta.UID("abc"))}, "the UID in the precondition (abc) does not match the UID in record (UID). The object might have been deleted and then recreated"},
		"an empty uid":                 {kinds.Preconditions{UID: new(meta.UID(""))}, "the UID in the precondition () does not match the UID in record (UID). The object might have been deleted and then recreated"},
		"another version":              {kinds.Preconditions{ResourceVersion: new("1")}, "the ResourceVersion in the precondition (1) does not match the ResourceVersion in record (1001). The object might have been modified"},
		"both wrong: the uid is first": {kinds.Preconditions{UID: new(meta.UID("abc")), ResourceVersion: new("1")}, "the UID in the precondition (abc) does not match the UID in record (UID). The object might have been deleted and then recreated"},
	} {
		t.Run(name, func(t *testing.T) {
			leases := leasesIn(newStore(t))
			l := mustCreate(t, leases, newLease("ns/a"))
			if row.p.UID == &created {
				row.p.UID = &l.UID
			}
			_, err := leases.Delete(t.Context(), "ns", "a", kinds.DeleteOptions{Preconditions: &row.p})
			if row.want == "" {
				require.NoError(t, err)
				return
			}
			assertStatus(t, err, 409, store.ErrConflict, cannot+replaceUID(row.want, l.UID))
			assert.Equal(t, &meta.StatusDetails{Name: "a", Group: "coordination.k8s.io", Kind: "Lease"}, statusOf(t, err).Details)
			assert.Equal(t, l, mustGet(t, leases, "ns/a"))
		})
	}
}
