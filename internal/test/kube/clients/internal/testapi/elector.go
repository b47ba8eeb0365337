package testapi

import (
	"context"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	coordinationclient "k8s.io/client-go/kubernetes/typed/coordination/v1"
	"k8s.io/client-go/tools/leaderelection"
	"k8s.io/client-go/tools/leaderelection/resourcelock"
)

// The timing of the electors is the default of Kubernetes.
const (
	LeaseDuration = 15 * time.Second
	RenewDeadline = 10 * time.Second
	RetryPeriod   = 2 * time.Second
)

// LockName is the name of the Lease for which electors contend.
const LockName = "leader"

// Lock returns the lock of an elector.
func Lock(client coordinationclient.LeasesGetter, identity string) *resourcelock.LeaseLock {
	return &resourcelock.LeaseLock{
		LeaseMeta: metav1.ObjectMeta{Namespace: Namespace, Name: LockName}, Client: client,
		LockConfig: resourcelock.ResourceLockConfig{Identity: identity},
	}
}

// RunElector runs a client-go elector until ctx ends, or until it has led and lost. With release it releases the Lease at
// the end of ctx.
func RunElector(ctx context.Context, lock resourcelock.Interface, release bool, started func(context.Context), stopped func()) {
	le, err := leaderelection.NewLeaderElector(leaderelection.LeaderElectionConfig{
		Lock: lock, ReleaseOnCancel: release,
		LeaseDuration: LeaseDuration, RenewDeadline: RenewDeadline, RetryPeriod: RetryPeriod,
		Callbacks: leaderelection.LeaderCallbacks{OnStartedLeading: started, OnStoppedLeading: stopped},
	})
	if err != nil {
		panic(err)
	}
	le.Run(ctx)
}
