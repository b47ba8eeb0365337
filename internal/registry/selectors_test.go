package registry_test

import (
	"fmt"
	"strconv"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/kubecoord/kubecoord/internal/registry"
	"github.com/kubecoord/kubecoord/store"
)

func TestListSelects(t *testing.T) {
	for name, row := range map[string]struct {
		opts registry.ListOptions
		want []string
	}{
		"a label":                        {registry.ListOptions{LabelSelector: "app=x"}, []string{"a/l", "b/l"}},
		"a label in a namespace":         {registry.ListOptions{LabelSelector: "app=x", Namespace: "b"}, []string{"b/l"}},
		"the absence of a label":         {registry.ListOptions{LabelSelector: "!app"}, []string{"c/l", "c/m"}},
		"another value or none":          {registry.ListOptions{LabelSelector: "app!=x"}, []string{"a/m", "c/l", "c/m"}},
		"a set":                          {registry.ListOptions{LabelSelector: "app in (x,y)"}, []string{"a/l", "a/m", "b/l"}},
		"a name in all namespaces":       {registry.ListOptions{FieldSelector: "metadata.name=l"}, []string{"a/l", "b/l", "c/l"}},
		"a name in a namespace":          {registry.ListOptions{FieldSelector: "metadata.name=l", Namespace: "c"}, []string{"c/l"}},
		"another name":                   {registry.ListOptions{FieldSelector: "metadata.name!=l"}, []string{"a/m", "c/m"}},
		"a namespace as a field":         {registry.ListOptions{FieldSelector: "metadata.namespace=a"}, []string{"a/l", "a/m"}},
		"both as fields":                 {registry.ListOptions{FieldSelector: "metadata.namespace=a,metadata.name=m"}, []string{"a/m"}},
		"a namespace against the path's": {registry.ListOptions{FieldSelector: "metadata.namespace=a", Namespace: "b"}, []string{}},
		"two names at once":              {registry.ListOptions{FieldSelector: "metadata.name=l,metadata.name=m"}, []string{}},
		"one name with a label":          {registry.ListOptions{FieldSelector: "metadata.name=l", LabelSelector: "app", Namespace: "a"}, []string{"a/l"}},
		"one name without its label":     {registry.ListOptions{FieldSelector: "metadata.name=l", LabelSelector: "!app", Namespace: "a"}, []string{}},
		"all hashes": {registry.ListOptions{ShardSelector: "shardRange(object.metadata.namespace, '0x0000000000000000', '0x10000000000000000')"},
			[]string{"a/l", "a/m", "b/l", "c/l", "c/m"}},
	} {
		t.Run(name, func(t *testing.T) {
			leases := leasesIn(newStore(t))
			mustCreate(t, leases, newLease("a/l", label("app", "x")))
			mustCreate(t, leases, newLease("a/m", label("app", "y")))
			mustCreate(t, leases, newLease("b/l", label("app", "x")))
			createAll(t, leases, "c/l", "c/m")
			items, _ := mustList(t, leases, row.opts)
			assert.Equal(t, row.want, paths(items))
		})
	}
}

// There are more maps of labels than verdicts that a list remembers.
func TestListSelectsAmongManyLabels(t *testing.T) {
	leases := leasesIn(newStore(t))
	for i := range 1000 {
		l := newLease(fmt.Sprintf("ns/l%03d", i))
		l.Labels = map[string]string{"half": strconv.Itoa(i % 2), "n": strconv.Itoa(i)}
		mustCreate(t, leases, l)
	}
	items, _ := mustList(t, leases, registry.ListOptions{LabelSelector: "half=1"})
	assert.Len(t, items, 500)
	for _, l := range items {
		assert.Equal(t, "1", l.Labels["half"], l.Name)
	}
}

func TestShardsPartitionAList(t *testing.T) {
	const low, high = "shardRange(object.metadata.uid, '0x0000000000000000', '0x8000000000000000')", "shardRange(object.metadata.uid, '0x8000000000000000', '0x10000000000000000')"
	leases := leasesIn(newStore(t))
	want := manyPaths("ns", 100)
	createAll(t, leases, want...)
	lower, m := mustList(t, leases, registry.ListOptions{ShardSelector: low})
	assert.Equal(t, low, m.ShardInfo.Selector)
	upper, _ := mustList(t, leases, registry.ListOptions{ShardSelector: high})
	assert.NotEmpty(t, lower)
	assert.NotEmpty(t, upper)
	assert.ElementsMatch(t, want, append(paths(lower), paths(upper)...))
}

func TestShortBoundOfAShardIsAWarning(t *testing.T) {
	var warnings []string
	_, m := mustList(t, leasesIn(newStore(t)), registry.ListOptions{
		ShardSelector: "shardRange(object.metadata.uid, '0x0', '0x8')",
		Warn:          func(text string) { warnings = append(warnings, text) },
	})
	assert.Len(t, warnings, 2)
	assert.Contains(t, m.ShardInfo.Selector, "'0x0000000000000000'")
}

func TestBadSelectorsAreRefused(t *testing.T) {
	for name, row := range map[string]struct {
		opts registry.ListOptions
		want string
	}{
		"labels":            {registry.ListOptions{LabelSelector: ","}, "found ',', expected: !, identifier, or 'end of string'"},
		"fields":            {registry.ListOptions{FieldSelector: "foo"}, "invalid selector: 'foo'; can't understand 'foo'"},
		"an unknown field":  {registry.ListOptions{FieldSelector: "spec.holderIdentity=x"}, `"spec.holderIdentity" is not a known field selector: only "metadata.name", "metadata.namespace"`},
		"labels come first": {registry.ListOptions{LabelSelector: ",", FieldSelector: "foo", ShardSelector: " "}, "found ',', expected: !, identifier, or 'end of string'"},
	} {
		t.Run(name, func(t *testing.T) {
			st := newStore(t)
			_, _, err := leasesIn(st).List(t.Context(), row.opts)
			assertStatus(t, err, 400, store.ErrBadRequest, row.want)
			_, err = leaseResource(st).Watch(t.Context(), registry.ListOptions{
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
	_, _, err := leasesIn(st).List(t.Context(), registry.ListOptions{ShardSelector: " "})
	assertPlain(t, err, want)
	_, err = leaseResource(st).Watch(t.Context(), registry.ListOptions{ShardSelector: " "})
	assertPlain(t, err, want)
}
