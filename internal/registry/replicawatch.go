package registry

import (
	"context"
	"time"

	"github.com/kubecoord/kubecoord/internal/hub"
)

// This file holds what watches see of a Replica.

// startOnReplica is start for a watch of a Replica.
func (w *Watcher) startOnReplica(ctx context.Context, opts WatchOptions, version uint64) error {
	p, sends := w.replica, opts.SendInitialEvents
	switch {
	case sends == nil && version == 0:
		return w.startWithReplica(false)
	case opts.ResourceVersion == "" && !p.opts.EveryRead:
		version = p.st.ResourceVersion() // as it is in truth
	case sends != nil && !*sends && version == 0:
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

// openReplica opens the watch after a version, be it one that the Replica has not
// come to.
func (w *Watcher) openReplica(after uint64) error {
	at := w.replica.position(w.r)
	if oldest := max(min(w.r.st.oldest(), at.version), at.floor); after < oldest {
		return expiredWatch(&hub.ExpiredError{Requested: after, Oldest: oldest})
	}
	w.hub, w.version = w.r.st.hub.WatchLate(w.sel.scope(w.r.id), after, w.woken()), after
	return nil
}

// startWithReplica takes the state that the Replica has and the position that
// follows it.
func (w *Watcher) startWithReplica(endMark bool) error {
	s, err := w.replica.state(w.r)
	if err != nil {
		return expiredList()
	}
	if err := w.openReplica(s.version); err != nil {
		return err
	}
	w.initial = w.sel.page(s, "", 0).Items
	w.endMark = endMark
	return nil
}

// readUntil returns up to which version changes may be told. It sets the error
// where there are some that never will be.
func (w *Watcher) readUntil() uint64 {
	if w.replica == nil {
		return everything
	}
	w.at = w.replica.position(w.r)
	if told := w.hub.SettledUntil(everything); told < w.at.floor {
		w.err = expiredWatch(&hub.ExpiredError{Requested: told, Oldest: w.at.floor})
		return 0
	}
	return w.at.version
}

// settled returns the version that a bookmark may tell, and false where it may
// not tell any yet.
func (w *Watcher) settled() (uint64, bool) {
	if w.replica == nil || w.at.version == everything {
		return w.hub.Settled()
	}
	version := w.hub.SettledUntil(w.at.version)
	return version, version >= w.version
}

// replicaDue returns when the Replica will come further, by the clock that the
// watch waits by, or the zero time.
func (w *Watcher) replicaDue() time.Time {
	if w.at.next.IsZero() {
		return time.Time{}
	}
	return w.r.st.clock.Now().Add(w.at.next.Sub(w.r.st.now()))
}
