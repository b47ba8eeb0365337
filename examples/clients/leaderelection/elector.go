package main

import (
	"context"
	"fmt"
	"net/http"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/leaderelection"
	"k8s.io/client-go/tools/leaderelection/resourcelock"
)

// The Lease that is contended for.
const (
	leaseNamespace = "default"
	leaseName      = "leader"
)

// timing is when an elector does what; see leaderelection.LeaderElectionConfig.
type timing struct {
	leaseDuration, renewDeadline, retryPeriod time.Duration
}

// classicTiming is the default of Kubernetes. quickTiming is for the impatient,
// with the least retryPeriod there should be: client-go tells one state of the
// Lease from another by whole seconds of renewTime (resourcelock,
// LeaderElectionRecord), so that others miss the second of two renewals in one
// second, and take over before it has run out.
var (
	classicTiming = timing{15 * time.Second, 10 * time.Second, 2 * time.Second}
	quickTiming   = timing{3 * time.Second, 2 * time.Second, time.Second}
)

// patience is the longest time an elector waits between two looks at the Lease.
func (t timing) patience() time.Duration {
	return time.Duration(float64(t.retryPeriod) * (1 + leaderelection.JitterFactor))
}

// String names the three durations as client-go does.
func (t timing) String() string {
	return fmt.Sprintf("leaseDuration %s, renewDeadline %s, retryPeriod %s", t.leaseDuration, t.renewDeadline, t.retryPeriod)
}

// elector is one client-go elector at work, as a process of its own would run it.
type elector struct {
	identity string
	cancel   context.CancelFunc
	done     chan struct{} // closed when it has come to rest
}

// electorOptions say how an elector behaves.
type electorOptions struct {
	timing
	// releaseOnCancel makes an elector that is stopped let go of the Lease.
	// Without it stopping one is as good as killing it.
	releaseOnCancel bool
}

// startElector starts an elector that works with a client of its own.
func startElector(transport http.RoundTripper, ref *referee, identity string, opts electorOptions) (*elector, error) {
	client, err := newClient(transport)
	if err != nil {
		return nil, err
	}
	le, err := leaderelection.NewLeaderElector(leaderelection.LeaderElectionConfig{
		Lock: &resourcelock.LeaseLock{
			LeaseMeta:  metav1.ObjectMeta{Namespace: leaseNamespace, Name: leaseName},
			Client:     client,
			LockConfig: resourcelock.ResourceLockConfig{Identity: identity},
		},
		LeaseDuration: opts.leaseDuration, RenewDeadline: opts.renewDeadline, RetryPeriod: opts.retryPeriod,
		ReleaseOnCancel: opts.releaseOnCancel,
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

// stop cuts the elector's context and waits until it rests: it neither renews
// nor, without releaseOnCancel, releases the Lease.
func (e *elector) stop() {
	e.cancel()
	<-e.done
}
