package controllerruntime

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

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
