package registry_test

import (
	"context"
	"errors"
	"math/rand/v2"
	"strconv"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kubecoord/kubecoord/internal/kinds"
	"github.com/kubecoord/kubecoord/internal/registry"
	"github.com/kubecoord/kubecoord/lease"
	"github.com/kubecoord/kubecoord/store"
	"github.com/kubecoord/kubecoord/watch"
)

// follow reads a watch until it met the object "zz/end" and returns what it
// was told, by version.
func follow(ctx context.Context, leases collection, opts store.WatchOptions) ([]watch.Event[lease.Lease], error) {
	var events []watch.Event[lease.Lease]
	for ev, err := range leases.Watch(ctx, opts) {
		if err != nil {
			return events, err
		}
		if ev.Object.Namespace == "zz" {
			return events, nil
		}
		events = append(events, ev)
	}
	return events, errors.New("the watch ended")
}

func TestWatchersMissNothingUnderConcurrentWriters(t *testing.T) {
	const writers, each, watchers = 4, 300, 6
	st := newStoreWith(t, registry.Options{History: 1 << 16})
	leases := leasesIn(st)
	var reading, writing sync.WaitGroup
	told := make([][]watch.Event[lease.Lease], watchers)
	for i := range watchers {
		reading.Go(func() {
			// Some start before the first write, some at any point after.
			opts := store.WatchOptions{ResourceVersion: "1000"}
			if i%2 == 1 {
				opts.ResourceVersion = ""
			}
			var err error
			told[i], err = follow(t.Context(), leases, opts)
			assert.NoError(t, err)
		})
	}
	for w := range writers {
		writing.Go(func() {
			rnd := rand.New(rand.NewPCG(uint64(w), 1))
			for range each {
				// Names are shared, so that writers meet.
				name := strconv.Itoa(rnd.IntN(5))
				switch _, err := leases.Modify(t.Context(), "ns", name, func(l *lease.Lease) error {
					*l.Spec.LeaseTransitions++
					return nil
				}, store.UpdateOptions{}); {
				case err != nil:
					assert.ErrorIs(t, err, store.ErrNotFound)
					_, err := leases.Create(t.Context(), newLease("ns/"+name, func(l *lease.Lease) { l.Spec.LeaseTransitions = new(int32(0)) }), store.CreateOptions{})
					if err != nil {
						assert.ErrorIs(t, err, store.ErrAlreadyExists)
					}
				case rnd.IntN(4) == 0:
					if _, err := leases.Delete(t.Context(), "ns", name, kinds.DeleteOptions{}); err != nil {
						assert.ErrorIs(t, err, store.ErrNotFound)
					}
				}
			}
		})
	}
	writing.Wait()
	final, _ := mustList(t, leases, registry.ListOptions{})
	last := st.ResourceVersion()
	createAll(t, leases, "zz/end")
	reading.Wait()

	for i, events := range told {
		if i%2 == 0 {
			require.Len(t, events, int(last)-1000, "watcher %d: one event a version", i)
			for n, ev := range events {
				require.Equal(t, rv(1001+uint64(n)), ev.Object.ResourceVersion, "watcher %d", i)
			}
		}
		// Whoever applies all events to nothing has the final state.
		state := map[string]*lease.Lease{}
		for _, ev := range events {
			_, there := state[ev.Object.Name]
			switch ev.Type {
			case watch.Added:
				require.False(t, there, "watcher %d: %s came twice", i, ev.Object.Name)
				state[ev.Object.Name] = ev.Object
			case watch.Modified:
				require.True(t, there, "watcher %d: %s changed before it came", i, ev.Object.Name)
				state[ev.Object.Name] = ev.Object
			case watch.Deleted:
				require.True(t, there, "watcher %d: %s went before it came", i, ev.Object.Name)
				delete(state, ev.Object.Name)
			}
		}
		require.Len(t, state, len(final), "watcher %d", i)
		for _, l := range final {
			require.Equal(t, l, state[l.Name], "watcher %d", i)
		}
	}
}
