package store_test

import (
	"context"
	"fmt"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kubecoord/kubecoord/lease"
	"github.com/kubecoord/kubecoord/store"
	"github.com/kubecoord/kubecoord/store/meta"
)

// renewed returns a Lease, and a function that writes it once more.
func renewed(t testing.TB) (leases *store.Collection[lease.Lease], write func()) {
	t.Helper()
	st := store.New(store.Options{})
	t.Cleanup(st.Close)
	leases = lease.In(st)
	ctx, opts := context.Background(), store.UpdateOptions{FieldManager: "bench"}
	l, err := leases.Create(ctx, &lease.Lease{
		ObjectMeta: meta.ObjectMeta{Namespace: "default", Name: "a", Labels: map[string]string{"app": "bench"}},
		Spec:       lease.LeaseSpec{HolderIdentity: new("me"), LeaseDurationSeconds: new(int32(15)), LeaseTransitions: new(int32(0))},
	}, store.CreateOptions{FieldManager: "bench"})
	require.NoError(t, err)
	return leases, func() {
		*l.Spec.LeaseTransitions++
		if l, err = leases.Update(ctx, l, opts); err != nil {
			t.Fatal(err)
		}
	}
}

// watchers opens n watches of a collection. The function that it returns makes a write, and
// waits until every watch has reported it.
func watchers(t testing.TB, n int, shared bool) (writeAndWait func()) {
	t.Helper()
	leases, write := renewed(t)
	var seen, ended sync.WaitGroup
	ctx, cancel := context.WithCancel(context.Background())
	seen.Add(n)
	for range n {
		ended.Go(func() {
			for range leases.Watch(ctx, store.WatchOptions{Namespace: "default", Shared: shared}) {
				if ctx.Err() != nil {
					return
				}
				seen.Done()
			}
		})
	}
	seen.Wait() // the current state
	t.Cleanup(func() { cancel(); ended.Wait() })
	return func() {
		seen.Add(n)
		write()
		seen.Wait()
	}
}

// From a write to the last of its deliveries.
func BenchmarkWatchOfACollection(b *testing.B) {
	for _, n := range []int{1, 1000, 10_000} {
		for name, shared := range map[string]bool{"shared": true, "copies": false} {
			b.Run(fmt.Sprintf("watchers=%d/%s", n, name), func(b *testing.B) {
				write := watchers(b, n, shared)
				b.ReportAllocs()
				for b.Loop() {
					write()
				}
			})
		}
	}
}

// A watch that shares objects allocates nothing for a delivery, and one that copies them only
// the copy.
func TestDeliveryOfAnEventAllocatesOnlyItsCopy(t *testing.T) {
	leases, write := renewed(t)
	alone := testing.AllocsPerRun(100, write)
	copies := testing.AllocsPerRun(100, func() {
		_, err := leases.Get(context.Background(), "default", "a")
		require.NoError(t, err)
	})
	const n = 100
	assert.Less(t, testing.AllocsPerRun(100, watchers(t, n, true)), alone+5)
	assert.Less(t, testing.AllocsPerRun(100, watchers(t, n, false)), alone+n*copies+5)
}

func BenchmarkStart(b *testing.B) {
	ctx := context.Background()
	l := &lease.Lease{ObjectMeta: meta.ObjectMeta{Namespace: "default", Name: "a"}, Spec: lease.LeaseSpec{HolderIdentity: new("me")}}
	b.ReportAllocs()
	for b.Loop() {
		leases := lease.In(store.New(store.Options{}))
		if _, err := leases.Create(ctx, l, store.CreateOptions{FieldManager: "bench"}); err != nil {
			b.Fatal(err)
		}
		if _, err := leases.Get(ctx, "default", "a"); err != nil {
			b.Fatal(err)
		}
	}
}
