package lease

import (
	"context"
	"errors"
	"time"

	"github.com/kubecoord/kubecoord/store"
	"github.com/kubecoord/kubecoord/store/meta"
)

// TryAcquire takes the Lease if it is free, and reports whether the Contender
// holds it now: it does not wait, and does not renew. A Lease that another holds
// is free when no call has seen its record change for leaseDurationSeconds, so
// that it takes two calls at least to find that out.
//
// Where another writer comes in between it looks again. Errors are those of the
// write: store.ErrInvalid and store.ErrBadRequest, of a Lease that others have
// filled to its limits.
func (c *Contender) TryAcquire(ctx context.Context) (bool, error) {
	c.enter()
	defer c.leave()
	return c.tryAcquire(ctx)
}

// Acquire waits until the Contender holds the Lease, or ctx ends, or the store is
// closed, whose errors it returns. It takes the Lease at the very moment that it
// is released, deleted, or expires.
func (c *Contender) Acquire(ctx context.Context) error {
	c.enter()
	defer c.leave()
	defer c.worker.Away()
	return c.acquire(ctx)
}

func (c *Contender) acquire(ctx context.Context) error {
	c.worker.Work()
	for {
		if err := ctx.Err(); err != nil {
			return err
		}
		if held, err := c.tryAcquire(ctx); held || err != nil {
			return err
		}
		until := c.observed.Expires()
		for l, err := range c.follow(ctx, until) {
			if err != nil {
				return err
			}
			// If the Lease expires later than it did, it is early enough to
			// wait for that at the time it did.
			if c.observed.Observe(l, c.clock.Now()); c.observed.Expires().Before(until) {
				break
			}
		}
	}
}

func (c *Contender) tryAcquire(ctx context.Context) (bool, error) {
	if _, held := c.Held(); held {
		return true, nil
	}
	for {
		l, err := c.read(ctx)
		if err != nil {
			return false, err
		}
		began := c.clock.Now()
		if c.observed.Observe(l, began); !c.observed.Expired(began) {
			return false, nil
		}
		if l, err = c.take(ctx, l, began); isRace(err) {
			continue
		}
		if err != nil {
			return false, err
		}
		c.observed.Observe(l, c.clock.Now())
		c.term.Store(&term{l, newHolding(l), began, began.Add(c.opts.RenewDeadline)})
		_, held := c.Held() // no, if the write took too long
		return held, nil
	}
}

// read returns the Lease, nil where there is none.
func (c *Contender) read(ctx context.Context) (*Lease, error) {
	l, err := c.leases.Get(ctx, c.opts.Namespace, c.opts.Name)
	if errors.Is(err, store.ErrNotFound) {
		return nil, nil
	}
	return l, err
}

// take writes the Contender into a Lease that is free, or makes one.
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
	if l.ResourceVersion == "" {
		return c.leases.Create(ctx, l, store.CreateOptions{FieldManager: c.opts.FieldManager})
	}
	return c.update(ctx, l)
}

func (c *Contender) seconds() int32 { return int32(c.opts.LeaseDuration / time.Second) }

func (c *Contender) update(ctx context.Context, l *Lease) (*Lease, error) {
	return c.leases.Update(ctx, l, store.UpdateOptions{FieldManager: c.opts.FieldManager})
}

// isRace reports whether a write failed because another one came first, so that
// it is worth a new look.
func isRace(err error) bool {
	return errors.Is(err, store.ErrConflict) || errors.Is(err, store.ErrAlreadyExists) || errors.Is(err, store.ErrNotFound)
}
