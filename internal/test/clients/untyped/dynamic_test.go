package untyped

import (
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/dynamic"

	"github.com/kubecoord/kubecoord/internal/test/clients/internal/testapi"
	"github.com/kubecoord/kubecoord/store"
)

// eachResource runs a test for each resource in each version, in memory inside
// a bubble and over a socket.
func eachResource(t *testing.T, test func(t *testing.T, api *testapi.API, r testapi.Resource)) {
	for _, r := range testapi.Resources {
		name := r.Kind + " " + r.Version
		t.Run(name+" in memory", func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) { test(t, testapi.New(t, store.Options{}), r) })
		})
		t.Run(name+" over a socket", func(t *testing.T) { test(t, testapi.Listen(t, store.Options{}), r) })
	}
}

func in(t *testing.T, api *testapi.API, r testapi.Resource) dynamic.ResourceInterface {
	return api.Dynamic(t).Resource(r.GroupVersionResource).Namespace(testapi.Namespace)
}

func TestDynamicClientReadsWhatItWrites(t *testing.T) {
	eachResource(t, func(t *testing.T, api *testapi.API, r testapi.Resource) {
		c := in(t, api, r)
		sent := r.New(t, "a")
		created, err := c.Create(t.Context(), sent, metav1.CreateOptions{FieldValidation: metav1.FieldValidationStrict})
		require.NoError(t, err)
		assert.Equal(t, r.Kind, created.GetKind())
		assert.Equal(t, r.GroupVersion().String(), created.GetAPIVersion())
		assert.Equal(t, sent.Object["spec"], created.Object["spec"])
		assert.Equal(t, sent.Object["subsets"], created.Object["subsets"])

		created.SetAnnotations(map[string]string{"a": "1"})
		updated, err := c.Update(t.Context(), created, metav1.UpdateOptions{})
		require.NoError(t, err)
		_, err = c.Update(t.Context(), created, metav1.UpdateOptions{})
		assert.True(t, apierrors.IsConflict(err), "%v", err)
		got, err := c.Get(t.Context(), "a", metav1.GetOptions{})
		require.NoError(t, err)
		assert.Equal(t, updated, got)

		patched, err := c.Patch(t.Context(), "a", types.MergePatchType, []byte(`{"metadata":{"annotations":null}}`), metav1.PatchOptions{})
		require.NoError(t, err)
		assert.Empty(t, patched.GetAnnotations())
		list, err := c.List(t.Context(), metav1.ListOptions{})
		require.NoError(t, err)
		assert.Equal(t, r.Kind+"List", list.GetKind())
		require.Len(t, list.Items, 1)
		item := list.Items[0]
		item.SetGroupVersionKind(r.GroupVersion().WithKind(r.Kind)) // items have no apiVersion and kind
		assert.Equal(t, patched, &item)

		require.NoError(t, c.Delete(t.Context(), "a", metav1.DeleteOptions{}))
		_, err = c.Get(t.Context(), "a", metav1.GetOptions{})
		assert.True(t, apierrors.IsNotFound(err), "%v", err)
	})
}
