package typed

import (
	"context"
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/pager"

	"github.com/kubecoord/kubecoord/internal/test/clients/internal/testapi"
)

func TestListSelects(t *testing.T) {
	eachKind(t, func(t *testing.T, _ *testapi.API, k kind) {
		for name, labels := range map[string]map[string]string{
			"a": nil, "b": {"tier": "front"}, "c": {"tier": "back"}, "d": {"tier": "back", "new": ""},
		} {
			o := k.new(name)
			o.SetLabels(labels)
			_, err := k.Create(t.Context(), o, metav1.CreateOptions{})
			require.NoError(t, err)
		}
		for selector, want := range map[string][]string{
			"":                         {"a", "b", "c", "d"},
			"tier":                     {"b", "c", "d"},
			"!tier":                    {"a"},
			"tier=back":                {"c", "d"},
			"tier!=back":               {"a", "b"},
			"tier in (front,back),new": {"d"},
			"tier notin (front)":       {"a", "c", "d"},
		} {
			assert.Equal(t, want, k.names(t, metav1.ListOptions{LabelSelector: selector}), selector)
		}
		for selector, want := range map[string][]string{
			"metadata.name=b":                          {"b"},
			"metadata.name!=b":                         {"a", "c", "d"},
			"metadata.namespace=" + testapi.Namespace:  {"a", "b", "c", "d"},
			"metadata.namespace=other":                 {},
			"metadata.name=b,metadata.namespace=other": {},
		} {
			assert.Equal(t, want, k.names(t, metav1.ListOptions{FieldSelector: selector}), selector)
		}
		assert.Equal(t, []string{"c"}, k.names(t, metav1.ListOptions{FieldSelector: "metadata.name=c", LabelSelector: "tier=back"}))
		for _, wrong := range []metav1.ListOptions{{FieldSelector: "spec.x=1"}, {LabelSelector: "a=b=c"}} {
			_, err := k.List(t.Context(), wrong)
			assert.True(t, apierrors.IsBadRequest(err), "%v", err)
		}
	})
}

func TestListReadsOneNamespaceOrAll(t *testing.T) {
	testapi.EachWire(t, func(t *testing.T, _ *testapi.API, cs kubernetes.Interface) {
		for _, ns := range []string{"b", "a", "a-b"} {
			o := testapi.Lease("x")
			o.Namespace = ns
			_, err := cs.CoordinationV1().Leases(ns).Create(t.Context(), o, metav1.CreateOptions{})
			require.NoError(t, err)
		}
		namespaces := func(in string) (out []string) {
			l, err := cs.CoordinationV1().Leases(in).List(t.Context(), metav1.ListOptions{})
			require.NoError(t, err)
			for _, item := range l.Items {
				out = append(out, item.Namespace)
			}
			return out
		}
		assert.Equal(t, []string{"a"}, namespaces("a"))
		assert.Equal(t, []string{"a-b", "a", "b"}, namespaces(metav1.NamespaceAll), "in byte order of namespace/name")
		assert.Empty(t, namespaces("c"))
	})
}

func TestPagesAreOneStateAndCountWhatRemains(t *testing.T) {
	eachKind(t, func(t *testing.T, _ *testapi.API, k kind) {
		for i := range 7 {
			k.create(t, fmt.Sprint("o", i))
		}
		var names []string
		opts := metav1.ListOptions{Limit: 3}
		at := ""
		for page := 0; ; page++ {
			l, err := k.List(t.Context(), opts)
			require.NoError(t, err)
			m := l.(metav1.ListMetaAccessor).GetListMeta()
			items, err := meta.ExtractList(l)
			require.NoError(t, err)
			for _, o := range items {
				names = append(names, o.(object).GetName())
			}
			if page == 0 {
				at = m.GetResourceVersion()
				require.NotNil(t, m.GetRemainingItemCount())
				assert.EqualValues(t, 4, *m.GetRemainingItemCount())
				require.NoError(t, k.Delete(t.Context(), "o6", metav1.DeleteOptions{}))
				k.create(t, "o5x")
			}
			assert.Equal(t, at, m.GetResourceVersion())
			if opts.Continue = m.GetContinue(); opts.Continue == "" {
				assert.Equal(t, 2, page)
				break
			}
		}
		assert.Equal(t, []string{"o0", "o1", "o2", "o3", "o4", "o5", "o6"}, names)
	})
}

func TestPagerWalksAllPages(t *testing.T) {
	eachKind(t, func(t *testing.T, api *testapi.API, k kind) {
		for i := range 25 {
			k.create(t, fmt.Sprintf("o%02d", i))
		}
		api.Link.Requests()
		p := pager.New(func(ctx context.Context, opts metav1.ListOptions) (runtime.Object, error) { return k.List(ctx, opts) })
		p.PageSize = 10
		list, paged, err := p.List(t.Context(), metav1.ListOptions{})
		require.NoError(t, err)
		assert.True(t, paged)
		assert.Equal(t, 25, meta.LenList(list))
		assert.Len(t, api.Link.Requests(), 3)
		n := 0
		require.NoError(t, p.EachListItem(t.Context(), metav1.ListOptions{}, func(o runtime.Object) error {
			assert.Equal(t, fmt.Sprintf("o%02d", n), o.(object).GetName())
			n++
			return nil
		}))
		assert.Equal(t, 25, n)
	})
}

func TestListAtAnOlderVersion(t *testing.T) {
	eachKind(t, func(t *testing.T, _ *testapi.API, k kind) {
		k.create(t, "a")
		b := k.create(t, "b")
		k.create(t, "c")
		require.NoError(t, k.Delete(t.Context(), "a", metav1.DeleteOptions{}))
		k.update(t, b)
		exact := metav1.ListOptions{ResourceVersion: b.GetResourceVersion(), ResourceVersionMatch: metav1.ResourceVersionMatchExact}
		l, err := k.List(t.Context(), exact)
		require.NoError(t, err)
		items, err := meta.ExtractList(l)
		require.NoError(t, err)
		require.Len(t, items, 2)
		assert.Equal(t, b.GetResourceVersion(), items[1].(object).GetResourceVersion())
		assert.Equal(t, []string{"b", "c"}, k.names(t, metav1.ListOptions{ResourceVersion: b.GetResourceVersion()}))
		_, err = k.List(t.Context(), metav1.ListOptions{ResourceVersion: "1", ResourceVersionMatch: metav1.ResourceVersionMatchExact})
		assert.True(t, apierrors.IsResourceExpired(err) || apierrors.IsGone(err), "%v", err)
	})
}
