package controllerruntime

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/manager"

	"github.com/kubecoord/kubecoord/internal/test/clients/internal/testapi"
	"github.com/kubecoord/kubecoord/store"
)

// heldBy returns a Lease that was renewed now.
func heldBy(name, holder string) *coordinationv1.Lease {
	l := testapi.Lease(name)
	l.Spec.HolderIdentity = &holder
	l.Spec.RenewTime = new(metav1.NowMicro())
	return l
}

// renew changes the holder of a stored Lease.
func renew(t *testing.T, c client.Client, name, holder string) {
	t.Helper()
	l := &coordinationv1.Lease{}
	require.NoError(t, c.Get(t.Context(), key(name), l))
	before := l.DeepCopy()
	l.Spec.HolderIdentity, l.Spec.RenewTime = &holder, new(metav1.NowMicro())
	require.NoError(t, c.Patch(t.Context(), l, client.MergeFrom(before)))
}

// addresses returns the published addresses, ready and not ready.
func addresses(t *testing.T, c client.Client, name string) (ready, notReady []string) {
	t.Helper()
	e := &corev1.Endpoints{}
	require.NoError(t, c.Get(t.Context(), key(name), e))
	require.Len(t, e.Subsets, 1)
	for _, a := range e.Subsets[0].Addresses {
		ready = append(ready, a.IP)
	}
	for _, a := range e.Subsets[0].NotReadyAddresses {
		notReady = append(notReady, a.IP)
	}
	return ready, notReady
}

func TestReconcilerFollowsALease(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		api := testapi.New(t, store.Options{})
		c := newClient(t, api.Bypass())
		mgr := newManager(t, api, manager.Options{})
		publish(t, mgr)
		running := start(t, mgr)
		assertReady := func(want ...string) {
			t.Helper()
			synctest.Wait()
			ready, notReady := addresses(t, c, "a")
			assert.Equal(t, want, ready)
			assert.Empty(t, notReady)
		}

		require.NoError(t, c.Create(t.Context(), heldBy("a", "10.0.0.1")))
		assertReady("10.0.0.1")
		for range 100 {
			time.Sleep(14 * time.Second)
			renew(t, c, "a", "10.0.0.1")
		}
		assertReady("10.0.0.1")
		renew(t, c, "a", "10.0.0.2")
		assertReady("10.0.0.2")

		time.Sleep(15 * time.Second)
		synctest.Wait()
		ready, notReady := addresses(t, c, "a")
		assert.Empty(t, ready, "the holder has not renewed")
		assert.Equal(t, []string{"10.0.0.2"}, notReady)
		renew(t, c, "a", "10.0.0.2")
		assertReady("10.0.0.2")
		assert.NoError(t, running.stop())
		assert.Zero(t, api.Link.Open(), "a stopped manager has closed its connections")
	})
}

func TestReconcilerRepairsItsObjects(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		api := testapi.New(t, store.Options{})
		c := newClient(t, api.Bypass())
		mgr := newManager(t, api, manager.Options{})
		publish(t, mgr)
		start(t, mgr)
		require.NoError(t, c.Create(t.Context(), heldBy("a", "10.0.0.1")))
		synctest.Wait()
		for name, harm := range map[string]func(e *corev1.Endpoints) error{
			"deleted": func(e *corev1.Endpoints) error { return c.Delete(t.Context(), e) },
			"changed": func(e *corev1.Endpoints) error {
				e.Subsets[0].Addresses[0].IP = "10.6.6.6"
				return c.Update(t.Context(), e)
			},
			"emptied": func(e *corev1.Endpoints) error {
				e.Subsets = nil
				return c.Update(t.Context(), e)
			},
		} {
			e := &corev1.Endpoints{}
			require.NoError(t, c.Get(t.Context(), key("a"), e))
			require.NoError(t, harm(e), name)
			synctest.Wait()
			ready, _ := addresses(t, c, "a")
			assert.Equal(t, []string{"10.0.0.1"}, ready, name)
		}
	})
}

func TestFinalizerKeepsALeaseUntilTheReconcilerIsDone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		api := testapi.New(t, store.Options{})
		c := newClient(t, api.Bypass())
		first := newManager(t, api, manager.Options{})
		publish(t, first)
		running := start(t, first)
		require.NoError(t, c.Create(t.Context(), heldBy("a", "10.0.0.1")))
		synctest.Wait()
		require.NoError(t, running.stop())

		l := &coordinationv1.Lease{}
		require.NoError(t, c.Get(t.Context(), key("a"), l))
		assert.Equal(t, []string{published}, l.Finalizers)
		require.NoError(t, c.Delete(t.Context(), l))
		require.NoError(t, c.Get(t.Context(), key("a"), l), "the reconciler has not run")
		require.NoError(t, c.Get(t.Context(), key("a"), &corev1.Endpoints{}))

		second := newManager(t, api, manager.Options{})
		publish(t, second)
		start(t, second)
		err := c.Get(t.Context(), key("a"), l)
		assert.True(t, apierrors.IsNotFound(err), "%v", err)
		err = c.Get(t.Context(), key("a"), &corev1.Endpoints{})
		assert.True(t, apierrors.IsNotFound(err), "%v", err)
	})
}
