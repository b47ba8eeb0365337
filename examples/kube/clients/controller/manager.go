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

// newManager returns a replica of the controller. It works while it holds the lock in
// namespace.
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
	// The controller also gets events for its own writes, because it may have decided by
	// a state that is older than them.
	return mgr, builder.ControllerManagedBy(mgr).Named("pool").
		For(&Pool{}).
		Owns(&corev1.Endpoints{}).
		Watches(&coordinationv1.Lease{}, handler.EnqueueRequestsFromMapFunc(poolsOf(mgr.GetClient()))).
		Complete(reconciler{mgr.GetClient()})
}

// poolsOf returns a function that lists the Pools of a Lease.
func poolsOf(reader client.Reader) handler.MapFunc {
	return func(ctx context.Context, lease client.Object) (requests []reconcile.Request) {
		pools := &PoolList{}
		if err := reader.List(ctx, pools, client.InNamespace(lease.GetNamespace())); err != nil {
			return nil // the cache has not started; it will send the Pools
		}
		for _, p := range pools.Items {
			if labels.SelectorFromSet(p.Spec.Members).Matches(labels.Set(lease.GetLabels())) {
				requests = append(requests, reconcile.Request{NamespacedName: client.ObjectKeyFromObject(&p)})
			}
		}
		return requests
	}
}
