package typed

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubecoord/kubecoord/internal/test/clients/internal/testapi"
)

func TestClientReadsWhatItWrites(t *testing.T) {
	eachKind(t, func(t *testing.T, _ *testapi.API, k kind) {
		sent := k.new("a")
		sent.SetLabels(map[string]string{"l": "1"})
		sent.SetAnnotations(map[string]string{"a": "ä\n"})
		got, err := k.Create(t.Context(), sent, metav1.CreateOptions{})
		require.NoError(t, err)
		assert.NotEmpty(t, got.GetUID())
		created := got.GetCreationTimestamp()
		assert.False(t, created.IsZero())
		assert.Equal(t, got, k.get(t, "a"))
		want := sent.DeepCopyObject().(object)
		want.SetUID(got.GetUID())
		want.SetResourceVersion(got.GetResourceVersion())
		want.SetCreationTimestamp(created)
		want.SetManagedFields(got.GetManagedFields())
		want.GetObjectKind().SetGroupVersionKind(got.GetObjectKind().GroupVersionKind())
		assert.Equal(t, want, got)

		second := k.update(t, got)
		assert.Greater(t, version(t, second), version(t, got))
		assert.Equal(t, second, k.get(t, "a"))
		require.NoError(t, k.Delete(t.Context(), "a", metav1.DeleteOptions{}))
		assert.Empty(t, k.names(t, metav1.ListOptions{}))
	})
}

func TestRefusedWritesAreTypedErrors(t *testing.T) {
	eachKind(t, func(t *testing.T, _ *testapi.API, k kind) {
		first := k.create(t, "a")
		second := k.update(t, first)
		k.change(first)
		bad := k.new("bad")
		field := k.spoil(bad)
		update := func(o object) error {
			_, err := k.Update(t.Context(), o, metav1.UpdateOptions{})
			return err
		}
		create := func(o object) error {
			_, err := k.Create(t.Context(), o, metav1.CreateOptions{})
			return err
		}
		for _, row := range []struct {
			err  error
			is   func(error) bool
			text string
		}{
			{create(k.new("a")), apierrors.IsAlreadyExists, k.resource + ` "a" already exists`},
			{update(first), apierrors.IsConflict, `Operation cannot be fulfilled on ` + k.resource +
				` "a": the object has been modified; please apply your changes to the latest version and try again`},
			{k.Delete(t.Context(), "b", metav1.DeleteOptions{}), apierrors.IsNotFound, k.resource + ` "b" not found`},
			{create(bad), apierrors.IsInvalid, ""},
		} {
			assert.True(t, row.is(row.err), "%v", row.err)
			assert.ErrorContains(t, row.err, row.text)
		}
		details := create(bad).(apierrors.APIStatus).Status().Details
		require.NotNil(t, details)
		assert.Equal(t, "bad", details.Name)
		require.NotEmpty(t, details.Causes)
		assert.Equal(t, field, details.Causes[0].Field)
		assert.NotEmpty(t, details.Causes[0].Type)
		assert.NotEmpty(t, details.Causes[0].Message)
		assert.Equal(t, second, k.get(t, "a"))
	})
}
