package store

import (
	"context"
	"errors"
	"time"

	"github.com/kubecoord/kubecoord/internal/atwork"
	"github.com/kubecoord/kubecoord/store/clock"
	"github.com/kubecoord/kubecoord/store/meta"
	"github.com/kubecoord/kubecoord/watch"
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
		return watch.ErrClosed
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

// get returns what the Replica has under a key, or nil. A real server reads a
// single object without a resourceVersion from the storage.
func (p *Replica) get(ctx context.Context, r *Resource, k key, resourceVersion string) (*Item, error) {
	version, err := readVersion(resourceVersion)
	switch {
	case err != nil:
		return nil, err
	case resourceVersion == "" && !p.opts.EveryRead:
		return r.lookup(k), nil
	}
	if err := p.waitFor(ctx, r, version); err != nil {
		return nil, err
	}
	s, err := p.state(r)
	if err != nil {
		return nil, expiredList()
	}
	e, _ := s.tree.Get(entry{key: k})
	return e.item, nil
}

// listState is Resource.listState for the Replica. single tells that the list is
// of one object, by its key.
func (p *Replica) listState(ctx context.Context, r *Resource, o ListOptions, single bool) (s snapshot, start string, limit int64, err error) {
	limit = max(o.Limit, 0)
	if o.ResourceVersion == "0" {
		limit = 0
	}
	if o.Continue != "" {
		version, start, err := o.continueFrom()
		switch {
		case err != nil:
		case version < 0:
			s, err = p.consistent(ctx, r)
		default:
			s, err = p.exactly(ctx, r, uint64(version))
			if errors.Is(err, errSnapshotGone{}) {
				err = expiredContinue(start)
			}
		}
		return s, start, limit, err
	}
	version, err := readVersion(o.ResourceVersion)
	if err != nil {
		return s, "", 0, meta.NewBadRequest("invalid resource version: %s", err)
	}
	switch exact := o.exact(version); {
	case o.ResourceVersion == "" && !p.opts.EveryRead:
		s, err = p.consistent(ctx, r)
	case exact && single:
		s, err = r.singleState(version, o.ResourceVersionMatch)
	case exact:
		s, err = p.exactly(ctx, r, version)
	default:
		if err = p.waitFor(ctx, r, version); err == nil {
			s, err = p.state(r)
		}
	}
	if errors.Is(err, errSnapshotGone{}) {
		err = expiredList()
	}
	return s, "", limit, err
}

// consistent returns a state that is not older than the store was when it was
// asked for: the Replica's if that gets there in time.
func (p *Replica) consistent(ctx context.Context, r *Resource) (snapshot, error) {
	err := p.waitFor(ctx, r, p.st.ResourceVersion())
	switch {
	case err == nil:
		return p.state(r)
	case errors.Is(err, ErrTimeout):
		return r.snapshot(), nil
	}
	return snapshot{}, err
}

// exactly returns the state at a version that the Replica has come to.
func (p *Replica) exactly(ctx context.Context, r *Resource, version uint64) (snapshot, error) {
	if err := p.waitFor(ctx, r, version); err != nil {
		return snapshot{}, err
	}
	return p.at(r, version)
}
