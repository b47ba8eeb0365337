package store

import (
	"context"

	"github.com/kubecoord/kubecoord/internal/kinds"
	"github.com/kubecoord/kubecoord/internal/registry"
	"github.com/kubecoord/kubecoord/store/backend"
	"github.com/kubecoord/kubecoord/store/kind"
)

// Open returns a store whose objects a Backend keeps, after it has read the present state. The store has a copy of all
// objects and of the last changes, and follows the Backend until Close. Any number of stores may be on the same data.
//
// The store has the kinds that Open gets: Kind.In panics for any other. Quota, FirstResourceVersion and Seed must be zero,
// and the clock must not be moved by hand: versions and quota belong to the Backend, and its other users know no such seed
// and clock.
//
// The error is the error of ctx if ctx ends first, or else an error of the options or of Backend.Follow.
func Open(ctx context.Context, opts Options, b backend.Backend, all ...kind.Kind) (*Store, error) {
	registered := make([]*kinds.Kind, len(all))
	for i, k := range all {
		registered[i] = kinds.Of(k)
	}
	r, err := registry.Open(registry.Options(opts), b, registered...)
	if err != nil {
		return nil, err
	}
	if err := r.Loaded(ctx); err != nil {
		r.Close()
		return nil, err
	}
	return Of(r), nil
}
