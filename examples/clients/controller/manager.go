package main

import (
	"context"

	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/manager"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
)

// lock is the Lease that the replicas of the controller contend for.
const lock = "pools.kubecoord.example"

// newManager returns a replica of the controller, which works from when it is
// elected. namespace is where the lock is.
func newManager(config *rest.Config, namespace string, opts manager.Options) (manager.Manager, error) {
	opts.Scheme = runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{clientgoscheme.AddToScheme, addToScheme} {
		if err := add(opts.Scheme); err != nil {
			return nil, err
		}
	}
	opts.LeaderElection, opts.LeaderElectionID, opts.LeaderElectionNamespace = true, lock, namespace
	opts.LeaderElectionReleaseOnCancel = true
	mgr, err := manager.New(config, opts)
	if err != nil {
		return nil, err
	}
	// The controller is told of its own writes as well: the state that it has seen
	// may be older than the last of them, and what it left as it was may be wrong.
	return mgr, builder.ControllerManagedBy(mgr).Named("pool").
		For(&Pool{}).
		Owns(&corev1.Endpoints{}).
		Watches(&coordinationv1.Lease{}, handler.EnqueueRequestsFromMapFunc(poolsOf(mgr.GetClient()))).
		Complete(reconciler{mgr.GetClient()})
}

// poolsOf returns the function that names the Pools a Lease belongs to.
func poolsOf(reader client.Reader) handler.MapFunc {
	return func(ctx context.Context, lease client.Object) (requests []reconcile.Request) {
		pools := &PoolList{}
		if err := reader.List(ctx, pools, client.InNamespace(lease.GetNamespace())); err != nil {
			return nil // the cache is not there yet, and will tell of the Pools
		}
		for _, p := range pools.Items {
			if labels.SelectorFromSet(p.Spec.Members).Matches(labels.Set(lease.GetLabels())) {
				requests = append(requests, reconcile.Request{NamespacedName: client.ObjectKeyFromObject(&p)})
			}
		}
		return requests
	}
}
