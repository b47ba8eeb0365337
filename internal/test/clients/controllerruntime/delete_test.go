package controllerruntime

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

func TestDeleteChecksPreconditions(t *testing.T) {
	eachForm(t, func(t *testing.T, f *fixture) {
		o := f.given(t, "a")
		uid, version := o.GetUID(), o.GetResourceVersion()
		err := f.Delete(t.Context(), o, client.Preconditions{UID: new(types.UID("another"))})
		require.True(t, apierrors.IsConflict(err), "%v", err)
		assert.ErrorContains(t, err, "the UID in the precondition (another) does not match the UID in record")
		err = f.Delete(t.Context(), o, client.Preconditions{UID: &uid, ResourceVersion: new("1")})
		require.True(t, apierrors.IsConflict(err), "%v", err)
		assert.ErrorContains(t, err, "the ResourceVersion in the precondition (1) does not match the ResourceVersion in record")
		assert.Equal(t, o, f.get(t, "a"))
		require.NoError(t, f.Delete(t.Context(), o, client.Preconditions{UID: &uid, ResourceVersion: &version}))
		assert.Empty(t, f.names(t))
	})
}

func TestDeleteAllOfDeletesTheSelectedObjects(t *testing.T) {
	eachForm(t, func(t *testing.T, f *fixture) {
		x, y := labelled(map[string]string{"app": "x"}), labelled(map[string]string{"app": "y"})
		for _, ns := range []string{"one", "two"} {
			f.given(t, "a", inNamespace(ns), x)
			f.given(t, "b", inNamespace(ns), y)
			f.given(t, "c", inNamespace(ns), x)
		}
		for _, row := range []struct {
			opts []client.DeleteAllOfOption
			left []string
		}{
			{[]client.DeleteAllOfOption{client.InNamespace("one"), client.MatchingLabels{"app": "z"}},
				[]string{"one/a", "one/b", "one/c", "two/a", "two/b", "two/c"}},
			{[]client.DeleteAllOfOption{client.InNamespace("one"), client.MatchingLabels{"app": "x"}, client.DryRunAll},
				[]string{"one/a", "one/b", "one/c", "two/a", "two/b", "two/c"}},
			{[]client.DeleteAllOfOption{client.InNamespace("one"), client.MatchingLabels{"app": "x"}},
				[]string{"one/b", "two/a", "two/b", "two/c"}},
			{[]client.DeleteAllOfOption{client.InNamespace("two"), client.MatchingFields{"metadata.name": "c"}},
				[]string{"one/b", "two/a", "two/b"}},
			{[]client.DeleteAllOfOption{client.InNamespace("two")}, []string{"one/b"}},
		} {
			require.NoError(t, f.DeleteAllOf(t.Context(), f.empty(t), row.opts...))
			assert.Equal(t, row.left, f.names(t))
		}
		err := f.DeleteAllOf(t.Context(), f.empty(t))
		assert.True(t, apierrors.IsMethodNotSupported(err), "in all namespaces at once: %v", err)
	})
}

func TestDeletedObjectStaysUntilItsLastFinalizerIsGone(t *testing.T) {
	eachForm(t, func(t *testing.T, f *fixture) {
		f.given(t, "a", held("x.io/one", "x.io/two"))
		f.given(t, "b")
		require.NoError(t, f.DeleteAllOf(t.Context(), f.empty(t), client.InNamespace("test")))
		assert.Equal(t, []string{"test/a"}, f.names(t))
		o := f.get(t, "a")
		assert.NotNil(t, o.GetDeletionTimestamp())
		f.mark(t, o)
		assert.Equal(t, o, f.get(t, "a"), "a second call changes nothing")

		before := copyOf(o)
		o.SetFinalizers([]string{"x.io/two"})
		require.NoError(t, f.Patch(t.Context(), o, client.MergeFrom(before)))
		assert.Equal(t, []string{"x.io/two"}, f.get(t, "a").GetFinalizers())
		before = copyOf(o)
		o.SetFinalizers(nil)
		require.NoError(t, f.Patch(t.Context(), o, client.MergeFrom(before)))
		assert.Empty(t, f.names(t))
	})
}

func TestPropagationPolicyAddsAFinalizer(t *testing.T) {
	eachForm(t, func(t *testing.T, f *fixture) {
		for policy, finalizer := range map[metav1.DeletionPropagation]string{
			metav1.DeletePropagationForeground: metav1.FinalizerDeleteDependents,
			metav1.DeletePropagationOrphan:     metav1.FinalizerOrphanDependents,
		} {
			o := f.given(t, "a")
			f.mark(t, o, client.PropagationPolicy(policy))
			o = f.get(t, "a")
			assert.Equal(t, []string{finalizer}, o.GetFinalizers())
			require.NoError(t, f.Patch(t.Context(), o, client.RawPatch(types.MergePatchType, []byte(`{"metadata":{"finalizers":null}}`))))
			assert.Empty(t, f.names(t))
		}
	})
}
