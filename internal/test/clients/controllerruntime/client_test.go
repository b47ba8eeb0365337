package controllerruntime

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kubecoord/kubecoord/internal/test/clients/internal/testapi"
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

func TestStaleUpdateIsAConflict(t *testing.T) {
	eachForm(t, func(t *testing.T, f *fixture) {
		o := f.given(t, "a")
		stale := copyOf(o)
		o.SetLabels(map[string]string{"by": "one"})
		require.NoError(t, f.Update(t.Context(), o))
		stale.SetLabels(map[string]string{"by": "the other"})
		err := f.Update(t.Context(), stale)
		require.True(t, apierrors.IsConflict(err), "%v", err)
		assert.ErrorContains(t, err, "the object has been modified; please apply your changes to the latest version and try again")
		assert.Equal(t, o, f.get(t, "a"))
	}, typed, untyped)
}

func TestCreateOfATakenNameIsAlreadyExists(t *testing.T) {
	eachForm(t, func(t *testing.T, f *fixture) {
		require.NoError(t, f.Create(t.Context(), f.fresh(t, "a")))
		err := f.Create(t.Context(), f.fresh(t, "a"))
		assert.True(t, apierrors.IsAlreadyExists(err), "%v", err)
		assert.NoError(t, client.IgnoreAlreadyExists(err))

		elsewhere := f.fresh(t, "a")
		elsewhere.SetNamespace("elsewhere")
		require.NoError(t, f.Create(t.Context(), elsewhere))

		for range 2 {
			named := f.fresh(t, "")
			named.SetGenerateName("a-")
			require.NoError(t, f.Create(t.Context(), named))
			assert.Regexp(t, "^a-[a-z0-9]{5}$", named.GetName())
		}
	}, typed, untyped)
}

func TestMissingObjectsAreNotFound(t *testing.T) {
	eachForm(t, func(t *testing.T, f *fixture) {
		o := f.given(t, "a")
		require.NoError(t, f.Delete(t.Context(), o))
		for name, err := range map[string]error{
			"get":               f.Get(t.Context(), key("a"), f.empty(t)),
			"delete":            f.Delete(t.Context(), o),
			"patch":             f.Patch(t.Context(), f.fresh(t, "a"), client.RawPatch("application/merge-patch+json", []byte(`{}`))),
			"another namespace": f.Get(t.Context(), client.ObjectKey{Namespace: "other", Name: "a"}, f.empty(t)),
		} {
			assert.True(t, apierrors.IsNotFound(err), "%s: %v", name, err)
			assert.NoError(t, client.IgnoreNotFound(err))
		}
		assert.Empty(t, f.names(t))
	})
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

func TestSubresourcesAreNotFound(t *testing.T) {
	eachForm(t, func(t *testing.T, f *fixture) {
		o := f.given(t, "a")
		err := f.Status().Update(t.Context(), copyOf(o))
		assert.True(t, apierrors.IsNotFound(err), "%v", err)
		err = f.SubResource("scale").Get(t.Context(), o, f.empty(t))
		assert.True(t, apierrors.IsNotFound(err), "%v", err)
		assert.Equal(t, o, f.get(t, "a"))
	}, typed, untyped)
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

func TestNamespacedClientUsesOnlyItsNamespace(t *testing.T) {
	eachForm(t, func(t *testing.T, f *fixture) {
		f.given(t, "a", inNamespace("other"))
		c := client.NewNamespacedClient(f.WithWatch, testapi.Namespace)
		o := f.fresh(t, "a")
		o.SetNamespace("")
		require.NoError(t, c.Create(t.Context(), o))
		assert.Equal(t, testapi.Namespace, o.GetNamespace())
		list := f.emptyList(t)
		require.NoError(t, c.List(t.Context(), list))
		assert.Equal(t, []string{"test/a"}, namesIn(t, list))
		require.NoError(t, c.DeleteAllOf(t.Context(), f.empty(t)))
		assert.Equal(t, []string{"other/a"}, f.names(t))
	}, typed, untyped)
}
