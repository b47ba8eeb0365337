package registry_test

import (
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
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

func TestDeleteRemovesTheObject(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		st := newStore(t)
		leases := leasesIn(st)
		created := mustCreate(t, leases, newLease("ns/a", holder("x")))
		rec := record(t, st, fromNow())
		gone := mustDelete(t, leases, "ns/a")

		want := *created
		want.ResourceVersion = "1002"
		assert.Equal(t, &want, gone, "the last state, with the version of the deletion")
		_, err := leases.Get(t.Context(), "ns", "a")
		assertStatus(t, err, 404, store.ErrNotFound, `leases.coordination.k8s.io "a" not found`)
		_, err = leases.Delete(t.Context(), "ns", "a", kinds.DeleteOptions{})
		assertStatus(t, err, 404, store.ErrNotFound, `leases.coordination.k8s.io "a" not found`)
		assert.Equal(t, &meta.StatusDetails{Name: "a", Group: "coordination.k8s.io", Kind: "leases"}, statusOf(t, err).Details)
		assert.Equal(t, []string{"DELETED ns/a@1002"}, rec.take())
	})
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

func TestFinalizersHoldADeletedObjectBack(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		now := epoch
		st := newStoreWith(t, registry.Options{Clock: clock.Func(func() time.Time { return now })})
		leases := leasesIn(st)
		mustCreate(t, leases, newLease("ns/a", finalizers("example.com/f"), func(l *lease.Lease) { l.Generation = 3 }))
		rec := record(t, st, fromNow())
		now = now.Add(time.Minute)
		marked := mustDelete(t, leases, "ns/a")

		assert.Equal(t, new(meta.NewTime(now)), marked.DeletionTimestamp)
		assert.EqualValues(t, new(int64(0)), marked.DeletionGracePeriodSeconds)
		assert.EqualValues(t, 4, marked.Generation, "a generation is bumped by the mark")
		assert.Equal(t, []string{"example.com/f"}, marked.Finalizers)
		assert.Equal(t, "1002", marked.ResourceVersion)
		assert.Equal(t, marked, mustGet(t, leases, "ns/a"))
		assert.Equal(t, []string{"MODIFIED ns/a@1002"}, rec.take())

		now = now.Add(time.Minute)
		assert.Equal(t, marked, mustDelete(t, leases, "ns/a"), "a second delete changes nothing")
		assert.EqualValues(t, 1002, st.ResourceVersion())
		assert.Empty(t, rec.take())
	})
}

func TestMarkLeavesAGenerationOfZeroAlone(t *testing.T) {
	leases := leasesIn(newStore(t))
	mustCreate(t, leases, newLease("ns/a", finalizers("example.com/f")))
	assert.Zero(t, mustDelete(t, leases, "ns/a").Generation)
}

func TestDeletionPolicyBecomesAFinalizer(t *testing.T) {
	type options = kinds.DeleteOptions
	policy := func(p meta.DeletionPropagation) options { return options{PropagationPolicy: &p} }
	orphans := func(b bool) options { return options{OrphanDependents: &b} }
	for name, row := range map[string]struct {
		have []string
		opts options
		want []string // nil: the object is gone
	}{
		"no policy":                                    {nil, options{}, nil},
		"Background":                                   {nil, policy("Background"), nil},
		"Orphan":                                       {nil, policy("Orphan"), []string{"orphan"}},
		"Foreground":                                   {nil, policy("Foreground"), []string{"foregroundDeletion"}},
		"orphanDependents":                             {nil, orphans(true), []string{"orphan"}},
		"no orphanDependents":                          {nil, orphans(false), nil},
		"Orphan after others":                          {[]string{"a/f"}, policy("Orphan"), []string{"a/f", "orphan"}},
		"no policy keeps orphan":                       {[]string{"orphan"}, options{}, []string{"orphan"}},
		"no policy keeps foregroundDeletion":           {[]string{"foregroundDeletion"}, options{}, []string{"foregroundDeletion"}},
		"no policy keeps the order":                    {[]string{"orphan", "a/f"}, options{}, []string{"orphan", "a/f"}},
		"Background drops orphan":                      {[]string{"orphan"}, policy("Background"), nil},
		"Background drops foregroundDeletion":          {[]string{"a/f", "foregroundDeletion"}, policy("Background"), []string{"a/f"}},
		"no orphanDependents drops both kinds":         {[]string{"foregroundDeletion"}, orphans(false), nil},
		"Orphan takes the place of foregroundDeletion": {[]string{"foregroundDeletion", "a/f"}, policy("Orphan"), []string{"a/f", "orphan"}},
		"Foreground takes the place of orphan":         {[]string{"orphan", "a/f"}, policy("Foreground"), []string{"a/f", "foregroundDeletion"}},
		"what stays keeps its order":                   {[]string{"orphan", "a/f"}, policy("Orphan"), []string{"orphan", "a/f"}},
		"a grace period has no effect":                 {nil, options{GracePeriodSeconds: new(int64(-30))}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			leases := leasesIn(newStore(t))
			mustCreate(t, leases, newLease("ns/a", finalizers(row.have...)))
			got, err := leases.Delete(t.Context(), "ns", "a", row.opts)
			require.NoError(t, err)
			if row.want == nil {
				_, err = leases.Get(t.Context(), "ns", "a")
				require.ErrorIs(t, err, store.ErrNotFound)
				assert.Nil(t, got.DeletionTimestamp, "what is gone was never marked")
				return
			}
			assert.Equal(t, row.want, got.Finalizers)
			assert.NotNil(t, got.DeletionTimestamp)
			assert.Equal(t, got, mustGet(t, leases, "ns/a"))
		})
	}
}

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

func TestSecondDeleteAppliesItsOwnPolicy(t *testing.T) {
	leases := leasesIn(newStore(t))
	createAll(t, leases, "ns/a")
	first, err := leases.Delete(t.Context(), "ns", "a", kinds.DeleteOptions{PropagationPolicy: new(meta.DeletePropagationOrphan)})
	require.NoError(t, err)
	second, err := leases.Delete(t.Context(), "ns", "a", kinds.DeleteOptions{PropagationPolicy: new(meta.DeletePropagationForeground)})
	require.NoError(t, err)
	assert.Equal(t, []string{"foregroundDeletion"}, second.Finalizers)
	assert.Equal(t, first.DeletionTimestamp, second.DeletionTimestamp)
	assert.Equal(t, "1003", second.ResourceVersion)

	gone, err := leases.Delete(t.Context(), "ns", "a", kinds.DeleteOptions{PropagationPolicy: new(meta.DeletePropagationBackground)})
	require.NoError(t, err)
	assert.Equal(t, "1004", gone.ResourceVersion)
	_, err = leases.Get(t.Context(), "ns", "a")
	require.ErrorIs(t, err, store.ErrNotFound)
}

func TestRemovingTheLastFinalizerRemovesTheObject(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		st := newStore(t)
		leases := leasesIn(st)
		mustCreate(t, leases, newLease("ns/a", holder("before"), finalizers("a/f", "a/g")))
		marked := mustDelete(t, leases, "ns/a")
		rec := record(t, st, fromNow())

		one := mustModify(t, leases, "ns/a", finalizers("a/g"))
		assert.Equal(t, marked.DeletionTimestamp, one.DeletionTimestamp)
		assert.Equal(t, []string{"MODIFIED ns/a@1003"}, rec.take())

		sent := mustModify(t, leases, "ns/a", func(l *lease.Lease) {
			l.Finalizers, l.Spec.HolderIdentity = nil, new("after")
		})
		assert.Equal(t, "after", *sent.Spec.HolderIdentity, "the answer is the object as it was sent")
		assert.Equal(t, "1003", sent.ResourceVersion, "under its old version")
		assert.Empty(t, sent.Finalizers)
		_, err := leases.Get(t.Context(), "ns", "a")
		require.ErrorIs(t, err, store.ErrNotFound)

		events := rec.takeItems()
		event := events[len(events)-1]
		assert.Equal(t, "1004", event.ResourceVersion(), "the event has the version of the deletion")
		told := event.Wire().(*lease.Lease)
		assert.Equal(t, []string{"a/g"}, told.Finalizers, "and the state before that write")
		assert.Equal(t, "before", *told.Spec.HolderIdentity)
	})
}

func TestLastFinalizerOfALiveObjectMayGo(t *testing.T) {
	leases := leasesIn(newStore(t))
	mustCreate(t, leases, newLease("ns/a", finalizers("a/f")))
	got := mustModify(t, leases, "ns/a", finalizers())
	assert.Equal(t, got, mustGet(t, leases, "ns/a"))
}

func TestTerminatingObjectTakesNoNewFinalizers(t *testing.T) {
	leases := leasesIn(newStore(t))
	mustCreate(t, leases, newLease("ns/a", finalizers("a/f", "a/g")))
	mustDelete(t, leases, "ns/a")
	_, err := leases.Modify(t.Context(), "ns", "a", func(l *lease.Lease) error {
		l.Finalizers = []string{"a/g", "z/new", "b/new", "z/new"}
		return nil
	}, store.UpdateOptions{})
	assertStatus(t, err, 422, store.ErrInvalid, `Lease.coordination.k8s.io "a" is invalid: metadata.finalizers: Forbidden: no new finalizers can be added if the object is being deleted, found new finalizers []string{"b/new", "z/new"}`)
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

func TestTerminatingObjectMayBeWritten(t *testing.T) {
	leases := leasesIn(newStore(t))
	mustCreate(t, leases, newLease("ns/a", finalizers("a/f")))
	marked := mustDelete(t, leases, "ns/a")
	got := mustModify(t, leases, "ns/a", func(l *lease.Lease) {
		l.Spec.HolderIdentity = new("x")
		l.DeletionTimestamp, l.DeletionGracePeriodSeconds = nil, nil
	})
	assert.Equal(t, "x", *got.Spec.HolderIdentity)
	assert.Equal(t, marked.DeletionTimestamp, got.DeletionTimestamp, "the mark cannot be taken off")
	assert.Equal(t, marked.DeletionGracePeriodSeconds, got.DeletionGracePeriodSeconds)

	got = mustModify(t, leases, "ns/a", func(l *lease.Lease) { l.DeletionTimestamp = new(meta.NewTime(epoch.Add(time.Hour))) })
	assert.Equal(t, marked.DeletionTimestamp, got.DeletionTimestamp, "nor changed")
	assert.Equal(t, "1004", got.ResourceVersion, "but who tried is on record, as on a real server")
}

func TestUnsafeDeletionOfAHealthyObjectIsRefused(t *testing.T) {
	leases := leasesIn(newStore(t))
	opts := kinds.DeleteOptions{IgnoreStoreReadErrorWithClusterBreakingPotential: new(true)}
	_, err := leases.Delete(t.Context(), "ns", "a", opts)
	require.ErrorIs(t, err, store.ErrNotFound)
	createAll(t, leases, "ns/a")
	_, err = leases.Delete(t.Context(), "ns", "a", opts)
	assertStatus(t, err, 409, store.ErrConflict, `Operation cannot be fulfilled on leases.coordination.k8s.io "a": StorageError: invalid object, Code: 4, Key: /registry/leases/ns/a, ResourceVersion: 0, AdditionalErrorMsg: unsafe deletion is not allowed because the object is decodable from storage`)
}

func TestDeleteReportsWhetherTheObjectIsGone(t *testing.T) {
	st := newStore(t)
	mustCreate(t, leasesIn(st), newLease("ns/a", finalizers("a/f")))
	createAll(t, leasesIn(st), "ns/b")
	r := leaseResource(st)
	d, err := r.Delete(t.Context(), registry.Request{Namespace: "ns", Name: "a"}, kinds.DeleteOptions{})
	require.NoError(t, err)
	assert.False(t, d.Removed)
	d, err = r.Delete(t.Context(), registry.Request{Namespace: "ns", Name: "b"}, kinds.DeleteOptions{})
	require.NoError(t, err)
	assert.True(t, d.Removed)
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

func TestOneOfManyDeletersSucceeds(t *testing.T) {
	const deleters, rounds = 4, 500
	st := newStore(t)
	leases := leasesIn(st)
	for round := range rounds {
		createAll(t, leases, "ns/a")
		var succeeded atomic.Int32
		var wg sync.WaitGroup
		for range deleters {
			wg.Go(func() {
				if _, err := leases.Delete(t.Context(), "ns", "a", kinds.DeleteOptions{}); err == nil {
					succeeded.Add(1)
				} else {
					assert.ErrorIs(t, err, store.ErrNotFound)
				}
			})
		}
		wg.Wait()
		require.EqualValues(t, 1, succeeded.Load(), "round %d", round)
	}
	assert.EqualValues(t, 1000+2*rounds, st.ResourceVersion())
}
