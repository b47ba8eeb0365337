package registry_test

import (
	"context"
	"strconv"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kubecoord/kubecoord/internal/kinds"
	"github.com/kubecoord/kubecoord/internal/registry"
	"github.com/kubecoord/kubecoord/lease"
	"github.com/kubecoord/kubecoord/store"
)

// overtaken returns the change of a write before which others come first, and a count of
// its calls.
func overtaken(t *testing.T, leases *registry.Resource, others int) (registry.Replacement, *int) {
	calls := new(int)
	set := func(current *registry.Item, holder string) kinds.Object {
		l := current.Copy().(*lease.Lease)
		l.Spec.HolderIdentity = &holder
		return l
	}
	return func(current *registry.Item) (kinds.Object, error) {
		if *calls++; *calls <= others {
			_, _, err := leases.Update(t.Context(), &registry.Request{Namespace: "ns", Name: "a"},
				registry.Replacement(func(current *registry.Item) (kinds.Object, error) {
					return set(current, "other"+strconv.Itoa(*calls)), nil
				}))
			require.NoError(t, err)
		}
		return set(current, "mine"), nil
	}, calls
}

func TestWriteThatLosesSixRacesIsAConflict(t *testing.T) {
	for others, want := range map[int]string{5: "mine", 6: "other6", 100: "other6"} {
		t.Run(strconv.Itoa(others), func(t *testing.T) {
			st := newStore(t)
			createAll(t, leasesIn(st), "ns/a")
			r := leaseResource(st)
			change, calls := overtaken(t, r, others)
			_, _, err := r.Update(t.Context(), &registry.Request{Namespace: "ns", Name: "a"}, change)
			if want == "mine" {
				require.NoError(t, err)
			} else {
				assertStatus(t, err, 409, store.ErrConflict, `Operation cannot be fulfilled on leases.coordination.k8s.io "a": `+modified)
			}
			assert.Equal(t, 6, *calls)
			assert.Equal(t, want, *mustGet(t, leasesIn(st), "ns/a").Spec.HolderIdentity)
		})
	}
}

// What stores nothing is decided from the present state too.
func TestWriteThatStoresNothingLosesRacesToo(t *testing.T) {
	for name, dryRun := range map[string]bool{"a dry run": true, "no change": false} {
		t.Run(name, func(t *testing.T) {
			r := leaseResource(newStore(t))
			createAll(t, leasesIn(r.Store()), "ns/a")
			change, calls := overtaken(t, r, 1)
			_, _, err := r.Update(t.Context(), &registry.Request{Namespace: "ns", Name: "a", DryRun: dryRun},
				registry.Replacement(func(current *registry.Item) (kinds.Object, error) {
					o, err := change(current)
					if !dryRun {
						o = current.Copy()
					}
					return o, err
				}))
			require.NoError(t, err)
			assert.Equal(t, 2, *calls)
		})
	}
}

func TestPersistentWriteEndsWithItsContext(t *testing.T) {
	st := newStore(t)
	createAll(t, leasesIn(st), "ns/a")
	r := leaseResource(st)
	change, calls := overtaken(t, r, 100)
	ctx, cancel := context.WithCancel(t.Context())
	_, _, err := r.Update(ctx, &registry.Request{Namespace: "ns", Name: "a"},
		registry.Modification{Replacement: func(current *registry.Item) (kinds.Object, error) {
			if *calls == 50 {
				cancel()
			}
			return change(current)
		}})
	assert.ErrorIs(t, err, context.Canceled)
	assert.Equal(t, 51, *calls)
}

func TestWritesOfClientsThatAreGoneChangeNothing(t *testing.T) {
	st := newStore(t)
	r := leaseResource(st)
	gone, cancel := context.WithCancel(t.Context())
	cancel()
	_, err := r.Create(gone, newLease("ns/a"), &registry.Request{Namespace: "ns"})
	require.ErrorIs(t, err, context.Canceled)
	createAll(t, leasesIn(st), "ns/a")
	change, calls := overtaken(t, r, 0)
	_, _, err = r.Update(gone, &registry.Request{Namespace: "ns", Name: "a"}, change)
	require.ErrorIs(t, err, context.Canceled)
	assert.Zero(t, *calls)
	_, err = r.Delete(gone, new(registry.Request{Namespace: "ns", Name: "a"}), &kinds.DeleteOptions{})
	require.ErrorIs(t, err, context.Canceled)
	assert.EqualValues(t, 1001, st.ResourceVersion())
}
