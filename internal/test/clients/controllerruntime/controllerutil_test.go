package controllerruntime

import (
	"errors"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"
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
