package controllerruntime

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/runtime"
)

func TestClientReadsWhatItWrites(t *testing.T) {
	eachForm(t, func(t *testing.T, f *fixture) {
		o := f.fresh(t, "a")
		require.NoError(t, f.Create(t.Context(), o))
		assert.NotEmpty(t, o.GetUID())
		assert.Equal(t, o, f.get(t, "a"))

		before := copyOf(o)
		o.SetAnnotations(map[string]string{"a": "1"})
		require.NoError(t, f.Update(t.Context(), o))
		assert.NotEqual(t, before.GetResourceVersion(), o.GetResourceVersion())
		assert.Equal(t, before.GetUID(), o.GetUID())
		assert.Equal(t, o, f.get(t, "a"))

		version := o.GetResourceVersion()
		require.NoError(t, f.Update(t.Context(), o))
		assert.Equal(t, version, o.GetResourceVersion(), "nothing was changed")
	}, typed, untyped)
}

// The client must request PartialObjectMetadata from the server, not read the
// whole object and drop the rest.
func TestMetadataEqualsTheMetadataOfTheWholeObject(t *testing.T) {
	eachForm(t, func(t *testing.T, f *fixture) {
		whole := f.New(t, "a")
		whole.SetLabels(map[string]string{"a": "1"})
		whole.SetFinalizers([]string{"x.io/held"})
		require.NoError(t, f.Create(t.Context(), whole))
		f.api.Link.Requests()
		part, err := runtime.DefaultUnstructuredConverter.ToUnstructured(f.get(t, "a"))
		require.NoError(t, err)
		assert.Equal(t, map[string]any{
			"apiVersion": whole.GetAPIVersion(), "kind": whole.GetKind(), "metadata": whole.Object["metadata"],
		}, part)
		requests := f.api.Link.Requests()
		require.Len(t, requests, 1)
		assert.Contains(t, requests[0].Accept, "as=PartialObjectMetadata")
		assert.Equal(t, "application/vnd.kubernetes.protobuf", requests[0].AnswerType)
	}, metadataOnly)
}

func TestClientFindsResourcesByDiscovery(t *testing.T) {
	eachForm(t, func(t *testing.T, f *fixture) {
		gvk, err := f.GroupVersionKindFor(f.empty(t))
		require.NoError(t, err)
		assert.Equal(t, f.gvk(), gvk)
		namespaced, err := f.IsObjectNamespaced(f.empty(t))
		require.NoError(t, err)
		assert.True(t, namespaced)
		mapping, err := f.RESTMapper().RESTMapping(gvk.GroupKind(), gvk.Version)
		require.NoError(t, err)
		assert.Equal(t, f.GroupVersionResource, mapping.Resource)
	})
}
