package registry_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kubecoord/kubecoord/internal/kinds"
	"github.com/kubecoord/kubecoord/internal/registry"
)

func TestRemainingItemCount(t *testing.T) {
	for name, row := range map[string]struct {
		opts      registry.ListOptions
		items     int
		more      bool
		remaining *int64
	}{
		"no limit":                         {registry.ListOptions{}, 5, false, nil},
		"a negative limit is none":         {registry.ListOptions{Limit: -1}, 5, false, nil},
		"a limit":                          {registry.ListOptions{Limit: 2}, 2, true, new(int64(3))},
		"a limit in a namespace":           {registry.ListOptions{Limit: 2, Namespace: "a"}, 2, true, new(int64(2))},
		"the limit is the count":           {registry.ListOptions{Limit: 5}, 5, false, nil},
		"a limit above the count":          {registry.ListOptions{Limit: 6}, 5, false, nil},
		"a label selector":                 {registry.ListOptions{Limit: 2, LabelSelector: "k!=none"}, 2, true, nil},
		"a field selector":                 {registry.ListOptions{Limit: 2, FieldSelector: "metadata.name!=none"}, 2, true, nil},
		"a shard selector":                 {registry.ListOptions{Limit: 2, ShardSelector: "shardRange(object.metadata.uid, '0x0000000000000000', '0x10000000000000000')"}, 2, true, nil},
		"a selector with nothing after it": {registry.ListOptions{Limit: 1, LabelSelector: "k=v"}, 1, true, nil},
		"a selector of the very last":      {registry.ListOptions{Limit: 1, FieldSelector: "metadata.namespace=b"}, 1, false, nil},
		"one name":                         {registry.ListOptions{Limit: 1, Namespace: "a", FieldSelector: "metadata.name=l00001"}, 1, false, nil},
	} {
		t.Run(name, func(t *testing.T) {
			leases := leasesIn(newStore(t))
			mustCreate(t, leases, newLease("a/l00000", label("k", "v")))
			createAll(t, leases, manyPaths("a", 4)[1:]...)
			createAll(t, leases, "b/z")
			items, m := mustList(t, leases, row.opts)
			assert.Len(t, items, row.items)
			assert.Equal(t, row.more, m.Continue != "")
			assert.Equal(t, row.remaining, m.RemainingItemCount)
		})
	}
}

// A page of another namespace ends at the same name, but counts other objects.
func TestPageAfterOneOfAnotherNamespaceCountsWhatIsBehindIt(t *testing.T) {
	leases := leasesIn(newStore(t))
	createAll(t, leases, "a/x", "a/y", "a/z", "b/x", "b/y")
	_, m := mustList(t, leases, registry.ListOptions{Namespace: "a", Limit: 1})
	mustList(t, leases, registry.ListOptions{Namespace: "b", Limit: 1})
	_, m = mustList(t, leases, registry.ListOptions{Namespace: "a", Limit: 1, Continue: m.Continue})
	assert.EqualValues(t, 1, *m.RemainingItemCount)
}

func TestBytesOfAListAreJoinedWhenItIsAskedForAgain(t *testing.T) {
	leases := leasesIn(newStore(t))
	createAll(t, leases, "ns/a", "ns/b")
	for i, want := range []string{"", "", "joined"} {
		l, err := leases.r.List(t.Context(), registry.ListOptions{})
		require.NoError(t, err)
		data, limit := l.Joined(0, kinds.JSON)
		assert.Equal(t, want, string(data), i)
		if assert.Equal(t, i == 1, limit > 0, i); limit > 0 {
			l.Remember(0, kinds.JSON, []byte("joined"))
		}
	}
	createAll(t, leases, "ns/c")
	l, err := leases.r.List(t.Context(), registry.ListOptions{})
	require.NoError(t, err)
	data, _ := l.Joined(0, kinds.JSON)
	assert.Nil(t, data, "another state")
}

func TestListEndsWithItsContext(t *testing.T) {
	leases := leasesIn(newStore(t))
	createAll(t, leases, manyPaths("ns", 1100)...)
	gone, cancel := context.WithCancel(t.Context())
	cancel()
	for _, opts := range []registry.ListOptions{{}, {Namespace: "ns"}, {LabelSelector: "a=b"}, {Limit: 1099}} {
		_, _, err := leases.List(gone, opts)
		assert.ErrorIs(t, err, context.Canceled)
	}
}

// Lists of one state share the page, but not the count.
func TestRemainingItemCountIsTheCallers(t *testing.T) {
	leases := leasesIn(newStore(t))
	createAll(t, leases, "a/x", "a/y", "a/z")
	for range 3 {
		_, m := mustList(t, leases, registry.ListOptions{Limit: 1})
		assert.EqualValues(t, 2, *m.RemainingItemCount)
		*m.RemainingItemCount = 7
	}
}
