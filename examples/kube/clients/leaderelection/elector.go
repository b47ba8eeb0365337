package main

import (
	"context"
	"fmt"
	"net/http"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	coordinationclient "k8s.io/client-go/kubernetes/typed/coordination/v1"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/leaderelection"
	"k8s.io/client-go/tools/leaderelection/resourcelock"
)

// The Lease that the electors contend for.
const (
	leaseNamespace = "default"
	leaseName      = "leader"
)

// timing has the durations of an elector; see leaderelection.LeaderElectionConfig.
type timing struct {
	leaseDuration, renewDeadline, retryPeriod time.Duration
}

// classicTiming is the default of Kubernetes. quickTiming is for -real. Its retryPeriod
// is the shortest that is safe: client-go compares whole seconds of renewTime
// (resourcelock, LeaderElectionRecord), so other electors miss the second of two
// renewals in one second, and take over before the Lease has expired.
var (
	classicTiming = timing{15 * time.Second, 10 * time.Second, 2 * time.Second}
	quickTiming   = timing{3 * time.Second, 2 * time.Second, time.Second}
)

// String names the three durations as client-go does.
func (t timing) String() string {
	return fmt.Sprintf("leaseDuration %s, renewDeadline %s, retryPeriod %s", t.leaseDuration, t.renewDeadline, t.retryPeriod)
}

// elector is one client-go elector that runs.
type elector struct {
	identity string
	cancel   context.CancelFunc
	done     chan struct{} // closed when it has stopped
}

// startElector starts an elector with its own client. It does not release the Lease
// when it is stopped, as if it had crashed.
func startElector(transport http.RoundTripper, ref *referee, identity string, t timing) (*elector, error) {
	client, err := coordinationclient.NewForConfig(&rest.Config{Host: "http://coordination", Transport: transport, QPS: -1})
	if err != nil {
		return nil, err
	}
	le, err := leaderelection.NewLeaderElector(leaderelection.LeaderElectionConfig{
		Lock: &resourcelock.LeaseLock{
			LeaseMeta:  metav1.ObjectMeta{Namespace: leaseNamespace, Name: leaseName},
			Client:     client,
			LockConfig: resourcelock.ResourceLockConfig{Identity: identity},
		},
		LeaseDuration: t.leaseDuration, RenewDeadline: t.renewDeadline, RetryPeriod: t.retryPeriod,
		Callbacks: leaderelection.LeaderCallbacks{
			OnStartedLeading: func(ctx context.Context) { ref.started(ctx, identity) },
			OnStoppedLeading: func() { ref.stopped(identity) },
		},
	})
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithCancel(context.Background())
	e := &elector{identity: identity, cancel: cancel, done: make(chan struct{})}
	go func() {
		defer close(e.done)
		le.Run(ctx)
	}()
	return e, nil
}

// stop cancels the elector and waits for its end.
func (e *elector) stop() {
	e.cancel()
	<-e.done
}
