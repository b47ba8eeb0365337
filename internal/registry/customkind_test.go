package registry_test

import (
	"fmt"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kubecoord/kubecoord/internal/kinds"
	"github.com/kubecoord/kubecoord/internal/registry"
	"github.com/kubecoord/kubecoord/internal/test/engine"
	"github.com/kubecoord/kubecoord/store"
	"github.com/kubecoord/kubecoord/store/kind"
	"github.com/kubecoord/kubecoord/store/meta"
)

// valve is a kind that is not built in, with a status.
type valve struct {
	meta.TypeMeta   `json:",inline"`
	meta.ObjectMeta `json:"metadata"`
	Spec            valveSpec   `json:"spec"`
	Status          valveStatus `json:"status"`
}

type valveSpec struct {
	Open bool `json:"open,omitempty"`
}

type valveStatus struct {
	Flow int `json:"flow,omitempty"`
}

func valves(change func(*kind.Descriptor[*valve])) *store.Kind[valve] {
	d := kind.Descriptor[*valve]{Resource: kind.Resource{Group: "example.com", Kind: "Valve", Status: true}, Versions: []kind.Version[*valve]{{Name: "v1"}}, Strategy: kind.Strategy[*valve]{Update: kind.UpdateStrategy[*valve]{Unconditional: true}}}
	if change != nil {
		change(&d)
	}
	return store.MustKind(d)
}

func clusterScoped(d *kind.Descriptor[*valve]) { d.Resource.ClusterScoped = true }

func TestWarningsAboutFinalizersOfACustomKind(t *testing.T) {
	st := newStore(t)
	r := st.Resource(kinds.Of(valves(nil)))
	var warnings []string
	req := registry.Request{Namespace: "ns", Name: "a", Warn: func(text string) { warnings = append(warnings, text) }}
	with := func(finalizers ...string) *valve {
		v := &valve{ObjectMeta: objectMeta("ns/a")}
		v.Finalizers = finalizers
		return v
	}
	const rest = " to avoid accidental conflicts with other finalizer writers"
	_, err := r.Create(t.Context(), with("b", "a.b", "example.com/a", "kubernetes", "orphan", "b"), &req)
	require.NoError(t, err)
	assert.Equal(t, []string{
		`metadata.finalizers: "a.b": prefer a domain-qualified finalizer name including a path (/)` + rest,
		`metadata.finalizers: "b": prefer a domain-qualified finalizer name` + rest,
	}, warnings)
	warnings = nil
	_, _, err = r.Update(t.Context(), &req, r.Replace(with("b", "c", "foregroundDeletion")))
	require.NoError(t, err)
	assert.Equal(t, []string{`metadata.finalizers: "c": prefer a domain-qualified finalizer name` + rest}, warnings, "b is not new")
}

func TestWarningsOfAKindSeeTheStateBefore(t *testing.T) {
	st := newStore(t)
	r := st.Resource(kinds.Of(valves(func(d *kind.Descriptor[*valve]) {
		d.Strategy.Warnings = func(v, old *valve) []string { return []string{fmt.Sprint(v.Spec, old != nil && old.Spec.Open)} }
	})))
	var warnings []string
	req := registry.Request{Namespace: "ns", Name: "a", Warn: func(text string) { warnings = append(warnings, text) }}
	_, err := r.Create(t.Context(), &valve{ObjectMeta: objectMeta("ns/a"), Spec: valveSpec{true}}, &req)
	require.NoError(t, err)
	_, _, err = r.Update(t.Context(), &req, r.Replace(&valve{ObjectMeta: objectMeta("ns/a")}))
	require.NoError(t, err)
	assert.Equal(t, []string{"{true} false", "{false} true"}, warnings)
}

func TestClusterScopedKind(t *testing.T) {
	st := newStore(t)
	all := in(st, valves(clusterScoped))
	_, err := all.r.PrepareRestore(&valve{ObjectMeta: objectMeta("ns/a")}, registry.Request{})
	assert.ErrorContains(t, err, "metadata.namespace: Forbidden: not allowed on this type")
	for _, name := range []string{"a", "b", "c"} {
		v, err := all.Create(t.Context(), &valve{ObjectMeta: objectMeta("ignored/" + name)}, store.CreateOptions{})
		require.NoError(t, err)
		assert.Empty(t, v.Namespace)
	}
	_, err = all.Patch(t.Context(), "", "a", store.MergePatch, []byte(`{"metadata":{"namespace":"ignored"},"spec":{"open":true}}`), store.PatchOptions{})
	require.NoError(t, err)
	var names []string
	opts := registry.ListOptions{Limit: 1}
	for more := true; more; more = opts.Continue != "" {
		items, m, err := all.List(t.Context(), opts)
		require.NoError(t, err)
		for _, v := range items {
			names = append(names, v.Name)
		}
		opts.Continue = m.Continue
	}
	assert.Equal(t, []string{"a", "b", "c"}, names)
}

func TestKindsThatClaimOneResource(t *testing.T) {
	st := newStore(t)
	st.Resource(kinds.Of(valves(nil)))
	assert.PanicsWithValue(t, "store: two kinds for valves.example.com", func() { st.Resource(kinds.Of(valves(nil))) })
}

// A conversion may change the object that it gets. What is stored stays as it is.
func TestConversionsMayChangeTheirArgument(t *testing.T) {
	invert := func(v *valve) *valve {
		v.Spec.Open = !v.Spec.Open
		return v
	}
	kind := valves(func(d *kind.Descriptor[*valve]) {
		d.Versions = append(d.Versions, kind.Version[*valve]{Name: "v2", Form: kind.FormOf(invert, invert)})
	})
	all := in(newStore(t), kind)
	_, err := all.Create(t.Context(), &valve{ObjectMeta: objectMeta("ns/a"), Spec: valveSpec{true}}, store.CreateOptions{})
	require.NoError(t, err)
	const v2 = 1
	it := all.r.Peek("ns", "a")
	for range 3 {
		data, err := it.Encoded(v2, kinds.JSON)
		require.NoError(t, err)
		assert.NotContains(t, string(data), `"open":true`)
		o, err := it.WireIn(t.Context(), v2)
		require.NoError(t, err)
		assert.False(t, o.(*valve).Spec.Open)
	}
	updated, _, err := all.r.Update(t.Context(), &registry.Request{Namespace: "ns", Name: "a", Version: v2}, &registry.Patch{
		Type: registry.MergePatch, Data: []byte(`{"metadata":{"labels":{"k":"v"}}}`), Scheme: kinds.NewScheme(kinds.Of(kind)),
	})
	require.NoError(t, err)
	for _, state := range []*registry.Item{it, updated} {
		assert.True(t, typed[valve](state).Spec.Open)
	}
}

// Values in a Backend are named after the first version.
func TestTheFirstVersionHasTheStoredForm(t *testing.T) {
	same := func(v *valve) *valve { return v }
	_, err := store.NewKind(kind.Descriptor[*valve]{Resource: kind.Resource{Kind: "Valve"}, Versions: []kind.Version[*valve]{{Name: "v2", Form: kind.FormOf(same, same)}, {Name: "v1"}}})
	assert.EqualError(t, err, `store: kind Valve: Versions: got a Form for "v2", want none: the first version has the stored form`)
}

// The scope decides how many names a key has.
func TestKeysOfAnotherScopeAreNoObjects(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := engine.New(1000)
		namespaced, scoped := valves(nil), valves(func(d *kind.Descriptor[*valve]) { d.Resource.Kind, d.Resource.ClusterScoped = "Pump", true })
		st, err := registry.Open(registry.Options{}, e, kinds.Of(namespaced), kinds.Of(scoped))
		require.NoError(t, err)
		defer st.Close()
		require.NoError(t, st.Loaded(t.Context()))
		e.Put(map[string][]byte{
			"example.com/valves/a":   []byte(`{"kind":"Valve","apiVersion":"example.com/v1","metadata":{"name":"a"}}`),
			"example.com/pumps/ns/a": []byte(`{"kind":"Pump","apiVersion":"example.com/v1","metadata":{"name":"a","namespace":"ns"}}`),
		})
		for _, all := range []*client[valve]{in(st, namespaced), in(st, scoped)} {
			items, m, err := all.List(t.Context(), registry.ListOptions{})
			require.NoError(t, err)
			assert.Empty(t, items)
			assert.Equal(t, "1001", m.ResourceVersion)
		}
	})
}
