package lease

import (
	"context"
	"errors"
	"time"

	"github.com/kubecoord/kubecoord/store/clock"
)

// Run waits for the Lease, as Acquire does, and calls lead while it holds it, with
// what it holds. It renews the Lease until lead has returned, and returns then.
//
// The context of lead ends with ctx, or when the Lease is lost: at once where
// another holder is seen in it, and RenewDeadline after the last successful
// renewal at the latest, which is before others may take over. context.Cause
// tells ErrLost from the cause of ctx. lead has to stop then; see "What a lease
// does not guarantee". After the end of ctx Run goes on renewing the Lease for as
// long as lead takes to stop. If ReleaseOnCancel is set, the Lease is released
// after that; otherwise, or if lead panics, it is left to expire.
//
// The error is nil if lead returned by itself, that of ctx, ErrLost, or
// store.ErrClosed, which ends the term too; those of a failed renewal are joined
// to ErrLost. Run may be called again to contend anew.
func (c *Contender) Run(ctx context.Context, lead func(ctx context.Context, h Holding)) error {
	c.enter()
	defer c.leave()
	if err := c.acquire(ctx); err != nil {
		c.worker.Away()
		return err
	}
	t := c.term.Load()
	leading, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	deadline := c.clock.AfterFunc(t.expires.Sub(c.clock.Now()), func() { cancel(ErrLost) })
	defer deadline.Stop()

	keeping, done := context.WithCancel(context.WithoutCancel(ctx))
	kept := make(chan error, 1)
	go func() {
		err := c.keep(keeping, deadline)
		c.worker.Away()
		if err != nil {
			cancel(err)
		}
		kept <- err
		close(kept)
	}()
	defer func() { done(); <-kept }() // if lead panics

	lead(leading, t.holding)

	done()
	err := <-kept
	deadline.Stop()
	switch {
	case err != nil:
	case ctx.Err() != nil:
		err = ctx.Err()
	default:
		err = context.Cause(leading)
	}
	if !c.opts.ReleaseOnCancel {
		return err
	}
	if failed := c.release(context.WithoutCancel(ctx)); failed != nil {
		return errors.Join(err, failed)
	}
	return err
}

// keep renews the Lease and puts the deadline off with each renewal. It returns
// nil when ctx ends in time, or else why the Lease cannot be kept.
func (c *Contender) keep(ctx context.Context, deadline clock.Timer) error {
	var failed error // the renewal before
	t := c.term.Load()
	for tried := t.began; ; {
		until := tried.Add(c.opts.RetryPeriod)
		if t.expires.Before(until) {
			until = t.expires
		}
		err := c.guard(ctx, t, until)
		if ctx.Err() != nil && t.holds(c.clock.Now()) {
			return nil
		}
		if ctx.Err() != nil {
			return errors.Join(ErrLost, failed)
		}
		if err != nil {
			return err
		}
		tried = c.clock.Now()
		err = c.renew(ctx)
		if errors.Is(err, ErrLost) {
			return errors.Join(err, failed)
		}
		if failed = err; err == nil {
			t = c.term.Load()
			deadline.Reset(t.expires.Sub(c.clock.Now()))
		}
	}
}

// guard watches over a term until the given time. The error is ErrLost as soon as
// the Lease is seen to be another's, or that of the watch.
func (c *Contender) guard(ctx context.Context, t *term, until time.Time) error {
	for l, err := range c.follow(ctx, until) {
		if err != nil {
			return err
		}
		if !t.owns(l) {
			c.lose(l)
			return ErrLost
		}
	}
	return nil
}
