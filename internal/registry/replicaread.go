package registry

import (
	"context"
	"errors"
	"time"

	"github.com/kubecoord/kubecoord/internal/hub"
	"github.com/kubecoord/kubecoord/store/clock"
	"github.com/kubecoord/kubecoord/store/meta"
)

// waitFor waits until the Replica has a version, at most futureWait.
func (p *Replica) waitFor(ctx context.Context, r *Resource, version uint64) error {
	return waitAtMost(ctx, p.st.clock, version, func() uint64 { return p.Version(r) }, func(ctx context.Context) error {
		for {
			at := p.position(r)
			if at.version == everything {
				return p.st.hub.WaitFor(ctx, version)
			}
			if at.version >= version {
				return nil
			}
			if err := p.wait(ctx, at); err != nil {
				return err
			}
		}
	})
}

// wait blocks until the Replica may have left a position.
func (p *Replica) wait(ctx context.Context, at position) error {
	waiting, cancel := ctx, context.CancelFunc(func() {})
	if !at.next.IsZero() {
		waiting, cancel = clock.WithDeadline(ctx, p.st.clock, p.st.clock.Now().Add(at.next.Sub(p.st.now())), nil)
	}
	defer cancel()
	select {
	case <-at.moved:
	case <-at.grown:
	case <-p.st.hub.Done():
		return hub.ErrClosed
	case <-waiting.Done():
		return ctx.Err()
	}
	return nil
}

// get returns the Replica's state of an object, or nil.
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

// consistent returns a state that is not older than the store was at the call: the
// Replica's if it catches up in time, else the store's.
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

// startOnReplica is start for a watch that a Replica serves.
func (w *Watcher) startOnReplica(ctx context.Context, opts WatchOptions, version uint64) error {
	p, sends := w.replica, opts.SendInitialEvents
	switch {
	case sends == nil && version == 0:
		return w.startWithReplica(false)
	case opts.ResourceVersion == "" && !p.opts.EveryRead:
		version = p.st.ResourceVersion()
	case version == 0:
		version = p.Version(w.r)
	}
	if sends != nil && *sends {
		if err := p.waitFor(ctx, w.r, version); err != nil {
			return err
		}
		return w.startWithReplica(w.bookmarks)
	}
	return w.openReplica(version)
}

// openReplica opens the watch after a version, which the Replica may not have yet.
func (w *Watcher) openReplica(after uint64) error {
	at := w.replica.position(w.r)
	if oldest := max(min(w.r.st.oldest(), at.version), at.floor); after < oldest {
		return expiredWatch(&hub.ExpiredError{Requested: after, Oldest: oldest})
	}
	w.hub, w.version = w.r.st.hub.Read(w.sel.scope(w.r.id), after, nil), after
	return nil
}

// startWithReplica starts with the Replica's state.
func (w *Watcher) startWithReplica(endMark bool) error {
	s, err := w.replica.state(w.r)
	if err != nil {
		return expiredList()
	}
	if err := w.openReplica(s.version); err != nil {
		return err
	}
	w.initial, w.endMark = s, endMark
	return nil
}

// readUntil returns the last version that the watch may see. It sets the error if some
// changes will never be sent.
func (w *Watcher) readUntil() uint64 {
	if w.replica == nil {
		return everything
	}
	w.at = w.replica.position(w.r)
	if seen := w.hub.SettledUntil(everything); seen < w.at.floor {
		w.err = expiredWatch(&hub.ExpiredError{Requested: seen, Oldest: w.at.floor})
		return 0
	}
	return w.at.version
}

// settled returns the version for a bookmark, and false if there is none yet.
func (w *Watcher) settled() (uint64, bool) {
	if w.replica == nil || w.at.version == everything {
		return w.hub.Settled()
	}
	version := w.hub.SettledUntil(w.at.version)
	return version, version >= w.version
}

// replicaDue returns when the Replica will advance, by the clock of timers, or the zero
// time.
func (w *Watcher) replicaDue() time.Time {
	if w.at.next.IsZero() {
		return time.Time{}
	}
	return w.r.st.clock.Now().Add(w.at.next.Sub(w.r.st.now()))
}
