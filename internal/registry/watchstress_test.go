package registry_test

import (
	"context"
	"errors"
	"fmt"
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

func TestListThenWatchMissesNothing(t *testing.T) {
	const writes = 1500
	st := newStoreWith(t, registry.Options{History: 1 << 16})
	leases := leasesIn(st)
	mustCreate(t, leases, newLease("ns/a", func(l *lease.Lease) { l.Spec.LeaseTransitions = new(int32(0)) }))
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			for range 20 {
				items, m, err := leases.List(t.Context(), registry.ListOptions{})
				if !assert.NoError(t, err) {
					return
				}
				if len(items) == 2 {
					return // that is the end
				}
				count := *items[0].Spec.LeaseTransitions
				for ev, err := range leases.Watch(t.Context(), store.WatchOptions{ResourceVersion: m.ResourceVersion}) {
					if !assert.NoError(t, err) || ev.Object.Name == "end" {
						break
					}
					if !assert.Equal(t, count+1, *ev.Object.Spec.LeaseTransitions) {
						break
					}
					if count = *ev.Object.Spec.LeaseTransitions; count%10 == 0 {
						break
					}
				}
			}
		})
	}
	for range writes {
		mustModify(t, leases, "ns/a", func(l *lease.Lease) { *l.Spec.LeaseTransitions++ })
	}
	createAll(t, leases, "ns/end")
	wg.Wait()
	assert.Zero(t, st.Watchers())
}

func TestWatchesThatComeAndGoDisturbNobody(t *testing.T) {
	st := newStoreWith(t, registry.Options{History: 64})
	leases := leasesIn(st)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	var wg sync.WaitGroup
	for i := range 6 {
		wg.Go(func() {
			rnd := rand.New(rand.NewPCG(uint64(i), 2))
			for ctx.Err() == nil {
				opts := store.WatchOptions{AllowWatchBookmarks: rnd.IntN(2) == 0}
				if rnd.IntN(2) == 0 {
					opts.Namespace = "ns"
				}
				if rnd.IntN(2) == 0 {
					opts.Name = strconv.Itoa(rnd.IntN(3))
				}
				stay := rnd.IntN(20)
				last := uint64(0)
				for ev, err := range leases.Watch(ctx, opts) {
					if err != nil {
						assert.True(t, errors.Is(err, context.Canceled) || errors.Is(err, store.ErrExpired), "got %v", err)
						break
					}
					if stay--; stay < 0 {
						break
					}
					// The initial state is not in the order of versions.
					if ev.Type == watch.Added {
						continue
					}
					version, err := strconv.ParseUint(ev.Object.ResourceVersion, 10, 64)
					assert.NoError(t, err)
					assert.GreaterOrEqual(t, version, last)
					last = version
				}
			}
		})
	}
	for i := range 3000 {
		path := fmt.Sprintf("%s/%d", []string{"ns", "other"}[i%2], i%3)
		l := newLease(path, holder(strconv.Itoa(i)))
		if have, err := leases.Get(t.Context(), l.Namespace, l.Name); err == nil {
			l.ResourceVersion = have.ResourceVersion
		}
		mustUpdate(t, leases, l)
	}
	cancel()
	wg.Wait()
	assert.Zero(t, st.Watchers())
}
