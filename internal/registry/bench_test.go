package registry_test

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/kubecoord/kubecoord/internal/kinds"
	"github.com/kubecoord/kubecoord/internal/registry"
	"github.com/kubecoord/kubecoord/lease"
	"github.com/kubecoord/kubecoord/store"
	"github.com/kubecoord/kubecoord/store/meta"
)

// benchLease is a lease as an elector writes it.
func benchLease(path string) *lease.Lease {
	return newLease(path, holder("node-1.example.com_5f8c2a9e-8a34-4b7d-9a55-3f1d2f0f6f5e"), label("app.kubernetes.io/name", "controller"), func(l *lease.Lease) {
		l.Spec.LeaseDurationSeconds, l.Spec.LeaseTransitions = new(int32(15)), new(int32(3))
		l.Spec.AcquireTime, l.Spec.RenewTime = new(meta.NewMicroTime(epoch)), new(meta.NewMicroTime(epoch))
	})
}

// benchStore returns a store with n leases in one namespace.
func benchStore(b *testing.B, n int) (*registry.Store, collection) {
	b.Helper()
	st := registry.New(registry.Options{})
	b.Cleanup(st.Close)
	leases := leasesIn(st)
	for _, path := range manyPaths("ns", n) {
		mustCreate(b, leases, benchLease(path))
	}
	return st, leases
}

// renew updates a lease as an elector does.
func renew(b *testing.B, leases collection, l *lease.Lease) *lease.Lease {
	l.Spec.RenewTime.Time = l.Spec.RenewTime.Add(time.Second)
	out, err := leases.Update(b.Context(), l, store.UpdateOptions{})
	if err != nil {
		b.Fatal(err)
	}
	return out
}

func BenchmarkCreate(b *testing.B) {
	_, leases := benchStore(b, 0)
	l := benchLease("ns/x")
	b.ReportAllocs()
	for i := 0; b.Loop(); i++ {
		l.Name = strconv.Itoa(i)
		if _, err := leases.Create(b.Context(), l, store.CreateOptions{}); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkGet(b *testing.B) {
	for _, n := range []int{1, 10_000} {
		b.Run(fmt.Sprintf("objects=%d", n), func(b *testing.B) {
			st, leases := benchStore(b, n)
			r := leaseResource(st)
			b.Run("typed", func(b *testing.B) {
				b.ReportAllocs()
				for b.Loop() {
					if _, err := leases.Get(b.Context(), "ns", "l00000"); err != nil {
						b.Fatal(err)
					}
				}
			})
			b.Run("shared", func(b *testing.B) {
				b.ReportAllocs()
				for b.Loop() {
					if _, err := r.Get(b.Context(), "ns", "l00000", ""); err != nil {
						b.Fatal(err)
					}
				}
			})
		})
	}
}

// BenchmarkUpdate renews a lease by the manager that owns its fields. In the last row nobody tracks its fields, because
// somebody asked to forget their managers.
func BenchmarkUpdate(b *testing.B) {
	for _, row := range []struct {
		objects int
		tracked bool
	}{{1, true}, {10_000, true}, {1, false}} {
		b.Run(fmt.Sprintf("objects=%d/tracked=%t", row.objects, row.tracked), func(b *testing.B) {
			_, leases := benchStore(b, row.objects)
			l := mustGet(b, leases, "ns/l00000")
			if !row.tracked {
				l.ManagedFields = []meta.ManagedFieldsEntry{}
				l = renew(b, leases, l)
			}
			if (len(l.ManagedFields) > 0) != row.tracked {
				b.Fatal(l.ManagedFields)
			}
			b.ReportAllocs()
			for b.Loop() {
				l = renew(b, leases, l)
			}
		})
	}
}

// BenchmarkRenewals renews 10,000 leases from all processors, each with its last resourceVersion.
func BenchmarkRenewals(b *testing.B) {
	const n = 10_000
	_, leases := benchStore(b, n)
	held := make(chan *lease.Lease, n)
	for _, path := range manyPaths("ns", n) {
		held <- mustGet(b, leases, path)
	}
	b.ReportAllocs()
	b.ResetTimer()
	b.RunParallel(func(pb *testing.PB) {
		for pb.Next() {
			held <- renew(b, leases, <-held)
		}
	})
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "renewals/s")
}

func BenchmarkDelete(b *testing.B) {
	_, leases := benchStore(b, 0)
	l := benchLease("ns/x")
	b.ReportAllocs()
	for b.Loop() {
		if _, err := leases.Create(b.Context(), l, store.CreateOptions{}); err != nil {
			b.Fatal(err)
		}
		if _, err := leases.Delete(b.Context(), "ns", "x", kinds.DeleteOptions{}); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkList(b *testing.B) {
	for _, n := range []int{1_000, 10_000} {
		st, leases := benchStore(b, n)
		r := leaseResource(st)
		for name, opts := range map[string]registry.ListOptions{
			"all":    {},
			"limit":  {Limit: 500},
			"labels": {LabelSelector: "app.kubernetes.io/name=controller"},
			"name":   {Namespace: "ns", FieldSelector: "metadata.name=l00500"},
		} {
			b.Run(fmt.Sprintf("objects=%d/%s", n, name), func(b *testing.B) {
				b.ReportAllocs()
				for b.Loop() {
					if _, err := r.List(b.Context(), opts); err != nil {
						b.Fatal(err)
					}
				}
			})
		}
		b.Run(fmt.Sprintf("objects=%d/typed", n), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if _, _, err := leases.List(b.Context(), registry.ListOptions{}); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// reading opens n watches and reads them until the benchmark ends. A watch that
// expires is opened again.
func reading(b *testing.B, st *registry.Store, n int, opts func(i int) registry.ListOptions, told func(registry.ItemEvent)) {
	b.Helper()
	ctx, cancel := context.WithCancel(b.Context())
	var wg sync.WaitGroup
	open := func(o registry.ListOptions) *registry.Watcher {
		w, err := leaseResource(st).Watch(ctx, o)
		if err != nil {
			b.Error(err)
		}
		return w
	}
	for i := range n {
		w := open(opts(i))
		wg.Go(func() {
			defer func() { w.Close() }()
			for {
				events, err := w.Next(ctx)
				if errors.Is(err, store.ErrExpired) {
					w.Close()
					o := opts(i)
					o.ResourceVersion = rv(st.ResourceVersion())
					w = open(o)
					continue
				}
				if err != nil {
					return
				}
				if told != nil {
					for _, ev := range events {
						told(ev)
					}
				}
			}
		})
	}
	b.Cleanup(func() {
		cancel()
		wg.Wait()
	})
}

// Here a round is a number of updates and the time until every watcher was told
// of them all.
func BenchmarkWatch(b *testing.B) {
	const round = 100
	for _, n := range []int{1, 10, 100} {
		b.Run(fmt.Sprintf("watchers=%d", n), func(b *testing.B) {
			st, leases := benchStore(b, 1)
			l := mustGet(b, leases, "ns/l00000")
			var told sync.WaitGroup
			reading(b, st, n, func(int) registry.ListOptions {
				return registry.ListOptions{Namespace: "ns", Name: "l00000", ResourceVersion: "1001"}
			}, func(registry.ItemEvent) { told.Done() })
			b.ReportAllocs()
			rounds := 0
			for ; b.Loop(); rounds++ {
				told.Add(n * round)
				for range round {
					l = renew(b, leases, l)
				}
				told.Wait()
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(rounds*round), "ns/update")
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(rounds*round*n), "ns/event")
		})
	}
}

// The changes are the first ones after a fork: they copy what they need of what
// the two share.
func BenchmarkFork(b *testing.B) {
	for _, n := range []int{1, 100_000} {
		st, leases := benchStore(b, n)
		fork := func() *registry.Store {
			f, err := st.Fork()
			if err != nil {
				b.Fatal(err)
			}
			return f
		}
		b.Run(fmt.Sprintf("objects=%d", n), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				fork().Close()
			}
		})
		b.Run(fmt.Sprintf("objects=%d/with a change on both sides", n), func(b *testing.B) {
			l := mustGet(b, leases, "ns/l00000")
			b.ReportAllocs()
			for b.Loop() {
				f := fork()
				renew(b, leasesIn(f), l)
				l = renew(b, leases, l)
				f.Close()
			}
		})
	}
}
