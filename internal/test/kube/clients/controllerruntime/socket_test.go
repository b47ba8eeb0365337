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
	"sigs.k8s.io/controller-runtime/pkg/predicate"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/kubecoord/kubecoord/internal/test/kube/clients/internal/testapi"
	"github.com/kubecoord/kubecoord/store"
)

// All other tests use the in-memory transport. This one uses a real connection. More of managers, their elections and their
// reconcilers is in examples/kube/clients/controller.
func TestElectedManagerReconcilesOverASocket(t *testing.T) {
	api := testapi.Listen(t, store.Options{})
	const lock = "operator.kubecoord.example"
	mgr := newManager(t, api, manager.Options{
		LeaderElection: true, LeaderElectionID: lock, LeaderElectionNamespace: testapi.Namespace, LeaderElectionReleaseOnCancel: true,
	})
	labelled := predicate.NewPredicateFuncs(func(o client.Object) bool { return len(o.GetLabels()) > 0 })
	holders := make(chan string, 100)
	require.NoError(t, builder.ControllerManagedBy(mgr).Named("holders").For(&coordinationv1.Lease{}, builder.WithPredicates(labelled)).
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
	l := testapi.Lease("a")
	l.Labels = map[string]string{"a": "1"}
	for _, holder := range []string{"x", "y"} {
		l.Spec.HolderIdentity = &holder
		if holder == "x" {
			require.NoError(t, c.Create(t.Context(), l))
		} else {
			require.NoError(t, c.Update(t.Context(), l))
		}
		assert.Equal(t, holder, <-holders)
	}
	require.NoError(t, running.stop())
	held := &coordinationv1.Lease{}
	require.NoError(t, c.Get(t.Context(), key(lock), held))
	assert.Empty(t, *held.Spec.HolderIdentity)
}
