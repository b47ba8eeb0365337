package lifetime

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/kubernetes"
	clientv1 "k8s.io/client-go/kubernetes/typed/coordination/v1"

	"github.com/kubecoord/kubecoord/internal/test/clients/internal/testapi"
	"github.com/kubecoord/kubecoord/store"
)

// eachWay runs a test in memory, inside a bubble that fails if a goroutine
// remains, and over a socket.
func eachWay(t *testing.T, test func(t *testing.T, api *testapi.API)) {
	t.Run("in memory", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) { test(t, testapi.New(t, store.Options{})) })
	})
	t.Run("over a socket", func(t *testing.T) { test(t, testapi.Listen(t, store.Options{})) })
}

func leases(t *testing.T, api *testapi.API) clientv1.LeaseInterface {
	return api.Client(t).CoordinationV1().Leases(testapi.Namespace)
}

// awaitNoWatcher waits until the server has ended all watches.
func awaitNoWatcher(t *testing.T, api *testapi.API) {
	t.Helper()
	require.Eventually(t, func() bool { return api.Store.Watchers() == 0 }, 10*time.Second, time.Millisecond)
}

func TestWatchEndsWithItsContext(t *testing.T) {
	eachWay(t, func(t *testing.T, api *testapi.API) {
		ctx, cancel := context.WithCancel(t.Context())
		w, err := leases(t, api).Watch(ctx, metav1.ListOptions{})
		require.NoError(t, err)
		defer w.Stop()
		assert.Equal(t, 1, api.Store.Watchers())
		cancel()
		drain(t, w)
		awaitNoWatcher(t, api)
	})
}

// drain reads a watch to its end. client-go itself makes an ERROR event from a
// broken connection.
func drain(t *testing.T, w watch.Interface) {
	t.Helper()
	timeout := time.After(20 * time.Second)
	for {
		select {
		case _, open := <-w.ResultChan():
			if !open {
				return
			}
		case <-timeout:
			require.FailNow(t, "the watch did not end")
		}
	}
}

func TestStoppedWatchEndsOnTheServer(t *testing.T) {
	eachWay(t, func(t *testing.T, api *testapi.API) {
		w, err := leases(t, api).Watch(t.Context(), metav1.ListOptions{})
		require.NoError(t, err)
		w.Stop()
		drain(t, w)
		awaitNoWatcher(t, api)
	})
}

func TestClosingTheAPIEndsWatchesWithoutAnError(t *testing.T) {
	eachWay(t, func(t *testing.T, api *testapi.API) {
		for range 3 {
			w, err := leases(t, api).Watch(t.Context(), metav1.ListOptions{})
			require.NoError(t, err)
			defer testapi.End(t, w)
		}
		api.Server.Close()
		awaitNoWatcher(t, api)
	})
}

func TestClosingTheStoreEndsWatchesWithoutAnError(t *testing.T) {
	eachWay(t, func(t *testing.T, api *testapi.API) {
		w, err := leases(t, api).Watch(t.Context(), metav1.ListOptions{})
		require.NoError(t, err)
		api.Store.Close()
		testapi.End(t, w)
		awaitNoWatcher(t, api)
	})
}

func TestClosedAPIRefusesRequestsInMemory(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		api := testapi.New(t, store.Options{})
		api.Server.Close()
		_, err := leases(t, api).List(t.Context(), metav1.ListOptions{})
		assert.ErrorContains(t, err, "closed")
		api.Server.Close()
	})
}

func TestExpiredDeadlineStopsARequestBeforeItIsSent(t *testing.T) {
	eachWay(t, func(t *testing.T, api *testapi.API) {
		ctx, cancel := context.WithDeadline(t.Context(), time.Now().Add(-time.Second))
		defer cancel()
		_, err := leases(t, api).Create(ctx, testapi.Lease("a"), metav1.CreateOptions{})
		assert.ErrorIs(t, err, context.DeadlineExceeded)
		_, err = leases(t, api).Get(t.Context(), "a", metav1.GetOptions{})
		assert.True(t, apierrors.IsNotFound(err), "%v", err)
	})
}

func TestDeadlineEndsAWatch(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		api := testapi.New(t, store.Options{})
		start := time.Now()
		ctx, cancel := context.WithTimeout(t.Context(), 10*time.Minute)
		defer cancel()
		w, err := leases(t, api).Watch(ctx, metav1.ListOptions{})
		require.NoError(t, err)
		for range w.ResultChan() {
		}
		assert.Equal(t, 10*time.Minute, time.Since(start))
		synctest.Wait()
		assert.Zero(t, api.Store.Watchers())
		assert.Zero(t, api.Link.Open())
	})
}

func TestTimeoutSecondsEndAWatchWithoutError(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		api := testapi.New(t, store.Options{})
		start := time.Now()
		w, err := leases(t, api).Watch(t.Context(), metav1.ListOptions{TimeoutSeconds: new(int64(90))})
		require.NoError(t, err)
		for ev := range w.ResultChan() {
			assert.Fail(t, "an event", "%v", ev)
		}
		assert.Equal(t, 90*time.Second, time.Since(start))

		start = time.Now()
		w, err = leases(t, api).Watch(t.Context(), metav1.ListOptions{})
		require.NoError(t, err)
		for range w.ResultChan() {
		}
		assert.GreaterOrEqual(t, time.Since(start), 30*time.Minute)
		assert.Less(t, time.Since(start), time.Hour)
	})
}

func TestHTTPClientTimeoutEndsALongRequest(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		api := testapi.New(t, store.Options{})
		config := api.Config()
		config.Timeout = time.Second
		cs, err := kubernetes.NewForConfig(config)
		require.NoError(t, err)
		c := cs.CoordinationV1().Leases(testapi.Namespace)
		start := time.Now()
		w, err := c.Watch(t.Context(), metav1.ListOptions{})
		require.NoError(t, err)
		drain(t, w)
		assert.Equal(t, time.Second, time.Since(start))

		// The server waits at most three seconds for a future version.
		future := metav1.ListOptions{ResourceVersion: "5000"}
		start = time.Now()
		_, err = c.List(t.Context(), future)
		assert.ErrorIs(t, err, context.DeadlineExceeded)
		assert.Equal(t, time.Second, time.Since(start))
		_, err = leases(t, api).List(t.Context(), future)
		assert.True(t, apierrors.IsTimeout(err), "%v", err)
		assert.True(t, apierrors.HasStatusCause(err, metav1.CauseTypeResourceVersionTooLarge), "%v", err)
		synctest.Wait()
		assert.Zero(t, api.Store.Watchers())
	})
}
