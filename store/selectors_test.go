package store_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kubecoord/kubecoord/lease"
	"github.com/kubecoord/kubecoord/store"
)

func TestListSelects(t *testing.T) {
	for name, row := range map[string]struct {
		opts store.ListOptions
		want []string
	}{
		"a label":                        {store.ListOptions{LabelSelector: "app=x"}, []string{"a/l", "b/l"}},
		"a label in a namespace":         {store.ListOptions{LabelSelector: "app=x", Namespace: "b"}, []string{"b/l"}},
		"the absence of a label":         {store.ListOptions{LabelSelector: "!app"}, []string{"c/l", "c/m"}},
		"another value or none":          {store.ListOptions{LabelSelector: "app!=x"}, []string{"a/m", "c/l", "c/m"}},
		"a set":                          {store.ListOptions{LabelSelector: "app in (x,y)"}, []string{"a/l", "a/m", "b/l"}},
		"a name in all namespaces":       {store.ListOptions{FieldSelector: "metadata.name=l"}, []string{"a/l", "b/l", "c/l"}},
		"a name in a namespace":          {store.ListOptions{FieldSelector: "metadata.name=l", Namespace: "c"}, []string{"c/l"}},
		"another name":                   {store.ListOptions{FieldSelector: "metadata.name!=l"}, []string{"a/m", "c/m"}},
		"a namespace as a field":         {store.ListOptions{FieldSelector: "metadata.namespace=a"}, []string{"a/l", "a/m"}},
		"both as fields":                 {store.ListOptions{FieldSelector: "metadata.namespace=a,metadata.name=m"}, []string{"a/m"}},
		"a namespace against the path's": {store.ListOptions{FieldSelector: "metadata.namespace=a", Namespace: "b"}, []string{}},
		"two names at once":              {store.ListOptions{FieldSelector: "metadata.name=l,metadata.name=m"}, []string{}},
		"one name with a label":          {store.ListOptions{FieldSelector: "metadata.name=l", LabelSelector: "app", Namespace: "a"}, []string{"a/l"}},
		"one name without its label":     {store.ListOptions{FieldSelector: "metadata.name=l", LabelSelector: "!app", Namespace: "a"}, []string{}},
		"all hashes": {store.ListOptions{ShardSelector: "shardRange(object.metadata.namespace, '0x0000000000000000', '0x10000000000000000')"},
			[]string{"a/l", "a/m", "b/l", "c/l", "c/m"}},
	} {
		t.Run(name, func(t *testing.T) {
			leases := lease.In(newStore(t))
			mustCreate(t, leases, newLease("a/l", label("app", "x")))
			mustCreate(t, leases, newLease("a/m", label("app", "y")))
			mustCreate(t, leases, newLease("b/l", label("app", "x")))
			createAll(t, leases, "c/l", "c/m")
			items, _ := mustList(t, leases, row.opts)
			assert.Equal(t, row.want, paths(items))
		})
	}
}

func TestShardsPartitionAList(t *testing.T) {
	const low, high = "shardRange(object.metadata.uid, '0x0000000000000000', '0x8000000000000000')", "shardRange(object.metadata.uid, '0x8000000000000000', '0x10000000000000000')"
	leases := lease.In(newStore(t))
	want := manyPaths("ns", 100)
	createAll(t, leases, want...)
	lower, m := mustList(t, leases, store.ListOptions{ShardSelector: low})
	assert.Equal(t, low, m.ShardInfo.Selector)
	upper, _ := mustList(t, leases, store.ListOptions{ShardSelector: high})
	assert.NotEmpty(t, lower)
	assert.NotEmpty(t, upper)
	assert.ElementsMatch(t, want, append(paths(lower), paths(upper)...))
}

func TestShortBoundOfAShardIsAWarning(t *testing.T) {
	var warnings []string
	_, m := mustList(t, lease.In(newStore(t)), store.ListOptions{
		ShardSelector: "shardRange(object.metadata.uid, '0x0', '0x8')",
		Warn:          func(text string) { warnings = append(warnings, text) },
	})
	assert.Len(t, warnings, 2)
	assert.Contains(t, m.ShardInfo.Selector, "'0x0000000000000000'")
}

func TestBadSelectorsAreRefused(t *testing.T) {
	for name, row := range map[string]struct {
		opts store.ListOptions
		want string
	}{
		"labels":            {store.ListOptions{LabelSelector: ","}, "found ',', expected: !, identifier, or 'end of string'"},
		"fields":            {store.ListOptions{FieldSelector: "foo"}, "invalid selector: 'foo'; can't understand 'foo'"},
		"an unknown field":  {store.ListOptions{FieldSelector: "spec.holderIdentity=x"}, `"spec.holderIdentity" is not a known field selector: only "metadata.name", "metadata.namespace"`},
		"labels come first": {store.ListOptions{LabelSelector: ",", FieldSelector: "foo", ShardSelector: " "}, "found ',', expected: !, identifier, or 'end of string'"},
	} {
		t.Run(name, func(t *testing.T) {
			st := newStore(t)
			_, _, err := lease.In(st).List(t.Context(), row.opts)
			assertStatus(t, err, 400, store.ErrBadRequest, row.want)
			_, err = st.Resource(lease.Kind()).Watch(t.Context(), store.WatchOptions{
				LabelSelector: row.opts.LabelSelector, FieldSelector: row.opts.FieldSelector, ShardSelector: row.opts.ShardSelector,
			})
			assertStatus(t, err, 400, store.ErrBadRequest, row.want)
			assert.Zero(t, st.Watchers())
		})
	}
}

func TestBadShardSelectorIsABareError(t *testing.T) {
	st := newStore(t)
	const want = "invalid shard selector: empty shard selector is not allowed; omit the parameter for unfiltered lists"
	_, _, err := lease.In(st).List(t.Context(), store.ListOptions{ShardSelector: " "})
	assertPlain(t, err, want)
	_, err = st.Resource(lease.Kind()).Watch(t.Context(), store.WatchOptions{ShardSelector: " "})
	assertPlain(t, err, want)
}

func TestKindMayNameFieldsToSelectBy(t *testing.T) {
	widgets := store.In(newStore(t), newWidgetKind())
	for name, color := range map[string]string{"a": "red", "b": "blue", "c": "red"} {
		_, err := widgets.Create(&widget{ObjectMeta: objectMeta("ns/" + name), Spec: widgetSpec{Color: color}}, store.CreateOptions{})
		require.NoError(t, err)
	}
	items, _, err := widgets.List(t.Context(), store.ListOptions{FieldSelector: "spec.color=red"})
	require.NoError(t, err)
	require.Len(t, items, 2)
	assert.Equal(t, "c", items[1].Name)
	_, _, err = widgets.List(t.Context(), store.ListOptions{FieldSelector: "spec.size=1"})
	assert.EqualError(t, err, `field label not supported: spec.size`)
}
