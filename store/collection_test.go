package store_test

import (
	"iter"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	testengine "github.com/kubecoord/kubecoord/internal/test/engine"
	"github.com/kubecoord/kubecoord/lease"
	"github.com/kubecoord/kubecoord/store"
	"github.com/kubecoord/kubecoord/store/clock"
)

func TestListSelects(t *testing.T) {
	st := newStore(t)
	leases := lease.In(st)
	mustCreate(t, leases, newLease("a/x", label("k", "v")))
	createAll(t, leases, "a/y", "b/x")
	shards := "shardRange(object.metadata.uid, '0x0000000000000000', '0x10000000000000000')"
	for name, row := range map[string]struct {
		opts store.ListOptions
		want []string
	}{
		"everything":          {store.ListOptions{}, []string{"a/x", "a/y", "b/x"}},
		"a namespace":         {store.ListOptions{Namespace: "a"}, []string{"a/x", "a/y"}},
		"a label":             {store.ListOptions{LabelSelector: "k=v"}, []string{"a/x"}},
		"a field":             {store.ListOptions{FieldSelector: "metadata.name=x"}, []string{"a/x", "b/x"}},
		"all shards":          {store.ListOptions{ShardSelector: shards}, []string{"a/x", "a/y", "b/x"}},
		"a page":              {store.ListOptions{Limit: 1}, []string{"a/x"}},
		"a state of the past": {store.ListOptions{ResourceVersion: "1001", ResourceVersionMatch: store.MatchExact}, []string{"a/x"}},
		"a state of then or now": {store.ListOptions{ResourceVersion: "1001", ResourceVersionMatch: store.MatchNotOlderThan},
			[]string{"a/x", "a/y", "b/x"}},
	} {
		t.Run(name, func(t *testing.T) {
			assert.Equal(t, row.want, paths(mustList(t, leases, row.opts).Items))
		})
	}
}

// pathsOf walks a sequence to its end.
func pathsOf(t *testing.T, all iter.Seq2[*lease.Lease, error]) []string {
	t.Helper()
	var items []*lease.Lease
	for l, err := range all {
		require.NoError(t, err)
		items = append(items, l)
	}
	return paths(items)
}

func TestAllIsTheStateOfTheCall(t *testing.T) {
	leases := lease.In(newStore(t))
	createAll(t, leases, "a/x", "a/y", "b/x")
	all := leases.All(t.Context(), "")
	createAll(t, leases, "a/z")
	mustDelete(t, leases, "a/x")
	for range 2 {
		assert.Equal(t, []string{"a/x", "a/y", "b/x"}, pathsOf(t, all), "a sequence may be walked twice")
	}
	assert.Equal(t, []string{"a/y", "a/z"}, pathsOf(t, leases.All(t.Context(), "a")))
	for l, err := range leases.All(t.Context(), "a") {
		require.NoError(t, err)
		assert.Equal(t, "y", l.Name)
		break
	}
}

func TestErrorOfAllIsItsLastElement(t *testing.T) {
	st, err := store.Open(t.Context(), store.Options{}, testengine.New(1000), lease.Kind())
	require.NoError(t, err)
	st.Close()
	var errs []error
	for l, err := range lease.In(st).All(t.Context(), "") {
		assert.Nil(t, l)
		errs = append(errs, err)
	}
	assert.Equal(t, []error{store.ErrClosed}, errs)
}

func TestStoreHasAResourceVersionAndAClock(t *testing.T) {
	m := clock.NewManual(epoch)
	st := newStoreWith(t, store.Options{FirstResourceVersion: 5, Clock: m})
	leases := lease.In(st)
	assert.Equal(t, "5", st.ResourceVersion())
	assert.Equal(t, "6", mustCreate(t, leases, newLease("ns/a")).ResourceVersion)
	assert.Equal(t, "6", st.ResourceVersion())
	m.FastForward(time.Hour)
	assert.True(t, epoch.Add(time.Hour).Equal(st.Clock().Now()))
	assert.Same(t, st.Clock(), leases.Clock())
}

func TestShardSelectorSelects(t *testing.T) {
	leases := lease.In(newStore(t))
	createAll(t, leases, "kube-system/a", "default/a")
	// The hash of "default" is 0xebada5168620c5fe, and the hash of "kube-system" is 0xdf65c7bc1d82b35e.
	const shard = "shardRange(object.metadata.namespace, '0xe000000000000000', '0x10000000000000000')"
	assert.Equal(t, []string{"default/a"}, paths(mustList(t, leases, store.ListOptions{ShardSelector: shard}).Items))
	for ev, err := range leases.Watch(t.Context(), store.WatchOptions{ShardSelector: shard, ResourceVersion: "1000"}) {
		require.NoError(t, err)
		assert.Equal(t, "ADDED default/a@1002", textOf(ev), "the first event")
		break
	}
}
