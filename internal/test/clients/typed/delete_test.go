package typed

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kubecoord/kubecoord/internal/test/clients/internal/testapi"
)

func TestDeletedObjectIsGone(t *testing.T) {
	eachKind(t, func(t *testing.T, _ *testapi.API, k kind) {
		k.create(t, "a")
		require.NoError(t, k.Delete(t.Context(), "a", metav1.DeleteOptions{}))
		_, err := k.Get(t.Context(), "a", metav1.GetOptions{})
		require.True(t, apierrors.IsNotFound(err), "%v", err)
		assert.EqualError(t, err, k.resource+` "a" not found`)
		err = k.Delete(t.Context(), "a", metav1.DeleteOptions{})
		assert.True(t, apierrors.IsNotFound(err), "%v", err)
	})
}

func TestDeleteChecksPreconditions(t *testing.T) {
	eachKind(t, func(t *testing.T, _ *testapi.API, k kind) {
		first := k.create(t, "a")
		second := k.update(t, first)
		for _, wrong := range []*metav1.Preconditions{
			{UID: new(types.UID("other"))},
			{ResourceVersion: new(first.GetResourceVersion())},
			{UID: new(second.GetUID()), ResourceVersion: new(first.GetResourceVersion())},
		} {
			err := k.Delete(t.Context(), "a", metav1.DeleteOptions{Preconditions: wrong})
			assert.True(t, apierrors.IsConflict(err), "%v", err)
		}
		require.NoError(t, k.Delete(t.Context(), "a", metav1.DeleteOptions{
			Preconditions: &metav1.Preconditions{UID: new(second.GetUID()), ResourceVersion: new(second.GetResourceVersion())},
		}))
	})
}

func TestFinalizersKeepADeletedObject(t *testing.T) {
	eachKind(t, func(t *testing.T, _ *testapi.API, k kind) {
		o := k.new("a")
		o.SetFinalizers([]string{"x.io/hold"})
		o, err := k.Create(t.Context(), o, metav1.CreateOptions{})
		require.NoError(t, err)
		require.NoError(t, k.Delete(t.Context(), "a", metav1.DeleteOptions{}))

		held := k.get(t, "a")
		require.NotNil(t, held.GetDeletionTimestamp())
		assert.Greater(t, version(t, held), version(t, o))
		_, err = k.Create(t.Context(), k.new("a"), metav1.CreateOptions{})
		assert.True(t, apierrors.IsAlreadyExists(err), "%v", err)

		more := held.DeepCopyObject().(object)
		more.SetFinalizers([]string{"x.io/hold", "x.io/new"})
		_, err = k.Update(t.Context(), more, metav1.UpdateOptions{})
		assert.True(t, apierrors.IsInvalid(err), "%v", err)

		held.SetFinalizers(nil)
		_, err = k.Update(t.Context(), held, metav1.UpdateOptions{})
		require.NoError(t, err)
		_, err = k.Get(t.Context(), "a", metav1.GetOptions{})
		assert.True(t, apierrors.IsNotFound(err), "%v", err)
	})
}

func TestPropagationPolicyAddsItsFinalizer(t *testing.T) {
	eachKind(t, func(t *testing.T, _ *testapi.API, k kind) {
		k.create(t, "a")
		require.NoError(t, k.Delete(t.Context(), "a", metav1.DeleteOptions{PropagationPolicy: new(metav1.DeletePropagationForeground)}))
		assert.Equal(t, []string{metav1.FinalizerDeleteDependents}, k.get(t, "a").GetFinalizers())
		err := k.Delete(t.Context(), "a", metav1.DeleteOptions{PropagationPolicy: new(metav1.DeletionPropagation("Sideways"))})
		assert.True(t, apierrors.IsInvalid(err), "%v", err)
	})
}

func TestDeleteCollectionDeletesTheSelectedObjects(t *testing.T) {
	eachKind(t, func(t *testing.T, _ *testapi.API, k kind) {
		for _, name := range []string{"a", "b", "c", "d"} {
			o := k.new(name)
			o.SetLabels(map[string]string{"half": map[bool]string{true: "first", false: "second"}[name < "c"]})
			_, err := k.Create(t.Context(), o, metav1.CreateOptions{})
			require.NoError(t, err)
		}
		require.NoError(t, k.DeleteCollection(t.Context(), metav1.DeleteOptions{}, metav1.ListOptions{LabelSelector: "half=first"}))
		assert.Equal(t, []string{"c", "d"}, k.names(t, metav1.ListOptions{}))
		require.NoError(t, k.DeleteCollection(t.Context(), metav1.DeleteOptions{}, metav1.ListOptions{}))
		assert.Empty(t, k.names(t, metav1.ListOptions{}))
	})
}
