package registry_test

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kubecoord/kubecoord/internal/kinds"
	"github.com/kubecoord/kubecoord/internal/registry"
	"github.com/kubecoord/kubecoord/lease"
)

func TestListIsOrderedByTheBytesOfNamespaceAndName(t *testing.T) {
	leases := leasesIn(newStore(t))
	var want []string
	for _, namespace := range []string{"a", "a-a", "a0", "aa", "b", "a-b-c"} {
		for _, name := range []string{"a", "a-a", "a.a", "a0", "0", "b"} {
			want = append(want, namespace+"/"+name)
		}
	}
	createAll(t, leases, want...)
	slices.Sort(want)
	items, _ := mustList(t, leases, registry.ListOptions{})
	assert.Equal(t, want, paths(items))
	for i, path := range want {
		items, _ = mustList(t, leases, registry.ListOptions{Continue: tokenOf("-1", "/"+path)})
		assert.Equal(t, want[i:], paths(items), "from %s", path)
		items, _ = mustList(t, leases, registry.ListOptions{Continue: tokenOf("-1", "/"+path+"\x00")})
		assert.Equal(t, want[i+1:], paths(items), "after %s", path)
	}
}

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

// pages walks all pages of a list and demands that they tell one version.
func pages(t testing.TB, leases collection, opts registry.ListOptions, between func(page int)) []*lease.Lease {
	t.Helper()
	var all []*lease.Lease
	version := ""
	for page := 1; ; page++ {
		items, m := mustList(t, leases, opts)
		if version == "" {
			version = m.ResourceVersion
		}
		require.Equal(t, version, m.ResourceVersion, "page %d", page)
		all = append(all, items...)
		if m.Continue == "" {
			assert.Nil(t, m.RemainingItemCount)
			return all
		}
		require.Len(t, items, int(opts.Limit))
		opts.Continue, opts.ResourceVersion = m.Continue, ""
		if between != nil {
			between(page)
		}
	}
}

func TestPagesShowOneVersionDespiteWritesBetweenThem(t *testing.T) {
	for _, limit := range []int64{1, 2, 3, 7, 10, 11} {
		leases := leasesIn(newStore(t))
		createAll(t, leases, manyPaths("a", 6)...)
		createAll(t, leases, manyPaths("b", 4)...)
		want, _ := mustList(t, leases, registry.ListOptions{})
		got := pages(t, leases, registry.ListOptions{Limit: limit}, func(page int) {
			n := strconv.Itoa(page)
			createAll(t, leases, "a/new"+n, "c/new"+n)
			mustModify(t, leases, "b/l00003", holder(n))
			if page == 1 {
				mustDelete(t, leases, "b/l00002")
				mustDelete(t, leases, "a/l00000")
			}
		})
		assert.Equal(t, want, got, "limit %d", limit)
	}
}

// Pages of the state of now and of an old one, of a namespace and of all, count what is behind them.
func TestPageAfterTheWholeListCountsWhatIsBehindIt(t *testing.T) {
	leases := leasesIn(newStore(t))
	createAll(t, leases, "a/x", "a/y", "a/z", "b/x")
	mustList(t, leases, registry.ListOptions{Namespace: "a"})
	// A page is remembered, and ends nowhere; this token starts at the first key.
	items, m := mustList(t, leases, registry.ListOptions{Namespace: "a", Limit: 2, Continue: tokenOf("1004", "/")})
	assert.Equal(t, []string{"a/x", "a/y"}, paths(items))
	assert.Equal(t, int64(1), *m.RemainingItemCount)
}

// A page of a selector ends at the same key, but counts nothing.
func TestPageAfterOneOfASelectorCountsWhatIsBehindIt(t *testing.T) {
	for _, opts := range []registry.ListOptions{
		{Limit: 1, LabelSelector: "!k"}, {Limit: 1, FieldSelector: "metadata.name!=none"},
		{Limit: 1, ShardSelector: "shardRange(object.metadata.uid, '0x0000000000000000', '0x10000000000000000')"},
	} {
		leases := leasesIn(newStore(t))
		createAll(t, leases, "a/x", "a/y", "a/z")
		_, m := mustList(t, leases, opts)
		_, m = mustList(t, leases, registry.ListOptions{Limit: 1, Continue: m.Continue})
		assert.EqualValues(t, 1, *m.RemainingItemCount)
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

func TestEachPageCountsWhatIsBehindIt(t *testing.T) {
	st := newStore(t)
	leases := leasesIn(st)
	createAll(t, leases, append(append(manyPaths("a", 23), manyPaths("b", 17)...), manyPaths("c", 1)...)...)
	for _, change := range []bool{false, true} {
		for namespace, total := range map[string]int64{"": 41, "a": 23, "b": 17} {
			for range 2 { // the second walk is remembered
				opts := registry.ListOptions{Namespace: namespace, Limit: 5, ResourceVersion: "1041"}
				for read := int64(5); ; read += 5 {
					items, m := mustList(t, leases, opts)
					if m.Continue == "" {
						assert.Equal(t, total, read-5+int64(len(items)))
						assert.Nil(t, m.RemainingItemCount)
						break
					}
					assert.Equal(t, total-read, *m.RemainingItemCount)
					opts = registry.ListOptions{Namespace: namespace, Limit: 5, Continue: m.Continue}
					if change && read == 10 {
						createAll(t, leases, fmt.Sprintf("a/new-%s%d", namespace, st.ResourceVersion()))
					}
				}
			}
		}
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
