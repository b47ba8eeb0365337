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
	"github.com/kubecoord/kubecoord/internal/test/clients/internal/testapi"
	"github.com/kubecoord/kubecoord/store/meta"
)

// controller is an informer for Leases, and what it was told: the label "phase" of each state that it saw.
type controller struct {
	leases coordinationclient.LeaseInterface // of the same client
	store  cache.Store
	synced cache.InformerSynced
	crash  func() // ends it; it is started anew by another startController

	mu     sync.Mutex // guards events
	events []string
}

// startController starts one, whose client is "controller". It ends with the test.
func startController(t *testing.T, api *apitest.API) *controller {
	t.Helper()
	cs := clientOf(t, api.Host(), api.TransportFor("controller"))
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

// saw returns what it was told since the last call.
func (c *controller) saw() []string {
	synctest.Wait()
	c.mu.Lock()
	defer c.mu.Unlock()
	out := c.events
	c.events = nil
	return out
}

// cached returns what the informer has of the Lease a.
func (c *controller) cached(t *testing.T) *coordinationv1.Lease {
	t.Helper()
	obj, ok, err := c.store.GetByKey(testapi.Namespace + "/a")
	require.NoError(t, err)
	require.True(t, ok)
	return obj.(*coordinationv1.Lease).DeepCopy()
}

// inPhase runs a test in a bubble, with informers that list and watch; leases see the truth. There is a Lease a in phase
// "new".
func inPhase(t *testing.T, test func(t *testing.T, api *apitest.API, leases coordinationclient.LeaseInterface)) {
	featurestesting.SetFeatureDuringTest(t, features.WatchListClient, false)
	synctest.Test(t, func(t *testing.T) {
		api := apitest.New(t)
		leases := leasesOf(clientOf(t, api.Host(), api.Transport()))
		l := testapi.Lease("a")
		l.Labels = map[string]string{"phase": "new"}
		_, err := leases.Create(t.Context(), l, metav1.CreateOptions{})
		require.NoError(t, err)
		test(t, api, leases)
	})
}

// setPhase changes the phase of the Lease a, without looking at what it was.
func setPhase(t *testing.T, leases coordinationclient.LeaseInterface, phase string) {
	t.Helper()
	patch, err := json.Marshal(map[string]any{"metadata": map[string]any{"labels": map[string]string{"phase": phase}}})
	require.NoError(t, err)
	_, err = leases.Patch(t.Context(), "a", types.MergePatchType, patch, metav1.PatchOptions{})
	require.NoError(t, err)
}

// recreate makes the Lease a another object of the same name.
func recreate(t *testing.T, leases coordinationclient.LeaseInterface, phase string) {
	t.Helper()
	require.NoError(t, leases.Delete(t.Context(), "a", metav1.DeleteOptions{}))
	l := testapi.Lease("a")
	l.Labels = map[string]string{"phase": phase}
	_, err := leases.Create(t.Context(), l, metav1.CreateOptions{})
	require.NoError(t, err)
}

// Stale state: the controller deletes Leases whose time has come. It has seen that the Lease was made anew; restarted
// against a replica that has not, it sees the old one again.
func TestControllerThatRestartsGoesBackInTime(t *testing.T) {
	for name, row := range map[string]struct {
		options func(seen *coordinationv1.Lease) metav1.DeleteOptions
		lost    bool
	}{
		"and deletes what is alive": {func(*coordinationv1.Lease) metav1.DeleteOptions { return metav1.DeleteOptions{} }, true},
		"and does no harm where it says what it saw": {func(seen *coordinationv1.Lease) metav1.DeleteOptions {
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

				f := api.Fault(apitest.Fault{Client: "controller", Resource: "leases", Stale: &apitest.Stale{ResourceVersion: then}})
				c = startController(t, api)
				assert.Equal(t, []string{"added over"}, c.saw(), "what it had seen end")
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
				assert.Equal(t, want, c.saw(), "then it is told all")
			})
		})
	}
}

// Informers that start with a stream ask for the state as it is: they do without one as long as the replica lags.
func TestControllerThatStreamsDoesNotGoBackInTime(t *testing.T) {
	inPhase(t, func(t *testing.T, api *apitest.API, leases coordinationclient.LeaseInterface) {
		featurestesting.SetFeatureDuringTest(t, features.WatchListClient, true)
		f := api.Fault(apitest.Fault{Client: "controller", Stale: &apitest.Stale{}})
		setPhase(t, leases, "old")
		c := startController(t, api)
		time.Sleep(time.Minute)
		assert.False(t, c.synced())
		assert.Empty(t, c.saw())
		assert.Greater(t, f.Hits(), 2, "each of its streams ends after three seconds")
		f.Remove()
		time.Sleep(longestBackoff)
		assert.True(t, c.synced())
		assert.Equal(t, []string{"added old"}, c.saw())
	})
}

// An informer that goes on knows what it has seen, and so do its requests.
func TestControllerThatGoesOnDoesNotGoBackInTime(t *testing.T) {
	inPhase(t, func(t *testing.T, api *apitest.API, leases coordinationclient.LeaseInterface) {
		c := startController(t, api)
		then := api.Store().ResourceVersion()
		setPhase(t, leases, "old")
		assert.Equal(t, []string{"added new", "updated old"}, c.saw())
		time.Sleep(10 * time.Second) // reflectors mistrust watches that end within a second
		f := api.Fault(apitest.Fault{Client: "controller", Stale: &apitest.Stale{ResourceVersion: then}})
		api.Fault(apitest.Fault{Client: "controller", Partition: apitest.Refused}).Remove() // it watches anew
		time.Sleep(10 * time.Second)
		assert.NotZero(t, f.Hits())
		setPhase(t, leases, "older")
		time.Sleep(time.Minute)
		assert.Empty(t, c.saw(), "the replica does not know yet")

		api.Fault(apitest.Fault{Verb: "watch", First: 1, Answer: meta.Status{Code: 410}})
		api.Fault(apitest.Fault{Client: "controller", Partition: apitest.Refused}).Remove() // it has to list anew
		time.Sleep(longestBackoff)
		assert.Equal(t, []string{"updated older"}, c.saw(), "the list waits for the replica in vain, and is true")
		f.Remove()
		assert.Empty(t, c.saw(), "nothing is told twice")
	})
}

// Unobserved state: the mark was there, and then another, but only who watched saw it.
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
				f := api.Fault(apitest.Fault{Client: "controller", Stale: &apitest.Stale{SkipMissed: row.skip}})
				assert.Equal(t, []string{"added new"}, c.saw())
				time.Sleep(10 * time.Second)
				api.Fault(apitest.Fault{Client: "controller", Partition: apitest.Refused}).Remove() // it watches anew
				time.Sleep(10 * time.Second)
				setPhase(t, leases, "marked")
				setPhase(t, leases, "done")
				assert.Empty(t, c.saw())
				f.Remove()
				time.Sleep(longestBackoff)
				assert.Equal(t, row.want, c.saw())
				assert.Equal(t, 1, f.Hits())
			})
		})
	}
}

// What is deleted and made anew unobserved is an update to an informer.
func TestControllerTakesANewObjectForTheOldOne(t *testing.T) {
	inPhase(t, func(t *testing.T, api *apitest.API, leases coordinationclient.LeaseInterface) {
		f := api.Fault(apitest.Fault{Client: "controller", Stale: &apitest.Stale{SkipMissed: true}})
		c := startController(t, api)
		assert.Equal(t, []string{"added new"}, c.saw())
		before := c.cached(t).UID
		recreate(t, leases, "anew")
		f.Remove()
		time.Sleep(longestBackoff)
		assert.Equal(t, []string{"updated anew"}, c.saw(), "no deletion is told")
		assert.NotEqual(t, before, c.cached(t).UID)
	})
}

// step is what a controller that works in two steps does about the phase that it has seen: it claims the Lease, and then
// counts the transition. A careful one updates what it has seen, another what is there.
func (c *controller) step(t *testing.T, careful bool) error {
	t.Helper()
	seen := c.cached(t)
	l := seen.DeepCopy()
	if !careful {
		var err error
		l, err = c.leases.Get(t.Context(), "a", metav1.GetOptions{})
		require.NoError(t, err)
	}
	switch seen.Labels["phase"] {
	case "new":
		l.Labels["phase"] = "claimed"
	case "claimed":
		l.Labels["phase"] = "counted"
		*l.Spec.LeaseTransitions++
	}
	_, err := c.leases.Update(t.Context(), l, metav1.UpdateOptions{})
	return err
}

// Intermediate state: the controller has taken both steps when it restarts, but sees the first alone.
func TestControllerThatRestartsSeesTheMiddleOfItsWrites(t *testing.T) {
	for name, careful := range map[string]bool{"and takes the second step twice": false, "and meets a conflict where it says what it saw": true} {
		t.Run(name, func(t *testing.T) {
			inPhase(t, func(t *testing.T, api *apitest.API, leases coordinationclient.LeaseInterface) {
				c := startController(t, api)
				start := *c.cached(t).Spec.LeaseTransitions
				require.NoError(t, c.step(t, true))
				between := api.Store().ResourceVersion()
				assert.Equal(t, []string{"added new", "updated claimed"}, c.saw())
				require.NoError(t, c.step(t, true))
				assert.Equal(t, []string{"updated counted"}, c.saw())
				c.crash()

				f := api.Fault(apitest.Fault{Client: "controller", Stale: &apitest.Stale{ResourceVersion: between}})
				c = startController(t, api)
				assert.Equal(t, []string{"added claimed"}, c.saw())
				err := c.step(t, careful)
				assert.Equal(t, careful, apierrors.IsConflict(err), "%v", err)
				stored, err := leases.Get(t.Context(), "a", metav1.GetOptions{})
				require.NoError(t, err)
				assert.Equal(t, careful, *stored.Spec.LeaseTransitions == start+1, "counted once")

				f.Remove()
				assert.Contains(t, c.saw(), "updated counted")
				assert.Equal(t, stored, c.cached(t))
			})
		})
	}
}

// Electors read without a resourceVersion: what lags does not touch them. Where a cache against the rules makes a
// follower believe that nobody renews, its write is refused.
func TestElectorsAreSafeFromStaleReads(t *testing.T) {
	for name, everyRead := range map[string]bool{"within the rules": false, "against them": true} {
		t.Run(name, func(t *testing.T) {
			inTeam(t, func(tm *team) {
				f := tm.api.Fault(apitest.Fault{Client: "b", Stale: &apitest.Stale{EveryRead: everyRead}})
				assert.Empty(t, tm.wait(10*time.Minute))
				assert.Equal(t, everyRead, f.Hits() > 0)
				refused := tm.api.Requests().Where(func(r apitest.Request) bool { return r.Client == "b" && r.Status == 409 })
				assert.Equal(t, everyRead, len(refused) > 0)
			})
		})
	}
}
