package controllerruntime

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/manager"
)

// cached is options for a manager whose client reads everything from the
// cache.
func cached() manager.Options {
	return manager.Options{Client: client.Options{Cache: &client.CacheOptions{Unstructured: true}}}
}

func TestCacheFollowsTheServer(t *testing.T) {
	eachForm(t, func(t *testing.T, f *fixture) {
		a := f.given(t, "a")
		link := f.api.Bypass()
		mgr := newManager(t, link, cached())
		start(t, mgr)
		f.assertFresh(t, mgr.GetClient())
		link.Link.Requests()
		before := copyOf(a)
		a.SetLabels(map[string]string{"a": "1"})
		require.NoError(t, f.Patch(t.Context(), a, client.MergeFrom(before)))
		f.given(t, "b", inNamespace("other"))
		f.given(t, "c")
		require.NoError(t, f.Delete(t.Context(), f.get(t, "c")))
		f.assertFresh(t, mgr.GetClient())

		got := f.empty(t)
		require.NoError(t, mgr.GetClient().Get(t.Context(), key("a"), got))
		assert.Equal(t, a.GetLabels(), got.GetLabels())
		assert.NoError(t, client.IgnoreNotFound(mgr.GetClient().Get(t.Context(), key("c"), got)))
		assert.Empty(t, link.Link.Requests(), "reads come from the cache")
	})
}

func TestCachedClientReadsItsOwnWrites(t *testing.T) {
	eachForm(t, func(t *testing.T, f *fixture) {
		opts := cached()
		opts.Client.Cache.EnableReadYourWritesConsistency = new(true)
		mgr := newManager(t, f.api, opts)
		start(t, mgr)
		c := mgr.GetClient()
		o := f.fresh(t, "a")
		if f.form == metadataOnly {
			f.given(t, "a") // written by another client
			require.NoError(t, c.Get(t.Context(), key("a"), o))
		} else {
			require.NoError(t, c.Create(t.Context(), o))
		}
		read := func() client.Object {
			out := f.empty(t)
			require.NoError(t, c.Get(t.Context(), key("a"), out))
			return out
		}
		for _, value := range []string{"1", "2", "3", "4", "5"} {
			before := copyOf(o)
			o.SetLabels(map[string]string{"a": value})
			require.NoError(t, c.Patch(t.Context(), o, client.MergeFrom(before)))
			assert.Equal(t, o.GetResourceVersion(), read().GetResourceVersion())
		}
		require.NoError(t, c.Delete(t.Context(), o))
		list := f.emptyList(t)
		require.NoError(t, c.List(t.Context(), list))
		assert.Empty(t, namesIn(t, list))
	}, typed, metadataOnly) // controller-runtime 0.25 takes unstructured writes for typed ones and does not wait
}
