package registry

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kubecoord/kubecoord/internal/kinds"
	"github.com/kubecoord/kubecoord/store/field"
	"github.com/kubecoord/kubecoord/store/kind"
	"github.com/kubecoord/kubecoord/store/meta"
)

// An attempt of a PUT starts with the object as it was sent, not as the attempt before changed it.
func TestEachAttemptOfAPutIsFresh(t *testing.T) {
	for name, row := range map[string]struct {
		prepare func(o, old kinds.Object)
		want    string
	}{
		"a kind without functions":         {nil, "sent"},
		"a kind that changes what it gets": {func(o, _ kinds.Object) { o.(*widget).Spec += "+" }, "sent+"},
	} {
		t.Run(name, func(t *testing.T) {
			var overtake func()
			kind, err := kinds.NewKind(kind.Descriptor[meta.Object]{
				Resource: kind.Resource{Group: "example.com", Kind: "Widget"},
				Strategy: kind.Strategy[meta.Object]{Update: kind.UpdateStrategy[meta.Object]{CreateMissing: true, Unconditional: true, Prepare: row.prepare}},
				New:      func() kinds.Object { return &widget{} },
				Versions: []kind.Version[meta.Object]{{Name: "v1", Validate: func(_, _ kinds.Object) field.Errors {
					if first := overtake; first != nil {
						overtake = nil
						first()
					}
					return nil
				}}},
			})
			require.NoError(t, err)
			st := New(Options{})
			defer st.Close()
			r := st.Resource(kind)
			put := func(spec, version string) (*Item, bool, error) {
				o := &widget{ObjectMeta: meta.ObjectMeta{Namespace: "ns", Name: "a", ResourceVersion: version, Labels: map[string]string{"k": spec}}, Spec: spec}
				return r.Update(t.Context(), &Request{Namespace: "ns", Name: "a", FieldManager: spec}, r.Replace(o))
			}
			other := func() {
				_, _, err := put("other", "")
				require.NoError(t, err)
			}
			first, created, err := put("first", "")
			require.NoError(t, err)
			require.True(t, created)

			overtake = other
			got, created, err := put("sent", "")
			require.NoError(t, err)
			assert.False(t, created)
			assert.Equal(t, row.want, got.Stored().(*widget).Spec)
			assert.Equal(t, map[string]string{"k": "sent"}, got.meta().Labels)
			assert.Equal(t, first.UID(), got.UID())
			for _, e := range got.meta().ManagedFields {
				assert.NotEqual(t, "other", e.Manager, "its fields were overwritten")
			}

			overtake = other
			_, _, err = put("sent", got.ResourceVersion())
			assert.ErrorIs(t, err, meta.ReasonConflict)

			overtake = func() {
				_, err := r.Delete(t.Context(), &Request{Namespace: "ns", Name: "a"}, &kinds.DeleteOptions{})
				require.NoError(t, err)
			}
			again, created, err := put("sent", "")
			require.NoError(t, err)
			assert.True(t, created)
			assert.Equal(t, "sent", again.Stored().(*widget).Spec)
			assert.NotEqual(t, first.UID(), again.UID())
			assert.EqualValues(t, 1, again.meta().Generation)
		})
	}
}
