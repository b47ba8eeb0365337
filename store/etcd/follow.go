package etcd

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"time"

	"go.etcd.io/etcd/api/v3/mvccpb"
	"go.etcd.io/etcd/api/v3/v3rpc/rpctypes"
	clientv3 "go.etcd.io/etcd/client/v3"
	"go.etcd.io/etcd/client/v3/kubernetes"
	"google.golang.org/grpc/metadata"

	"github.com/kubecoord/kubecoord/internal/backend"
)

// The watch is asked for progress when it was silent, and is given up when it stays so.
const (
	silence   = 2 * time.Second
	lostAfter = 3 * silence
	// askAgain is when a request for progress is repeated: etcd drops it while the watch
	// still catches up. It is the interval of a real API server.
	askAgain = 100 * time.Millisecond
	// askSoon is when a request for progress is repeated if the answer was too old: the
	// member of the watch lags.
	askSoon = 5 * time.Millisecond
	// retryAfter is the pause before the next attempt to watch or to load.
	retryAfter = 200 * time.Millisecond
	// pageSize is the number of keys in one range request.
	pageSize = 1000
)

// Follow implements backend.Backend. It runs once: when it returns, all that this backend
// started has ended.
func (e *etcd) Follow(ctx context.Context, history int, f backend.Follower) error {
	defer e.close()
	state, version, err := e.load(ctx, history)
	if err != nil {
		return err
	}
	if err := f.Load(slices.Values(state), version); err != nil {
		return err
	}
	if e.compactEvery > 0 {
		e.background.Go(func() { e.compact(e.ctx) })
	}
	r := &reader{etcd: e, follower: f, reached: version}
	for {
		err := r.watch(ctx)
		var refused *followerError
		switch {
		case ctx.Err() != nil:
			return ctx.Err()
		case errors.As(err, &refused):
			return refused.error
		case errors.Is(err, errWentBack):
			return err
		}
		r.contact(false, err)
		if errors.Is(err, rpctypes.ErrCompacted) {
			err = r.reload(ctx)
			if errors.As(err, &refused) {
				return refused.error
			}
		}
		if err != nil {
			select {
			case <-time.After(retryAfter):
			case <-ctx.Done():
				return ctx.Err()
			}
		}
	}
}

// close ends what runs in the background.
func (e *etcd) close() {
	e.mu.Lock() // Version starts nothing from here on
	e.stop()
	e.mu.Unlock()
	e.background.Wait()
	e.closing()
}

// Progress implements backend.Backend.
func (e *etcd) Progress(context.Context) error {
	select {
	case e.asked <- struct{}{}:
	default:
	}
	return nil
}

// load returns the state of at most history revisions ago. If etcd has compacted that, it
// is the state of the last compaction that a replica or a real API server made, and
// otherwise the present one.
func (e *etcd) load(ctx context.Context, history int) ([]backend.Stored, uint64, error) {
	now, err := e.revision(ctx)
	if err != nil {
		return nil, 0, err
	}
	from := uint64(1)
	if now > uint64(history) {
		from = now - uint64(history)
	}
	state, err := e.list(ctx, from)
	if errors.Is(err, rpctypes.ErrCompacted) {
		if from, err = e.lastCompaction(ctx); err == nil && from > 0 && from <= now {
			state, err = e.list(ctx, from)
		} else if err == nil {
			err = rpctypes.ErrCompacted
		}
	}
	for errors.Is(err, rpctypes.ErrCompacted) {
		if from, err = e.revision(ctx); err == nil {
			state, err = e.list(ctx, from)
		}
	}
	return state, from, err
}

// lastCompaction returns the value of the key by which compactors agree, or 0.
func (e *etcd) lastCompaction(ctx context.Context) (revision uint64, err error) {
	err = e.read(ctx, func(ctx context.Context) error {
		r, err := e.client.Get(ctx, compactRevKey, kubernetes.GetOptions{})
		if err == nil && r.KV != nil {
			revision, _ = strconv.ParseUint(string(r.KV.Value), 10, 64)
		}
		return err
	})
	return revision, err
}

// list returns all keys below the prefix as they were at a revision.
func (e *etcd) list(ctx context.Context, revision uint64) (all []backend.Stored, err error) {
	for from := ""; ; {
		var page kubernetes.ListResponse
		err := e.read(ctx, func(ctx context.Context) (err error) {
			page, err = e.client.List(ctx, e.prefix, kubernetes.ListOptions{Revision: int64(revision), Limit: pageSize, Continue: from})
			return err
		})
		if err != nil {
			return nil, err
		}
		for _, kv := range page.Kvs {
			all = append(all, e.stored(string(kv.Key)[len(e.prefix):], kv))
		}
		if len(page.Kvs) < pageSize {
			return all, nil
		}
		from = string(page.Kvs[len(page.Kvs)-1].Key) + "\x00"
	}
}

// reader hands changes on to a follower.
type reader struct {
	*etcd
	follower  backend.Follower
	reached   uint64 // the follower has all changes up to here
	compacted uint64 // the last revision that etcd could not repeat to us, and which we have
	inContact bool
	attempts  int
}

// followerError is an error that the follower returned, which ends Follow.
type followerError struct{ error }

func (r *reader) contact(ok bool, err error) {
	if ok != r.inContact {
		r.inContact = ok
		if ok {
			r.log.Info("etcd: changes arrive")
		} else {
			r.log.Warn("etcd: contact is lost", "error", err)
		}
		r.follower.Contact(ok)
	}
}

// reload replaces the state of the follower after etcd has compacted changes that it
// lacks.
func (r *reader) reload(ctx context.Context) error {
	r.log.Warn("etcd: changes were compacted before they were seen: all state is read again", "after", r.reached)
	state, version, err := r.load(ctx, 0)
	if err != nil {
		return err
	}
	if err := r.follower.Load(slices.Values(state), version); err != nil {
		return &followerError{err}
	}
	r.reached = version
	return nil
}

// start returns the revision from which to watch. A watch that begins in the future gets no
// progress before there is a change. So where there is none after the last one that we
// have, the watch begins with that one, unless it is compacted. quiet reports that a watch
// gets no progress for now.
func (r *reader) start(ctx context.Context) (from uint64, quiet bool, err error) {
	now, err := r.revision(ctx)
	switch {
	case err != nil:
		return 0, false, err
	case now > r.reached:
		return r.reached + 1, r.isKine, nil
	case r.compacted == r.reached:
		return r.reached + 1, true, nil
	default:
		return r.reached, r.isKine, nil
	}
}

// watch hands on changes until the watch is lost. A new watch has its own stream, so that
// it does not wait for one that hangs.
func (r *reader) watch(ctx context.Context) error {
	from, quiet, err := r.start(ctx)
	if err != nil {
		return err
	}
	r.attempts++
	ctx, cancel := context.WithCancel(clientv3.WithRequireLeader(
		metadata.AppendToOutgoingContext(ctx, "kubecoord-watch", strconv.Itoa(r.attempts))))
	defer cancel()
	// Watch does not return before the watch is created.
	late := time.AfterFunc(lostAfter, cancel)
	responses := r.client.Watch(ctx, r.prefix, clientv3.WithPrefix(), clientv3.WithRev(int64(from)),
		clientv3.WithProgressNotify(), clientv3.WithCreatedNotify())
	if !late.Stop() {
		return errNotCreated
	}
	heard := time.Now()
	outstanding := false // a request for progress has no answer yet
	wanted := false      // the answer must be as new as the newest that somebody has read
	timer := time.NewTimer(silence)
	defer timer.Stop()
	ask := func() {
		outstanding = true
		timer.Reset(silence)
		if wanted {
			timer.Reset(askAgain)
		}
		ask, cancel := context.WithTimeout(ctx, silence)
		defer cancel()
		// An error shows as silence.
		_ = r.client.RequestProgress(ask)
	}
	for {
		select {
		case w, ok := <-responses:
			if !ok {
				return errEnded
			}
			if err := r.receive(w); err != nil {
				return err
			}
			heard = time.Now()
			quiet = quiet && (w.Created || r.isKine)
			switch {
			case w.Created:
				if quiet {
					r.contact(true, nil)
				}
				wanted = !quiet
				ask()
			case w.IsProgressNotify():
				r.contact(true, nil)
				outstanding, wanted = false, wanted && r.reached < r.highest.Load()
				timer.Reset(silence)
				if wanted {
					timer.Reset(askSoon)
				}
			}
		case <-r.asked:
			again := outstanding && !wanted // the request may have been dropped
			wanted = true
			if again {
				timer.Reset(askAgain)
			} else if !outstanding {
				ask()
			}
		case <-timer.C:
			if quiet && r.reached >= r.highest.Load() {
				wanted = false // there may be no answer
			}
			if !quiet && time.Since(heard) >= lostAfter {
				return errSilent
			}
			if err := r.checkLeader(ctx); err != nil {
				return err
			}
			ask()
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// checkLeader does for a member in this process what WithRequireLeader does for a connection:
// without a leader the member would say that there are no changes, for ever.
func (e *etcd) checkLeader(ctx context.Context) error {
	if len(e.client.Endpoints()) > 0 {
		return nil
	}
	s, err := e.client.Status(ctx, "")
	if err == nil && s.Leader == 0 {
		err = rpctypes.ErrNoLeader
	}
	return err
}

var (
	errNotCreated  = errors.New("no endpoint with a leader accepts a watch")
	errNothingLost = errors.New("etcd has compacted up to the last change that we have")
	errEnded       = errors.New("the watch ended")
	errSilent      = fmt.Errorf("the watch was silent for %v", lostAfter)
)

// receive hands on what a response says. A response has all changes of its revisions.
func (r *reader) receive(w clientv3.WatchResponse) error {
	if compacted := uint64(w.CompactRevision); compacted > r.reached {
		return rpctypes.ErrCompacted
	} else if compacted != 0 {
		r.compacted = r.reached
		return errNothingLost
	}
	if err := w.Err(); err != nil {
		return err
	}
	if w.IsProgressNotify() {
		if version := uint64(w.Header.Revision); version > r.reached {
			r.reached = version
			r.follower.Reached(version)
		}
		return r.saw(0, w.Header.Revision)
	}
	for events := w.Events; len(events) > 0; {
		version, n := events[0].Kv.ModRevision, 1
		for n < len(events) && events[n].Kv.ModRevision == version {
			n++
		}
		if uint64(version) <= r.reached { // the watch began there
			events = events[n:]
			continue
		}
		changes := make([]backend.Stored, n)
		for i, ev := range events[:n] {
			changes[i] = r.change(ev)
		}
		if err := r.follower.Changed(uint64(version), changes); err != nil {
			return &followerError{err}
		}
		r.reached, events = uint64(version), events[n:]
	}
	return r.saw(0, int64(r.reached))
}

func (e *etcd) change(ev *clientv3.Event) backend.Stored {
	key := string(ev.Kv.Key)[len(e.prefix):]
	if ev.Type == mvccpb.DELETE {
		return backend.Stored{Key: key, Version: uint64(ev.Kv.ModRevision)}
	}
	return e.stored(key, ev.Kv)
}
