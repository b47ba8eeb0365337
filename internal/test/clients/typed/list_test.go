package typed

import (
	"context"
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/tools/pager"

	"github.com/kubecoord/kubecoord/internal/test/clients/internal/testapi"
	"github.com/kubecoord/kubecoord/store"
)

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

// A pager reads the whole list if the version of its first page has expired.
func TestPagerFallsBackToAFullListWhenItsPagesExpire(t *testing.T) {
	api := testapi.New(t, store.Options{History: 10})
	k := leases(api.Client(t))
	for i := range 40 {
		k.create(t, fmt.Sprintf("o%02d", i))
	}
	changed := k.get(t, "o00")
	p := pager.New(func(ctx context.Context, opts metav1.ListOptions) (runtime.Object, error) {
		for range 20 {
			changed = k.update(t, changed)
		}
		return k.List(ctx, opts)
	})
	p.PageSize = 10
	paged, _, err := p.List(t.Context(), metav1.ListOptions{})
	require.NoError(t, err)
	now, err := k.List(t.Context(), metav1.ListOptions{})
	require.NoError(t, err)
	assert.Equal(t, now, paged)
}
