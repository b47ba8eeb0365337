package etcd

import (
	"context"
	"errors"
	"slices"
	"strconv"
	"time"

	"go.etcd.io/etcd/api/v3/v3rpc/rpctypes"
	"go.etcd.io/etcd/client/v3/kubernetes"

	"github.com/kubecoord/kubecoord/store/backend"
)

const (
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
		return e.notLoaded(err)
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

// close ends the goroutines in the background.
func (e *etcd) close() {
	e.mu.Lock() // Version starts nothing from here on
	e.stop()
	e.mu.Unlock()
	e.background.Wait()
	e.closing()
}

// Progress implements backend.Backend.
func (e *etcd) Progress() {
	select {
	case e.asked <- struct{}{}:
	default:
	}
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
	state, err := e.list(ctx, "", from)
	if errors.Is(err, rpctypes.ErrCompacted) {
		if from, err = e.lastCompaction(ctx); err == nil && from > 0 && from <= now {
			state, err = e.list(ctx, "", from)
		} else if err == nil {
			err = rpctypes.ErrCompacted
		}
	}
	for errors.Is(err, rpctypes.ErrCompacted) {
		if from, err = e.revision(ctx); err == nil {
			state, err = e.list(ctx, "", from)
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

// List implements backend.Backend.
func (e *etcd) List(ctx context.Context, prefix string) ([]backend.Stored, uint64, error) {
	for {
		version, err := e.revision(ctx)
		if err != nil {
			return nil, 0, err
		}
		if all, err := e.list(ctx, prefix, version); !errors.Is(err, rpctypes.ErrCompacted) {
			return all, version, err
		}
	}
}

// list returns all keys below the prefix, and below another one in it, as they were at a revision.
func (e *etcd) list(ctx context.Context, below string, revision uint64) (all []backend.Stored, err error) {
	for from := ""; ; {
		var page kubernetes.ListResponse
		err := e.read(ctx, func(ctx context.Context) (err error) {
			page, err = e.client.List(ctx, e.prefix+below, kubernetes.ListOptions{Revision: int64(revision), Limit: pageSize, Continue: from})
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
