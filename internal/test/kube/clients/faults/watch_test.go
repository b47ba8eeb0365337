package faults

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	coordinationv1 "k8s.io/api/coordination/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/watch"
	coordinationclient "k8s.io/client-go/kubernetes/typed/coordination/v1"

	"github.com/kubecoord/kubecoord/httpapi/apitest"
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
