package controllerruntime

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"
	"sigs.k8s.io/controller-runtime/pkg/manager"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
)

// publisher is a reconciler. For each Lease, whose holder is an address, it
// keeps Endpoints of the same name: the address is ready as long as the holder
// renews. The Lease is kept by a finalizer until its Endpoints are gone.
type publisher struct{ client.Client }

const published = "kubecoord.example/published"

// publish adds a publisher to a manager.
func publish(t *testing.T, mgr manager.Manager, opts ...builder.ForOption) {
	t.Helper()
	require.NoError(t, builder.ControllerManagedBy(mgr).Named("publisher").
		For(&coordinationv1.Lease{}, opts...).Owns(&corev1.Endpoints{}).
		Complete(publisher{mgr.GetClient()}))
}

// Reconcile updates the Endpoints of one Lease.
func (p publisher) Reconcile(ctx context.Context, req reconcile.Request) (reconcile.Result, error) {
	lease := &coordinationv1.Lease{}
	if err := p.Get(ctx, req.NamespacedName, lease); err != nil {
		return reconcile.Result{}, client.IgnoreNotFound(err)
	}
	if !lease.DeletionTimestamp.IsZero() {
		return reconcile.Result{}, p.withdraw(ctx, lease)
	}
	before := lease.DeepCopy()
	if controllerutil.AddFinalizer(lease, published) {
		if err := p.Patch(ctx, lease, client.MergeFromWithOptions(before, client.MergeFromWithOptimisticLock{})); err != nil {
			return reconcile.Result{}, err
		}
	}
	subset, left := subsetOf(lease, time.Now())
	endpoints := &corev1.Endpoints{ObjectMeta: metav1.ObjectMeta{Namespace: lease.Namespace, Name: lease.Name}}
	_, err := controllerutil.CreateOrPatch(ctx, p, endpoints, func() error {
		endpoints.Subsets = []corev1.EndpointSubset{subset}
		return controllerutil.SetControllerReference(lease, endpoints, p.Scheme())
	})
	return reconcile.Result{RequeueAfter: left}, err
}

func (p publisher) withdraw(ctx context.Context, lease *coordinationv1.Lease) error {
	endpoints := &corev1.Endpoints{ObjectMeta: metav1.ObjectMeta{Namespace: lease.Namespace, Name: lease.Name}}
	if err := p.Delete(ctx, endpoints); client.IgnoreNotFound(err) != nil {
		return err
	}
	before := lease.DeepCopy()
	if !controllerutil.RemoveFinalizer(lease, published) {
		return nil
	}
	return client.IgnoreNotFound(p.Patch(ctx, lease, client.MergeFromWithOptions(before, client.MergeFromWithOptimisticLock{})))
}

// subsetOf returns the address of a Lease's holder, and how long it is ready.
func subsetOf(lease *coordinationv1.Lease, now time.Time) (subset corev1.EndpointSubset, left time.Duration) {
	subset.Ports = []corev1.EndpointPort{{Port: 443, Protocol: corev1.ProtocolTCP}}
	address := []corev1.EndpointAddress{{IP: *lease.Spec.HolderIdentity}}
	left = lease.Spec.RenewTime.Add(time.Duration(*lease.Spec.LeaseDurationSeconds) * time.Second).Sub(now)
	if left > 0 {
		subset.Addresses = address
		return subset, left
	}
	subset.NotReadyAddresses = address
	return subset, 0
}
