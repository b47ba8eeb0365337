package store

import (
	"context"

	"github.com/kubecoord/kubecoord/internal/kinds"
	"github.com/kubecoord/kubecoord/internal/registry"
	"github.com/kubecoord/kubecoord/store/backend"
)

// Open returns a store whose objects a Backend keeps, after it has read the present state. The store has a copy of all
// objects and of the last changes, and follows the Backend until Close. Any number of stores may be on the same data.
//
// The store has the kinds that Open gets: Kind.In panics for any other. Quota, FirstResourceVersion and Seed must be zero,
// and the clock must not be moved by hand: versions and quota belong to the Backend, and its other users know no such seed
// and clock.
//
// If ctx ends first, the error is the one of ctx. Otherwise it is an error of the options, or of Backend.Follow.
func Open(ctx context.Context, opts Options, b backend.Backend, all ...AnyKind) (*Store, error) {
	registered := make([]*kinds.Kind, len(all))
	for i, k := range all {
		registered[i] = k.Registered()
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

// StoragePrefix returns Descriptor.StoragePrefix of a kind, or its default. The keys of the objects in a Backend begin with it
// and a slash.
func StoragePrefix(k AnyKind) string { return k.Registered().Info().StoragePrefix }
