package store_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kubecoord/kubecoord/store"
	"github.com/kubecoord/kubecoord/store/fixture"
	"github.com/kubecoord/kubecoord/store/kind"
	"github.com/kubecoord/kubecoord/watch"
)

func newClusterKind() *store.Kind[engine] {
	d := engineDescriptor()
	d.ClusterScoped = true
	return store.MustKind(d)
}

func TestClusterScopedObjectsHaveNoNamespace(t *testing.T) {
	engines := newClusterKind().In(newStore(t))
	e, err := engines.Create(t.Context(), newEngine("ns/a", 1, 0), store.CreateOptions{})
	require.NoError(t, err)
	assert.Empty(t, e.Namespace, "one that is given is dropped")
	_, err = engines.Create(t.Context(), newEngine("other/a", 1, 0), store.CreateOptions{})
	require.ErrorIs(t, err, store.ErrAlreadyExists)

	e, err = engines.Update(t.Context(), newEngine("other/a", 2, 0), store.UpdateOptions{})
	require.NoError(t, err)
	assert.Equal(t, shown{2, 0, 2, "1002"}, e.shown())
	e, err = engines.Status().Modify(t.Context(), "", "a", func(e *engine) error { e.Status.Turns = 1; return nil }, store.UpdateOptions{})
	require.NoError(t, err)
	assert.Equal(t, shown{2, 1, 2, "1003"}, e.shown())

	_, err = engines.Get(t.Context(), "ns", "a")
	require.ErrorIs(t, err, store.ErrNotFound)
	_, err = engines.Modify(t.Context(), "ns", "a", func(*engine) error { return nil }, store.UpdateOptions{})
	require.ErrorIs(t, err, store.ErrNotFound)
	_, err = engines.Delete(t.Context(), "", "a", store.DeleteOptions{})
	require.NoError(t, err)
}

func TestClusterScopedObjectsAreListedInPages(t *testing.T) {
	engines := newClusterKind().In(newStore(t))
	for _, name := range []string{"c", "a", "b"} {
		_, err := engines.Create(t.Context(), newEngine("/"+name, 1, 0), store.CreateOptions{})
		require.NoError(t, err)
	}
	var names []string
	opts := store.ListOptions{Limit: 1}
	for more := true; more; more = opts.Continue != "" {
		page, err := engines.List(t.Context(), opts)
		require.NoError(t, err)
		require.Len(t, page.Items, 1)
		names, opts.Continue = append(names, page.Items[0].Name), page.Continue
	}
	assert.Equal(t, []string{"a", "b", "c"}, names)

	one, err := engines.List(t.Context(), store.ListOptions{FieldSelector: "metadata.name=b"})
	require.NoError(t, err)
	require.Len(t, one.Items, 1)
	none, err := engines.List(t.Context(), store.ListOptions{Namespace: "ns"})
	require.NoError(t, err)
	assert.Empty(t, none.Items)
	_, err = engines.List(t.Context(), store.ListOptions{FieldSelector: "metadata.namespace=ns"})
	assertStatus(t, err, 400, store.ErrBadRequest, "field label not supported: metadata.namespace")

	gone, err := engines.DeleteCollection(t.Context(), store.DeleteOptions{}, store.ListOptions{})
	require.NoError(t, err)
	assert.Len(t, gone.Items, 3)
}

func TestClusterScopedObjectsAreWatched(t *testing.T) {
	engines := newClusterKind().In(newStore(t))
	_, err := engines.Create(t.Context(), newEngine("/other", 1, 0), store.CreateOptions{})
	require.NoError(t, err)
	_, err = engines.Create(t.Context(), newEngine("/a", 1, 0), store.CreateOptions{})
	require.NoError(t, err)
	for event, err := range engines.Watch(t.Context(), store.WatchOptions{Name: "a"}) {
		require.NoError(t, err)
		require.Equal(t, "a", event.Object.Name)
		if event.Type == watch.Deleted {
			return
		}
		_, err = engines.Delete(t.Context(), "", "other", store.DeleteOptions{})
		require.NoError(t, err)
		_, err = engines.Delete(t.Context(), "", "a", store.DeleteOptions{})
		require.NoError(t, err)
	}
}

func TestErrorsOfClusterScopedObjectsNameTheirKey(t *testing.T) {
	engines := newClusterKind().In(newStore(t))
	e, err := engines.Create(t.Context(), newEngine("/a", 1, 0), store.CreateOptions{})
	require.NoError(t, err)
	wrong := newEngine("/a", 1, 0)
	wrong.UID = "u"
	_, err = engines.Update(t.Context(), wrong, store.UpdateOptions{})
	assertStatus(t, err, 409, store.ErrConflict, `Operation cannot be fulfilled on engines.example.com "a": StorageError: invalid object, Code: 4, `+
		`Key: /registry/example.com/engines/a, ResourceVersion: 0, AdditionalErrorMsg: Precondition failed: UID in precondition: u, UID in object meta: `+string(e.UID))
	_, err = engines.Create(t.Context(), newEngine("/A", 1, 0), store.CreateOptions{})
	require.ErrorContains(t, err, `Engine.example.com "A" is invalid: metadata.name: Invalid value: "A"`)
}

func TestFixturesOfClusterScopedObjects(t *testing.T) {
	st, kinds := newStore(t), []kind.Kind{newClusterKind()}
	load := func(text string) error {
		return fixture.Load(t.Context(), st, fixture.Options{Kinds: kinds}, fixture.Stream("engines.yaml", strings.NewReader(text)))
	}
	err := load("apiVersion: example.com/v1\nkind: Engine\nmetadata: {name: a, namespace: ns}\n")
	require.EqualError(t, err, `engines.yaml, document 1 (line 1): Engine.example.com "a" is invalid: metadata.namespace: Forbidden: not allowed on this type`)
	require.NoError(t, load("apiVersion: example.com/v1\nkind: Engine\nmetadata: {name: a}\nspec: {speed: 3}\n"))
	for form, want := range map[fixture.Form]string{
		fixture.FormStream: "apiVersion: example.com/v1\nkind: Engine\nmetadata:\n  name: a\nspec:\n  speed: 3\n",
		fixture.FormTxtar:  "-- engines.example.com/a.yaml --\napiVersion: example.com/v1\nkind: Engine\nmetadata:\n  name: a\nspec:\n  speed: 3\n",
	} {
		var dump strings.Builder
		require.NoError(t, fixture.Dump(&dump, st, fixture.DumpOptions{Kinds: kinds, Form: form, OmitServerFields: true}))
		assert.Equal(t, want, dump.String())
	}
}
