package fastforward

import (
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	coordinationv1 "k8s.io/api/coordination/v1"
	coordinationv1beta1 "k8s.io/api/coordination/v1beta1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"

	"github.com/kubecoord/kubecoord/candidate"
	"github.com/kubecoord/kubecoord/httpapi/apitest"
	"github.com/kubecoord/kubecoord/store"
	"github.com/kubecoord/kubecoord/store/clock"
)

const namespace = "default"

var start = time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)

// serve returns a server with a manual clock, and client-go's clients over a socket.
func serve(t *testing.T) (*apitest.API, kubernetes.Interface) {
	t.Helper()
	api := apitest.New(t, apitest.Options{Store: store.Options{Clock: clock.NewManual(start)}})
	transport := &http.Transport{}
	t.Cleanup(transport.CloseIdleConnections)
	cs, err := kubernetes.NewForConfig(&rest.Config{Host: api.URL(), Transport: transport, QPS: -1})
	require.NoError(t, err)
	return api, cs
}

func watchLeases(t *testing.T, cs kubernetes.Interface, opts metav1.ListOptions) watch.Interface {
	t.Helper()
	w, err := cs.CoordinationV1().Leases(namespace).Watch(t.Context(), opts)
	require.NoError(t, err)
	t.Cleanup(w.Stop)
	return w
}

func TestWatchOfAClientTimesOut(t *testing.T) {
	api, cs := serve(t)
	w := watchLeases(t, cs, metav1.ListOptions{ResourceVersion: "1000", AllowWatchBookmarks: true, TimeoutSeconds: new(int64(600))})
	_, err := cs.CoreV1().Endpoints(namespace).Create(t.Context(), &corev1.Endpoints{ObjectMeta: metav1.ObjectMeta{Name: "a"}}, metav1.CreateOptions{})
	require.NoError(t, err)
	for range 9 {
		api.FastForward(time.Minute)
		assert.Equal(t, watch.Bookmark, (<-w.ResultChan()).Type)
	}
	api.FastForward(58 * time.Second)
	assert.Equal(t, watch.Bookmark, (<-w.ResultChan()).Type, "a last bookmark with the version")
	api.FastForward(2 * time.Second)
	_, open := <-w.ResultChan()
	assert.False(t, open)
}

// A Coordinator pings, gets an answer, elects, and deletes a silent candidate, all by the clock of the server. Nobody knows when it has
// set its next timer, so the test moves the clock in steps until it sees the outcome.
func TestCoordinatorActsWhenTimePasses(t *testing.T) {
	api, cs := serve(t)
	e, err := candidate.NewCoordinator(api.Store(), candidate.CoordinatorOptions{})
	require.NoError(t, err)
	done := make(chan error, 1)
	go func() { done <- e.Run(t.Context()) }()
	t.Cleanup(func() { <-done })
	leases, candidates := cs.CoordinationV1().Leases(namespace), cs.CoordinationV1beta1().LeaseCandidates(namespace)
	_, err = candidates.Create(t.Context(), &coordinationv1beta1.LeaseCandidate{
		ObjectMeta: metav1.ObjectMeta{Name: "a"},
		Spec: coordinationv1beta1.LeaseCandidateSpec{
			LeaseName: "main", BinaryVersion: "1.37.0", EmulationVersion: "1.37.0", Strategy: coordinationv1.OldestEmulationVersion,
			RenewTime: new(metav1.NewMicroTime(start.Add(-time.Minute))),
		},
	}, metav1.CreateOptions{})
	require.NoError(t, err)

	elected := func(after time.Time) bool {
		l, err := leases.Get(t.Context(), "main", metav1.GetOptions{})
		if !apierrors.IsNotFound(err) {
			require.NoError(t, err)
		}
		return err == nil && l.Spec.HolderIdentity != nil && *l.Spec.HolderIdentity == "a" && l.Spec.RenewTime.After(after)
	}
	answers := 0
	answer := func() {
		c, err := candidates.Get(t.Context(), "a", metav1.GetOptions{})
		require.NoError(t, err)
		if c.Spec.PingTime == nil || !c.Spec.PingTime.After(c.Spec.RenewTime.Time) {
			return
		}
		c.Spec.RenewTime = c.Spec.PingTime
		_, err = candidates.Update(t.Context(), c, metav1.UpdateOptions{})
		require.NoError(t, err)
		answers++
	}
	for !elected(start) {
		answer()
		api.FastForward(200 * time.Millisecond) // the Coordinator waits that long for other candidates
	}
	assert.NotZero(t, answers)

	// The candidate does not renew the Lease, which expires. So the candidate is elected again.
	last := api.Store().Clock().Now()
	for !elected(last) {
		answer()
		api.FastForward(200 * time.Millisecond)
	}

	// A candidate that is silent for half an hour is deleted.
	silent := api.Store().Clock().Now()
	for left := 1; left > 0; {
		api.FastForward(5 * time.Second)
		list, err := candidates.List(t.Context(), metav1.ListOptions{})
		require.NoError(t, err)
		left = len(list.Items)
	}
	assert.GreaterOrEqual(t, api.Store().Clock().Now().Sub(silent), 29*time.Minute)
}
