package controllerruntime

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
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

func TestWatchAppliesItsSelectors(t *testing.T) {
	eachForm(t, func(t *testing.T, f *fixture) {
		blue := client.MatchingLabels{"colour": "blue"}
		f.given(t, "other")
		o := f.given(t, "a", labelled(blue))
		w, err := f.Watch(t.Context(), f.emptyList(t), blue, client.MatchingFields{"metadata.name": "a"})
		require.NoError(t, err)
		defer w.Stop()
		assert.Equal(t, watch.Added, testapi.Next(t, w).Type, "existing objects come first")
		for _, row := range []struct {
			labels map[string]string
			want   watch.EventType
		}{
			{map[string]string{"colour": "blue", "tone": "dark"}, watch.Modified},
			{map[string]string{"colour": "red"}, watch.Deleted},
			{map[string]string{"colour": "blue"}, watch.Added},
		} {
			before := copyOf(o)
			o.SetLabels(row.labels)
			require.NoError(t, f.Patch(t.Context(), o, client.MergeFrom(before)))
			assert.Equal(t, row.want, testapi.Next(t, w).Type, "%v", row.labels)
		}
	})
}

func TestWatchResumesAtAVersion(t *testing.T) {
	eachForm(t, func(t *testing.T, f *fixture) {
		from := func(version string) watch.Interface {
			w, err := f.Watch(t.Context(), f.emptyList(t), &client.ListOptions{Raw: &metav1.ListOptions{ResourceVersion: version}})
			require.NoError(t, err)
			t.Cleanup(w.Stop)
			return w
		}
		a := f.given(t, "a")
		b := f.given(t, "b")
		ev := testapi.Next(t, from(a.GetResourceVersion()))
		assert.Equal(t, watch.Added, ev.Type)
		assert.Equal(t, b.GetUID(), ev.Object.(client.Object).GetUID())

		ev = testapi.Next(t, from("1"))
		assert.Equal(t, watch.Error, ev.Type)
		err := apierrors.FromObject(ev.Object)
		assert.True(t, apierrors.IsResourceExpired(err), "%v", err)
	})
}
