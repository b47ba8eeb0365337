package main

import (
	"context"
	"sync"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/leaderelection"
	"k8s.io/client-go/tools/leaderelection/resourcelock"

	"github.com/kubecoord/kubecoord/internal/test/electiontest"
)

// timing is when an elector does what; see leaderelection.LeaderElectionConfig.
type timing struct {
	leaseDuration, renewDeadline, retryPeriod time.Duration
}

// patience is the longest time an elector waits between two looks at the Lease.
func (t timing) patience() time.Duration {
	return time.Duration(float64(t.retryPeriod) * (1 + leaderelection.JitterFactor))
}

// processOptions say what a process is like.
type processOptions struct {
	electiontest.Contender
	timing
	// releases makes it let go of the Lease when it ends in order.
	releases bool
	// plain makes it contend without a candidate, as before an upgrade to
	// coordinated election.
	plain bool
}

// process is what a control plane component runs: a candidate, unless it is plain,
// and an elector that starts over whenever it lost the Lease.
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
		p.offer, _, err = leaderelection.NewCandidate(client, electiontest.Namespace, opts.Name, electiontest.Lease,
			opts.BinaryVersion, opts.EmulationVersion, coordinationv1.OldestEmulationVersion)
		if err != nil {
			return nil, err
		}
		p.stopOffer = inBackground(p.offer.Run)
	}
	p.stopElector = inBackground(func(ctx context.Context) {
		for elector.Run(ctx); ctx.Err() == nil; elector.Run(ctx) {
			if elector, err = p.newElector(); err != nil {
				panic(err) // it was right before
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
			LeaseMeta:  metav1.ObjectMeta{Namespace: electiontest.Namespace, Name: electiontest.Lease},
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

// lock is the Lease as an elector sees it. Whoever lets go of it must not lead
// any more by then, while client-go tells so only afterwards (ReleaseOnCancel).
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

// kill ends the process as a crash does: its candidate stays, and so does the
// Lease where the transport is cut before, or the process does not release.
func (p *process) kill() {
	p.stopOffer()
	p.stop()
}

// drain ends the process in order: it withdraws its candidate, and then lets go
// of the Lease if it does so at all. The other way round it could be elected
// again in between.
func (p *process) drain(ctx context.Context) error {
	if p.plain {
		p.stop()
		return nil
	}
	p.stopOffer()
	err := p.client.CoordinationV1beta1().LeaseCandidates(electiontest.Namespace).Delete(ctx, p.Name, metav1.DeleteOptions{})
	p.stop()
	return err
}

func (p *process) stop() {
	p.Stopped()
	p.stopElector()
}
