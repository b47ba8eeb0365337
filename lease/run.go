package lease

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync/atomic"

	"github.com/kubecoord/kubecoord/store"
	"github.com/kubecoord/kubecoord/store/clock"
	"github.com/kubecoord/kubecoord/store/meta"
)

// Run acquires the Lease as Acquire does, calls lead once, and renews the Lease until lead has
// returned: each RenewPeriod, and after a failure each RetryPeriod. One watch shows other writes
// during the term. If it fails, the next renewal comes soon, because the server may be gone.
//
// The context of lead ends when ctx ends or the Lease is lost: as soon as another holder is seen,
// and at the latest RenewDeadline after the last successful renewal, which is before others may
// take over. context.Cause returns an error that is ErrLost and has its reason, or the cause of
// ctx. lead must stop then; see "What a lease does not guarantee" in the package comment. If ctx
// has ended, Run renews the Lease until lead has stopped, and then releases it if ReleaseOnCancel
// is set. Otherwise, or if lead panics, the Lease expires.
//
// Run returns nil if lead returned before its context ended. Otherwise it returns the error of
// ctx, store.ErrClosed, or ErrLost with its reason: another holder, the deletion of the Lease, or
// the error of the last renewal. An answer that is not about the Lease, such as a 404 of a proxy,
// is no deletion: renewals go on until RenewDeadline.
//
// The release gets half of RenewDeadline for its answer. Its error is added to the error of Run.
// The next Run takes the Lease again even if the release has not taken place yet: a release that
// arrives later is refused as a conflict.
func (c *Contender) Run(ctx context.Context, lead func(ctx context.Context, h Holding)) error {
	defer c.enter()()
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

// keep watches and renews the Lease, and moves the deadline with each renewal. It returns nil if ctx
// ends while the Lease is held, or else the reason of its loss. If the watch fails, it opens
// another after the next renewal.
func (c *Contender) keep(ctx context.Context, t *term, failed *atomic.Pointer[error], deadline clock.Timer) error {
	w := c.startWatch(ctx, t.lease)
	defer func() { w.stop() }()
	tried := t.began
	for due := c.after(tried, c.opts.RenewPeriod); ; {
		l, fresh, err := c.wait(ctx, w, due)
		switch {
		case ctx.Err() != nil && t.holds(c.clock.Now()):
			return nil
		case ctx.Err() != nil:
			return because(errLate, *failed.Load())
		case errors.Is(err, store.ErrClosed):
			return err
		case err != nil:
			c.log(slog.LevelInfo, "lease: the watch failed", "error", err)
			w.stop()
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
			if w.cancel == nil {
				w = c.startWatch(ctx, t.lease)
			}
		}
	}
}

// Renew extends the Contender's term. Run calls it. It must be called well within RenewDeadline
// after the last call. If another write comes in between, Renew tries again.
//
// The error is ErrLost, with its reason, if the Contender no longer holds the Lease or RenewDeadline
// has passed. The work of the leader must have ended by then. After any other error, of ctx or of
// the Client, the Contender holds the Lease until RenewDeadline, and the next call may succeed.
func (c *Contender) Renew(ctx context.Context) error {
	defer c.enter()()
	return c.renew(ctx)
}

func (c *Contender) renew(ctx context.Context) error {
	began := c.clock.Now()
	t := c.term.Load()
	if t == nil {
		return ErrLost
	}
	if !t.holds(began) {
		return errLate
	}
	next := *t
	// Electors of client-go compare whole seconds. They do not see a renewal in the second of the
	// last one, so it must not extend the term.
	if began.Unix() != t.lease.Spec.RenewTime.Unix() {
		next.began, next.expires = began, began.Add(c.opts.RenewDeadline)
	}
	l, err := c.rewrite(ctx, t, func(l *Lease) {
		l.Spec.LeaseDurationSeconds = new(c.seconds())
		l.Spec.RenewTime = new(meta.NewMicroTime(began))
	})
	if err != nil {
		return err
	}
	next.lease = l
	c.term.Store(&next)
	c.observe(l, c.clock.Now())
	if !next.holds(c.clock.Now()) {
		return errLate
	}
	return nil
}

// Release gives the Lease up, if the Contender holds it, so that others can take it at once. The
// work of the leader must have ended before. The error comes from ctx or from the Client, as with
// TryAcquire. After an error the Contender does not hold the Lease either, because the release may
// still take place. It can release the Lease again, or acquire it again without waiting.
func (c *Contender) Release(ctx context.Context) error {
	defer c.enter()()
	return c.release(ctx)
}

// release writes the fields as client-go's electors do (leaderelection.go, tryRelease).
func (c *Contender) release(ctx context.Context) error {
	last := c.term.Load()
	if last == nil {
		return nil
	}
	t := &term{lease: last.lease, holding: last.holding, released: true}
	c.term.Store(t)
	now := meta.NewMicroTime(c.clock.Now())
	l, err := c.rewrite(ctx, t, func(l *Lease) {
		l.Spec.HolderIdentity = new("")
		l.Spec.LeaseDurationSeconds = new(int32(1))
		l.Spec.AcquireTime, l.Spec.RenewTime = new(now), new(now)
	})
	switch {
	case err == nil:
		c.lose(l)
	case !errors.Is(err, ErrLost):
		return err
	}
	return nil
}

// rewrite changes the Lease of a term, again after each race. ErrLost means that the term has ended.
func (c *Contender) rewrite(ctx context.Context, t *term, change func(l *Lease)) (*Lease, error) {
	l := new(*t.lease) // change replaces its pointers
	for {
		change(l)
		written, err := c.update(ctx, l)
		if !c.isRace(err) {
			return written, err
		}
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		if l, err = c.read(ctx); err != nil {
			return nil, err
		}
		if !t.owns(l) {
			return nil, c.lose(l)
		}
	}
}

// lose ends the term because of a state of the Lease, nil if deleted, and returns ErrLost with the reason.
func (c *Contender) lose(l *Lease) error {
	c.observe(l, c.clock.Now())
	c.term.Store(nil)
	if l == nil {
		return fmt.Errorf("%w: it was deleted", ErrLost)
	}
	return fmt.Errorf("%w: its holder is %q", ErrLost, newHolding(l).Holder)
}
