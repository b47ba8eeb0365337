package controllerruntime

import (
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/manager"

	"github.com/kubecoord/kubecoord/internal/test/clients/internal/testapi"
	"github.com/kubecoord/kubecoord/store"
)

// crowd makes enough changes to drop all older versions from the history.
func crowd(t *testing.T, c client.Client) {
	t.Helper()
	busy := testapi.Endpoints("busy")
	busy.Namespace = "elsewhere"
	for i := range history + 4 {
		busy.Subsets[0].Ports[0].Port = int32(i + 1)
		require.NoError(t, c.Update(t.Context(), busy))
	}
}

// startsOf counts the lists of a resource, and the watches that begin with the
// initial state.
func startsOf(resource string, requests []testapi.Request) (starts int) {
	for _, r := range requests {
		if strings.HasSuffix(r.Path, "/"+resource) && (!r.Watches() || r.Query.Has("sendInitialEvents")) {
			starts++
		}
	}
	return starts
}

func TestCacheRecoversFromALostConnection(t *testing.T) {
	for name, row := range map[string]struct {
		meanwhile func(t *testing.T, c client.Client)
		starts    int
	}{
		"and resumes at its version":                {func(*testing.T, client.Client) {}, 0},
		"and lists again after its version expired": {crowd, 1},
	} {
		t.Run(name, func(t *testing.T) {
			eachForm(t, func(t *testing.T, f *fixture) {
				changed, gone := f.given(t, "changed"), f.given(t, "gone")
				link := f.api.Bypass()
				mgr := newManager(t, link, cached())
				start(t, mgr)
				f.assertFresh(t, mgr.GetClient())
				settle() // reflectors treat a watch that ends within a second as failed
				link.Link.Requests()

				link.Link.Cut()
				synctest.Wait()
				f.label(t, changed, "1")
				require.NoError(t, f.Delete(t.Context(), gone))
				f.given(t, "new")
				row.meanwhile(t, f)
				link.Link.Mend()
				time.Sleep(longestBackoff)
				f.assertFresh(t, mgr.GetClient())
				assert.Equal(t, row.starts, startsOf(f.Resource.Resource, link.Link.Requests()))
			})
		})
	}
}

// The reconciler must see the result of changes made while it was disconnected.
func TestReconcilerCatchesUpAfterMissedChanges(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		api := testapi.New(t, store.Options{History: history})
		c := newClient(t, api.Bypass())
		mgr := newManager(t, api, manager.Options{})
		publish(t, mgr)
		start(t, mgr)
		require.NoError(t, c.Create(t.Context(), heldBy("a", "10.0.0.1")))
		require.NoError(t, c.Create(t.Context(), heldBy("b", "10.0.0.1")))
		require.NoError(t, c.Create(t.Context(), heldBy("c", "10.0.0.1")))
		settle()
		api.Link.Cut()
		synctest.Wait()
		renew(t, c, "a", "10.0.0.2")
		require.NoError(t, c.Delete(t.Context(), heldBy("b", "")))
		require.NoError(t, c.Delete(t.Context(), &corev1.Endpoints{ObjectMeta: heldBy("c", "").ObjectMeta}))
		require.NoError(t, c.Create(t.Context(), heldBy("d", "10.0.0.4")))
		crowd(t, c)
		api.Link.Mend()
		time.Sleep(longestBackoff)
		synctest.Wait()
		for name, holder := range map[string]string{"a": "10.0.0.2", "c": "10.0.0.1", "d": "10.0.0.4"} {
			_, notReady := addresses(t, c, name)
			assert.Equal(t, []string{holder}, notReady, name)
		}
		for _, o := range []client.Object{&corev1.Endpoints{}, heldBy("b", "")} {
			err := c.Get(t.Context(), key("b"), o)
			assert.True(t, apierrors.IsNotFound(err), "%v", err)
		}
	})
}

// A server that restarts empty must not use versions that it used
// before: see store.Options.FirstResourceVersion.
func TestCacheRecoversFromARestartOfTheServer(t *testing.T) {
	eachForm(t, func(t *testing.T, f *fixture) {
		f.given(t, "a")
		link := f.api.Bypass()
		mgr := newManager(t, link, cached())
		start(t, mgr)
		f.assertFresh(t, mgr.GetClient())

		link.Link.Cut()
		f.api.Server.Close()
		second := testapi.New(t, store.Options{FirstResourceVersion: 2000})
		g := &fixture{Resource: f.Resource, WithWatch: newClient(t, second), form: f.form, api: second}
		g.given(t, "b")
		link.Link.Redirect(second)
		time.Sleep(longestBackoff)
		g.assertFresh(t, mgr.GetClient())
		g.given(t, "c")
		g.assertFresh(t, mgr.GetClient())
	})
}

func TestBookmarksKeepAnIdleCacheFresh(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		api := testapi.New(t, store.Options{History: history})
		c := newClient(t, api.Bypass())
		require.NoError(t, c.Create(t.Context(), testapi.Lease("a")))
		mgr := newManager(t, api, manager.Options{})
		start(t, mgr)
		got := &coordinationv1.Lease{}
		require.NoError(t, mgr.GetClient().Get(t.Context(), key("a"), got))
		api.Link.Requests()
		busy := testapi.Endpoints("busy")
		for i := range 24 * 60 {
			time.Sleep(time.Minute)
			busy.Subsets[0].Ports[0].Port = int32(i + 1)
			require.NoError(t, c.Update(t.Context(), busy))
		}
		requests := api.Link.Requests()
		assert.Zero(t, startsOf("leases", requests), "a day without a change needs no second list")
		assert.Greater(t, len(requests), 100, "its watches end and are opened again")
		renew(t, c, "a", "b")
		synctest.Wait()
		require.NoError(t, mgr.GetClient().Get(t.Context(), key("a"), got))
		assert.Equal(t, "b", *got.Spec.HolderIdentity)
	})
}
