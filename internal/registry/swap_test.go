package registry_test

import (
	"context"
	"io"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kubecoord/kubecoord/internal/kinds"
	"github.com/kubecoord/kubecoord/internal/registry"
	"github.com/kubecoord/kubecoord/internal/test/engine"
	"github.com/kubecoord/kubecoord/store"
	"github.com/kubecoord/kubecoord/store/kind"
	"github.com/kubecoord/kubecoord/store/meta"
)

func createValves(t testing.TB, st *registry.Store, kind *store.Kind[valve], paths ...string) {
	t.Helper()
	for _, path := range paths {
		_, err := in(st, kind).Create(t.Context(), &valve{ObjectMeta: objectMeta(path)}, store.CreateOptions{})
		require.NoError(t, err)
	}
}

func listValves(t testing.TB, st *registry.Store, kind *store.Kind[valve]) (names []string) {
	t.Helper()
	items, _, err := in(st, kind).List(t.Context(), registry.ListOptions{})
	require.NoError(t, err)
	for _, v := range items {
		names = append(names, v.Name+"@"+v.ResourceVersion)
	}
	return names
}

// Two stores share an engine: one has the kind from the start, the other gets it later.
func TestKindComesLaterToAStoreOnABackend(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e, kind := engine.New(1000), valves(nil)
		first, err := registry.Open(registry.Options{}, e, kinds.Of(kind))
		require.NoError(t, err)
		t.Cleanup(first.Close)
		require.NoError(t, first.Loaded(t.Context()))
		createValves(t, first, kind, "ns/a", "ns/b")
		later := openOn(t, e)
		assert.PanicsWithValue(t, "store: the store is on a backend and was opened without valves.example.com", func() { in(later, kind) })

		e.Set(hold) // the cache is older than the objects of the new kind
		_, err = in(first, kind).Delete(t.Context(), "ns", "b", kinds.DeleteOptions{})
		require.NoError(t, err)
		createValves(t, first, kind, "ns/c")
		time.AfterFunc(time.Second, func() { e.Set(release) })
		require.NoError(t, later.Register(t.Context(), kinds.Of(kind)))
		assert.Equal(t, []string{"a@1001", "c@1004"}, listValves(t, later, kind))
		assert.EqualValues(t, 1004, later.ResourceVersion())

		w, err := later.Resource(kinds.Of(kind)).Watch(t.Context(), registry.ListOptions{ResourceVersion: "1004", EndWithoutContact: true})
		require.NoError(t, err)
		defer w.Close()
		createValves(t, first, kind, "ns/d")
		events, err := w.Next(t.Context())
		require.NoError(t, err)
		assert.Equal(t, "ADDED ns/d@1005", eventText(events[0]))

		next := valves(nil)
		require.NoError(t, later.Register(t.Context(), kinds.Of(next)))
		_, err = w.Next(t.Context())
		assert.Equal(t, io.EOF, err)
		assert.Equal(t, []string{"a@1001", "c@1004", "d@1005"}, listValves(t, later, next))
		createValves(t, later, next, "ns/e")
		assert.Equal(t, []string{"a@1001", "c@1004", "d@1005", "e@1006"}, listValves(t, first, kind))

		require.NoError(t, later.Drop(t.Context(), kinds.Of(next)))
		assert.Empty(t, listValves(t, first, kind))
		_, err = in(later, next).Create(t.Context(), &valve{ObjectMeta: objectMeta("ns/a")}, store.CreateOptions{})
		assert.ErrorIs(t, err, store.ErrNotFound)
		require.NoError(t, later.Register(t.Context(), kinds.Of(kind)))
		createValves(t, later, kind, "ns/a")
		assert.Equal(t, []string{"a@1011"}, listValves(t, first, kind))
	})
}

func TestStoragePrefixOfAKindThatComesLater(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		st := openOn(t, engine.New(1000))
		kind := valves(func(d *kind.Descriptor[*valve]) {
			d.Native = &kind.Native[*valve]{CustomResource: true, StoragePrefix: "leases"}
		})
		assert.EqualError(t, st.Register(t.Context(), kinds.Of(kind)),
			`store: StoragePrefix: got "leases" for leases.coordination.k8s.io and valves.example.com, want one for each kind`)
	})
}

func TestReplacedKindInForks(t *testing.T) {
	st, old := newStore(t), valves(nil)
	createValves(t, st, old, "ns/a", "ns/b")
	before, collection := st.Size(), in(st, old)
	next := valves(nil)
	require.NoError(t, st.Register(t.Context(), kinds.Of(next)))
	assert.Equal(t, before, st.Size())
	_, err := collection.Create(t.Context(), &valve{ObjectMeta: objectMeta("ns/c")}, store.CreateOptions{})
	assertStatus(t, err, 429, "TooManyRequests", "storage is (re)initializing")
	_, err = collection.Get(t.Context(), "ns", "a")
	assert.NoError(t, err, "a read in flight")
	_, err = collection.r.Watch(t.Context(), registry.ListOptions{})
	assert.NoError(t, err)

	fork, err := st.Fork()
	require.NoError(t, err)
	defer fork.Close()
	for _, s := range []*registry.Store{st, fork} {
		createValves(t, s, next, "ns/c")
		assert.Equal(t, []string{"a@1001", "b@1002", "c@1003"}, listValves(t, s, next))
	}
}

// tap has the same name as a valve, and another form.
type tap struct {
	meta.TypeMeta   `json:",inline"`
	meta.ObjectMeta `json:"metadata"`
	Spec            string `json:"spec"`
}

func TestObjectsThatANewKindCannotReadRefuseIt(t *testing.T) {
	st, old := newStore(t), valves(nil)
	createValves(t, st, old, "ns/a")
	next := store.MustKind(kind.Descriptor[*tap]{Resource: kind.Resource{Group: "example.com", Kind: "Valve"}, Versions: []kind.Version[*tap]{{Name: "v1"}}})
	assert.ErrorContains(t, st.Register(t.Context(), kinds.Of(next)), "store: the valves.example.com ns/a cannot be read as an object of the new kind: ")
	createValves(t, st, old, "ns/b")
}

// A list that is in flight while the kind changes has the last state of the old collection, and must not claim a later version.
func TestListOfAReplacedKindHasTheVersionOfItsState(t *testing.T) {
	st, old := newStore(t), valves(nil)
	createValves(t, st, old, "ns/a", "ns/b")
	inFlight := in(st, old)
	next := valves(nil)
	require.NoError(t, st.Register(t.Context(), kinds.Of(next)))
	createValves(t, st, next, "ns/c")
	items, page, err := inFlight.List(t.Context(), registry.ListOptions{})
	require.NoError(t, err)
	assert.Len(t, items, 2)
	assert.Equal(t, "1002", page.ResourceVersion)
	fork, err := st.Fork()
	require.NoError(t, err)
	defer fork.Close()
	assert.Equal(t, []string{"a@1001", "b@1002", "c@1003"}, listValves(t, fork, next))
}

// A replica that lags behind the change of a kind reads the objects as they were at the change.
func TestReplicaOfAReplacedKind(t *testing.T) {
	st, old := newStore(t), valves(nil)
	createValves(t, st, old, "ns/a", "ns/b")
	_, lagging := newReplica(t, st, registry.ReplicaOptions{Changes: 2})
	_, stopped := newReplica(t, st, registry.ReplicaOptions{EveryRead: true})
	createValves(t, st, old, "ns/c")
	next := valves(nil)
	require.NoError(t, st.Register(t.Context(), kinds.Of(next)))
	createValves(t, st, next, "ns/d")
	for name, tt := range map[string]struct {
		ctx  context.Context
		want []string
	}{
		"lags":    {lagging, []string{"a", "b", "c"}},
		"stopped": {stopped, []string{"a", "b"}},
	} {
		items, _, err := in(st, next).List(tt.ctx, registry.ListOptions{ResourceVersion: "0"})
		require.NoError(t, err, name)
		var names []string
		for _, v := range items {
			names = append(names, v.Name)
		}
		assert.Equal(t, tt.want, names, name)
	}
	w, err := in(st, next).r.Watch(lagging, registry.ListOptions{ResourceVersion: "0"})
	require.NoError(t, err)
	defer w.Close()
	events, err := w.Next(lagging)
	require.NoError(t, err)
	assert.Len(t, events, 3)
	w, err = in(st, next).r.Watch(stopped, registry.ListOptions{ResourceVersion: "0"})
	require.NoError(t, err)
	defer w.Close()
	_, err = w.Next(stopped)
	assert.ErrorIs(t, err, store.ErrExpired, "it has no changes from its state to the change of the kind")
}

// The watch of a request that is in flight while the kind changes ends, also once history has lost the change.
func TestWatchOfAReplacedKindWhoseHistoryIsGone(t *testing.T) {
	st := registry.New(registry.Options{History: 1})
	t.Cleanup(st.Close)
	old := valves(nil)
	createValves(t, st, old, "ns/a")
	inFlight, next := in(st, old), valves(nil)
	require.NoError(t, st.Register(t.Context(), kinds.Of(next)))
	createValves(t, st, next, "ns/b", "ns/c", "ns/d")
	w, err := inFlight.r.Watch(t.Context(), registry.ListOptions{})
	require.NoError(t, err)
	defer w.Close()
	_, err = w.Next(t.Context())
	assertStatus(t, err, 429, "TooManyRequests", "storage is (re)initializing")
}
