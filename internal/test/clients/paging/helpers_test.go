package paging

import (
	"context"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"
	coordinationv1 "k8s.io/api/coordination/v1"
	"k8s.io/apimachinery/pkg/apis/meta/internalversion"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	clientv1 "k8s.io/client-go/kubernetes/typed/coordination/v1"
	"k8s.io/client-go/tools/pager"

	"github.com/kubecoord/kubecoord/internal/test/clients/internal/testapi"
)

func version(t *testing.T, s string) uint64 {
	t.Helper()
	v, err := strconv.ParseUint(s, 10, 64)
	require.NoError(t, err)
	return v
}

func byName(items []coordinationv1.Lease) map[string]coordinationv1.Lease {
	out := map[string]coordinationv1.Lease{}
	for _, l := range items {
		out[l.Name] = l
	}
	return out
}

// asLeases returns the list of a pager as a LeaseList. A pager keeps the version
// of the first page.
func asLeases(list runtime.Object) *coordinationv1.LeaseList {
	if l, ok := list.(*coordinationv1.LeaseList); ok {
		return l // a full list
	}
	l := list.(*internalversion.List)
	out := &coordinationv1.LeaseList{ListMeta: l.ListMeta}
	for _, o := range l.Items {
		out.Items = append(out.Items, *o.(*coordinationv1.Lease))
	}
	return out
}

// pageBeside reads all pages and makes a few writes between them.
func pageBeside(t *testing.T, c clientv1.LeaseInterface) *coordinationv1.LeaseList {
	t.Helper()
	l, err := c.Get(t.Context(), testapi.LeaseNumber(0).Name, metav1.GetOptions{})
	require.NoError(t, err)
	p := pager.New(func(ctx context.Context, opts metav1.ListOptions) (runtime.Object, error) {
		for range 20 {
			*l.Spec.LeaseTransitions++
			if l, err = c.Update(ctx, l, metav1.UpdateOptions{}); err != nil {
				return nil, err
			}
		}
		return c.List(ctx, opts)
	})
	p.PageSize = pageSize
	list, _, err := p.List(t.Context(), metav1.ListOptions{})
	require.NoError(t, err)
	return asLeases(list)
}
