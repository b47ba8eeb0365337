package candidate

import (
	"context"
	"slices"

	"github.com/kubecoord/kubecoord/store"
)

// news is what there is to know of the objects of a resource.
type news struct {
	store.News
	of *store.Resource
}

// follow passes on what happens to the objects of a resource, until the context
// or the store ends.
func follow(ctx context.Context, r *store.Resource, out chan<- news) error {
	for n, err := range r.Follow(ctx) {
		if err != nil {
			return err
		}
		n.Events = slices.Clone(n.Events) // it is read while this goes on
		select {
		case out <- news{n, r}:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	return nil // never: the last element is an error
}
