package controllerruntime

import (
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/labels"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/manager"

	"github.com/kubecoord/kubecoord/internal/test/clients/internal/testapi"
	"github.com/kubecoord/kubecoord/store"
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

func TestCacheSelectsByIndexedFields(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		api := testapi.New(t, store.Options{})
		c := newClient(t, api.Bypass())
		mgr := newManager(t, api, manager.Options{})
		const holder = "spec.holderIdentity"
		require.NoError(t, mgr.GetFieldIndexer().IndexField(t.Context(), &coordinationv1.Lease{}, holder, func(o client.Object) []string {
			return []string{*o.(*coordinationv1.Lease).Spec.HolderIdentity}
		}))
		start(t, mgr)
		for name, by := range map[string]string{"a": "x", "b": "y", "c": "x"} {
			require.NoError(t, c.Create(t.Context(), heldBy(name, by)))
		}
		elsewhere := heldBy("a", "x")
		elsewhere.Namespace = "other"
		require.NoError(t, c.Create(t.Context(), elsewhere))
		held := func(by string, opts ...client.ListOption) []string {
			synctest.Wait()
			list := &coordinationv1.LeaseList{}
			require.NoError(t, mgr.GetClient().List(t.Context(), list, append(opts, client.MatchingFields{holder: by})...))
			return namesIn(t, list)
		}
		assert.ElementsMatch(t, []string{"test/a", "test/c", "other/a"}, held("x"))
		assert.ElementsMatch(t, []string{"test/a", "test/c"}, held("x", client.InNamespace("test")))
		renew(t, c, "a", "y")
		assert.ElementsMatch(t, []string{"test/c", "other/a"}, held("x"))
		assert.ElementsMatch(t, []string{"test/a", "test/b"}, held("y"))
		require.NoError(t, c.DeleteAllOf(t.Context(), &coordinationv1.Lease{}, client.InNamespace("test")))
		assert.Empty(t, held("y"))
	})
}

func TestCacheHoldsOnlySelectedObjects(t *testing.T) {
	blue := labels.SelectorFromSet(labels.Set{"colour": "blue"})
	named := fields.OneTermEqualSelector("metadata.name", "a")
	for name, row := range map[string]struct {
		opts      cache.Options
		leases    []string
		endpoints []string
	}{
		"not at all": {cache.Options{},
			[]string{"one/a", "one/b", "two/a", "two/b"}, []string{"one/a", "one/b", "two/a", "two/b"}},
		"to a namespace": {cache.Options{DefaultNamespaces: map[string]cache.Config{"one": {}}},
			[]string{"one/a", "one/b"}, []string{"one/a", "one/b"}},
		"to two namespaces": {cache.Options{DefaultNamespaces: map[string]cache.Config{"one": {}, "two": {FieldSelector: named}}},
			[]string{"one/a", "one/b", "two/a"}, []string{"one/a", "one/b", "two/a"}},
		"to a label": {cache.Options{DefaultLabelSelector: blue},
			[]string{"one/a", "two/b"}, []string{"one/a", "two/b"}},
		"to a label of one kind": {cache.Options{ByObject: map[client.Object]cache.ByObject{&coordinationv1.Lease{}: {Label: blue}}},
			[]string{"one/a", "two/b"}, []string{"one/a", "one/b", "two/a", "two/b"}},
		"to fields of one kind": {cache.Options{ByObject: map[client.Object]cache.ByObject{&corev1.Endpoints{}: {Field: named}}},
			[]string{"one/a", "one/b", "two/a", "two/b"}, []string{"one/a", "two/a"}},
		"to a namespace of one kind, and a label of the rest": {
			cache.Options{DefaultLabelSelector: blue, ByObject: map[client.Object]cache.ByObject{
				&coordinationv1.Lease{}: {Namespaces: map[string]cache.Config{"two": {LabelSelector: labels.Everything()}}}}},
			[]string{"two/a", "two/b"}, []string{"one/a", "two/b"}},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				api := testapi.New(t, store.Options{})
				c := newClient(t, api.Bypass())
				first := newManager(t, api, manager.Options{Cache: row.opts})
				start(t, first)
				assertHolds := func(c client.Reader, leases, endpoints []string) {
					t.Helper()
					got := &coordinationv1.LeaseList{}
					require.NoError(t, c.List(t.Context(), got))
					assert.ElementsMatch(t, leases, namesIn(t, got))
					more := &corev1.EndpointsList{}
					require.NoError(t, c.List(t.Context(), more))
					assert.ElementsMatch(t, endpoints, namesIn(t, more))
				}
				assertHolds(first.GetClient(), nil, nil)
				for _, ns := range []string{"one", "two"} {
					for _, name := range []string{"a", "b"} {
						for _, o := range []client.Object{testapi.Lease(name), testapi.Endpoints(name)} {
							o.SetNamespace(ns)
							if (ns == "one") == (name == "a") {
								o.SetLabels(map[string]string{"colour": "blue"})
							}
							require.NoError(t, c.Create(t.Context(), o))
						}
					}
				}
				synctest.Wait()
				assertHolds(first.GetClient(), row.leases, row.endpoints) // by its watches

				second := newManager(t, api, manager.Options{Cache: row.opts})
				start(t, second)
				assertHolds(second.GetClient(), row.leases, row.endpoints) // from the start
			})
		})
	}
}
