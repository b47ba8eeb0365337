package store_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/kubecoord/kubecoord/lease"
	"github.com/kubecoord/kubecoord/store"
	"github.com/kubecoord/kubecoord/store/meta"
)

// BenchmarkGrowth measures how the cost of an operation grows with the number of objects. Objects are chosen at random, so that the
// memory of the processor helps less with more objects. A million Leases take about two gigabytes.
func BenchmarkGrowth(b *testing.B) {
	for _, n := range []int{1_000, 10_000, 100_000, 1_000_000} {
		b.Run(fmt.Sprintf("objects=%d", n), func(b *testing.B) {
			st := store.New(store.Options{})
			defer st.Close()
			leases := lease.In(st)
			for i := range n {
				if _, err := leases.Create(b.Context(), growthLease(i), store.CreateOptions{}); err != nil {
					b.Fatal(err)
				}
			}
			rnd := rand.New(rand.NewPCG(1, uint64(n)))
			name := func() string { return growthName(rnd.IntN(n)) }
			b.Run("get", func(b *testing.B) {
				b.ReportAllocs()
				for b.Loop() {
					if _, err := leases.Get(b.Context(), growthNamespace, name()); err != nil {
						b.Fatal(err)
					}
				}
			})
			update := func(b *testing.B, name string) {
				l, err := leases.Get(b.Context(), growthNamespace, name)
				if err != nil {
					b.Fatal(err)
				}
				l.Spec.RenewTime.Time = l.Spec.RenewTime.Add(time.Second)
				if _, err := leases.Update(b.Context(), l, store.UpdateOptions{}); err != nil {
					b.Fatal(err)
				}
			}
			b.Run("get and update", func(b *testing.B) {
				b.ReportAllocs()
				for b.Loop() {
					update(b, name())
				}
			})
			b.Run("update and delivery to its watcher", func(b *testing.B) {
				b.ReportAllocs()
				watched := name()
				ctx, cancel := context.WithCancel(b.Context())
				got, done := make(chan struct{}), make(chan struct{})
				go func() {
					defer close(done)
					for _, err := range leases.Watch(ctx, store.WatchOptions{Namespace: growthNamespace, Name: watched}) {
						if err != nil {
							return
						}
						got <- struct{}{}
					}
				}()
				<-got // the current state
				for b.Loop() {
					update(b, watched)
					<-got
				}
				cancel()
				<-done
			})
			b.Run("page of 100", func(b *testing.B) {
				first, err := leases.List(b.Context(), store.ListOptions{Namespace: growthNamespace, Limit: int64(n / 2)})
				if err != nil {
					b.Fatal(err)
				}
				b.ReportAllocs()
				for b.Loop() {
					if _, err := leases.List(b.Context(), store.ListOptions{Namespace: growthNamespace, Limit: 100, Continue: first.Continue}); err != nil {
						b.Fatal(err)
					}
				}
			})
		})
	}
}

const growthNamespace = "growth"

func growthName(i int) string { return fmt.Sprintf("lease-%07d", i) }

// growthLease is a Lease as an elector writes it.
func growthLease(i int) *lease.Lease {
	now := meta.NewMicroTime(time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC))
	holder := fmt.Sprintf("node-%d", i)
	return &lease.Lease{
		ObjectMeta: meta.ObjectMeta{Namespace: growthNamespace, Name: growthName(i)},
		Spec: lease.LeaseSpec{
			HolderIdentity: &holder, LeaseDurationSeconds: new(int32(15)), LeaseTransitions: new(int32(0)),
			AcquireTime: &now, RenewTime: new(now),
		},
	}
}
