package lease

import (
	"context"
	"errors"
	"time"

	"github.com/kubecoord/kubecoord/store/clock"
)

// Run acquires the Lease as Acquire does, calls lead once, and renews the Lease until
// lead has returned. It tries failed renewals again, each RetryPeriod.
//
// The context of lead ends when ctx ends or the Lease is lost: as soon as another
// holder is seen, and at the latest RenewDeadline after the last successful
// renewal, which is before others may take over. context.Cause returns ErrLost or
// the cause of ctx. lead must stop then; see "What a lease does not guarantee" in
// the package comment. If ctx has ended, Run renews the Lease until lead has
// stopped. Then it releases the Lease if ReleaseOnCancel is set. Otherwise, or if
// lead panics, the Lease expires.
//
// Run returns nil if lead returned before its context ended. Otherwise it returns
// the error of ctx, store.ErrClosed, or ErrLost joined with the error of the last
// renewal if it failed. Run may be called again.
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
	kept := make(chan error)
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

	c.leads.Store(t)
	defer c.leads.Store(nil)
	lead(leading, t.holding)
	c.leads.Store(nil)

	done()
	err := <-kept
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
	if failed := c.inTime(context.WithoutCancel(ctx), c.release); failed != nil {
		return errors.Join(err, failed)
	}
	return err
}

// keep renews the Lease and moves the deadline with each renewal. It returns nil
// if ctx ends while the Lease is held, or else the reason why it was lost.
func (c *Contender) keep(ctx context.Context, deadline clock.Timer) error {
	var failed error // of the last renewal
	t := c.term.Load()
	for tried := t.began; ; {
		until := tried.Add(c.opts.RetryPeriod)
		err := c.guard(ctx, t, until)
		if isTemporary(err) {
			c.pauseUntil(ctx, until)
			err = nil
		}
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
		err = c.inTime(ctx, c.renew)
		if errors.Is(err, ErrLost) {
			return errors.Join(err, failed)
		}
		if ctx.Err() == nil {
			c.contact(err)
		}
		if failed = err; err == nil {
			t = c.term.Load()
			c.leads.Store(t)
			deadline.Reset(t.expires.Sub(c.clock.Now()))
		}
	}
}

// guard watches the Lease until the given time, from the state that the term began
// with or was renewed in. It returns ErrLost as soon as the term has ended, or the
// error of the watch.
func (c *Contender) guard(ctx context.Context, t *term, until time.Time) error {
	for l, err := range c.follow(ctx, t.lease.ResourceVersion, until) {
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
