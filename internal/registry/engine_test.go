package registry_test

import (
	"context"
	"errors"
	"reflect"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kubecoord/kubecoord/candidate"
	"github.com/kubecoord/kubecoord/endpoints"
	"github.com/kubecoord/kubecoord/internal/kinds"
	"github.com/kubecoord/kubecoord/internal/registry"
	"github.com/kubecoord/kubecoord/internal/test/engine"
	"github.com/kubecoord/kubecoord/lease"
	"github.com/kubecoord/kubecoord/store"
	"github.com/kubecoord/kubecoord/store/backend"
	"github.com/kubecoord/kubecoord/store/clock"
	"github.com/kubecoord/kubecoord/store/kind"
	"github.com/kubecoord/kubecoord/store/meta"
)

// openOn returns a store on an engine, which has its state.
func openOn(t testing.TB, e *engine.Engine) *registry.Store {
	t.Helper()
	st := openUnloaded(t, e)
	require.NoError(t, st.Loaded(t.Context()))
	return st
}

func openUnloaded(t testing.TB, e *engine.Engine) *registry.Store {
	t.Helper()
	st, err := registry.Open(registry.Options{}, e, kinds.Of(lease.Kind()), kinds.Of(endpoints.Kind()), kinds.Of(candidate.Kind()))
	require.NoError(t, err)
	t.Cleanup(st.Close)
	return st
}

// hold keeps changes from the caches of stores.
func hold(f *engine.Faults)    { f.Hold = true }
func release(f *engine.Faults) { f.Hold = false }

// What a write decides from an old cache is decided again from the present state.
func TestWritesFromAnOldCache(t *testing.T) {
	modify := func(c collection, name, holder string) error {
		_, err := c.Modify(context.Background(), "ns", name, func(l *lease.Lease) error {
			l.Spec.HolderIdentity = &holder
			return nil
		}, store.UpdateOptions{})
		return err
	}
	for name, tt := range map[string]struct {
		write func(c collection, old, now *lease.Lease) error
		want  error
		text  string // of the holder of "a" afterwards; "" if there is no object
	}{
		"create of a name that is free by now": {func(c collection, _, _ *lease.Lease) error {
			return second(c.Create(context.Background(), newLease("ns/gone", holder("x")), store.CreateOptions{}))
		}, nil, "now"},
		"create of a name that is taken by now": {func(c collection, _, _ *lease.Lease) error {
			return second(c.Create(context.Background(), newLease("ns/new"), store.CreateOptions{}))
		}, store.ErrAlreadyExists, "now"},
		"dry run of a create of a name that is taken": {func(c collection, _, _ *lease.Lease) error {
			return second(c.Create(context.Background(), newLease("ns/new"), store.CreateOptions{DryRun: true}))
		}, store.ErrAlreadyExists, "now"},
		"dry run of a create of a name that is free": {func(c collection, _, _ *lease.Lease) error {
			return second(c.Create(context.Background(), newLease("ns/gone"), store.CreateOptions{DryRun: true}))
		}, nil, "now"},
		"update of the present version": {func(c collection, _, now *lease.Lease) error {
			now.Spec.HolderIdentity = new("mine")
			return second(c.Update(context.Background(), now, store.UpdateOptions{}))
		}, nil, "mine"},
		"update of the old version": {func(c collection, old, _ *lease.Lease) error {
			old.Spec.HolderIdentity = new("mine")
			return second(c.Update(context.Background(), old, store.UpdateOptions{}))
		}, store.ErrConflict, "now"},
		"update that changes nothing in the old state": {func(c collection, old, _ *lease.Lease) error {
			return second(c.Update(context.Background(), old, store.UpdateOptions{}))
		}, store.ErrConflict, "now"},
		"update of the old version of an object that is gone": {func(c collection, _, _ *lease.Lease) error {
			l := newLease("ns/gone")
			l.UID = "another"
			return second(c.Update(context.Background(), l, store.UpdateOptions{}))
		}, store.ErrConflict, "now"},
		"modify that changes nothing in the old state":     {func(c collection, _, _ *lease.Lease) error { return modify(c, "a", "old") }, nil, "old"},
		"modify that changes nothing in the present state": {func(c collection, _, _ *lease.Lease) error { return modify(c, "a", "now") }, nil, "now"},
		"modify of an object that is new":                  {func(c collection, _, _ *lease.Lease) error { return modify(c, "new", "mine") }, nil, "now"},
		"modify of an object that is gone":                 {func(c collection, _, _ *lease.Lease) error { return modify(c, "gone", "mine") }, store.ErrNotFound, "now"},
		"patch of an object that is new": {func(c collection, _, _ *lease.Lease) error {
			return second(c.Patch(context.Background(), "ns", "new", store.MergePatch, []byte(`{"spec":{"leaseTransitions":3}}`), store.PatchOptions{}))
		}, nil, "now"},
		"patch of an object that is gone": {func(c collection, _, _ *lease.Lease) error {
			return second(c.Patch(context.Background(), "ns", "gone", store.MergePatch, []byte(`{"spec":{"leaseTransitions":3}}`), store.PatchOptions{}))
		}, store.ErrNotFound, "now"},
		"patch with a test that fails in the old state": {func(c collection, _, _ *lease.Lease) error {
			return second(c.Patch(context.Background(), "ns", "a", store.JSONPatch, []byte(`[{"op":"test","path":"/spec/holderIdentity","value":"now"},{"op":"replace","path":"/spec/holderIdentity","value":"mine"}]`), store.PatchOptions{}))
		}, nil, "mine"},
		"apply without a conflict in the present state": {func(c collection, _, _ *lease.Lease) error {
			l := newLease("ns/a")
			l.Labels = map[string]string{"by": "applier"}
			return second(c.Apply(context.Background(), l, store.ApplyOptions{FieldManager: "applier"}))
		}, nil, "now"},
		"apply with a conflict": {func(c collection, _, _ *lease.Lease) error {
			return second(c.Apply(context.Background(), newLease("ns/a", holder("mine")), store.ApplyOptions{FieldManager: "applier"}))
		}, store.ErrConflict, "now"},
		"delete": {func(c collection, _, _ *lease.Lease) error {
			return second(c.Delete(context.Background(), "ns", "a", kinds.DeleteOptions{}))
		}, nil, ""},
		"delete of an object that is new": {func(c collection, _, _ *lease.Lease) error {
			return second(c.Delete(context.Background(), "ns", "new", kinds.DeleteOptions{}))
		}, nil, "now"},
		"delete of an object that is gone": {func(c collection, _, _ *lease.Lease) error {
			return second(c.Delete(context.Background(), "ns", "gone", kinds.DeleteOptions{}))
		}, store.ErrNotFound, "now"},
		"delete of the present version": {func(c collection, _, now *lease.Lease) error {
			return second(c.Delete(context.Background(), "ns", "a", kinds.DeleteOptions{Preconditions: &kinds.Preconditions{ResourceVersion: &now.ResourceVersion}}))
		}, nil, ""},
		"delete of the old version": {func(c collection, old, _ *lease.Lease) error {
			return second(c.Delete(context.Background(), "ns", "a", kinds.DeleteOptions{Preconditions: &kinds.Preconditions{ResourceVersion: &old.ResourceVersion}}))
		}, store.ErrConflict, "now"},
		"dry run of a delete of an object that is gone": {func(c collection, _, _ *lease.Lease) error {
			return second(c.Delete(context.Background(), "ns", "gone", kinds.DeleteOptions{DryRun: []string{"All"}}))
		}, store.ErrNotFound, "now"},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				e := engine.New(1000)
				writer, other := openOn(t, e), openOn(t, e)
				old := mustCreate(t, leasesIn(other), newLease("ns/a", holder("old")))
				createAll(t, leasesIn(other), "ns/gone")
				synctest.Wait()
				e.Set(hold)
				now := mustModify(t, leasesIn(other), "ns/a", func(l *lease.Lease) { l.Spec.HolderIdentity = new("now") })
				mustDelete(t, leasesIn(other), "ns/gone")
				createAll(t, leasesIn(other), "ns/new")
				require.Equal(t, old, typed[lease.Lease](leaseResource(writer).Peek("ns", "a")), "the cache is old")
				err := tt.write(leasesIn(writer), old, now)
				if tt.want == nil {
					assert.NoError(t, err)
				} else {
					assert.ErrorIs(t, err, tt.want)
				}
				e.Set(release)
				got, err := leasesIn(writer).Get(t.Context(), "ns", "a")
				if tt.text == "" {
					assert.ErrorIs(t, err, store.ErrNotFound)
					return
				}
				require.NoError(t, err)
				assert.Equal(t, tt.text, *got.Spec.HolderIdentity)
			})
		})
	}
}

func second[T any](_ T, err error) error { return err }

// A write finds out once what its cache does not know, and goes on from there.
func TestALostRaceNeedsNoOtherRead(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := engine.New(1000)
		st, other := openOn(t, e), openOn(t, e)
		createAll(t, leasesIn(st), "ns/a")
		synctest.Wait()
		e.Set(hold)
		mustModify(t, leasesIn(other), "ns/a", func(l *lease.Lease) { l.Spec.HolderIdentity = new("other") })
		commits, gets := e.Calls()
		mustModify(t, leasesIn(st), "ns/a", func(l *lease.Lease) { l.Spec.LeaseTransitions = new(int32(1)) })
		e.Set(release)
		commitsAfter, getsAfter := e.Calls()
		assert.Equal(t, 2, commitsAfter-commits)
		assert.Zero(t, getsAfter-gets)
		got := mustGet(t, leasesIn(st), "ns/a")
		assert.Equal(t, "other", *got.Spec.HolderIdentity)
		assert.EqualValues(t, 1, *got.Spec.LeaseTransitions)
	})
}

func TestAWriteWithoutAnswerIsNotRepeated(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := engine.New(1000)
		st := openOn(t, e)
		unknown := errors.New("etcdserver: request timed out")
		e.Set(func(f *engine.Faults) { f.Commit = func(backend.Write) (before, after error) { return nil, unknown } })
		_, err := leasesIn(st).Create(t.Context(), newLease("ns/a"), store.CreateOptions{})
		assertPlain(t, err, unknown.Error())
		e.Set(func(f *engine.Faults) { f.Commit = func(backend.Write) (before, after error) { return unknown, nil } })
		_, err = leasesIn(st).Modify(t.Context(), "ns", "a", func(l *lease.Lease) error { l.Spec.LeaseTransitions = new(int32(1)); return nil }, store.UpdateOptions{})
		assertPlain(t, err, unknown.Error())
		_, err = leasesIn(st).Delete(t.Context(), "ns", "a", kinds.DeleteOptions{})
		assertPlain(t, err, unknown.Error())
		commits, _ := e.Calls()
		assert.Equal(t, 3, commits)
		assert.Nil(t, mustGet(t, leasesIn(st), "ns/a").Spec.LeaseTransitions)
		e.Set(func(f *engine.Faults) { f.Commit = nil })
		mustCreate(t, leasesIn(st), newLease("ns/held", finalizers("a/f")))
		mustDelete(t, leasesIn(st), "ns/held")
		e.Set(func(f *engine.Faults) { f.Commit = func(backend.Write) (before, after error) { return unknown, nil } })
		_, err = leasesIn(st).Modify(t.Context(), "ns", "held", func(l *lease.Lease) error { l.Finalizers = nil; return nil }, store.UpdateOptions{})
		assertPlain(t, err, unknown.Error())
		mustGet(t, leasesIn(st), "ns/held")
		e.Set(func(f *engine.Faults) { f.Commit = func(backend.Write) (before, after error) { return nil, unknown } })
		calls := 0
		_, err = leasesIn(st).Modify(t.Context(), "ns", "held", func(l *lease.Lease) error {
			calls++
			l.Spec.LeaseTransitions = new(int32(calls))
			return nil
		}, store.UpdateOptions{})
		assertPlain(t, err, unknown.Error())
		assert.EqualValues(t, 1, *mustGet(t, leasesIn(st), "ns/held").Spec.LeaseTransitions, "the write took place once")
	})
}

func TestAStoreThatLoadsAgainIsAtTheVersionOfTheState(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := engine.New(1000)
		st, other := openOn(t, e), openOn(t, e)
		synctest.Wait()
		e.Set(hold)
		createAll(t, leasesIn(other), "ns/a", "ns/b")
		e.Compact()
		e.Set(release)
		synctest.Wait()
		assert.EqualValues(t, 1002, st.ResourceVersion())
		items, _ := mustList(t, leasesIn(st), registry.ListOptions{ResourceVersion: "0"})
		assert.Equal(t, []string{"ns/a", "ns/b"}, paths(items))
	})
}

func TestAStoreThatLoadsAgainForgetsWhatItKnew(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := engine.New(1000)
		st, other := openOn(t, e), openOn(t, e)
		createAll(t, leasesIn(st), "ns/gone", "ns/a")
		e.Put(map[string][]byte{"leases/ns/b": []byte("{")})
		mustGet(t, leasesIn(st), "ns/gone")
		synctest.Wait()
		e.Set(hold)
		mustDelete(t, leasesIn(other), "ns/gone")
		mustModify(t, leasesIn(other), "ns/a", holder("new"))
		e.DeleteRange("leases/ns/b")
		e.Compact()
		e.Set(release)
		synctest.Wait()
		atOnce := func(name string) (*registry.Item, error) {
			return leaseResource(st).Get(t.Context(), "ns", name, "0")
		}
		_, err := atOnce("gone")
		assert.ErrorIs(t, err, store.ErrNotFound)
		a, err := atOnce("a")
		require.NoError(t, err)
		assert.Equal(t, "new", *typed[lease.Lease](a).Spec.HolderIdentity)
		_, err = atOnce("b")
		assert.ErrorIs(t, err, store.ErrNotFound, "the value that could not be read is gone")
	})
}

func TestAnUnreadableValueIsOfOneKind(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := engine.New(1000)
		st := openOn(t, e)
		all := in(st, endpoints.Kind())
		e.Put(map[string][]byte{"leases/ns/a": []byte("{")})
		_, err := all.Create(t.Context(), newEndpoints("ns/a"), store.CreateOptions{})
		require.NoError(t, err)
		_, _, err = all.List(t.Context(), registry.ListOptions{Namespace: "ns"})
		assert.NoError(t, err)
		_, _, err = leasesIn(st).List(t.Context(), registry.ListOptions{Namespace: "ns"})
		assert.ErrorContains(t, err, "cannot decode the value")
	})
}

func TestPagesNeedTheVersionOfTheBackend(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := engine.New(1000)
		st := openOn(t, e)
		createAll(t, leasesIn(st), "ns/a", "ns/b")
		failure := errors.New("no version")
		e.Set(func(f *engine.Faults) { f.Err = failure })
		for _, opts := range []registry.ListOptions{{}, {Limit: 1}} {
			_, _, err := leasesIn(st).List(t.Context(), opts)
			assert.ErrorIs(t, err, failure, opts)
		}
	})
}

func TestHistoryOnABackendIsBoundedByBytes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		st, err := registry.Open(registry.Options{HistoryBytes: 64 << 10}, engine.New(1000), kinds.Of(lease.Kind()))
		require.NoError(t, err)
		defer st.Close()
		require.NoError(t, st.Loaded(t.Context()))
		for _, path := range manyPaths("ns", 10) {
			mustCreate(t, leasesIn(st), newLease(path, holder(strings.Repeat("x", 20<<10))))
		}
		_, _, err = leasesIn(st).List(t.Context(), registry.ListOptions{ResourceVersion: "1001", ResourceVersionMatch: registry.MatchExact})
		assert.ErrorIs(t, err, store.ErrExpired)
	})
}

func TestDryRunsCommitNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := engine.New(1000)
		st := openOn(t, e)
		leases := leasesIn(st)
		mustCreate(t, leases, newLease("ns/held", finalizers("a/f")))
		mustDelete(t, leases, "ns/held")
		createAll(t, leases, "ns/a")
		before, _ := e.Calls()
		created, err := leases.Create(t.Context(), newLease("ns/new"), store.CreateOptions{DryRun: true})
		require.NoError(t, err)
		assert.Empty(t, created.ResourceVersion)
		for _, name := range []string{"a", "held"} {
			_, err = leases.Modify(t.Context(), "ns", name, func(l *lease.Lease) error { l.Finalizers = nil; holder("x")(l); return nil }, store.UpdateOptions{DryRun: true})
			require.NoError(t, err)
			_, err = leases.Delete(t.Context(), "ns", name, kinds.DeleteOptions{DryRun: dryAll})
			require.NoError(t, err)
		}
		after, _ := e.Calls()
		assert.Equal(t, before, after)
	})
}

func TestProgressIsAskedForWhileThereAreWatches(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := engine.New(1000)
		st := openOn(t, e)
		synctest.Wait()
		e.Jump(500)
		time.Sleep(time.Minute + time.Second)
		assert.EqualValues(t, 1000, st.ResourceVersion())
		w := record(t, st, fromNow())
		for range 3 {
			e.Jump(500)
			time.Sleep(5*time.Second + 100*time.Millisecond)
			_, version := e.History()
			assert.Equal(t, version, st.ResourceVersion())
		}
		assert.Empty(t, w.take())
	})
}

func TestHistoryOfAStoreOnABackendIsAsLongAsItsOption(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := engine.New(1000)
		createAll(t, leasesIn(openOn(t, e)), "ns/a", "ns/b", "ns/c") // 1003
		for history, oldest := range map[int]uint64{2: 1001, 0: 1000} {
			st, err := registry.Open(registry.Options{History: history}, e, kinds.Of(lease.Kind()))
			require.NoError(t, err)
			defer st.Close()
			require.NoError(t, st.Loaded(t.Context()))
			at := func(version uint64) error {
				_, _, err := leasesIn(st).List(t.Context(), registry.ListOptions{ResourceVersion: rv(version), ResourceVersionMatch: registry.MatchExact})
				return err
			}
			assert.NoError(t, at(oldest), history)
			assert.ErrorIs(t, at(oldest-1), store.ErrExpired, history)
		}
	})
}

// late makes each change arrive after a time.
func late(d time.Duration) func(*engine.Faults) {
	return func(f *engine.Faults) {
		f.Late = func(ctx context.Context) {
			timer := time.NewTimer(d)
			defer timer.Stop()
			select {
			case <-timer.C:
			case <-ctx.Done():
			}
		}
	}
}

func TestAWriterReadsItsWrite(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := engine.New(1000)
		st := openOn(t, e)
		e.Set(late(time.Second))
		it, err := leaseResource(st).Create(t.Context(), newLease("ns/a"), &registry.Request{Namespace: "ns"})
		require.NoError(t, err)
		assert.Same(t, it, leaseResource(st).Peek("ns", "a"))
		items, _ := mustList(t, leasesIn(st), registry.ListOptions{ResourceVersion: "0"})
		assert.Equal(t, []string{"ns/a"}, paths(items))

		e.Set(hold)
		start := time.Now()
		updated := mustModify(t, leasesIn(st), "ns/a", func(l *lease.Lease) { l.Spec.HolderIdentity = new("me") })
		assert.Equal(t, 3*time.Second, time.Since(start), "it is made, whatever the cache has")
		assert.Equal(t, "1002", updated.ResourceVersion)
		assert.Equal(t, "me", *updated.Spec.HolderIdentity)
	})
}

func TestReadsOfAStoreThatLags(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := engine.New(1000)
		st, other := openOn(t, e), openOn(t, e)
		createAll(t, leasesIn(other), "ns/a") // 1001
		synctest.Wait()
		e.Set(hold)
		createAll(t, leasesIn(other), "ns/b") // 1002
		start := time.Now()
		assert.Equal(t, "1002", mustGet(t, leasesIn(st), "ns/b").ResourceVersion)
		_, err := leaseResource(st).Get(t.Context(), "ns", "b", "0")
		assert.ErrorIs(t, err, store.ErrNotFound)
		items, m := mustList(t, leasesIn(st), registry.ListOptions{ResourceVersion: "0"})
		assert.Equal(t, []string{"ns/a"}, paths(items))
		assert.Equal(t, "1001", m.ResourceVersion)
		assert.Zero(t, time.Since(start), "these reads do not wait")
		for _, opts := range []registry.ListOptions{
			{},
			{ResourceVersion: "1002"},
			{ResourceVersion: "1002", ResourceVersionMatch: registry.MatchExact},
			{FieldSelector: "metadata.name=b,metadata.namespace=ns"},
		} {
			start := time.Now()
			_, _, err = leasesIn(st).List(t.Context(), opts)
			assertStatus(t, err, 504, store.ErrTimeout, "Timeout: Too large resource version: 1002, current: 1001")
			assert.Equal(t, 3*time.Second, time.Since(start))
		}
		go func() {
			time.Sleep(time.Second)
			e.Set(release)
		}()
		items, m = mustList(t, leasesIn(st), registry.ListOptions{})
		assert.Equal(t, []string{"ns/a", "ns/b"}, paths(items))
		assert.Equal(t, "1002", m.ResourceVersion)
	})
}

// The state that an old cache has may be the state of an earlier object of the same name.
func TestAReadPastAnOldCacheHasTheUIDOfTheNewObject(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := engine.New(1000)
		st, other := openOn(t, e), openOn(t, e)
		before := mustCreate(t, leasesIn(other), newLease("ns/a"))
		synctest.Wait()
		e.Set(hold)
		mustDelete(t, leasesIn(other), "ns/a")
		again := mustCreate(t, leasesIn(other), newLease("ns/a"))
		assert.NotEqual(t, before.UID, again.UID)
		assert.Equal(t, again, mustGet(t, leasesIn(st), "ns/a"))
		e.Set(release)
	})
}

// Others may use the engine too, so its version is not the version of a change of ours.
func TestConsistentReadsAskForProgress(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := engine.New(1000)
		st := openOn(t, e)
		createAll(t, leasesIn(st), "ns/a")
		mustGet(t, leasesIn(st), "ns/a")
		_, gets := e.Calls()
		assert.Zero(t, gets, "the cache does not lag")
		e.Jump(500)
		assert.Equal(t, "1001", mustGet(t, leasesIn(st), "ns/a").ResourceVersion)
		_, getsAfter := e.Calls()
		assert.Equal(t, 1, getsAfter-gets, "a get does not wait for the cache")
		start := time.Now()
		_, m := mustList(t, leasesIn(st), registry.ListOptions{})
		assert.Equal(t, "1501", m.ResourceVersion)
		e.Jump(500)
		_, m = mustList(t, leasesIn(st), registry.ListOptions{ResourceVersion: "1600"})
		assert.Equal(t, "2001", m.ResourceVersion)
		assert.LessOrEqual(t, time.Since(start), 200*time.Millisecond)
		e.Jump(500)
		w := record(t, st, registry.ListOptions{AllowWatchBookmarks: true})
		assert.Equal(t, []string{"ADDED ns/a@1001", "BOOKMARK @2501 end"}, w.take())
		e.Jump(500)
		time.Sleep(time.Minute)
		assert.Equal(t, []string{"BOOKMARK @3001"}, w.take(), "a bookmark is recent")
	})
}

func TestChangesOfOneVersion(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := engine.New(1000)
		st := openOn(t, e)
		createAll(t, leasesIn(st), "ns/a", "ns/b", "other/c")
		all, one := record(t, st, fromNow()), record(t, st, registry.ListOptions{Namespace: "ns", Name: "b", ResourceVersion: "1003"})
		assert.Equal(t, 3, e.DeleteRange("leases/"))
		assert.Equal(t, []string{"DELETED ns/a@1004", "DELETED ns/b@1004", "DELETED other/c@1004"}, all.take())
		assert.Equal(t, []string{"DELETED ns/b@1004"}, one.take())
		items, _ := mustList(t, leasesIn(st), registry.ListOptions{ResourceVersion: "1003", ResourceVersionMatch: registry.MatchExact})
		assert.Equal(t, []string{"ns/a", "ns/b", "other/c"}, paths(items))
		items, m := mustList(t, leasesIn(st), registry.ListOptions{})
		assert.Empty(t, items)
		assert.Equal(t, "1004", m.ResourceVersion)
		e.Put(map[string][]byte{"pods/ns/a": []byte("of others"), "leases": {}, "leases/a": {}, "leases/ns/a/b": {}})
		assert.Empty(t, all.take())
	})
}

func TestWatchersExpireWhenChangesAreLost(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := engine.New(1000)
		st, other := openOn(t, e), openOn(t, e)
		createAll(t, leasesIn(other), "ns/a", "ns/b")
		idle := record(t, st, fromNow())
		elsewhere := record(t, st, registry.ListOptions{Namespace: "elsewhere", ResourceVersion: "1002"})
		synctest.Wait()
		e.Set(func(f *engine.Faults) { f.Hold = true })
		e.DeleteRange("leases/ns/a")
		e.Compact()
		assert.Empty(t, idle.take())
		e.Set(release)
		for _, w := range []*recorder{idle, elsewhere} {
			assertStatus(t, w.ended(), 410, store.ErrExpired, "too old resource version: 1002 (1003)")
			assert.Empty(t, w.take())
		}
		items, m := mustList(t, leasesIn(st), registry.ListOptions{})
		assert.Equal(t, []string{"ns/b"}, paths(items))
		assert.Equal(t, "1003", m.ResourceVersion)
		_, _, err := leasesIn(st).List(t.Context(), registry.ListOptions{ResourceVersion: "1002", ResourceVersionMatch: registry.MatchExact})
		assert.ErrorIs(t, err, store.ErrExpired)
		again := record(t, st, registry.ListOptions{ResourceVersion: "1003"})
		createAll(t, leasesIn(st), "ns/c")
		assert.Equal(t, []string{"ADDED ns/c@1004"}, again.take())
	})
}

func TestARestartServesOldWatches(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := engine.New(1000)
		st := openOn(t, e)
		createAll(t, leasesIn(st), "ns/a", "ns/b")
		mustDelete(t, leasesIn(st), "ns/a")
		st.Close()
		st = openOn(t, e)
		w := record(t, st, registry.ListOptions{ResourceVersion: "1001"})
		assert.Equal(t, []string{"ADDED ns/b@1002", "DELETED ns/a@1003"}, w.take())
	})
}

func TestWithoutContact(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := engine.New(1000)
		st := openOn(t, e)
		createAll(t, leasesIn(st), "ns/a")
		leaving := record(t, st, registry.ListOptions{ResourceVersion: "1001", EndWithoutContact: true})
		staying := record(t, st, registry.ListOptions{ResourceVersion: "1001"})
		e.Set(func(f *engine.Faults) { f.Cut = true })
		time.Sleep(30*time.Second - time.Nanosecond)
		assert.NoError(t, leaving.ended())
		time.Sleep(time.Nanosecond)
		assert.EqualError(t, leaving.ended(), "EOF")
		assert.NoError(t, staying.ended())
		_, err := leaseResource(st).Watch(t.Context(), registry.ListOptions{ResourceVersion: "1001", EndWithoutContact: true})
		assertStatus(t, err, 429, "TooManyRequests", "storage is (re)initializing")
		assert.NoError(t, record(t, st, registry.ListOptions{ResourceVersion: "1001"}).ended(), "this one may stay")

		items, _ := mustList(t, leasesIn(st), registry.ListOptions{ResourceVersion: "0"})
		assert.Equal(t, []string{"ns/a"}, paths(items))
		for name, call := range map[string]func(ctx context.Context) error{
			"get": func(ctx context.Context) error { return second(leasesIn(st).Get(ctx, "ns", "a")) },
			"list": func(ctx context.Context) error {
				_, _, err := leasesIn(st).List(ctx, registry.ListOptions{})
				return err
			},
			"create": func(ctx context.Context) error {
				return second(leasesIn(st).Create(ctx, newLease("ns/b"), store.CreateOptions{}))
			},
			"dry run": func(ctx context.Context) error {
				return second(leasesIn(st).Create(ctx, newLease("ns/b"), store.CreateOptions{DryRun: true}))
			},
		} {
			start := time.Now()
			assertStatus(t, call(t.Context()), 504, store.ErrTimeout, "Timeout: request did not complete within the allotted timeout")
			assert.Equal(t, time.Minute, time.Since(start), name)
			for _, limit := range []time.Duration{time.Second, 2 * time.Minute} {
				ctx, cancel := context.WithTimeout(t.Context(), limit)
				start := time.Now()
				assert.ErrorIs(t, call(ctx), context.DeadlineExceeded, name)
				assert.Equal(t, limit, time.Since(start), "%s: the caller's own limit", name)
				cancel()
			}
		}
		e.Set(func(f *engine.Faults) { f.Cut = false })
		createAll(t, leasesIn(st), "ns/c")
		assert.Equal(t, []string{"ADDED ns/c@1002"}, staying.take())
		assert.Equal(t, []string{"ADDED ns/c@1002"}, record(t, st, registry.ListOptions{ResourceVersion: "1001", EndWithoutContact: true}).take())

		broken := errors.New("etcdserver: no leader")
		e.Set(func(f *engine.Faults) { f.Err = broken })
		_, err = leasesIn(st).Get(t.Context(), "ns", "a")
		assertPlain(t, err, broken.Error())
		_, _, err = leasesIn(st).List(t.Context(), registry.ListOptions{})
		assertPlain(t, err, broken.Error())
	})
}

func TestABackendThatEndsIsNotSilent(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := engine.New(1000)
		st := openOn(t, e)
		createAll(t, leasesIn(st), "ns/a")
		w := record(t, st, fromNow())
		assert.Empty(t, w.take(), "the watch waits")
		end := errors.New("the versions went back")
		e.Set(func(f *engine.Faults) { f.End = end })
		assert.ErrorIs(t, w.ended(), end)
		assert.ErrorIs(t, st.Loaded(t.Context()), end)
		for _, version := range []string{"", "0", "1001"} {
			_, err := leaseResource(st).Get(t.Context(), "ns", "a", version)
			assert.ErrorIs(t, err, end)
			_, _, err = leasesIn(st).List(t.Context(), registry.ListOptions{ResourceVersion: version})
			assert.ErrorIs(t, err, end)
			_, err = leaseResource(st).Watch(t.Context(), registry.ListOptions{ResourceVersion: version})
			assert.ErrorIs(t, err, end)
		}
		_, err := leasesIn(st).Create(t.Context(), newLease("ns/b"), store.CreateOptions{})
		assert.ErrorIs(t, err, end)
	})
}

func TestAWatchWithoutStateBeginsAfterItsVersion(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		st := openOn(t, engine.New(1000))
		createAll(t, leasesIn(st), "ns/a", "ns/b", "ns/c")
		synctest.Wait()
		opts := fromNow()
		for version, want := range map[string][]string{"1001": {"ADDED ns/b@1002", "ADDED ns/c@1003"}, "0": nil, "": nil} {
			opts.ResourceVersion = version
			assert.Equal(t, want, record(t, st, opts).take(), version)
		}
	})
}

func TestAWatchFromNowNeedsTheVersionOfTheBackend(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := engine.New(1000)
		st := openOn(t, e)
		failure := errors.New("no version")
		e.Set(func(f *engine.Faults) { f.Err = failure })
		assert.ErrorIs(t, record(t, st, fromNow()).ended(), failure)
	})
}

func TestAShortLossOfContactEndsNoWatch(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := engine.New(1000)
		st := openOn(t, e)
		w := record(t, st, registry.ListOptions{ResourceVersion: "1000", EndWithoutContact: true})
		for range 3 {
			e.Set(func(f *engine.Faults) { f.Cut = true })
			time.Sleep(20 * time.Second)
			e.Set(func(f *engine.Faults) { f.Cut = false })
			time.Sleep(5 * time.Second)
		}
		createAll(t, leasesIn(st), "ns/a")
		assert.Equal(t, []string{"ADDED ns/a@1001"}, w.take())
	})
}

// slowEnd is a Backend that takes a second to end.
type slowEnd struct {
	*engine.Engine
	ended bool
}

func (b *slowEnd) Follow(ctx context.Context, history int, f backend.Follower) error {
	err := b.Engine.Follow(ctx, history, f)
	time.Sleep(time.Second)
	b.ended = true
	return err
}

func TestCloseWaitsForTheBackend(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := &slowEnd{Engine: engine.New(1000)}
		st, err := registry.Open(registry.Options{}, b, kinds.Of(lease.Kind()))
		require.NoError(t, err)
		st.Close()
		assert.True(t, b.ended)
	})
}

func TestAStoreThatIsNotLoaded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := engine.New(1000)
		createAll(t, leasesIn(openOn(t, e)), "ns/a")
		e.Set(hold)
		st := openUnloaded(t, e)
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		assert.ErrorIs(t, st.Loaded(ctx), context.DeadlineExceeded)
		for name, err := range map[string]error{
			"list":   second(leaseResource(st).List(t.Context(), registry.ListOptions{})),
			"list 0": second(leaseResource(st).List(t.Context(), registry.ListOptions{ResourceVersion: "0"})),
			"watch":  second(leaseResource(st).Watch(t.Context(), registry.ListOptions{ResourceVersion: "1000"})),
			"fork":   second(st.Fork()),
		} {
			assertStatus(t, err, 429, "TooManyRequests", "storage is (re)initializing")
			assert.EqualValues(t, 1, statusOf(t, err).Details.RetryAfterSeconds, name)
		}
		assert.Equal(t, "1001", mustGet(t, leasesIn(st), "ns/a").ResourceVersion, "a get reads the engine")
		e.Set(release)
		require.NoError(t, st.Loaded(t.Context()))
		items, _ := mustList(t, leasesIn(st), registry.ListOptions{ResourceVersion: "0"})
		assert.Equal(t, []string{"ns/a"}, paths(items))
	})
}

func TestAStoreThatIsNotLoadedCanBeClosed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := engine.New(1000)
		e.Set(func(f *engine.Faults) { f.Cut = true })
		st := openUnloaded(t, e)
		synctest.Wait()
		st.Close()
		assert.ErrorIs(t, st.Loaded(t.Context()), registry.ErrClosed)
	})
}

// forgetful is an engine that leaves requests for progress without an answer.
type forgetful struct {
	*engine.Engine
	left atomic.Int64 // how many
}

func (f *forgetful) Progress() {
	if f.left.Add(-1) < 0 {
		f.Engine.Progress()
	}
}

func TestProgressIsAskedForAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := &forgetful{Engine: engine.New(1000)}
		st, err := registry.Open(registry.Options{}, e, kinds.Of(lease.Kind()))
		require.NoError(t, err)
		t.Cleanup(st.Close)
		require.NoError(t, st.Loaded(t.Context()))
		e.Jump(500)
		e.left.Store(5)
		start := time.Now()
		_, m := mustList(t, leasesIn(st), registry.ListOptions{})
		assert.Equal(t, "1500", m.ResourceVersion)
		assert.Less(t, time.Since(start), time.Second)
	})
}

// cancelled is an engine whose Get has an error of its own for a context that ends.
type cancelled struct{ *engine.Engine }

func (cancelled) Get(ctx context.Context, _ string) (backend.Stored, error) {
	<-ctx.Done()
	return backend.Stored{}, errors.New("rpc error: code = Canceled")
}

func TestAContextThatEndsIsTheError(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := cancelled{engine.New(1000)}
		st, err := registry.Open(registry.Options{}, e, kinds.Of(lease.Kind()))
		require.NoError(t, err)
		t.Cleanup(st.Close)
		require.NoError(t, st.Loaded(t.Context()))
		e.Set(hold) // the cache must not reach the version before Get asks
		e.Jump(1)
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		_, err = leasesIn(st).Get(ctx, "ns", "a")
		assert.Equal(t, context.DeadlineExceeded, err)
	})
}

// The changes begin again with the state: those that came before it are unknown.
func TestAStoreOnABackendIsObserved(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := engine.New(1000)
		st, other := openOn(t, e), openOn(t, e)
		o := observe(st)
		createAll(t, leasesIn(other), "ns/a", "ns/b")
		synctest.Wait()
		assert.Equal(t, []string{"1000: leases -> a@1001, leases -> b@1002"}, o.texts)
		assert.Equal(t, time.Now(), o.last.At)
		e.Set(hold)
		e.DeleteRange("leases/ns/a")
		e.Compact()
		e.Set(release)
		synctest.Wait()
		createAll(t, leasesIn(st), "ns/c")
		assert.Equal(t, "1003: leases -> c@1004", o.texts[1], "it goes on")
	})
}

func TestHistoryOnABackendExpiresByAge(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		st, err := registry.Open(registry.Options{HistoryAge: time.Minute}, engine.New(1000), kinds.Of(lease.Kind()))
		require.NoError(t, err)
		t.Cleanup(st.Close)
		require.NoError(t, st.Loaded(t.Context()))
		createAll(t, leasesIn(st), "ns/a")
		assert.Equal(t, []string{"ADDED ns/a@1001"}, record(t, st, registry.ListOptions{ResourceVersion: "1000"}).take())
		time.Sleep(time.Minute + time.Second)
		assert.ErrorIs(t, record(t, st, registry.ListOptions{ResourceVersion: "1000"}).ended(), store.ErrExpired)
	})
}

func TestAWatchOnABackendWithoutTheStateBeginsAtItsCache(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := engine.New(1000)
		st := openOn(t, e)
		createAll(t, leasesIn(st), "ns/a")
		w := record(t, st, registry.ListOptions{ResourceVersion: "0", SendInitialEvents: new(false), ResourceVersionMatch: registry.MatchNotOlderThan})
		createAll(t, leasesIn(st), "ns/b")
		assert.Equal(t, []string{"ADDED ns/b@1002"}, w.take())
	})
}

// What a store decodes takes no more memory than what it writes: equal labels are stored once.
func TestObjectsOfABackendShareEqualLabels(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := engine.New(1000)
		st, other := openOn(t, e), openOn(t, e)
		apps := []string{"w", "x", "y", "z"}
		for _, app := range apps {
			mustCreate(t, leasesIn(other), newLease("ns/a-"+app, label("app", app)))
			mustCreate(t, leasesIn(other), newLease("ns/b-"+app, label("app", app)))
		}
		synctest.Wait()
		labels := func(name string) uintptr {
			return reflect.ValueOf(leaseResource(st).Peek("ns", name).Stored().GetObjectMeta().Labels).Pointer()
		}
		shared := 0
		for _, app := range apps {
			if labels("a-"+app) == labels("b-"+app) {
				shared++
			}
		}
		assert.GreaterOrEqual(t, shared, 2, "another value may have taken the slot of one in between")
	})
}

func TestWhatAStoreOnABackendRefuses(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := engine.New(1000)
		for want, o := range map[string]registry.Options{
			"store: FirstResourceVersion: must not be set for a store on a backend: the backend gives the versions":                 {FirstResourceVersion: 5},
			"store: Seed: must not be set for a store on a backend: uids would repeat the uids of other stores on the same backend": {Seed: 5},
			"store: Quota: must not be set for a store on a backend: the backend has its own":                                       {Quota: 5},
			"store: Clock: must not be set for a store on a backend: a clock that is moved by hand does not move the backend":       {Clock: clock.NewManual(epoch)},
		} {
			_, err := registry.Open(o, e, kinds.Of(lease.Kind()))
			assert.EqualError(t, err, want)
		}
		widgets := func(name string) *kinds.Kind {
			k, err := kinds.NewKind(kind.Descriptor[meta.Object]{Resource: kind.Resource{Kind: name}, Native: &kind.Native[meta.Object]{StoragePrefix: "leases"}, Versions: []kind.Version[meta.Object]{{Name: "v1"}}, New: func() kinds.Object { return &lease.Lease{} }})
			require.NoError(t, err)
			return k
		}
		_, err := registry.Open(registry.Options{}, e, kinds.Of(lease.Kind()), widgets("Widget"))
		assert.EqualError(t, err, `store: StoragePrefix: got "leases" for leases.coordination.k8s.io and widgets, want one for each kind`)

		st := openOn(t, e)
		assert.PanicsWithValue(t, "store: the store is on a backend and was opened without widgets", func() { st.Resource(widgets("Widget")) })
		assert.EqualError(t, st.Restore(nil, 0), "store: Restore: the store is on a backend: it gives the versions")
		_, err = st.NewReplica(registry.ReplicaOptions{})
		assert.EqualError(t, err, "store: Replica: the store is on a backend: it is a replica itself")

		createAll(t, leasesIn(st), "ns/a")
		fork, err := st.Fork()
		require.NoError(t, err)
		defer fork.Close()
		assert.Equal(t, "1002", mustCreate(t, leasesIn(fork), newLease("ns/b")).ResourceVersion)
		assert.Nil(t, e.Value("leases/ns/b"), "a fork is in memory")

		w := record(t, st, fromNow())
		st.Close()
		st.Close()
		assert.ErrorIs(t, w.ended(), registry.ErrClosed)
		_, err = leasesIn(st).Create(t.Context(), newLease("ns/c"), store.CreateOptions{})
		assert.ErrorIs(t, err, registry.ErrClosed)
		assert.ErrorIs(t, st.Loaded(t.Context()), registry.ErrClosed)
	})
}

func TestSeenAt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := engine.New(1000)
		a, b := openOn(t, e), openOn(t, e)
		assert.Zero(t, b.SeenAt(1001), "there is none yet")
		mustCreate(t, leasesIn(a), newLease("ns/a"))
		synctest.Wait()
		first := time.Now()
		time.Sleep(time.Minute)
		mustCreate(t, leasesIn(a), newLease("ns/b"))
		synctest.Wait()
		for version, want := range map[uint64]time.Time{0: first, 1000: first, 1001: first, 1002: time.Now(), 1003: {}} {
			assert.Equal(t, want.UTC(), b.SeenAt(version).UTC(), "%d", version)
		}
	})
}
