package store_test

import (
	"context"
	"strconv"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	testengine "github.com/kubecoord/kubecoord/internal/test/engine"
	"github.com/kubecoord/kubecoord/lease"
	"github.com/kubecoord/kubecoord/store"
	"github.com/kubecoord/kubecoord/store/kind"
	"github.com/kubecoord/kubecoord/store/meta"
)

func objectsOf(t *testing.T, st *store.Store, k kind.Kind) *store.Objects {
	t.Helper()
	objects, err := st.Objects(k)
	require.NoError(t, err)
	return objects
}

func TestModifyOfObjectsWritesWhatItsSubresourceOwns(t *testing.T) {
	for subresource, want := range map[string]shown{"": {2, 1, 2, "1003"}, "status": {1, 2, 1, "1003"}} {
		st, k := newStore(t), newEngineKind(true)
		engines := k.In(st)
		_, err := engines.Create(t.Context(), newEngine("ns/a", 1, 0), store.CreateOptions{})
		require.NoError(t, err)
		_, err = engines.Status().Modify(t.Context(), "ns", "a", func(e *engine) error { e.Status.Turns = 1; return nil }, store.UpdateOptions{})
		require.NoError(t, err)
		err = objectsOf(t, st, k).Modify(t.Context(), "ns", "a", subresource, func(o meta.Object) error {
			e := o.(*engine)
			e.Spec.Speed, e.Status.Turns = 2, 2
			return nil
		}, store.UpdateOptions{})
		require.NoError(t, err)
		got, err := engines.Get(t.Context(), "ns", "a")
		require.NoError(t, err)
		assert.Equal(t, want, got.shown(), "subresource %q", subresource)
	}
}

func TestModifyOfObjectsNamesWhatIsMissing(t *testing.T) {
	st, k := newStore(t), newEngineKind(true)
	objects := objectsOf(t, st, k)
	change := func(meta.Object) error { panic("there is no object") }
	assertStatus(t, objects.Modify(t.Context(), "ns", "a", "", change, store.UpdateOptions{}), 404, store.ErrNotFound, `engines.example.com "a" not found`)
	_, err := k.In(st).Create(t.Context(), newEngine("ns/a", 1, 0), store.CreateOptions{})
	require.NoError(t, err)
	assertStatus(t, objects.Modify(t.Context(), "ns", "a", "scale", change, store.UpdateOptions{}), 400, store.ErrBadRequest,
		`subresource: got "scale", want a subresource of engines.example.com`)
}

func TestDeleteCollectionOfObjectsKeepsOtherNamespaces(t *testing.T) {
	st := newStore(t)
	leases, objects := lease.In(st), objectsOf(t, st, lease.Kind())
	createAll(t, leases, "ns/a", "ns/b", "other/a")
	require.NoError(t, objects.DeleteCollection(t.Context(), "ns", store.DeleteOptions{}))
	assert.Equal(t, []string{"other/a"}, paths(mustList(t, leases, store.ListOptions{}).Items))
	createAll(t, leases, "ns/a")
	require.NoError(t, objects.DeleteCollection(t.Context(), "", store.DeleteOptions{}))
	assert.Zero(t, objects.Len())
}

func TestPutStoresTheChangesOfItsTemplate(t *testing.T) {
	plain, err := store.NewTemplate(lease.Kind(), newLease("ns/a", holder("x")), store.TemplateOptions{FieldManager: "m"})
	require.NoError(t, err)
	changed := plain.With(func(o meta.Object) { o.GetObjectMeta().Name = "b" }).With(func(o meta.Object) {
		o.GetObjectMeta().Labels = map[string]string{"name": o.GetObjectMeta().Name}
	})
	put := func(t *testing.T, st *store.Store) {
		stored, err := st.Put(t.Context(), plain, changed)
		require.NoError(t, err)
		require.Len(t, stored, 2)
		leases := lease.In(st)
		a, b := mustGet(t, leases, "ns/a"), mustGet(t, leases, "ns/b")
		assert.Empty(t, a.Labels)
		assert.Equal(t, map[string]string{"name": "b"}, b.Labels)
		assert.Equal(t, "x", *b.Spec.HolderIdentity)
		assert.NotEqual(t, a.UID, b.UID)
		assert.Equal(t, b.UID, stored[1].GetObjectMeta().UID)
	}
	t.Run("in memory", func(t *testing.T) {
		st := newStore(t)
		put(t, st)
		_, err := st.Put(t.Context(), plain.With(func(o meta.Object) { o.GetObjectMeta().Name = "c" }), changed)
		require.ErrorIs(t, err, store.ErrAlreadyExists)
		assert.Equal(t, 2, st.Len(lease.Kind()), "none is stored")
	})
	t.Run("on a backend", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			st, err := store.Open(t.Context(), store.Options{}, testengine.New(1000), lease.Kind())
			require.NoError(t, err)
			defer st.Close()
			put(t, st)
		})
	})
}

func TestChangesOfAllKinds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		st := newStore(t)
		leases := lease.In(st)
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		var seen [2][][]store.ObjectChange
		var last [2]error
		for i, ctx := range []context.Context{ctx, t.Context()} {
			go func() {
				for changes, err := range st.Changes(ctx) {
					seen[i], last[i] = append(seen[i], changes), err
				}
			}()
		}
		synctest.Wait()
		require.Len(t, seen[0], 1)
		assert.Empty(t, seen[0][0], "the whole state is to be read")
		_, err := leases.Create(t.Context(), newLease("ns/a"), store.CreateOptions{})
		require.NoError(t, err)
		synctest.Wait()
		require.Len(t, seen[0], 2)
		want := []store.ObjectChange{{Kind: lease.Kind().Untyped(), New: objectsOf(t, st, lease.Kind()).Get("ns", "a")}}
		assert.Equal(t, want, seen[0][1])
		cancel()
		synctest.Wait()
		assert.ErrorIs(t, last[0], context.Canceled)
		assert.NoError(t, last[1])
		st.Close()
		synctest.Wait()
		assert.ErrorIs(t, last[1], store.ErrClosed)
		for changes, err := range st.Changes(t.Context()) {
			assert.Empty(t, changes)
			assert.ErrorIs(t, err, store.ErrClosed)
		}
	})
}

func TestChangesEndWithTheirLoop(t *testing.T) {
	for range newStore(t).Changes(t.Context()) {
		break
	}
}

func TestADeletionInTheHistoryHasItsVersion(t *testing.T) {
	st := newStore(t)
	leases := lease.In(st)
	_, err := leases.Create(t.Context(), newLease("ns/a"), store.CreateOptions{})
	require.NoError(t, err)
	_, err = leases.Delete(t.Context(), "ns", "a", store.DeleteOptions{})
	require.NoError(t, err)
	changes, complete := st.History(lease.Kind())
	assert.True(t, complete)
	require.Len(t, changes, 2)
	for i, want := range []string{"1001", "1002"} {
		l := changes[i].Object.(*lease.Lease)
		assert.Equal(t, meta.TypeMeta{Kind: "Lease", APIVersion: "coordination.k8s.io/v1"}, l.TypeMeta)
		assert.Equal(t, []string{"ns", "a", want, want}, []string{changes[i].Namespace, changes[i].Name, l.ResourceVersion, strconv.FormatUint(changes[i].ResourceVersion, 10)})
	}
}
