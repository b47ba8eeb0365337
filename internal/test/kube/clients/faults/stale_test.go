package faults

import (
	"context"
	"encoding/json"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	coordinationv1 "k8s.io/api/coordination/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/features"
	featurestesting "k8s.io/client-go/features/testing"
	"k8s.io/client-go/informers"
	coordinationclient "k8s.io/client-go/kubernetes/typed/coordination/v1"
	"k8s.io/client-go/tools/cache"

	"github.com/kubecoord/kubecoord/httpapi/apitest"
	"github.com/kubecoord/kubecoord/internal/test/kube/clients/internal/testapi"
)

// controller is an informer for Leases that records its events: the label "phase" of each state.
type controller struct {
	leases coordinationclient.LeaseInterface // of the same client
	store  cache.Store
	synced cache.InformerSynced
	crash  func() // ends it; startController starts a new one

	mu     sync.Mutex // guards events
	events []string
}

// startController starts a controller with the client name "controller". It ends with the test.
func startController(t *testing.T, api *apitest.API) *controller {
	t.Helper()
	cs := clientOf(t, api, "controller")
	factory := informers.NewSharedInformerFactory(cs, 0)
	informer := factory.Coordination().V1().Leases().Informer()
	c := &controller{leases: leasesOf(cs), store: informer.GetStore(), synced: informer.HasSynced}
	add := func(event string, obj any) {
		c.mu.Lock()
		defer c.mu.Unlock()
		c.events = append(c.events, event+" "+obj.(*coordinationv1.Lease).Labels["phase"])
	}
	_, err := informer.AddEventHandler(cache.ResourceEventHandlerFuncs{
		AddFunc:    func(obj any) { add("added", obj) },
		UpdateFunc: func(_, obj any) { add("updated", obj) },
		DeleteFunc: func(obj any) { add("deleted", obj) },
	})
	require.NoError(t, err)
	ctx, cancel := context.WithCancel(t.Context())
	c.crash = sync.OnceFunc(func() {
		cancel()
		factory.Shutdown()
	})
	t.Cleanup(c.crash)
	factory.StartWithContext(ctx)
	synctest.Wait()
	return c
}

// saw returns the events since the last call.
func (c *controller) saw() []string {
	synctest.Wait()
	c.mu.Lock()
	defer c.mu.Unlock()
	out := c.events
	c.events = nil
	return out
}

// cached returns the Lease a from the informer's cache.
func (c *controller) cached(t *testing.T) *coordinationv1.Lease {
	t.Helper()
	obj, ok, err := c.store.GetByKey(testapi.Namespace + "/a")
	require.NoError(t, err)
	require.True(t, ok)
	return obj.(*coordinationv1.Lease).DeepCopy()
}

// inPhase runs a test in a bubble, with informers that list and watch; leases reads the true state. A Lease a
// exists in phase "new".
func inPhase(t *testing.T, test func(t *testing.T, api *apitest.API, leases coordinationclient.LeaseInterface)) {
	featurestesting.SetFeatureDuringTest(t, features.WatchListClient, false)
	synctest.Test(t, func(t *testing.T) {
		api := apitest.New(t)
		leases := leasesOf(clientOf(t, api, ""))
		l := testapi.Lease("a")
		l.Labels = map[string]string{"phase": "new"}
		_, err := leases.Create(t.Context(), l, metav1.CreateOptions{})
		require.NoError(t, err)
		test(t, api, leases)
	})
}

// setPhase changes the phase of the Lease a without a read.
func setPhase(t *testing.T, leases coordinationclient.LeaseInterface, phase string) {
	t.Helper()
	patch, err := json.Marshal(map[string]any{"metadata": map[string]any{"labels": map[string]string{"phase": phase}}})
	require.NoError(t, err)
	_, err = leases.Patch(t.Context(), "a", types.MergePatchType, patch, metav1.PatchOptions{})
	require.NoError(t, err)
}

// recreate deletes the Lease a and creates it again.
func recreate(t *testing.T, leases coordinationclient.LeaseInterface, phase string) {
	t.Helper()
	require.NoError(t, leases.Delete(t.Context(), "a", metav1.DeleteOptions{}))
	l := testapi.Lease("a")
	l.Labels = map[string]string{"phase": phase}
	_, err := leases.Create(t.Context(), l, metav1.CreateOptions{})
	require.NoError(t, err)
}

// Stale state: the controller deletes Leases in phase "over". It has seen that the Lease was created again. After a restart
// against a replica that lags, it sees the old Lease.
func TestRestartedControllerGoesBackInTime(t *testing.T) {
	for name, row := range map[string]struct {
		options func(seen *coordinationv1.Lease) metav1.DeleteOptions
		lost    bool
	}{
		"and deletes the new object": {func(*coordinationv1.Lease) metav1.DeleteOptions { return metav1.DeleteOptions{} }, true},
		"and deletes nothing with a precondition": {func(seen *coordinationv1.Lease) metav1.DeleteOptions {
			return metav1.DeleteOptions{Preconditions: &metav1.Preconditions{UID: &seen.UID}}
		}, false},
	} {
		t.Run(name, func(t *testing.T) {
			inPhase(t, func(t *testing.T, api *apitest.API, leases coordinationclient.LeaseInterface) {
				c := startController(t, api)
				setPhase(t, leases, "over")
				then := api.Store().ResourceVersion()
				recreate(t, leases, "alive")
				assert.Equal(t, []string{"added new", "updated over", "deleted over", "added alive"}, c.saw())
				c.crash()

				f := api.Fault(apitest.Stale(apitest.StaleOptions{ResourceVersion: then}), apitest.Match{Resource: "leases", Client: "controller"})
				c = startController(t, api)
				assert.Equal(t, []string{"added over"}, c.saw(), "the state before the deletion")
				err := c.leases.Delete(t.Context(), "a", row.options(c.cached(t)))
				assert.Equal(t, row.lost, err == nil)
				assert.Equal(t, !row.lost, apierrors.IsConflict(err))
				_, err = leases.Get(t.Context(), "a", metav1.GetOptions{})
				assert.Equal(t, row.lost, apierrors.IsNotFound(err))

				assert.Equal(t, 2, f.Hits(), "a list and a watch")
				f.Remove()
				want := []string{"deleted over", "added alive"}
				if row.lost {
					want = append(want, "deleted alive")
				}
				assert.Equal(t, want, c.saw(), "after the replica catches up it sees all changes")
			})
		})
	}
}

// Informers that start with a stream request the latest state: they get none while the replica lags.
func TestStreamingControllerDoesNotGoBackInTime(t *testing.T) {
	inPhase(t, func(t *testing.T, api *apitest.API, leases coordinationclient.LeaseInterface) {
		featurestesting.SetFeatureDuringTest(t, features.WatchListClient, true)
		f := api.Fault(apitest.Stale(apitest.StaleOptions{}), apitest.Match{Client: "controller"})
		setPhase(t, leases, "old")
		c := startController(t, api)
		time.Sleep(time.Minute)
		assert.False(t, c.synced())
		assert.Empty(t, c.saw())
		assert.Greater(t, f.Hits(), 2, "each stream ends after three seconds")
		f.Remove()
		time.Sleep(testapi.LongestBackoff)
		assert.True(t, c.synced())
		assert.Equal(t, []string{"added old"}, c.saw())
	})
}

// The replica is a server without WatchList: informers that start with a stream list instead, and see the past.
func TestStreamingControllerGoesBackInTimeWithoutWatchList(t *testing.T) {
	for name, o := range map[string]apitest.StaleOptions{
		"every object": {NoWatchList: true},
		"one object":   {NoWatchList: true, Namespace: testapi.Namespace, Name: "a"},
	} {
		t.Run(name, func(t *testing.T) {
			inPhase(t, func(t *testing.T, api *apitest.API, leases coordinationclient.LeaseInterface) {
				featurestesting.SetFeatureDuringTest(t, features.WatchListClient, true)
				f := api.Fault(apitest.Stale(o), apitest.Match{Client: "controller"})
				setPhase(t, leases, "old")
				c := startController(t, api)
				assert.True(t, c.synced())
				assert.Equal(t, []string{"added new"}, c.saw())
				f.Remove()
				assert.Equal(t, []string{"updated old"}, c.saw())
			})
		})
	}
}

// Unobserved states of one object: the informer sees the last one, of another incarnation.
func TestControllerMissesHiddenEvents(t *testing.T) {
	for _, watchList := range []bool{false, true} {
		inPhase(t, func(t *testing.T, api *apitest.API, leases coordinationclient.LeaseInterface) {
			featurestesting.SetFeatureDuringTest(t, features.WatchListClient, watchList)
			c := startController(t, api)
			assert.Equal(t, []string{"added new"}, c.saw())
			before := c.cached(t).UID
			f := api.Fault(apitest.HideEvents(testapi.Namespace, "a"), apitest.Match{Client: "controller"})
			setPhase(t, leases, "over")
			recreate(t, leases, "alive")
			time.Sleep(10 * time.Minute) // watches end meanwhile, and start again
			assert.Empty(t, c.saw())
			f.Remove()
			assert.Equal(t, []string{"updated alive"}, c.saw())
			assert.NotEqual(t, before, c.cached(t).UID)
		})
	}
}

// An informer that goes on knows what it has seen, and so do its requests.
func TestRunningControllerDoesNotGoBackInTime(t *testing.T) {
	inPhase(t, func(t *testing.T, api *apitest.API, leases coordinationclient.LeaseInterface) {
		c := startController(t, api)
		then := api.Store().ResourceVersion()
		setPhase(t, leases, "old")
		assert.Equal(t, []string{"added new", "updated old"}, c.saw())
		time.Sleep(10 * time.Second) // reflectors mistrust watches that end within a second
		f := api.Fault(apitest.Stale(apitest.StaleOptions{ResourceVersion: then}), apitest.Match{Client: "controller"})
		api.Fault(apitest.Refuse(), apitest.Match{Client: "controller"}).Remove() // it watches anew
		time.Sleep(10 * time.Second)
		assert.NotZero(t, f.Hits())
		setPhase(t, leases, "older")
		time.Sleep(time.Minute)
		assert.Empty(t, c.saw(), "the replica lags")

		api.Fault(apitest.Answer(410).First(1), apitest.Match{Verb: "watch"})
		api.Fault(apitest.Refuse(), apitest.Match{Client: "controller"}).Remove() // it has to list anew
		time.Sleep(testapi.LongestBackoff)
		assert.Equal(t, []string{"updated older"}, c.saw(), "the list cannot wait for the replica, and is answered from the true state")
		f.Remove()
		assert.Empty(t, c.saw(), "no event is repeated")
	})
}

// Unobserved state: only a client that watched all the time sees the intermediate phase.
func TestControllerMissesAStateThatTheReplicaSkips(t *testing.T) {
	for name, row := range map[string]struct {
		skip bool
		want []string
	}{
		"skipped":   {true, []string{"updated done"}},
		"caught up": {false, []string{"updated marked", "updated done"}},
	} {
		t.Run(name, func(t *testing.T) {
			inPhase(t, func(t *testing.T, api *apitest.API, leases coordinationclient.LeaseInterface) {
				c := startController(t, api)
				f := api.Fault(apitest.Stale(apitest.StaleOptions{SkipMissed: row.skip}), apitest.Match{Client: "controller"})
				assert.Equal(t, []string{"added new"}, c.saw())
				time.Sleep(10 * time.Second)
				api.Fault(apitest.Refuse(), apitest.Match{Client: "controller"}).Remove() // it opens a new watch
				time.Sleep(10 * time.Second)
				setPhase(t, leases, "marked")
				setPhase(t, leases, "done")
				assert.Empty(t, c.saw())
				f.Remove()
				time.Sleep(testapi.LongestBackoff)
				assert.Equal(t, row.want, c.saw())
				assert.Equal(t, 1, f.Hits())
			})
		})
	}
}

// Electors read without a resourceVersion, so a lagging replica does not affect them. If a faulty cache returns old state
// and a follower believes that nobody renews, its write is refused.
func TestElectorsAreSafeFromStaleReads(t *testing.T) {
	for name, everyRead := range map[string]bool{"within the rules": false, "against them": true} {
		t.Run(name, func(t *testing.T) {
			inTeam(t, func(tm *team) {
				f := tm.api.Fault(apitest.Stale(apitest.StaleOptions{EveryRead: everyRead}), apitest.Match{Client: "b"})
				assert.Empty(t, tm.wait(10*time.Minute))
				assert.Equal(t, everyRead, f.Hits() > 0)
				refused := tm.api.Requests().Where(func(r apitest.Request) bool { return r.Client == "b" && r.Status == 409 })
				assert.Equal(t, everyRead, len(refused) > 0)
			})
		})
	}
}
