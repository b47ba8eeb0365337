package store

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/kubecoord/kubecoord/internal/atwork"
	"github.com/kubecoord/kubecoord/store/meta"
	"github.com/kubecoord/kubecoord/watch"
)

// futureWait is how long a read waits for a version that is not there yet.
const futureWait = 3 * time.Second

// Get returns the current state of an object. A resourceVersion asks for a
// state no older than it, and is waited for if it lies in the future.
func (r *Resource) Get(ctx context.Context, namespace, name, resourceVersion string) (*Item, error) {
	if resourceVersion != "" && resourceVersion != "0" {
		version, err := readVersion(resourceVersion)
		if err != nil {
			return nil, err
		}
		if err := r.st.waitFor(ctx, version); err != nil {
			return nil, err
		}
	}
	it := r.lookup(key{namespace, name})
	if it == nil {
		return nil, meta.NewNotFound(r.kind.groupResource(), name)
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
	if st.ResourceVersion() >= version {
		return nil
	}
	ctx, cancel := atwork.WithDeadline(ctx, st.clock, st.clock.Now().Add(futureWait), errTooLarge)
	defer cancel()
	if w := atwork.From(ctx); w != nil && w.Rest(w.Wakes()) {
		defer w.Work()
	}
	if err := st.hub.WaitFor(ctx, version); err != nil {
		if errors.Is(err, watch.ErrClosed) {
			return ErrClosed
		}
		if !errors.Is(context.Cause(ctx), errTooLarge) {
			return ctx.Err()
		}
		return meta.NewTimeout(fmt.Sprintf("Too large resource version: %d, current: %d", version, st.ResourceVersion()), 1,
			meta.StatusCause{Type: "ResourceVersionTooLarge", Message: "Too large resource version"})
	}
	return nil
}

const errTooLarge = meta.ReasonTimeout
