package typed

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/watch"

	"github.com/kubecoord/kubecoord/internal/test/clients/internal/testapi"
)

// expect checks the type of the next event of a watch and returns its object.
func expect(t *testing.T, w watch.Interface, want watch.EventType, name string) object {
	t.Helper()
	ev := testapi.Next(t, w)
	require.Equal(t, want, ev.Type, "%v", ev.Object)
	o := ev.Object.(object)
	require.Equal(t, name, o.GetName())
	return o
}

func TestWatchSendsEachChangeInOrder(t *testing.T) {
	eachKind(t, func(t *testing.T, _ *testapi.API, k kind) {
		first := k.create(t, "a")
		w, err := k.Watch(t.Context(), metav1.ListOptions{})
		require.NoError(t, err)
		defer w.Stop()
		assert.Equal(t, first, expect(t, w, watch.Added, "a"))
		second := k.update(t, first)
		assert.Equal(t, second, expect(t, w, watch.Modified, "a"))
		other := k.create(t, "b")
		assert.Equal(t, other, expect(t, w, watch.Added, "b"))
		require.NoError(t, k.Delete(t.Context(), "a", metav1.DeleteOptions{}))
		last := expect(t, w, watch.Deleted, "a")
		assert.Greater(t, version(t, last), version(t, other), "a deletion has a version of its own")
		second.SetResourceVersion(last.GetResourceVersion())
		assert.Equal(t, second, last)
	})
}
