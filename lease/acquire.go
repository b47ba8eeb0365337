package lease

import (
	"context"
	"encoding/binary"
	"errors"
	"hash/fnv"
	"time"

	"github.com/kubecoord/kubecoord/store"
	"github.com/kubecoord/kubecoord/store/meta"
)

// TryAcquire takes the Lease if it is free, and reports whether the Contender holds it now. It
// neither waits nor renews. A Lease with a holder is free if its record has not changed for
// leaseDurationSeconds since a call first saw it, so a take-over needs at least two calls.
//
// If another write comes in between, TryAcquire reads the Lease again. The error comes from ctx or
// from the Client: store.ErrClosed, or store.ErrInvalid if the write would exceed a limit of the
// Lease.
func (c *Contender) TryAcquire(ctx context.Context) (bool, error) {
	defer c.enter()()
	_, held, err := c.tryAcquire(ctx)
	return held, err
}

// Acquire waits until the Contender holds the Lease, with one watch. It takes a Lease that was
// released or deleted, or has expired, 20 to 30 ms later, or at once; see "A crowd" in the
// package comment. After a temporary error of the Client it tries again each RetryPeriod. The
// error comes from ctx, with the last temporary one, or from the Client, as with TryAcquire.
func (c *Contender) Acquire(ctx context.Context) error {
	defer c.enter()()
	return c.acquire(ctx)
}

func (c *Contender) acquire(ctx context.Context) error {
	var w leaseWatch
	defer func() { w.stop() }()
	var l *Lease
	for known := false; ; {
		held := false
		err := c.inTime(ctx, func(ctx context.Context) (err error) {
			if known {
				l, held, err = c.attempt(ctx, l)
			} else {
				l, held, err = c.tryAcquire(ctx)
			}
			return err
		})
		if held {
			c.contact(nil)
			return nil
		}
		if err == nil || err == errRaced {
			if w.cancel == nil {
				w = c.startWatch(ctx, l)
			}
			l, known, err = c.await(ctx, w, l, err == errRaced)
		}
		if err == nil {
			continue
		}
		w.stop()
		known = false
		if err := c.pauseAfter(ctx, err); err != nil {
			return err
		}
	}
}

// await waits until the Contender may try to take the Lease, and returns its state then. After a
// race it waits for the other write, and returns false if the watch does not show it.
func (c *Contender) await(ctx context.Context, w leaseWatch, l *Lease, raced bool) (*Lease, bool, error) {
	until := c.turn()
	if raced {
		until = c.next(c.clock.Now())
	}
	for {
		next, fresh, err := c.wait(ctx, w, until)
		if !fresh {
			return l, !raced, err
		}
		l, raced = next, false
		c.contact(nil)
		c.observe(l, c.clock.Now())
		until = c.turn()
	}
}

// tryAcquire is TryAcquire, and returns the last state too.
func (c *Contender) tryAcquire(ctx context.Context) (*Lease, bool, error) {
	for {
		if err := ctx.Err(); err != nil {
			return nil, false, err
		}
		if _, held := c.Held(); held {
			return nil, true, nil
		}
		l, err := c.read(ctx)
		if err != nil {
			return nil, false, err
		}
		if l, held, err := c.attempt(ctx, l); err != errRaced {
			return l, held, err
		}
	}
}

// errRaced means that another write came first.
var errRaced = errors.New("lease: another write came first")

// attempt takes the Lease if it is free in its state l, and returns the state after that.
func (c *Contender) attempt(ctx context.Context, l *Lease) (*Lease, bool, error) {
	began := c.clock.Now()
	c.observe(l, began)
	if t := c.unconfirmed; t != nil && l != nil && sameRecord(&l.Spec, &t.lease.Spec) {
		c.unconfirmed = nil
		return l, c.begin(l, t.began), nil
	}
	if !c.observed.Expired(began) && !c.gaveUp(l) {
		return l, false, nil
	}
	missing := l == nil
	l, err := c.take(ctx, l, began)
	if c.isRace(err) && !(missing && errors.Is(err, store.ErrNotFound)) {
		return nil, false, errRaced
	}
	if err != nil {
		return nil, false, err
	}
	c.unconfirmed = nil
	c.observe(l, c.clock.Now())
	return l, c.begin(l, began), nil
}

// gaveUp reports whether the Lease still shows a term that the Contender has tried to release. A
// release that takes place later is a conflict.
func (c *Contender) gaveUp(l *Lease) bool {
	t := c.term.Load()
	return t != nil && t.released && t.owns(l)
}

// begin begins a term. It returns false if the write took too long.
func (c *Contender) begin(l *Lease, began time.Time) bool {
	c.term.Store(&term{lease: l, holding: newHolding(l), began: began, expires: began.Add(c.opts.RenewDeadline)})
	_, held := c.Held()
	return held
}

// read returns the Lease, or nil if there is none.
func (c *Contender) read(ctx context.Context) (*Lease, error) {
	l, err := c.leases.Get(ctx, c.opts.Namespace, c.opts.Name)
	if c.isMissing(err) {
		return nil, nil
	}
	return l, err
}

// take makes the Contender the holder of a free Lease. It creates the Lease if l is nil.
func (c *Contender) take(ctx context.Context, l *Lease, now time.Time) (*Lease, error) {
	transitions := int32(0)
	if l == nil {
		l = &Lease{ObjectMeta: meta.ObjectMeta{Namespace: c.opts.Namespace, Name: c.opts.Name}}
	} else {
		transitions = valueOf(l.Spec.LeaseTransitions) + 1
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

// jitter is the part of a period by which pauses differ at most, so that leaders that began
// together do not renew together for ever. It is less than jitterFactor allows.
const jitter = 0.1

// next returns when to try again after a time.
func (c *Contender) next(tried time.Time) time.Time { return c.after(tried, c.opts.RetryPeriod) }

// after returns the time d after another one, or up to a tenth later.
func (c *Contender) after(at time.Time, d time.Duration) time.Time {
	return at.Add(d + time.Duration(jitter*c.chance(at)*float64(d)))
}

// Times after which Contenders try to take a Lease that has become free: a thousand of them need
// some 20 ms to see the first write. One in a hundred does not wait.
const (
	firstTurn = 20 * time.Millisecond
	lastTurn  = 30 * time.Millisecond
	eager     = 0.01
)

// turn returns when the Contender may try to take the Lease that it has observed.
func (c *Contender) turn() time.Time {
	now := c.clock.Now()
	free := c.observed.Expires()
	if free.Before(now) {
		free = now
	}
	chance := c.chance(now)
	if chance < eager {
		return free
	}
	return free.Add(firstTurn + time.Duration(chance*float64(lastTurn-firstTurn)))
}

// chanceOf returns the chances of an identity: a number from 0 to less than 1 for each time. It
// depends on nothing else, so that tests in virtual time repeat themselves.
func chanceOf(identity string) func(at time.Time) float64 {
	return func(at time.Time) float64 {
		h := fnv.New64a()
		h.Write([]byte(identity))
		h.Write(binary.BigEndian.AppendUint64(nil, uint64(at.UnixNano())))
		return float64(h.Sum64()>>11) / (1 << 53)
	}
}
