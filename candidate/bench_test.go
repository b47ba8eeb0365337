package candidate

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/kubecoord/kubecoord/lease"
	"github.com/kubecoord/kubecoord/store"
	"github.com/kubecoord/kubecoord/store/meta"
)

// BenchmarkElectFromCold starts a Coordinator over Leases with ten candidates each, and
// waits until every Lease has a holder. Candidates without a recent sign of life are
// pinged first, and answer. Each iteration includes the 200ms that the Coordinator waits
// for more candidates.
func BenchmarkElectFromCold(b *testing.B) {
	for _, leases := range []int{1, 1000} {
		for _, row := range []struct {
			name string
			age  time.Duration
		}{{"renewed", 0}, {"pinged", time.Minute}} {
			b.Run(fmt.Sprintf("leases=%d/%s", leases, row.name), func(b *testing.B) {
				writes := 0
				for b.Loop() {
					b.StopTimer()
					st := store.New(store.Options{History: 1 << 16})
					offerAll(b, st, leases, 10, row.age)
					ctx, cancel := context.WithCancel(b.Context())
					if row.age > 0 {
						go answerAll(ctx, st)
					}
					e, err := NewCoordinator(st, CoordinatorOptions{})
					if err != nil {
						b.Fatal(err)
					}
					left := leases
					e.opts.Log = func(ev ElectionEvent) {
						if ev.Type == Elected {
							if left--; left == 0 {
								cancel()
							}
						}
					}
					before := st.Registry().ResourceVersion()
					b.StartTimer()
					e.Run(ctx)
					b.StopTimer()
					writes += int(st.Registry().ResourceVersion() - before)
					st.Close()
					b.StartTimer()
				}
				b.ReportMetric(float64(b.Elapsed().Microseconds())/float64(b.N*leases), "µs/election")
				b.ReportMetric(float64(writes)/float64(b.N*leases), "writes/election")
			})
		}
	}
}

// BenchmarkRenewalBesideACoordinator measures the renewal of a Lease while a Coordinator
// watches, for Leases with and without candidates.
func BenchmarkRenewalBesideACoordinator(b *testing.B) {
	for _, name := range []string{"none", "others", "candidates"} {
		b.Run(name, func(b *testing.B) {
			st := store.New(store.Options{})
			defer st.Close()
			if name == "candidates" {
				offerAll(b, st, 1, 10, 0)
			}
			_, err := lease.In(st).Create(b.Context(), &lease.Lease{
				ObjectMeta: meta.ObjectMeta{Namespace: "ns", Name: "lease-0"},
				Spec: lease.LeaseSpec{
					HolderIdentity: new("c-0-0"), LeaseDurationSeconds: new(int32(15)),
					Strategy: new(lease.OldestEmulationVersion),
				},
			}, store.CreateOptions{})
			if err != nil {
				b.Fatal(err)
			}
			ctx, cancel := context.WithCancel(b.Context())
			done := make(chan struct{})
			go func() {
				defer close(done)
				if e, err := NewCoordinator(st, CoordinatorOptions{}); name != "none" && err == nil {
					e.Run(ctx)
				}
			}()
			b.ReportAllocs()
			for b.Loop() {
				_, err := lease.In(st).Modify(b.Context(), "ns", "lease-0", func(l *lease.Lease) error {
					l.Spec.RenewTime = new(meta.NewMicroTime(time.Now()))
					return nil
				}, store.UpdateOptions{})
				if err != nil {
					b.Fatal(err)
				}
			}
			cancel()
			<-done
		})
	}
}

// offerAll creates candidates that gave a sign of life some time ago.
func offerAll(b *testing.B, st *store.Store, leases, each int, age time.Duration) {
	candidates := In(st)
	for i := range leases {
		for j := range each {
			_, err := candidates.Create(b.Context(), &LeaseCandidate{
				ObjectMeta: meta.ObjectMeta{Namespace: "ns", Name: fmt.Sprintf("c-%d-%d", i, j)},
				Spec: LeaseCandidateSpec{
					LeaseName: fmt.Sprintf("lease-%d", i), BinaryVersion: "1.37.0", EmulationVersion: fmt.Sprintf("1.36.%d", j),
					Strategy: lease.OldestEmulationVersion, RenewTime: new(meta.NewMicroTime(time.Now().Add(-age))),
				},
			}, store.CreateOptions{})
			if err != nil {
				b.Fatal(err)
			}
		}
	}
}

// answerAll answers all pings.
func answerAll(ctx context.Context, st *store.Store) {
	candidates := In(st)
	for ev, err := range candidates.Watch(ctx, store.WatchOptions{}) {
		if err != nil {
			return
		}
		if isUnanswered(ev.Object) {
			ev.Object.Spec.RenewTime = new(meta.NewMicroTime(time.Now()))
			candidates.Update(context.Background(), ev.Object, store.UpdateOptions{}) // a newer state comes by the watch
		}
	}
}
