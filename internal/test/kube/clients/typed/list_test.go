package typed

import (
	"context"
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	coordinationv1 "k8s.io/api/coordination/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/tools/pager"

	"github.com/kubecoord/kubecoord/internal/test/kube/clients/internal/testapi"
	"github.com/kubecoord/kubecoord/store"
)

// A pager reads the whole list if the version of its first page has expired.
func TestPagerFallsBackToAFullListWhenItsPagesExpire(t *testing.T) {
	api := testapi.New(t, store.Options{History: 10})
	k := leases(api.Client(t))
	var changed *coordinationv1.Lease
	for i := range 40 {
		changed = create(t, api.Client(t), fmt.Sprintf("o%02d", i))
	}
	p := pager.New(func(ctx context.Context, opts metav1.ListOptions) (runtime.Object, error) {
		for range 20 {
			*changed.Spec.LeaseTransitions++
			var err error
			changed, err = k.Update(ctx, changed, metav1.UpdateOptions{})
			require.NoError(t, err)
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
