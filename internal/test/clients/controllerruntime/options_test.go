package controllerruntime

import (
	"context"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

func TestDryRunAnswersButStoresNothing(t *testing.T) {
	eachForm(t, func(t *testing.T, f *fixture) {
		type writer struct{ create, update, patch, remove func(client.Object) error }
		merge := client.RawPatch(types.MergePatchType, []byte(`{"metadata":{"labels":{"by":"patch"}}}`))
		dry := client.NewDryRunClient(f.WithWatch)
		for name, w := range map[string]writer{
			"option": {
				func(o client.Object) error { return f.Create(t.Context(), o, client.DryRunAll) },
				func(o client.Object) error { return f.Update(t.Context(), o, client.DryRunAll) },
				func(o client.Object) error { return f.Patch(t.Context(), o, merge, client.DryRunAll) },
				func(o client.Object) error { return f.Delete(t.Context(), o, client.DryRunAll) },
			},
			"client": {
				func(o client.Object) error { return dry.Create(t.Context(), o) },
				func(o client.Object) error { return dry.Update(t.Context(), o) },
				func(o client.Object) error { return dry.Patch(t.Context(), o, merge) },
				func(o client.Object) error { return dry.Delete(t.Context(), o) },
			},
		} {
			o := f.given(t, name)
			before := f.api.Store.ResourceVersion()
			if f.form != metadataOnly {
				created := f.fresh(t, "b")
				require.NoError(t, w.create(created))
				assert.NotEmpty(t, created.GetUID(), "the answer is the object that would be stored")
				err := w.create(f.fresh(t, name))
				assert.True(t, apierrors.IsAlreadyExists(err), "%v", err)

				updated := copyOf(o)
				updated.SetLabels(map[string]string{"by": "update"})
				require.NoError(t, w.update(updated))
				assert.Equal(t, map[string]string{"by": "update"}, updated.GetLabels())
			}
			patched := copyOf(o)
			require.NoError(t, w.patch(patched))
			assert.Equal(t, map[string]string{"by": "patch"}, patched.GetLabels())
			require.NoError(t, w.remove(copyOf(o)))
			assert.Equal(t, o, f.get(t, name))
			assert.Equal(t, before, f.api.Store.ResourceVersion())
			require.NoError(t, f.Delete(t.Context(), o))
			assert.Empty(t, f.names(t))
		}
	})
}

func TestFieldOwnerIsRecorded(t *testing.T) {
	eachForm(t, func(t *testing.T, f *fixture) {
		c := client.WithFieldOwner(f.WithWatch, "gardener")
		whole := f.New(t, "a")
		whole.SetLabels(map[string]string{"zero": "0"})
		require.NoError(t, c.Create(t.Context(), whole))
		o := f.get(t, "a")
		assert.Equal(t, []string{"gardener Update"}, owners(o))

		before := copyOf(o)
		o.SetLabels(map[string]string{"zero": "0", "one": "1"})
		require.NoError(t, c.Patch(t.Context(), o, client.MergeFrom(before), client.FieldOwner("guest")))
		assert.ElementsMatch(t, []string{"gardener Update", "guest Update"}, owners(f.get(t, "a")), "the owner in the call overrides the client's")

		before = copyOf(o)
		o.SetLabels(map[string]string{"zero": "0", "one": "2"})
		require.NoError(t, f.Patch(t.Context(), o, client.MergeFrom(before)))
		assert.ElementsMatch(t, []string{"gardener Update", "controllerruntime.test Update"}, owners(f.get(t, "a")),
			"without an owner it is the program name, and the guest no longer owns the changed field")

		if f.form != metadataOnly {
			o.SetLabels(map[string]string{"zero": "0", "one": "3"})
			require.NoError(t, c.Update(t.Context(), o, client.FieldOwner("guest")))
			assert.ElementsMatch(t, []string{"gardener Update", "guest Update"}, owners(f.get(t, "a")))
		}
	})
}

// owners returns the managers of an object's fields and their operations.
func owners(o client.Object) []string {
	out := []string{}
	for _, m := range o.GetManagedFields() {
		out = append(out, m.Manager+" "+string(m.Operation))
	}
	return out
}

func TestFieldValidationRefusesUnknownFields(t *testing.T) {
	eachForm(t, func(t *testing.T, f *fixture) {
		var warnings []string
		config := f.api.Config()
		config.WarningHandler, config.WarningHandlerWithContext = nil, warningFunc(func(text string) {
			if !strings.Contains(text, "deprecated") {
				warnings = append(warnings, text)
			}
		})
		plain, err := client.New(config, client.Options{})
		require.NoError(t, err)
		with := func(field string) *unstructured.Unstructured {
			o := f.fresh(t, "a").(*unstructured.Unstructured)
			o.Object[field] = "x"
			return o
		}
		strict := client.WithFieldValidation(plain, metav1.FieldValidationStrict)
		err = strict.Create(t.Context(), with("surplus"))
		require.True(t, apierrors.IsBadRequest(err), "%v", err)
		assert.ErrorContains(t, err, `strict decoding error: unknown field "surplus"`)
		assert.Empty(t, f.names(t))

		require.NoError(t, plain.Create(t.Context(), with("surplus")))
		assert.Equal(t, []string{`unknown field "surplus"`}, warnings, "the default is Warn")
		warnings = nil
		o := f.get(t, "a").(*unstructured.Unstructured)
		assert.NotContains(t, o.Object, "surplus")

		patch := client.RawPatch(types.MergePatchType, []byte(`{"surplus":"x"}`))
		err = strict.Patch(t.Context(), copyOf(o), patch)
		assert.True(t, apierrors.IsInvalid(err), "%v", err)
		o.Object["surplus"] = "x"
		err = strict.Update(t.Context(), copyOf(o))
		assert.True(t, apierrors.IsBadRequest(err), "%v", err)
		require.NoError(t, strict.Update(t.Context(), o, client.FieldValidation(metav1.FieldValidationIgnore)))
		assert.Empty(t, warnings)
	}, untyped)
}

type warningFunc func(text string)

func (f warningFunc) HandleWarningHeaderWithContext(_ context.Context, _ int, _, text string) {
	f(text)
}
