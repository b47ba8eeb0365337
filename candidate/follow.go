package candidate

import (
	"context"
	"slices"

	"github.com/kubecoord/kubecoord/internal/atwork"
	"github.com/kubecoord/kubecoord/internal/registry"
	"github.com/kubecoord/kubecoord/store/clock"
)

// batch is changes of the objects of a resource, or a list of all of them.
type batch struct {
	registry.Update
	of *registry.Resource
	// release ends the hold on the clock. It is called when the changes have been
	// dealt with.
	release func()
}

// follow passes on the changes of a resource until the context ends or the store
// is closed.
func follow(ctx context.Context, c clock.Clock, r *registry.Resource, out chan<- batch) error {
	w := atwork.New(c)
	w.Work()
	defer w.Away()
	for n, err := range r.Follow(atwork.With(ctx, w)) {
		if err != nil {
			return err
		}
		n.Events = slices.Clone(n.Events) // it is read while this goes on
		release := atwork.Hold(c)
		select {
		case out <- batch{n, r, release}:
		case <-ctx.Done():
			release()
			return ctx.Err()
		}
	}
	return nil // never: the last element is an error
}
