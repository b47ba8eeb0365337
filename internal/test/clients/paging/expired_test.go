package paging

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubecoord/kubecoord/internal/test/clients/internal/testapi"
	"github.com/kubecoord/kubecoord/store"
)

func TestExpiredPageOffersAnInconsistentContinueToken(t *testing.T) {
	api := testapi.New(t, store.Options{History: 10})
	c := api.Client(t).CoordinationV1().Leases(testapi.Namespace)
	fill(t, c, 100)
	first, err := c.List(t.Context(), metav1.ListOptions{Limit: 50})
	require.NoError(t, err)
	for i := range 20 {
		require.NoError(t, c.Delete(t.Context(), testapi.LeaseNumber(2*(90-i)).Name, metav1.DeleteOptions{}))
	}
	_, err = c.List(t.Context(), metav1.ListOptions{Limit: 50, Continue: first.Continue})
	require.True(t, apierrors.IsResourceExpired(err), "%v", err)
	token := err.(apierrors.APIStatus).Status().ListMeta.Continue
	require.NotEmpty(t, token)
	rest, err := c.List(t.Context(), metav1.ListOptions{Limit: 50, Continue: token})
	require.NoError(t, err)
	assert.Len(t, rest.Items, 30)
	assert.Greater(t, version(t, rest.ResourceVersion), version(t, first.ResourceVersion))
	assert.Equal(t, testapi.LeaseNumber(100).Name, rest.Items[0].Name)
}

func TestPagerFallsBackToAFullListWhenItsPagesExpire(t *testing.T) {
	api := testapi.New(t, store.Options{History: 10})
	c := api.Client(t).CoordinationV1().Leases(testapi.Namespace)
	fill(t, c, objects)
	paged := pageBeside(t, c)
	now, err := c.List(t.Context(), metav1.ListOptions{})
	require.NoError(t, err)
	assert.Equal(t, now.Items, paged.Items)
	assert.Equal(t, now.ResourceVersion, paged.ResourceVersion)
}

func TestForgedContinueTokensAreRefused(t *testing.T) {
	api := testapi.New(t, store.Options{})
	c := api.Client(t).CoordinationV1().Leases(testapi.Namespace)
	fill(t, c, 10)
	first, err := c.List(t.Context(), metav1.ListOptions{Limit: 5})
	require.NoError(t, err)
	for _, token := range []string{"x", first.Continue[1:], first.Continue + "!"} {
		_, err = c.List(t.Context(), metav1.ListOptions{Limit: 5, Continue: token})
		assert.True(t, apierrors.IsBadRequest(err), "%v", err)
	}
}
