package controllerruntime

import (
	"errors"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"

	"github.com/kubecoord/kubecoord/internal/test/clients/internal/testapi"
)

func TestCreateOrUpdateCreatesUpdatesOrDoesNothing(t *testing.T) {
	for name, ensure := range map[string]struct {
		do func(f *fixture, t *testing.T, o client.Object, change controllerutil.MutateFn) (controllerutil.OperationResult, error)
	}{
		"update": {func(f *fixture, t *testing.T, o client.Object, change controllerutil.MutateFn) (controllerutil.OperationResult, error) {
			return controllerutil.CreateOrUpdate(t.Context(), f, o, change)
		}},
		"patch": {func(f *fixture, t *testing.T, o client.Object, change controllerutil.MutateFn) (controllerutil.OperationResult, error) {
			return controllerutil.CreateOrPatch(t.Context(), f, o, change)
		}},
	} {
		t.Run(name, func(t *testing.T) {
			eachForm(t, func(t *testing.T, f *fixture) {
				for _, row := range []struct {
					label string
					want  controllerutil.OperationResult
				}{
					{"one", controllerutil.OperationResultCreated},
					{"one", controllerutil.OperationResultNone},
					{"two", controllerutil.OperationResultUpdated},
					{"two", controllerutil.OperationResultNone},
				} {
					before := f.api.Store.ResourceVersion()
					o := f.fresh(t, "a")
					got, err := ensure.do(f, t, o, func() error {
						o.SetLabels(map[string]string{"label": row.label})
						return nil
					})
					require.NoError(t, err)
					assert.Equal(t, row.want, got)
					assert.Equal(t, f.get(t, "a"), o)
					assert.Equal(t, row.want == controllerutil.OperationResultNone, f.api.Store.ResourceVersion() == before)
				}
				failure := errors.New("no")
				_, err := ensure.do(f, t, f.fresh(t, "b"), func() error { return failure })
				require.ErrorIs(t, err, failure)
				assert.Equal(t, []string{"test/a"}, f.names(t))
			}, typed, untyped)
		})
	}
}

func TestFinalizersAreAddedAndRemoved(t *testing.T) {
	const finalizer = "x.io/finalizer"
	eachForm(t, func(t *testing.T, f *fixture) {
		o := f.fresh(t, "a")
		require.NoError(t, f.Create(t.Context(), o))
		require.True(t, controllerutil.AddFinalizer(o, finalizer))
		require.False(t, controllerutil.AddFinalizer(o, finalizer), "a second call changes nothing")
		require.NoError(t, f.Update(t.Context(), o))

		require.NoError(t, f.Delete(t.Context(), o))
		o = f.get(t, "a")
		assert.NotNil(t, o.GetDeletionTimestamp())
		require.True(t, controllerutil.ContainsFinalizer(o, finalizer))

		late := copyOf(o)
		require.True(t, controllerutil.AddFinalizer(late, "x.io/late"))
		err := f.Update(t.Context(), late)
		assert.True(t, apierrors.IsInvalid(err) || apierrors.IsForbidden(err), "a finalizer must not be added during deletion: %v", err)

		require.True(t, controllerutil.RemoveFinalizer(o, finalizer))
		require.NoError(t, f.Update(t.Context(), o))
		err = f.Get(t.Context(), key("a"), f.empty(t))
		assert.True(t, apierrors.IsNotFound(err), "%v", err)
	}, typed, untyped)
}

func TestOwnerReferencesAreSet(t *testing.T) {
	eachForm(t, func(t *testing.T, f *fixture) {
		owner := testapi.Endpoints("owner")
		require.NoError(t, f.Create(t.Context(), owner))
		another := testapi.Lease("another")
		require.NoError(t, f.Create(t.Context(), another))

		o := f.fresh(t, "a")
		require.NoError(t, controllerutil.SetControllerReference(owner, o, f.Scheme()))
		require.NoError(t, controllerutil.SetOwnerReference(another, o, f.Scheme()))
		require.NoError(t, f.Create(t.Context(), o))
		got := f.get(t, "a")
		assert.Equal(t, []metav1.OwnerReference{
			{APIVersion: "v1", Kind: "Endpoints", Name: "owner", UID: owner.UID, Controller: new(true), BlockOwnerDeletion: new(true)},
			{APIVersion: "coordination.k8s.io/v1", Kind: "Lease", Name: "another", UID: another.UID},
		}, got.GetOwnerReferences())
		assert.True(t, metav1.IsControlledBy(got, owner))
		assert.True(t, controllerutil.HasControllerReference(got))

		var owned *controllerutil.AlreadyOwnedError
		require.ErrorAs(t, controllerutil.SetControllerReference(another, got, f.Scheme()), &owned)
		refs := got.GetOwnerReferences()
		refs[1].Controller = new(true)
		got.SetOwnerReferences(refs)
		err := f.Update(t.Context(), got)
		require.True(t, apierrors.IsInvalid(err), "%v", err)
		assert.ErrorContains(t, err, "Only one reference can have Controller set to true")

		got = f.get(t, "a")
		require.NoError(t, controllerutil.RemoveControllerReference(owner, got, f.Scheme()))
		require.NoError(t, controllerutil.RemoveOwnerReference(another, got, f.Scheme()))
		require.NoError(t, f.Update(t.Context(), got))
		assert.Empty(t, f.get(t, "a").GetOwnerReferences())
	}, typed, untyped)
}
