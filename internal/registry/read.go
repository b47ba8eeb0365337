package registry

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/kubecoord/kubecoord/internal/atwork"
	"github.com/kubecoord/kubecoord/internal/hub"
	"github.com/kubecoord/kubecoord/store/clock"
	"github.com/kubecoord/kubecoord/store/meta"
)

// futureWait is how long a read waits for a version that is not there yet.
const futureWait = 3 * time.Second

// Get returns the current state of an object. A resourceVersion asks for a
// state no older than it, and is waited for if it lies in the future.
func (r *Resource) Get(ctx context.Context, namespace, name, resourceVersion string) (*Item, error) {
	read, err := chooseGet(resourceVersion)
	if err != nil {
		return nil, err
	}
	k := key{namespace, name}
	var it *Item
	if p := r.st.replicaOf(ctx); p != nil && (read.choice != storedState || p.opts.EveryRead) {
		it, err = p.get(ctx, r, k, read)
	} else if err = r.st.waitFor(ctx, read.version); err == nil {
		it = r.lookup(k)
	}
	if err != nil {
		return nil, err
	}
	if it == nil {
		return nil, r.NotFound(name)
	}
	return it, nil
}

// readVersion reads the resourceVersion of a read. The error is no Status: a
// get or watch answers 500 with its text, a list makes a 400 of it.
func readVersion(s string) (uint64, error) {
	if s == "" {
		return 0, nil
	}
	v, err := strconv.ParseUint(s, 10, 64)
	if err != nil {
		return 0, fmt.Errorf("resourceVersion: Invalid value: %q: %w", s, err)
	}
	return v, nil
}

// waitFor waits until a version is reached, at most futureWait.
func (st *Store) waitFor(ctx context.Context, version uint64) error {
	if version == 0 || st.ResourceVersion() >= version {
		return nil
	}
	return waitAtMost(ctx, st.clock, version, st.ResourceVersion, func(ctx context.Context) error { return st.reach(ctx, version) })
}

// reach blocks until a version is there. The worker of the context rests.
func (st *Store) reach(ctx context.Context, version uint64) error {
	w := atwork.From(ctx)
	w.Rest(w.Wakes()) // or the context ends in this moment
	return st.hub.WaitFor(ctx, version)
}

// waitAtMost waits for a version, at most futureWait. The answer to who has waited
// in vain tells the current one.
func waitAtMost(ctx context.Context, c clock.Clock, version uint64, current func() uint64, wait func(context.Context) error) error {
	waiter, done := atwork.From(ctx).StandIn(c)
	defer done()
	ctx, cancel := atwork.WithDeadline(atwork.With(ctx, waiter), c, c.Now().Add(futureWait), errTooLarge)
	defer cancel()
	err := wait(ctx)
	switch {
	case err == nil:
		return nil
	case errors.Is(err, hub.ErrClosed):
		return ErrClosed
	case !errors.Is(context.Cause(ctx), errTooLarge):
		return ctx.Err()
	}
	return tooLarge(version, current(), 1)
}

// tooLarge is the answer to who asks for a version that is not there yet.
func tooLarge(version, current uint64, retryAfter int32) error {
	return meta.NewTimeout(fmt.Sprintf("Too large resource version: %d, current: %d", version, current), retryAfter,
		meta.StatusCause{Type: "ResourceVersionTooLarge", Message: "Too large resource version"})
}

const errTooLarge = meta.ReasonTimeout
