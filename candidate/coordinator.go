package candidate

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"time"

	"github.com/kubecoord/kubecoord/internal/kinds"
	"github.com/kubecoord/kubecoord/internal/registry"
	"github.com/kubecoord/kubecoord/lease"
	"github.com/kubecoord/kubecoord/store"
	"github.com/kubecoord/kubecoord/store/clock"
)

// CoordinatorOptions configures a Coordinator. The zero value has the timings of a real control
// plane.
type CoordinatorOptions struct {
	// PingWindow is the time for the answer to a ping. A candidate with a sign of life within
	// PingWindow is not pinged. An election waits for a 25th of it after a new candidate. Zero
	// means 5s.
	PingWindow time.Duration
	// LeaseDuration is the time for the first renewal by an elected candidate, in whole seconds.
	// It should be longer than a candidate waits between two reads of the Lease: 2.2 times
	// RetryPeriod with client-go. Zero means 5s.
	LeaseDuration time.Duration
	// Validity is how long a candidate counts without a sign of life. After half of it the
	// candidate is pinged, at the end it is deleted. Zero means 30min.
	Validity time.Duration
	// Strategies are further strategies beside OldestEmulationVersion, by name. If the candidates
	// of a Lease want an unknown one, the Coordinator only writes its name into the Lease, and a
	// third party picks the holder.
	Strategies map[lease.CoordinatedLeaseStrategy]Strategy
	// Log, if not nil, is called with each event, by one goroutine. It must not block.
	Log func(ElectionEvent)
	// Identity, if not "", makes the Coordinator decide only while it holds the Lease
	// kube-system/leader-election-controller under this name, as in a real control plane. So one
	// of several Coordinators over one state decides at a time. It must be unique among them, and
	// new at each start of a program.
	Identity string
	// FieldManager is the name of the Coordinator in managedFields. "" means kube-apiserver, the
	// name in a real control plane.
	FieldManager string
}

// Coordinator picks the holders of Leases among their candidates; see "Election" in the package
// comment.
type Coordinator struct {
	st         *registry.Store
	clock      clock.Clock // to wait by
	leases     *store.Collection[lease.Lease]
	candidates *store.Collection[LeaseCandidate]
	opts       CoordinatorOptions
}

// NewCoordinator returns a Coordinator for all Leases of a store. The error names the option that
// is not valid.
func NewCoordinator(st *store.Store, opts CoordinatorOptions) (*Coordinator, error) {
	opts.setDefaults()
	if err := opts.validate(); err != nil {
		return nil, err
	}
	return &Coordinator{st: (*registry.Store)(st), clock: st.Clock(), leases: lease.In(st), candidates: In(st), opts: opts}, nil
}

func (o *CoordinatorOptions) setDefaults() {
	o.PingWindow = cmp.Or(o.PingWindow, 5*time.Second)
	o.LeaseDuration = cmp.Or(o.LeaseDuration, 5*time.Second)
	o.Validity = cmp.Or(o.Validity, 30*time.Minute)
	o.FieldManager = cmp.Or(o.FieldManager, "kube-apiserver")
	strategies := map[lease.CoordinatedLeaseStrategy]Strategy{lease.OldestEmulationVersion: OldestEmulationVersion}
	maps.Copy(strategies, o.Strategies)
	o.Strategies = strategies
	if o.Log == nil {
		o.Log = func(ElectionEvent) {}
	}
}

func (o *CoordinatorOptions) validate() error {
	const longest = (1<<31 - 1) * time.Second
	switch {
	case o.PingWindow < 0:
		return fmt.Errorf("candidate: PingWindow %s: must not be negative", o.PingWindow)
	case o.LeaseDuration < time.Second || o.LeaseDuration%time.Second != 0 || o.LeaseDuration > longest:
		return fmt.Errorf("candidate: LeaseDuration %s: must be whole seconds, at least 1 and at most %d", o.LeaseDuration, longest/time.Second)
	case o.Validity < 2*o.PingWindow:
		return fmt.Errorf("candidate: Validity %s: must be at least twice the PingWindow of %s", o.Validity, o.PingWindow)
	}
	for name, strategy := range o.Strategies {
		if strategy == nil {
			return fmt.Errorf("candidate: strategy %q: must not be nil", name)
		}
		if errs := name.Validate("strategies"); len(errs) > 0 {
			return fmt.Errorf("candidate: %w", errs[0])
		}
	}
	if err := kinds.CheckFieldManager(o.FieldManager, "UpdateOptions"); err != nil {
		return fmt.Errorf("candidate: FieldManager: %w", err)
	}
	return nil
}

// Run elects until the context ends and returns its error, or store.ErrClosed if the store is
// closed before. Several Coordinators may run at once or one after another, because all their
// state is in the store: if two write at once, one gets a conflict and decides again.
func (c *Coordinator) Run(ctx context.Context) error {
	if c.opts.Identity != "" {
		return c.runWithLeaderElection(ctx)
	}
	return newElections(c).run(ctx)
}

// The Lease that a Coordinator with an Identity holds while it decides, as in a real control
// plane (upstream: controlplane/controller/leaderelection, run_with_leaderelection.go).
const (
	controllerNamespace = "kube-system"
	controllerLease     = "leader-election-controller"
)

// runWithLeaderElection elects while this Coordinator holds that Lease. As upstream it does not release it at its end.
func (c *Coordinator) runWithLeaderElection(ctx context.Context) error {
	contender, err := lease.NewContender(c.leases, lease.ContenderOptions{
		Namespace: controllerNamespace, Name: controllerLease, Identity: c.opts.Identity, FieldManager: c.opts.FieldManager,
	})
	if err != nil {
		return err
	}
	for {
		var failed error
		err := contender.Run(ctx, func(leading context.Context, _ lease.Holding) {
			if err := newElections(c).run(leading); leading.Err() == nil {
				failed = err
			}
		})
		switch {
		case failed != nil:
			return failed
		case errors.Is(err, store.ErrClosed):
			return err
		}
		// The Lease was lost, or the store gave no answer.
		if err := c.pause(ctx); err != nil {
			return err
		}
	}
}

func (c *Coordinator) pause(ctx context.Context) error {
	waiting, cancel := clock.WithDeadline(ctx, c.clock, c.clock.Now().Add(lease.DefaultRetryPeriod), nil)
	defer cancel()
	<-waiting.Done()
	return ctx.Err()
}

// ElectionEventType is the type of an ElectionEvent.
type ElectionEventType string

// The types of events.
const (
	// Pinged: the Coordinator asked a candidate for a sign of life.
	Pinged ElectionEventType = "Pinged"
	// Answered: a candidate has answered a ping.
	Answered ElectionEventType = "Answered"
	// Silent: a candidate did not answer in time. It is not elected until it does.
	Silent ElectionEventType = "Silent"
	// Elected: the Coordinator made the candidate the holder of the Lease.
	Elected ElectionEventType = "Elected"
	// Preferred: the Coordinator wrote the candidate into preferredHolder.
	Preferred ElectionEventType = "Preferred"
	// PreferenceCleared: the Coordinator removed preferredHolder.
	PreferenceCleared ElectionEventType = "PreferenceCleared"
	// StrategySet: the Coordinator wrote only the strategy. A third party picks the holder.
	StrategySet ElectionEventType = "StrategySet"
	// Missed: the candidate was elected and never renewed the Lease.
	Missed ElectionEventType = "Missed"
	// Collected: the Coordinator deleted the candidate, because it did not renew.
	Collected ElectionEventType = "Collected"
	// Failed: nobody can be elected now; Err is the reason. The same reason is logged again only
	// after a success.
	Failed ElectionEventType = "Failed"
)

// ElectionEvent is an action of a Coordinator, or a fact that it noticed.
type ElectionEvent struct {
	// Time is a reading of the store's clock.
	Time time.Time
	Type ElectionEventType
	// Namespace and Lease name the Lease.
	Namespace, Lease string
	// Candidate is the name of the candidate, or "".
	Candidate string
	// Err is nil unless Type is Failed.
	Err error
}
