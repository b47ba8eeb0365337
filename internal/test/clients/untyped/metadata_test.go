package untyped

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/metadata"

	"github.com/kubecoord/kubecoord/internal/test/clients/internal/testapi"
)

// metadataOf returns the client for one resource, and an object to read.
func metadataOf(t *testing.T, api *testapi.API, r testapi.Resource) (metadata.ResourceInterface, metav1.ObjectMeta) {
	t.Helper()
	o := r.New(t, "a")
	o.SetLabels(map[string]string{"l": "1"})
	o, err := in(t, api, r).Create(t.Context(), o, metav1.CreateOptions{})
	require.NoError(t, err)
	c := api.Metadata(t).Resource(r.GroupVersionResource).Namespace(testapi.Namespace)
	got, err := c.Get(t.Context(), "a", metav1.GetOptions{})
	require.NoError(t, err)
	assert.Equal(t, o.GetUID(), got.UID)
	assert.Equal(t, o.GetResourceVersion(), got.ResourceVersion)
	assert.Equal(t, map[string]string{"l": "1"}, got.Labels)
	return c, got.ObjectMeta
}

func TestMetadataClientListsAndPages(t *testing.T) {
	eachResource(t, func(t *testing.T, api *testapi.API, r testapi.Resource) {
		c, first := metadataOf(t, api, r)
		_, err := in(t, api, r).Create(t.Context(), r.New(t, "b"), metav1.CreateOptions{})
		require.NoError(t, err)
		l, err := c.List(t.Context(), metav1.ListOptions{Limit: 1})
		require.NoError(t, err)
		require.Len(t, l.Items, 1)
		assert.Equal(t, first, l.Items[0].ObjectMeta)
		assert.NotEmpty(t, l.Continue)
		rest, err := c.List(t.Context(), metav1.ListOptions{Continue: l.Continue})
		require.NoError(t, err)
		require.Len(t, rest.Items, 1)
		assert.Equal(t, "b", rest.Items[0].Name)
		assert.Equal(t, l.ResourceVersion, rest.ResourceVersion)
	})
}
