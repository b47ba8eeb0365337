package registry

import (
	"context"
	"errors"
	"time"

	"github.com/kubecoord/kubecoord/internal/atwork"
	"github.com/kubecoord/kubecoord/internal/hub"
	"github.com/kubecoord/kubecoord/store/clock"
	"github.com/kubecoord/kubecoord/store/meta"
)

// This file holds what gets and lists see of a Replica.

// waitFor waits until the Replica has come to a version, at most futureWait.
func (p *Replica) waitFor(ctx context.Context, r *Resource, version uint64) error {
	return waitAtMost(ctx, p.st.clock, version, func() uint64 { return p.Version(r) }, func(ctx context.Context) error {
		a := alarm{worker: atwork.From(ctx), clock: p.st.clock}
		defer a.stop()
		for {
			seen := atwork.From(ctx).Wakes()
			at := p.position(r)
			if at.version == everything {
				return p.st.reach(ctx, version)
			}
			if at.version >= version {
				return nil
			}
			if err := p.wait(ctx, at, seen, &a); err != nil {
				return err
			}
		}
	})
}

// wait blocks until the Replica may have left a position. seen is how often the
// worker of the context had been woken when it was looked for.
func (p *Replica) wait(ctx context.Context, at position, seen uint64, a *alarm) error {
	if !at.next.IsZero() {
		a.set(at.next.Sub(p.st.now()))
	}
	if !a.worker.Rest(seen) {
		return ctx.Err()
	}
	select {
	case <-at.moved:
	case <-at.grown:
	case <-a.rings():
	case <-p.st.hub.Done():
		return hub.ErrClosed
	case <-ctx.Done():
		return ctx.Err()
	}
	return nil
}

// alarm wakes who waits in rounds at a time that each round may set anew. It is one
// timer for all of them: one of an earlier round that goes off late would hold the
// clock for a worker who does not see it.
type alarm struct {
	worker *atwork.Worker
	clock  clock.Clock
	timer  clock.Timer // nil as long as it was not set
}

func (a *alarm) set(d time.Duration) {
	if a.timer == nil {
		a.timer = a.worker.NewTimer(a.clock, d)
		return
	}
	a.timer.Reset(d)
}

// rings returns what is sent to when the time has come, or a little earlier.
func (a *alarm) rings() <-chan time.Time {
	if a.timer == nil {
		return nil
	}
	return a.timer.C()
}

func (a *alarm) stop() {
	if a.timer != nil {
		a.timer.Stop()
	}
}

// get returns what the Replica has under a key, or nil.
func (p *Replica) get(ctx context.Context, r *Resource, k key, read readState) (*Item, error) {
	if err := p.waitFor(ctx, r, read.version); err != nil {
		return nil, err
	}
	s, err := p.state(r)
	if err != nil {
		return nil, expiredList()
	}
	e, _ := s.tree.Get(entry{key: k})
	return e.item, nil
}

// consistent returns a state that is not older than the store was when it was
// asked for: the Replica's if that gets there in time.
func (p *Replica) consistent(ctx context.Context, r *Resource) (snapshot, error) {
	err := p.waitFor(ctx, r, p.st.ResourceVersion())
	switch {
	case err == nil:
		return p.state(r)
	case errors.Is(err, meta.ReasonTimeout):
		return r.snapshot(), nil
	}
	return snapshot{}, err
}
