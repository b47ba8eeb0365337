package lease

import (
	"context"
	"errors"
	"fmt"

	"github.com/kubecoord/kubecoord/store/meta"
)

// Renew extends the Contender's term. It must be called well within RenewDeadline
// after the last call. Run calls it.
//
// The error is ErrLost, with the reason if it is known, if the Contender no longer holds the Lease, or if
// RenewDeadline has passed, because others may be about to take over. The work of
// the leader must have ended by then. After any other error, of ctx or of the
// Client, the Contender still holds the Lease until RenewDeadline, and the next
// call may succeed. If another write comes in between, Renew tries again.
func (c *Contender) Renew(ctx context.Context) error {
	c.enter()
	defer c.leave()
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
	// The electors of client-go compare whole seconds. They do not see a renewal
	// in the second of the last one, so it must not extend the term.
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

// Release gives the Lease up, so that others can take it at once. The work of the
// leader must have ended before. Release does nothing if the Contender does not
// hold the Lease. The error comes from ctx or from the Client, as with TryAcquire. After
// an error the Contender does not hold the Lease either, because the release may still take
// place. It can release the Lease again, or acquire it again without waiting.
func (c *Contender) Release(ctx context.Context) error {
	c.enter()
	defer c.leave()
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

// rewrite changes the Lease of a term. If others changed it meanwhile, it reads
// the Lease and tries again. The error is ErrLost if the term has ended.
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

// lose ends the term because of the given state of the Lease; nil is deleted. It returns
// ErrLost with the reason.
func (c *Contender) lose(l *Lease) error {
	c.observe(l, c.clock.Now())
	c.term.Store(nil)
	if l == nil {
		return fmt.Errorf("%w: it was deleted", ErrLost)
	}
	return fmt.Errorf("%w: its holder is %q", ErrLost, newHolding(l).Holder)
}
