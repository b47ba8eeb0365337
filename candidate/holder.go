package candidate

import (
	"context"
	"errors"

	"github.com/kubecoord/kubecoord/lease"
	"github.com/kubecoord/kubecoord/store"
	"github.com/kubecoord/kubecoord/store/clock"
)

// The Lease that an Elector with an Identity holds while it decides, as in a real control
// plane (upstream: controlplane/controller/leaderelection, run_with_leaderelection.go).
const (
	holderNamespace = "kube-system"
	holderLease     = "leader-election-controller"
)

// runAsHolder elects whenever this Elector holds the Lease of the Electors. It does not
// release the Lease at its end, as upstream does not: others wait until it expires.
func (e *Elector) runAsHolder(ctx context.Context) error {
	contender, err := lease.NewContender(e.leases, lease.ContenderOptions{
		Namespace: holderNamespace, Name: holderLease, Identity: e.opts.Identity, FieldManager: e.opts.FieldManager,
	})
	if err != nil {
		return err
	}
	for {
		var failed error
		err := contender.Run(ctx, func(leading context.Context, _ lease.Holding) {
			if err := e.elect(leading); leading.Err() == nil {
				failed = err
			}
		})
		switch {
		case failed != nil:
			return failed
		case errors.Is(err, store.ErrClosed):
			return err
		}
		// The Lease was lost, or the store could not be asked.
		if err := e.pause(ctx); err != nil {
			return err
		}
	}
}

// pause waits before this Elector contends again.
func (e *Elector) pause(ctx context.Context) error {
	waiting, cancel := clock.WithDeadline(ctx, e.clock, e.clock.Now().Add(lease.DefaultRetryPeriod), nil)
	defer cancel()
	<-waiting.Done()
	return ctx.Err()
}
