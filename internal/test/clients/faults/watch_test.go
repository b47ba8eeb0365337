package faults

import (
	"context"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	coordinationv1 "k8s.io/api/coordination/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	coordinationclient "k8s.io/client-go/kubernetes/typed/coordination/v1"
	"k8s.io/client-go/tools/cache"

	"github.com/kubecoord/kubecoord/httpapi/apitest"
	"github.com/kubecoord/kubecoord/internal/test/clients/internal/testapi"
	"github.com/kubecoord/kubecoord/store/meta"
)

// named returns the type and the object name of an event.
func named(ev watch.Event) string {
	switch o := ev.Object.(type) {
	case *coordinationv1.Lease:
		return string(ev.Type) + " " + o.Name
	case *metav1.Status:
		return string(ev.Type) + " " + string(o.Reason)
	}
	return string(ev.Type)
}

func TestTornWatchesCloseTheirChannel(t *testing.T) {
	for name, row := range map[string]struct {
		tear apitest.Effect
		want []string
	}{
		"cleanly":      {apitest.EndWatch(2), []string{"ADDED a", "ADDED b"}},
		"at once":      {apitest.EndWatch(0), nil},
		"in mid-frame": {apitest.CutWatch(1), []string{"ADDED a"}},
		"expired":      {apitest.FailWatch(1, meta.Status{Code: 410}), []string{"ADDED a", "ERROR Expired"}},
		"broken":       {apitest.FailWatch(0, meta.Status{Code: 500}), []string{"ERROR InternalError"}},
	} {
		t.Run(name, func(t *testing.T) {
			eachDoor(t, func(t *testing.T, api *apitest.API, leases coordinationclient.LeaseInterface) {
				for _, name := range []string{"a", "b", "c"} {
					create(t, leases, name)
				}
				f := api.Fault(row.tear.First(1), apitest.Match{Verb: "watch", Resource: "leases"})
				w, err := leases.Watch(t.Context(), metav1.ListOptions{})
				require.NoError(t, err)
				defer w.Stop()
				var got []string
				for ev := range w.ResultChan() {
					got = append(got, named(ev))
				}
				assert.Equal(t, row.want, got)
				assert.Equal(t, 1, f.Hits())
			})
		})
	}
}

// recorder records the events of an informer.
type recorder struct {
	mu     sync.Mutex
	events []string
}

func (r *recorder) add(event string, obj any) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.events = append(r.events, event+" "+obj.(metav1.Object).GetName())
}

// take returns the events since the last call.
func (r *recorder) take() []string {
	r.mu.Lock()
	defer r.mu.Unlock()
	out := r.events
	r.events = nil
	return out
}

// inform starts an informer for leases and waits for its first sync. It ends with the test.
func inform(t *testing.T, cs kubernetes.Interface) *recorder {
	t.Helper()
	factory := informers.NewSharedInformerFactory(cs, 0)
	rec := &recorder{}
	_, err := factory.Coordination().V1().Leases().Informer().AddEventHandler(cache.ResourceEventHandlerFuncs{
		AddFunc:    func(obj any) { rec.add("added", obj) },
		UpdateFunc: func(_, obj any) { rec.add("updated", obj) },
		DeleteFunc: func(obj any) { rec.add("deleted", obj) },
	})
	require.NoError(t, err)
	ctx, cancel := context.WithCancel(t.Context())
	t.Cleanup(func() {
		cancel()
		factory.Shutdown()
	})
	factory.StartWithContext(ctx)
	require.NoError(t, factory.WaitForCacheSyncWithContext(ctx).Err)
	synctest.Wait()
	return rec
}

// starts returns how many requests asked for the whole state.
func starts(api *apitest.API) int {
	return len(api.Requests().Where(func(r apitest.Request) bool {
		return r.Verb == "list" || r.Verb == "watch" && r.Query.Get("sendInitialEvents") == "true"
	}))
}

// longestBackoff is longer than the backoff of reflectors.
const longestBackoff = 2 * time.Minute

func TestInformerRecoversFromATornWatch(t *testing.T) {
	for name, row := range map[string]struct {
		tear   apitest.Effect
		starts int // requests for the whole state
	}{
		"cleanly":        {apitest.EndWatch(1), 0},
		"in mid-frame":   {apitest.CutWatch(1), 0},
		"with an ERROR":  {apitest.FailWatch(1, meta.Status{Code: 500}), 1},
		"with ERROR 410": {apitest.FailWatch(1, meta.Status{Code: 410}), 1},
	} {
		t.Run(name, func(t *testing.T) {
			inMemory(t, func(t *testing.T, api *apitest.API, cs kubernetes.Interface) {
				leases := leasesOf(cs)
				rec := inform(t, cs)
				time.Sleep(10 * time.Second) // reflectors treat a watch that ends within a second as failed
				f := api.Fault(row.tear.First(1), apitest.Match{Verb: "watch"})
				api.Fault(apitest.Refuse(), apitest.Match{Verb: "watch"}).Remove() // it opens a new watch
				time.Sleep(10 * time.Second)
				api.ForgetRequests()
				create(t, leases, "a")
				create(t, leases, "b")
				time.Sleep(longestBackoff)
				create(t, leases, "c")
				synctest.Wait()
				assert.Equal(t, 1, f.Hits())
				added := slices.DeleteFunc(rec.take(), func(event string) bool { return event == "updated a" && row.starts > 0 })
				assert.ElementsMatch(t, []string{"added a", "added b", "added c"}, added, "each object is added once")
				assert.Equal(t, row.starts, starts(api), "any ERROR makes client-go list again")
			})
		})
	}
}

func TestInformerListsAgainWhenHistoryHasExpired(t *testing.T) {
	inMemory(t, func(t *testing.T, api *apitest.API, cs kubernetes.Interface) {
		leases := leasesOf(cs)
		create(t, leases, "a")
		rec := inform(t, cs)
		assert.Equal(t, []string{"added a"}, rec.take())
		time.Sleep(10 * time.Second)
		cut := api.Fault(apitest.Refuse(), apitest.Match{Verb: "watch"})
		create(t, leases, "b")
		require.NoError(t, leases.Delete(t.Context(), "b", metav1.DeleteOptions{}))
		create(t, leases, "c")
		api.ForgetRequests()
		expire := api.Fault(apitest.ExpireHistory().First(1), apitest.Match{Verb: "watch"})
		cut.Remove()
		time.Sleep(longestBackoff)
		assert.Equal(t, 1, expire.Hits())
		assert.Equal(t, 1, starts(api))
		assert.ElementsMatch(t, []string{"updated a", "added c"}, rec.take(), "it gets no event of b")
	})
}

func TestInformerRecoversFromAnUnavailableServer(t *testing.T) {
	for name, answer := range map[string]meta.Status{
		"500": {Code: 500}, "503": {Code: 503}, "429": {Code: 429, Details: &meta.StatusDetails{RetryAfterSeconds: 3}}, "504": {Code: 504},
	} {
		t.Run(name, func(t *testing.T) {
			inMemory(t, func(t *testing.T, api *apitest.API, cs kubernetes.Interface) {
				create(t, leasesOf(cs), "a")
				f := api.Fault(apitest.AnswerStatus(answer).First(5), apitest.Match{Resource: "leases"})
				rec := inform(t, cs)
				assert.Equal(t, 5, f.Hits())
				assert.Equal(t, []string{"added a"}, rec.take())
			})
		})
	}
}

func TestSlowEventsReachAnInformerLate(t *testing.T) {
	inMemory(t, func(t *testing.T, api *apitest.API, cs kubernetes.Interface) {
		leases := leasesOf(cs)
		api.Fault(apitest.SlowEvents(time.Minute), apitest.Match{Verb: "watch"})
		rec := inform(t, cs)
		for _, name := range []string{"a", "b", "c"} {
			create(t, leases, name)
		}
		time.Sleep(59 * time.Second)
		assert.Empty(t, rec.take())
		time.Sleep(10 * time.Minute) // bookmarks are delayed too
		assert.Equal(t, []string{"added a", "added b", "added c"}, rec.take())
	})
}

func TestInformerGetsNoEventsDuringASilentPartition(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		api := apitest.New(t)
		rec := inform(t, clientOf(t, api.Host(), api.TransportFor("informer")))
		leases := leasesOf(clientOf(t, api.Host(), api.Transport()))
		f := api.Fault(apitest.Partition(), apitest.Match{Client: "informer"})
		create(t, leases, "a")
		time.Sleep(time.Minute)
		assert.Empty(t, rec.take())
		f.Remove()
		synctest.Wait()
		assert.Equal(t, []string{"added a"}, rec.take())
	})
}

func TestExpiredListIsAResourceExpiredError(t *testing.T) {
	eachDoor(t, func(t *testing.T, api *apitest.API, leases coordinationclient.LeaseInterface) {
		for i := range 3 {
			_, err := leases.Create(t.Context(), testapi.LeaseNumber(i), metav1.CreateOptions{})
			require.NoError(t, err)
		}
		page, err := leases.List(t.Context(), metav1.ListOptions{Limit: 1})
		require.NoError(t, err)
		create(t, leases, "later")
		f := api.Fault(apitest.ExpireHistory().First(1), apitest.Match{Verb: "list"})
		_, err = leases.List(t.Context(), metav1.ListOptions{Limit: 1, Continue: page.Continue})
		assert.True(t, apierrors.IsResourceExpired(err), "%v", err)
		assert.Equal(t, 1, f.Hits())
	})
}
