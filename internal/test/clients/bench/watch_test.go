package bench

import (
	"context"
	"fmt"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/kubecoord/kubecoord/lease"
	"github.com/kubecoord/kubecoord/store"
)

// BenchmarkWriteBesideWatchers compares a write beside watchers of other objects
// with a write without watchers. The goal for 10,000 watchers is a ratio of 1.5.
func BenchmarkWriteBesideWatchers(b *testing.B) {
	for _, n := range []int{100, 10_000} {
		b.Run(fmt.Sprintf("watchers=%d", n), func(b *testing.B) {
			st, _ := newServer(b, n+1, ownMaps)
			watchEachBut0(b, st, n)
			alone, _ := newServer(b, n+1, ownMaps)
			duel(b, 256, "watched", leaseDoor(b, st).update, "alone", leaseDoor(b, alone).update)
			require.Equal(b, n, st.Watchers())
		})
	}
}

// watchEachBut0 starts a watch of each of n Leases but the first, and waits until all are idle.
func watchEachBut0(b *testing.B, st *store.Store, n int) {
	ctx, cancel := context.WithCancel(context.Background())
	var open, all sync.WaitGroup
	open.Add(n)
	for i := range n {
		all.Go(func() {
			opts := store.WatchOptions{Namespace: namespace, Name: leaseName(i + 1)}
			events := 0
			for _, err := range lease.In(st).Watch(ctx, opts) {
				if err != nil {
					break
				}
				if events++; events == 1 {
					open.Done()
				} else {
					b.Error("an event of another object")
				}
			}
		})
	}
	b.Cleanup(func() {
		cancel()
		all.Wait()
	})
	open.Wait()
}
