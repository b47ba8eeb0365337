package lifetime

import (
	"strconv"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	coordinationv1 "k8s.io/api/coordination/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/watch"

	"github.com/kubecoord/kubecoord/internal/test/clients/internal/testapi"
	"github.com/kubecoord/kubecoord/store"
)

// lag opens a watch and makes more changes than the buffers of an unread answer hold.
func lag(t *testing.T, history, changes int) (w watch.Interface, first uint64) {
	t.Helper()
	api := testapi.New(t, store.Options{History: history})
	c := leases(t, api)
	l := testapi.Lease("a")
	l.Annotations = map[string]string{"a": strings.Repeat("x", 100<<10)}
	l, err := c.Create(t.Context(), l, metav1.CreateOptions{})
	require.NoError(t, err)
	first, err = strconv.ParseUint(l.ResourceVersion, 10, 64)
	require.NoError(t, err)
	w, err = c.Watch(t.Context(), metav1.ListOptions{ResourceVersion: l.ResourceVersion})
	require.NoError(t, err)
	for range changes {
		*l.Spec.LeaseTransitions++
		l, err = c.Update(t.Context(), l, metav1.UpdateOptions{})
		require.NoError(t, err)
		synctest.Wait()
	}
	return w, first
}

func requireVersion(t *testing.T, ev watch.Event, want uint64) {
	t.Helper()
	require.Equal(t, watch.Modified, ev.Type, "%v", ev.Object)
	require.Equal(t, strconv.FormatUint(want, 10), ev.Object.(*coordinationv1.Lease).ResourceVersion)
}

func TestSlowWatcherCatchesUpWithinHistory(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w, first := lag(t, 100, 50)
		defer w.Stop()
		for i := range uint64(50) {
			requireVersion(t, testapi.Next(t, w), first+1+i)
		}
	})
}

func TestSlowWatcherGetsExpiredAfterMissedChanges(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w, first := lag(t, 10, 50)
		defer w.Stop()
		for i := uint64(1); ; i++ {
			ev := testapi.Next(t, w)
			if ev.Type == watch.Error {
				err := apierrors.FromObject(ev.Object)
				assert.True(t, apierrors.IsResourceExpired(err), "%v", err)
				assert.Greater(t, i, uint64(1), "existing objects were sent")
				assert.Less(t, i, uint64(40))
				break
			}
			requireVersion(t, ev, first+i)
		}
		testapi.End(t, w)
	})
}
