package controllerruntime

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/watch"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kubecoord/kubecoord/internal/test/clients/internal/testapi"
)

func TestWatchSendsEachChange(t *testing.T) {
	eachForm(t, func(t *testing.T, f *fixture) {
		w, err := f.Watch(t.Context(), f.emptyList(t), client.InNamespace(testapi.Namespace))
		require.NoError(t, err)
		defer w.Stop()
		next := func(want watch.EventType) client.Object {
			t.Helper()
			ev := testapi.Next(t, w)
			require.Equal(t, want, ev.Type, "%v", ev.Object)
			assert.IsType(t, f.empty(t), ev.Object)
			return ev.Object.(client.Object)
		}
		f.given(t, "elsewhere", inNamespace("other"))
		o := f.given(t, "a", held("x.io/held"))
		assert.Equal(t, o.GetUID(), next(watch.Added).GetUID())
		f.mark(t, o)
		deleting := next(watch.Modified)
		assert.NotNil(t, deleting.GetDeletionTimestamp())
		o = f.get(t, "a")
		assert.Equal(t, o.GetResourceVersion(), deleting.GetResourceVersion())
		before := copyOf(o)
		o.SetFinalizers(nil)
		require.NoError(t, f.Patch(t.Context(), o, client.MergeFrom(before)))
		assert.Equal(t, "a", next(watch.Deleted).GetName())
	})
}
