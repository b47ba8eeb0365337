package faults

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	utilnet "k8s.io/apimachinery/pkg/util/net"
	coordinationclient "k8s.io/client-go/kubernetes/typed/coordination/v1"

	"github.com/kubecoord/kubecoord/httpapi/apitest"
	"github.com/kubecoord/kubecoord/internal/test/kube/clients/internal/testapi"
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
