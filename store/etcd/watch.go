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
	"google.golang.org/grpc/metadata"

	"github.com/kubecoord/kubecoord/store/backend"
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
)

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

// watch hands on changes until the watch is lost.
func (r *reader) watch(ctx context.Context) error {
	from, quiet, err := r.start(ctx)
	if err != nil {
		return err
	}
	// The watch has its own stream, so that it does not wait for one that hangs.
	r.attempts++
	ctx, cancel := context.WithCancel(clientv3.WithRequireLeader(
		metadata.AppendToOutgoingContext(ctx, "kubecoord-watch", strconv.Itoa(r.attempts))))
	defer cancel()
	responses, err := r.open(ctx, cancel, from)
	if err != nil {
		return err
	}
	heard := time.Now()
	p := r.newProgress(ctx)
	defer p.timer.Stop()
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
				p.wanted = !quiet
				p.ask()
			case w.IsProgressNotify():
				r.contact(true, nil)
				p.answered(r.reached < r.highest.Load())
			}
		case <-r.asked:
			p.want()
		case <-p.timer.C:
			if quiet && r.reached >= r.highest.Load() {
				p.wanted = false // there may be no answer
			}
			if !quiet && time.Since(heard) >= lostAfter {
				return errSilent
			}
			if err := r.checkLeader(ctx); err != nil {
				return err
			}
			p.ask()
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// open starts a watch from a revision. cancel ends ctx.
func (r *reader) open(ctx context.Context, cancel context.CancelFunc, from uint64) (clientv3.WatchChan, error) {
	// Watch does not return before the watch is created.
	late := time.AfterFunc(lostAfter, cancel)
	responses := r.client.Watch(ctx, r.prefix, clientv3.WithPrefix(), clientv3.WithRev(int64(from)),
		clientv3.WithProgressNotify(), clientv3.WithCreatedNotify())
	if !late.Stop() {
		return nil, errNotCreated
	}
	return responses, nil
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

// receive passes the changes of a response on. A response has all changes of its revisions.
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
