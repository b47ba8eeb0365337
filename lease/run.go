package lease

import (
	"context"
	"errors"
	"log/slog"
	"sync/atomic"

	"github.com/kubecoord/kubecoord/store"
	"github.com/kubecoord/kubecoord/store/clock"
)

// Run acquires the Lease as Acquire does, calls lead once, and renews the Lease until
// lead has returned. It renews each RenewPeriod and tries failed renewals again each
// RetryPeriod, and up to a tenth later, so that many leaders do not renew at once. One watch
// shows other writes during the term. If it fails, the term goes on, and the next renewal
// comes soon, because the server may be gone.
//
// The context of lead ends when ctx ends or the Lease is lost: as soon as another
// holder is seen, and at the latest RenewDeadline after the last successful
// renewal, which is before others may take over. context.Cause returns an error that is
// ErrLost and has its reason, or the cause of ctx. lead must stop then; see "What a lease does not guarantee" in
// the package comment. If ctx has ended, Run renews the Lease until lead has
// stopped. Then it releases the Lease if ReleaseOnCancel is set. Otherwise, or if
// lead panics, the Lease expires.
//
// Run returns nil if lead returned before its context ended. Otherwise it returns
// the error of ctx, store.ErrClosed, or ErrLost with its reason: another holder, the
// deletion of the Lease, or the error of the last renewal. An answer that is not about
// the Lease, such as a 404 of a proxy, is no deletion: renewals go on until RenewDeadline.
//
// The release gets half of RenewDeadline for its answer. Its error is added to that of
// Run. Run may be called again at once, and then takes the Lease again even if the release
// has not taken place: should the release come later, it is a conflict.
func (c *Contender) Run(ctx context.Context, lead func(ctx context.Context, h Holding)) error {
	c.enter()
	defer c.leave()
	if err := c.acquire(ctx); err != nil {
		return err
	}
	t := c.term.Load()
	leading, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	var failed atomic.Pointer[error] // of the last renewal
	failed.Store(new(error))
	deadline := c.clock.AfterFunc(t.expires.Sub(c.clock.Now()), func() { cancel(because(errLate, *failed.Load())) })
	defer deadline.Stop()

	keeping, done := context.WithCancel(context.WithoutCancel(ctx))
	kept := make(chan error)
	go func() {
		err := c.keep(keeping, t, &failed, deadline)
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
	if c.opts.ReleaseOnCancel {
		err = because(err, c.inTime(context.WithoutCancel(ctx), c.release))
	}
	return err
}

// keep renews the Lease while it follows it, and moves the deadline with each renewal. It returns
// nil if ctx ends while the Lease is held, or else the reason why it was lost. If the watch fails,
// it opens another after the next renewal.
func (c *Contender) keep(ctx context.Context, t *term, failed *atomic.Pointer[error], deadline clock.Timer) error {
	f := c.startFollowing(ctx, t.lease)
	defer func() { f.stop() }()
	tried := t.began
	for due := c.after(tried, c.opts.RenewPeriod); ; {
		l, fresh, err := c.wait(ctx, f, due)
		switch {
		case ctx.Err() != nil && t.holds(c.clock.Now()):
			return nil
		case ctx.Err() != nil:
			return because(errLate, *failed.Load())
		case errors.Is(err, store.ErrClosed):
			return err
		case err != nil:
			c.log(slog.LevelInfo, "lease: the watch failed", "error", err)
			f.stop()
			f = new(follower)
			if soon := c.next(tried); soon.Before(due) {
				due = soon
			}
			continue
		case fresh && !t.owns(l):
			return c.lose(l)
		case fresh:
			continue
		}
		tried = c.clock.Now()
		err = c.inTime(ctx, c.renew)
		if errors.Is(err, ErrLost) {
			return because(err, *failed.Load())
		}
		if ctx.Err() != nil {
			continue
		}
		c.contact(err)
		due = c.next(tried)
		if failed.Store(&err); err == nil {
			due = c.after(tried, c.opts.RenewPeriod)
			t = c.term.Load()
			c.leads.Store(t)
			deadline.Reset(t.expires.Sub(c.clock.Now()))
			if f.end == nil {
				f = c.startFollowing(ctx, t.lease)
			}
		}
	}
}
