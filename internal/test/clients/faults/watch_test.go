package faults

import (
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	coordinationv1 "k8s.io/api/coordination/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	coordinationclient "k8s.io/client-go/kubernetes/typed/coordination/v1"

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

// starts returns how many requests asked for the whole state.
func starts(api *apitest.API) int {
	return len(api.Requests().Where(func(r apitest.Request) bool {
		return r.Verb == "list" || r.Verb == "watch" && r.Query.Get("sendInitialEvents") == "true"
	}))
}

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
				rec := testapi.Inform(t, informers.NewSharedInformerFactory(cs, 0))
				time.Sleep(10 * time.Second) // reflectors treat a watch that ends within a second as failed
				f := api.Fault(row.tear.First(1), apitest.Match{Verb: "watch"})
				api.Fault(apitest.Refuse(), apitest.Match{Verb: "watch"}).Remove() // it opens a new watch
				time.Sleep(10 * time.Second)
				api.ForgetRequests()
				create(t, leases, "a")
				create(t, leases, "b")
				time.Sleep(testapi.LongestBackoff)
				create(t, leases, "c")
				synctest.Wait()
				assert.Equal(t, 1, f.Hits())
				added := slices.DeleteFunc(rec.Take(), func(event string) bool { return event == "updated a" && row.starts > 0 })
				assert.ElementsMatch(t, []string{"added a", "added b", "added c"}, added, "each object is added once")
				assert.Equal(t, row.starts, starts(api), "any ERROR makes client-go list again")
			})
		})
	}
}

func TestInformerRecoversFromAnUnavailableServer(t *testing.T) {
	for name, answer := range map[string]meta.Status{
		"500": {Code: 500}, "503": {Code: 503}, "429": {Code: 429, Details: &meta.StatusDetails{RetryAfterSeconds: 3}}, "504": {Code: 504},
	} {
		t.Run(name, func(t *testing.T) {
			inMemory(t, func(t *testing.T, api *apitest.API, cs kubernetes.Interface) {
				create(t, leasesOf(cs), "a")
				f := api.Fault(apitest.AnswerStatus(answer).First(5), apitest.Match{Resource: "leases"})
				rec := testapi.Inform(t, informers.NewSharedInformerFactory(cs, 0))
				assert.Equal(t, 5, f.Hits())
				assert.Equal(t, []string{"found a"}, rec.Take())
			})
		})
	}
}
