package faults

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	utilnet "k8s.io/apimachinery/pkg/util/net"
	"k8s.io/client-go/kubernetes"
	coordinationclient "k8s.io/client-go/kubernetes/typed/coordination/v1"

	"github.com/kubecoord/kubecoord/httpapi/apitest"
	"github.com/kubecoord/kubecoord/internal/test/clients/internal/testapi"
)

func TestReadsAreRetriedAfterAConnectionIsCut(t *testing.T) {
	eachDoor(t, func(t *testing.T, api *apitest.API, leases coordinationclient.LeaseInterface) {
		create(t, leases, "a")
		api.ForgetRequests()
		api.Fault(apitest.CutBefore().First(1))
		_, err := leases.Get(t.Context(), "a", metav1.GetOptions{})
		require.NoError(t, err)
		api.Requests().Assert(t, "get leases test/a cut", "get leases test/a 200")
	})
}

func TestWritesFailWhenTheConnectionIsCutBeforeTheCommit(t *testing.T) {
	eachDoor(t, func(t *testing.T, api *apitest.API, leases coordinationclient.LeaseInterface) {
		create(t, leases, "warm")
		f := api.Fault(apitest.CutBefore().First(1), apitest.Match{Verb: "create"})
		_, err := leases.Create(t.Context(), testapi.Lease("a"), metav1.CreateOptions{})
		require.Error(t, err)
		assert.True(t, utilnet.IsProbableEOF(err), "%v", err)
		assert.Equal(t, 1, f.Matches(), "client-go does not retry")
		create(t, leases, "a") // the first write had no effect
	})
}

func TestWritesFailButAreDoneWhenTheConnectionIsCutAfterTheCommit(t *testing.T) {
	eachDoor(t, func(t *testing.T, api *apitest.API, leases coordinationclient.LeaseInterface) {
		f := api.Fault(apitest.CutAfter(), apitest.Match{Verb: "create", Resource: "Lease"}, apitest.Match{Verb: "update", Resource: "Lease"})
		_, err := leases.Create(t.Context(), testapi.Lease("a"), metav1.CreateOptions{})
		require.Error(t, err)
		assert.True(t, utilnet.IsProbableEOF(err), "%v", err)
		l, err := leases.Get(t.Context(), "a", metav1.GetOptions{})
		require.NoError(t, err)
		_, err = leases.Update(t.Context(), l, metav1.UpdateOptions{})
		require.Error(t, err)
		*l.Spec.LeaseTransitions++
		_, err = leases.Update(t.Context(), l, metav1.UpdateOptions{})
		require.Error(t, err)
		assert.Equal(t, 3, f.Hits())
		f.Remove()

		_, err = leases.Create(t.Context(), testapi.Lease("a"), metav1.CreateOptions{})
		assert.True(t, apierrors.IsAlreadyExists(err), "a second create must be AlreadyExists: %v", err)
		_, err = leases.Update(t.Context(), l, metav1.UpdateOptions{})
		assert.True(t, apierrors.IsConflict(err), "a second update must conflict with the first: %v", err)
	})
}

func TestHangingRequestsEndAtTheirDeadline(t *testing.T) {
	inMemory(t, func(t *testing.T, api *apitest.API, cs kubernetes.Interface) {
		f := api.Fault(apitest.Hang(), apitest.Match{Verb: "get"})
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		start := time.Now()
		_, err := leasesOf(cs).Get(ctx, "a", metav1.GetOptions{})
		require.ErrorIs(t, err, context.DeadlineExceeded)
		assert.Equal(t, time.Minute, time.Since(start))
		assert.Equal(t, 1, f.Hits())
	})
}

func TestDelayedRequestsSucceedUnlessADeadlineComesFirst(t *testing.T) {
	inMemory(t, func(t *testing.T, api *apitest.API, cs kubernetes.Interface) {
		api.Fault(apitest.Delay(10*time.Second), apitest.Match{Verb: "create"})
		start := time.Now()
		create(t, leasesOf(cs), "a")
		assert.Equal(t, 10*time.Second, time.Since(start))
		ctx, cancel := context.WithTimeout(t.Context(), 9*time.Second)
		defer cancel()
		_, err := leasesOf(cs).Create(ctx, testapi.Lease("b"), metav1.CreateOptions{})
		require.ErrorIs(t, err, context.DeadlineExceeded)
		time.Sleep(time.Minute)
		_, err = leasesOf(cs).Get(t.Context(), "b", metav1.GetOptions{})
		assert.True(t, apierrors.IsNotFound(err), "the delay was before the commit")
	})
}
