package controllerruntime

import (
	"context"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	coordinationv1 "k8s.io/api/coordination/v1"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/manager"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/kubecoord/kubecoord/internal/test/clients/internal/testapi"
	"github.com/kubecoord/kubecoord/store"
)

// All other tests use the in-memory transport. This one shows the same over a
// real connection.
func TestElectedManagerReconcilesOverASocket(t *testing.T) {
	api := testapi.Listen(t, store.Options{})
	mgr := newManager(t, api, manager.Options{
		LeaderElection: true, LeaderElectionID: lock, LeaderElectionNamespace: testapi.Namespace, LeaderElectionReleaseOnCancel: true,
	})
	holders := make(chan string, 100)
	require.NoError(t, builder.ControllerManagedBy(mgr).Named("holders").For(&coordinationv1.Lease{}, builder.WithPredicates(wanted)).
		Complete(reconcile.Func(func(ctx context.Context, req reconcile.Request) (reconcile.Result, error) {
			l := &coordinationv1.Lease{}
			err := mgr.GetClient().Get(ctx, req.NamespacedName, l)
			if err == nil {
				holders <- *l.Spec.HolderIdentity
			}
			return reconcile.Result{}, client.IgnoreNotFound(err)
		})))
	running := run(t, mgr)
	<-mgr.Elected()
	c := newClient(t, api)
	l := heldBy("a", "x")
	l.Labels = map[string]string{"sign": "1"}
	require.NoError(t, c.Create(t.Context(), l))
	assert.Equal(t, "x", <-holders)
	renew(t, c, "a", "y")
	assert.Equal(t, "y", <-holders)
	require.NoError(t, running.stop())
	assert.Empty(t, *theLock(t, c).Spec.HolderIdentity)
}
