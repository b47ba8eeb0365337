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
	api.FastForward(time.Minute)
	assert.Equal(t, watch.Bookmark, (<-w.ResultChan()).Type, "a last bookmark with the version")
	_, open := <-w.ResultChan()
	assert.False(t, open)
}

// An Elector pings, gets an answer, elects, and deletes a silent candidate, all by the clock of the server.
func TestElectorActsWhenTimePasses(t *testing.T) {
	api, cs := serve(t)
	e, err := candidate.NewElector(api.Store(), candidate.ElectorOptions{})
	require.NoError(t, err)
	done := make(chan error, 1)
	go func() { done <- e.Run(t.Context()) }()
	t.Cleanup(func() { <-done })
	w := watchLeases(t, cs, metav1.ListOptions{ResourceVersion: "1000"})

	candidates := cs.CoordinationV1beta1().LeaseCandidates(namespace)
	pings, err := candidates.Watch(t.Context(), metav1.ListOptions{ResourceVersion: "1000"})
	require.NoError(t, err)
	t.Cleanup(pings.Stop)
	_, err = candidates.Create(t.Context(), &coordinationv1beta1.LeaseCandidate{
		ObjectMeta: metav1.ObjectMeta{Name: "a"},
		Spec: coordinationv1beta1.LeaseCandidateSpec{
			LeaseName: "main", BinaryVersion: "1.37.0", EmulationVersion: "1.37.0", Strategy: coordinationv1.OldestEmulationVersion,
			RenewTime: new(metav1.NewMicroTime(start.Add(-time.Minute))),
		},
	}, metav1.CreateOptions{})
	require.NoError(t, err)
	<-pings.ResultChan() // the creation
	answer := func(after time.Duration) {
		asked := (<-pings.ResultChan()).Object.(*coordinationv1beta1.LeaseCandidate)
		require.NotNil(t, asked.Spec.PingTime)
		assert.Equal(t, start.Add(after), asked.Spec.PingTime.UTC())
		asked.Spec.RenewTime = asked.Spec.PingTime
		_, err = candidates.Update(t.Context(), asked, metav1.UpdateOptions{})
		require.NoError(t, err)
		<-pings.ResultChan() // the answer
	}
	answer(0)

	// The Elector waits for other candidates.
	const moment = 200 * time.Millisecond
	api.FastForward(moment)
	elected := (<-w.ResultChan()).Object.(*coordinationv1.Lease)
	assert.Equal(t, "a", *elected.Spec.HolderIdentity)
	assert.Equal(t, start.Add(moment), elected.Spec.RenewTime.UTC())

	// The candidate does not renew the Lease, which expires. It answers again, and is elected at the time of the answer.
	api.FastForward(5 * time.Second)
	answer(moment + 5*time.Second)
	again := (<-w.ResultChan()).Object.(*coordinationv1.Lease)
	assert.Equal(t, start.Add(moment+5*time.Second), again.Spec.RenewTime.UTC())

	api.FastForward(time.Hour)
	left, err := candidates.List(t.Context(), metav1.ListOptions{})
	require.NoError(t, err)
	assert.Empty(t, left.Items, "a candidate that is silent for half an hour is deleted")
}
