package main

import (
	"context"
	"net/http"
	"sync"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/leaderelection"
	"k8s.io/client-go/tools/leaderelection/resourcelock"
)

// The Lease that the processes contend for.
const (
	leaseNamespace = "kube-system"
	leaseName      = "controller"
)

// timing has the durations of an elector; see leaderelection.LeaderElectionConfig.
type timing struct {
	leaseDuration, renewDeadline, retryPeriod time.Duration
}

// patience is the longest time between two reads of the Lease by an elector.
func (t timing) patience() time.Duration {
	return time.Duration(float64(t.retryPeriod) * (1 + leaderelection.JitterFactor))
}

// contender is a participant in the election.
type contender struct {
	Name, BinaryVersion, EmulationVersion string
	// Transport reaches the server.
	Transport http.RoundTripper
	// Started and Stopped are called when the contender begins and ceases to lead.
	Started func(ctx context.Context)
	Stopped func()
}

type processOptions struct {
	contender
	timing
	// releases makes the process release the Lease when it is drained.
	releases bool
	// plain makes the process contend without a candidate, as before an upgrade to
	// coordinated election.
	plain bool
}

// process is a component of a control plane. It has a candidate, unless it is plain,
// and an elector that starts again when it has lost the Lease.
type process struct {
	processOptions
	client      kubernetes.Interface
	offer       *leaderelection.LeaseCandidate
	stopOffer   func()
	stopElector func()
}

func startProcess(opts processOptions) (*process, error) {
	client, err := kubernetes.NewForConfig(&rest.Config{Host: "http://coordination", Transport: opts.Transport, QPS: -1})
	if err != nil {
		return nil, err
	}
	p := &process{processOptions: opts, client: client, stopOffer: func() {}}
	elector, err := p.newElector()
	if err != nil {
		return nil, err
	}
	if !p.plain {
		p.offer, _, err = leaderelection.NewCandidate(client, leaseNamespace, opts.Name, leaseName,
			opts.BinaryVersion, opts.EmulationVersion, coordinationv1.OldestEmulationVersion)
		if err != nil {
			return nil, err
		}
		p.stopOffer = inBackground(p.offer.Run)
	}
	p.stopElector = inBackground(func(ctx context.Context) {
		for elector.Run(ctx); ctx.Err() == nil; elector.Run(ctx) {
			if elector, err = p.newElector(); err != nil {
				panic(err) // the same options were valid before
			}
		}
	})
	return p, nil
}

// inBackground runs f until stop is called, which waits for its end.
func inBackground(f func(context.Context)) (stop func()) {
	ctx, cancel := context.WithCancel(context.Background())
	var wg sync.WaitGroup
	wg.Go(func() { f(ctx) })
	return func() { cancel(); wg.Wait() }
}

func (p *process) newElector() (*leaderelection.LeaderElector, error) {
	return leaderelection.NewLeaderElector(leaderelection.LeaderElectionConfig{
		Lock: lock{p, &resourcelock.LeaseLock{
			LeaseMeta:  metav1.ObjectMeta{Namespace: leaseNamespace, Name: leaseName},
			Client:     p.client.CoordinationV1(),
			LockConfig: resourcelock.ResourceLockConfig{Identity: p.Name},
		}},
		LeaseDuration: p.leaseDuration, RenewDeadline: p.renewDeadline, RetryPeriod: p.retryPeriod,
		Coordinated: !p.plain, ReleaseOnCancel: p.releases,
		Callbacks: leaderelection.LeaderCallbacks{
			OnStartedLeading: p.Started, OnStoppedLeading: p.Stopped,
		},
	})
}

// lock reports the end of a term before the elector releases the Lease. client-go
// reports it only afterwards (ReleaseOnCancel).
type lock struct {
	p *process
	*resourcelock.LeaseLock
}

// Update writes the Lease.
func (l lock) Update(ctx context.Context, record resourcelock.LeaderElectionRecord) error {
	if record.HolderIdentity == "" {
		l.p.Stopped()
	}
	return l.LeaseLock.Update(ctx, record)
}

// kill ends the process like a crash: its candidate stays. The Lease stays too if the
// transport was cut before or the process does not release.
func (p *process) kill() {
	p.stopOffer()
	p.stop()
}

// drain ends the process in order: it deletes its candidate and then releases the
// Lease, if it does. In the other order it could be elected again in between.
func (p *process) drain(ctx context.Context) error {
	if p.plain {
		p.stop()
		return nil
	}
	p.stopOffer()
	err := p.client.CoordinationV1beta1().LeaseCandidates(leaseNamespace).Delete(ctx, p.Name, metav1.DeleteOptions{})
	p.stop()
	return err
}

func (p *process) stop() {
	p.Stopped()
	p.stopElector()
}
