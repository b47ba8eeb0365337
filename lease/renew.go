package lease

import (
	"context"

	"github.com/kubecoord/kubecoord/store/meta"
)

// Renew tells the others that the Contender is still there. It is to be called
// well within RenewDeadline after the call before; Run does so by itself.
//
// The error is ErrLost where the Lease is not the Contender's any more, and also
// where RenewDeadline has passed: others may be about to take over, and whatever
// the Contender did as the holder has to have ended. Another error, such as
// store.ErrInvalid, may be gone at the next call; the Contender holds the Lease
// until RenewDeadline all the same. Other writers do no harm: a Renew that one
// of them came in between looks again.
func (c *Contender) Renew(ctx context.Context) error {
	c.enter()
	defer c.leave()
	return c.renew(ctx)
}

func (c *Contender) renew(ctx context.Context) error {
	began := c.clock.Now()
	t := c.term.Load()
	if t == nil || !t.holds(began) {
		return ErrLost
	}
	next := *t
	// The electors of client-go do not see a renewal in the same second: for
	// them the Lease runs out as if there had been none.
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
	c.observed.Observe(l, c.clock.Now())
	if !next.holds(c.clock.Now()) {
		return ErrLost // the write took too long
	}
	return nil
}

// Release lets go of the Lease, so that others can take it at once: whatever the
// Contender did as the holder has to have ended before. Where the Lease is not
// the Contender's any more there is nothing to do, and no error. The errors are
// those of TryAcquire.
func (c *Contender) Release(ctx context.Context) error {
	c.enter()
	defer c.leave()
	return c.release(ctx)
}

// release writes what client-go's electors write (leaderelection.go, tryRelease).
func (c *Contender) release(ctx context.Context) error {
	t := c.term.Load()
	if t == nil {
		return nil
	}
	now := meta.NewMicroTime(c.clock.Now())
	l, err := c.rewrite(ctx, t, func(l *Lease) {
		l.Spec.HolderIdentity = new("")
		l.Spec.LeaseDurationSeconds = new(int32(1))
		l.Spec.AcquireTime, l.Spec.RenewTime = new(now), new(now)
	})
	if err == ErrLost {
		return nil
	}
	if err != nil {
		return err
	}
	c.observed.Observe(l, c.clock.Now())
	c.term.Store(nil)
	return nil
}

// rewrite changes the Lease of a term, and again where others changed it too.
// The error is ErrLost where it is of that term no longer.
func (c *Contender) rewrite(ctx context.Context, t *term, change func(l *Lease)) (*Lease, error) {
	l := new(*t.lease) // change puts other pointers into it
	for {
		change(l)
		written, err := c.update(ctx, l)
		if !isRace(err) {
			return written, err
		}
		if l, err = c.read(ctx); err != nil {
			return nil, err
		}
		if !t.owns(l) {
			c.lose(l)
			return nil, ErrLost
		}
	}
}

// lose notes that the Lease, nil where there is none, is another's.
func (c *Contender) lose(l *Lease) {
	c.observed.Observe(l, c.clock.Now())
	c.term.Store(nil)
}
