package lease

import (
	"context"
	"errors"
	"time"

	"github.com/kubecoord/kubecoord/store"
	"github.com/kubecoord/kubecoord/store/meta"
)

// TryAcquire takes the Lease if it is free, and reports whether the Contender
// holds it now. It neither waits nor renews. A Lease with a holder is free if its
// record has not changed for leaseDurationSeconds since a call first saw it, so
// at least two calls are necessary to take it over.
//
// If another write comes in between, TryAcquire reads the Lease again, until ctx ends.
// The error comes from ctx or from the Client: store.ErrClosed, or store.ErrInvalid if
// the write would exceed a limit of the Lease.
func (c *Contender) TryAcquire(ctx context.Context) (bool, error) {
	c.enter()
	defer c.leave()
	return c.tryAcquire(ctx)
}

// Acquire waits until the Contender holds the Lease. It takes the Lease at the
// moment when it is released or deleted, or expires. After a temporary error of the
// Client it tries again, each RetryPeriod. The error comes from ctx, joined with the
// last temporary one, or from the Client, as with TryAcquire.
func (c *Contender) Acquire(ctx context.Context) error {
	c.enter()
	defer c.leave()
	defer c.worker.Away()
	return c.acquire(ctx)
}

func (c *Contender) acquire(ctx context.Context) error {
	c.worker.Work()
	for {
		held := false
		err := c.inTime(ctx, func(ctx context.Context) (err error) {
			held, err = c.tryAcquire(ctx)
			return err
		})
		if held {
			c.contact(nil)
			return nil
		}
		if err == nil {
			err = c.awaitExpiry(ctx)
		}
		if err == nil {
			continue
		}
		if err := c.pauseAfter(ctx, err); err != nil {
			return err
		}
	}
}

// awaitExpiry waits until the Lease may be free.
func (c *Contender) awaitExpiry(ctx context.Context) error {
	until := c.observed.Expires()
	for l, err := range c.follow(ctx, "", until) {
		if err != nil {
			return err
		}
		c.contact(nil)
		// If a renewal delays the expiry, the loop may still wake at the old
		// time and wait again from there.
		if c.observe(l, c.clock.Now()); c.observed.Expires().Before(until) {
			break
		}
	}
	return nil
}

func (c *Contender) tryAcquire(ctx context.Context) (bool, error) {
	for {
		if err := ctx.Err(); err != nil {
			return false, err
		}
		if _, held := c.Held(); held {
			return true, nil
		}
		l, err := c.read(ctx)
		if err != nil {
			return false, err
		}
		began := c.clock.Now()
		c.observe(l, began)
		if t := c.unconfirmed; t != nil && l != nil && sameRecord(&l.Spec, &t.lease.Spec) {
			c.unconfirmed = nil
			return c.begin(l, t.began), nil
		}
		if !c.observed.Expired(began) {
			return false, nil
		}
		missing := l == nil
		if l, err = c.take(ctx, l, began); isRace(err) && !(missing && errors.Is(err, store.ErrNotFound)) {
			continue
		}
		if err != nil {
			return false, err
		}
		c.unconfirmed = nil
		c.observe(l, c.clock.Now())
		return c.begin(l, began), nil
	}
}

// begin begins a term. It returns false if the write took too long.
func (c *Contender) begin(l *Lease, began time.Time) bool {
	c.term.Store(&term{l, newHolding(l), began, began.Add(c.opts.RenewDeadline)})
	_, held := c.Held()
	return held
}

// read returns the Lease, or nil if there is none.
func (c *Contender) read(ctx context.Context) (*Lease, error) {
	l, err := c.leases.Get(ctx, c.opts.Namespace, c.opts.Name)
	if errors.Is(err, store.ErrNotFound) {
		return nil, nil
	}
	return l, err
}

// take makes the Contender the holder of a free Lease. It creates the Lease if l is nil.
func (c *Contender) take(ctx context.Context, l *Lease, now time.Time) (*Lease, error) {
	transitions := int32(0)
	if l == nil {
		l = &Lease{ObjectMeta: meta.ObjectMeta{Namespace: c.opts.Namespace, Name: c.opts.Name}}
	} else if n := l.Spec.LeaseTransitions; n != nil {
		transitions = *n + 1
	} else {
		transitions = 1
	}
	l.Spec.HolderIdentity = new(c.opts.Identity)
	l.Spec.LeaseDurationSeconds = new(c.seconds())
	l.Spec.AcquireTime = new(meta.NewMicroTime(now))
	l.Spec.RenewTime = new(meta.NewMicroTime(now))
	l.Spec.LeaseTransitions = new(transitions)
	c.unconfirmed = &term{lease: l, began: now} // for a write without an answer
	if l.ResourceVersion == "" {
		return c.leases.Create(ctx, l, store.CreateOptions{FieldManager: c.opts.FieldManager})
	}
	return c.update(ctx, l)
}

func (c *Contender) seconds() int32 { return int32(c.opts.LeaseDuration / time.Second) }

func (c *Contender) update(ctx context.Context, l *Lease) (*Lease, error) {
	return c.leases.Update(ctx, l, store.UpdateOptions{FieldManager: c.opts.FieldManager})
}

// isRace reports whether a write failed because another one came first.
func isRace(err error) bool {
	return errors.Is(err, store.ErrConflict) || errors.Is(err, store.ErrAlreadyExists) || errors.Is(err, store.ErrNotFound)
}
