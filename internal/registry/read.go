package registry

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/kubecoord/kubecoord/internal/hub"
	"github.com/kubecoord/kubecoord/store/clock"
	"github.com/kubecoord/kubecoord/store/meta"
)

// futureWait is how long a read waits for a version in the future.
const futureWait = 3 * time.Second

// Get returns the current state of an object. With a resourceVersion the state is not
// older, and Get waits for a version in the future.
func (r *Resource) Get(ctx context.Context, namespace, name, resourceVersion string) (*Item, error) {
	return r.GetWaiting(ctx, namespace, name, resourceVersion, nil)
}

// GetWaiting is Get for a caller that gives something up during the wait.
func (r *Resource) GetWaiting(ctx context.Context, namespace, name, resourceVersion string, waiting Waiting) (*Item, error) {
	k := key{namespace, name}
	if objects, ok := r.Kind.Made(); ok {
		return r.getMade(objects, k)
	}
	read, err := chooseGet(resourceVersion)
	if err != nil {
		return nil, err
	}
	var it *Item
	if from := r.st.reader(ctx); read.choice == storedState {
		it, err = from.get(ctx, r, k)
	} else if err = waiting.waitFor(ctx, r, read.version); err == nil {
		it, err = from.lookup(r, k)
	}
	if err != nil {
		return nil, err
	}
	if it == nil {
		return nil, r.NotFound(name)
	}
	return it, nil
}

// parseReadVersion returns the resourceVersion of a read, 0 for "". The error is no
// Status: a get or watch answers 500 with its text, a list answers 400.
func parseReadVersion(s string) (uint64, error) {
	if s == "" {
		return 0, nil
	}
	v, err := strconv.ParseUint(s, 10, 64)
	if err != nil {
		return 0, fmt.Errorf("resourceVersion: Invalid value: %q: %w", s, err)
	}
	return v, nil
}

// waitFor waits until the store has a version, at most futureWait.
func (st *Store) waitFor(ctx context.Context, version uint64) error {
	if st.ResourceVersion() >= version {
		return nil
	}
	return waitAtMost(ctx, st.clock, version, st.ResourceVersion, func(ctx context.Context) error { return st.hub.WaitFor(ctx, version) })
}

// waitAtMost calls wait for a version with a limit of futureWait. After that the error names the current version.
func waitAtMost(ctx context.Context, c clock.Clock, version uint64, current func() uint64, wait func(context.Context) error) error {
	ctx, cancel := clock.WithDeadline(ctx, c, c.Now().Add(futureWait), errTooLarge)
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

// tooLarge is the error of a read at a version in the future.
func tooLarge(version, current uint64, retryAfter int32) error {
	return meta.NewTimeout(fmt.Sprintf("Too large resource version: %d, current: %d", version, current), retryAfter,
		meta.StatusCause{Type: "ResourceVersionTooLarge", Message: "Too large resource version"})
}

const errTooLarge = meta.ReasonTimeout
