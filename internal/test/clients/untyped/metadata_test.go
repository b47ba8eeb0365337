package untyped

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/metadata"

	"github.com/kubecoord/kubecoord/internal/test/clients/internal/testapi"
)

const partial = "PartialObjectMetadata"

// metadataOf returns the client for one resource, and an object to read. It skips
// the test if the server has no PartialObjectMetadata.
func metadataOf(t *testing.T, api *testapi.API, r testapi.Resource) (metadata.ResourceInterface, metav1.ObjectMeta) {
	t.Helper()
	o := r.New(t, "a")
	o.SetLabels(map[string]string{"l": "1"})
	o, err := in(t, api, r).Create(t.Context(), o, metav1.CreateOptions{})
	require.NoError(t, err)
	c := api.Metadata(t).Resource(r.GroupVersionResource).Namespace(testapi.Namespace)
	got, err := c.Get(t.Context(), "a", metav1.GetOptions{})
	testapi.SkipIfNotAcceptable(t, err, partial)
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

func TestMetadataClientPatches(t *testing.T) {
	eachResource(t, func(t *testing.T, api *testapi.API, r testapi.Resource) {
		c, _ := metadataOf(t, api, r)
		got, err := c.Patch(t.Context(), "a", types.MergePatchType, []byte(`{"metadata":{"labels":{"l":"2"}}}`), metav1.PatchOptions{})
		require.NoError(t, err)
		assert.Equal(t, map[string]string{"l": "2"}, got.Labels)
	})
}

func TestMetadataClientWatches(t *testing.T) {
	eachResource(t, func(t *testing.T, api *testapi.API, r testapi.Resource) {
		c, first := metadataOf(t, api, r)
		w, err := c.Watch(t.Context(), metav1.ListOptions{
			SendInitialEvents: new(true), AllowWatchBookmarks: true, ResourceVersionMatch: metav1.ResourceVersionMatchNotOlderThan,
		})
		require.NoError(t, err)
		defer w.Stop()
		ev := testapi.Next(t, w)
		assert.Equal(t, watch.Added, ev.Type)
		assert.Equal(t, first, ev.Object.(*metav1.PartialObjectMetadata).ObjectMeta)
		ev = testapi.Next(t, w)
		assert.Equal(t, watch.Bookmark, ev.Type)
		assert.Equal(t, "true", ev.Object.(*metav1.PartialObjectMetadata).Annotations[metav1.InitialEventsAnnotationKey])
		require.NoError(t, c.Delete(t.Context(), "a", metav1.DeleteOptions{}))
		assert.Equal(t, watch.Deleted, testapi.Next(t, w).Type)
	})
}

// The answer to a delete is a Status, so this test needs no PartialObjectMetadata.
func TestMetadataClientDeletes(t *testing.T) {
	eachResource(t, func(t *testing.T, api *testapi.API, r testapi.Resource) {
		c := api.Metadata(t).Resource(r.GroupVersionResource).Namespace(testapi.Namespace)
		for _, name := range []string{"a", "b", "c"} {
			_, err := in(t, api, r).Create(t.Context(), r.New(t, name), metav1.CreateOptions{})
			require.NoError(t, err)
		}
		err := c.Delete(t.Context(), "a", metav1.DeleteOptions{Preconditions: metav1.NewUIDPreconditions("other")})
		assert.True(t, apierrors.IsConflict(err), "%v", err)
		require.NoError(t, c.Delete(t.Context(), "a", metav1.DeleteOptions{}))
		require.NoError(t, c.DeleteCollection(t.Context(), metav1.DeleteOptions{}, metav1.ListOptions{FieldSelector: "metadata.name!=c"}))
		l, err := in(t, api, r).List(t.Context(), metav1.ListOptions{})
		require.NoError(t, err)
		require.Len(t, l.Items, 1)
		assert.Equal(t, "c", l.Items[0].GetName())
	})
}
