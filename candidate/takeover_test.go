package candidate

import (
	"context"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kubecoord/kubecoord/lease"
	"github.com/kubecoord/kubecoord/store"
	"github.com/kubecoord/kubecoord/store/meta"
)

// A Lease without a strategy belongs to a plain elector, as before a component is
// upgraded. Upstream's rules for it are in leaderelection_controller.go, 378 to 410.
func TestLeaseWithoutAStrategyIsTakenOver(t *testing.T) {
	now := func() *meta.MicroTime { return new(meta.NewMicroTime(time.Now())) }
	oldest, third := new(lease.OldestEmulationVersion), new(lease.CoordinatedLeaseStrategy(y))
	for name, row := range map[string]struct {
		spec     func() lease.LeaseSpec
		strategy lease.CoordinatedLeaseStrategy // of the candidate, unless it is OldestEmulationVersion
		age      time.Duration                  // of the Lease when the candidate comes, or a second
		want     func(was lease.LeaseSpec) lease.LeaseSpec
	}{
		"held: the holder is asked to make way": {
			spec: func() lease.LeaseSpec {
				return lease.LeaseSpec{HolderIdentity: new("x"), LeaseDurationSeconds: new(int32(15)), RenewTime: now(), AcquireTime: now(), LeaseTransitions: new(int32(3))}
			},
			want: func(s lease.LeaseSpec) lease.LeaseSpec {
				s.Strategy, s.PreferredHolder = oldest, new("a")
				return s
			},
		},
		"expired: the candidate becomes the holder": {
			age: 15 * time.Second,
			spec: func() lease.LeaseSpec {
				return lease.LeaseSpec{HolderIdentity: new("x"), LeaseDurationSeconds: new(int32(15)), AcquireTime: now(), RenewTime: now(), LeaseTransitions: new(int32(3))}
			},
			want: func(lease.LeaseSpec) lease.LeaseSpec {
				return lease.LeaseSpec{HolderIdentity: new("a"), LeaseDurationSeconds: new(int32(5)), RenewTime: now(), Strategy: oldest, LeaseTransitions: new(int32(3))}
			},
		},
		"without any times: it has expired": {
			spec: func() lease.LeaseSpec { return lease.LeaseSpec{HolderIdentity: new("x")} },
			want: func(lease.LeaseSpec) lease.LeaseSpec {
				return lease.LeaseSpec{HolderIdentity: new("a"), LeaseDurationSeconds: new(int32(5)), RenewTime: now(), Strategy: oldest}
			},
		},
		"without a renewTime: it has expired": {
			spec: func() lease.LeaseSpec {
				return lease.LeaseSpec{HolderIdentity: new("x"), LeaseDurationSeconds: new(int32(15))}
			},
			want: func(lease.LeaseSpec) lease.LeaseSpec {
				return lease.LeaseSpec{HolderIdentity: new("a"), LeaseDurationSeconds: new(int32(5)), RenewTime: now(), Strategy: oldest}
			},
		},
		"released": {
			spec: func() lease.LeaseSpec {
				return lease.LeaseSpec{HolderIdentity: new(""), LeaseDurationSeconds: new(int32(1)), RenewTime: now()}
			},
			want: func(lease.LeaseSpec) lease.LeaseSpec {
				return lease.LeaseSpec{HolderIdentity: new("a"), LeaseDurationSeconds: new(int32(5)), RenewTime: now(), Strategy: oldest}
			},
		},
		// Upstream's controller panics here: it follows a nil pointer.
		"never held": {
			spec: func() lease.LeaseSpec { return lease.LeaseSpec{} },
			want: func(lease.LeaseSpec) lease.LeaseSpec {
				return lease.LeaseSpec{HolderIdentity: new("a"), LeaseDurationSeconds: new(int32(5)), RenewTime: now(), Strategy: oldest}
			},
		},
		"held by the candidate itself: it is as it should be": {
			spec: func() lease.LeaseSpec {
				return lease.LeaseSpec{HolderIdentity: new("a"), LeaseDurationSeconds: new(int32(15)), RenewTime: now()}
			},
			want: func(s lease.LeaseSpec) lease.LeaseSpec { return s },
		},
		"held, and the strategy is a third party's": {
			spec: func() lease.LeaseSpec {
				return lease.LeaseSpec{HolderIdentity: new("x"), LeaseDurationSeconds: new(int32(15)), RenewTime: now()}
			},
			strategy: y,
			want:     func(s lease.LeaseSpec) lease.LeaseSpec { return s },
		},
		"expired, and the strategy is a third party's": {
			spec:     func() lease.LeaseSpec { return lease.LeaseSpec{HolderIdentity: new("x")} },
			strategy: y,
			want: func(lease.LeaseSpec) lease.LeaseSpec {
				return lease.LeaseSpec{HolderIdentity: new("x"), Strategy: third}
			},
		},
	} {
		t.Run(name, func(t *testing.T) {
			in(t, func(t *testing.T) {
				w := newWorld(t, CoordinatorOptions{})
				l, err := w.leases.Create(t.Context(), &lease.Lease{ObjectMeta: meta.ObjectMeta{Namespace: "ns", Name: "main"}, Spec: row.spec()}, store.CreateOptions{})
				require.NoError(t, err)
				time.Sleep(max(row.age, time.Second))
				assert.Equal(t, l, w.lease(), "without a candidate it is left alone")
				c := offer("a", "1.37.0", "1.37.0")
				if row.strategy != "" {
					c.Spec.Strategy = row.strategy
				}
				w.create(c)
				time.Sleep(200 * time.Millisecond)
				synctest.Wait()
				assert.Equal(t, row.want(l.Spec), w.lease().Spec)
			})
		})
	}
}

// The holder is a plain elector and removes strategy and preferredHolder at each
// renewal. The Coordinator writes them again, less and less often.
func TestPlainHolderAndCoordinatorDoNotFight(t *testing.T) {
	in(t, func(t *testing.T) {
		w := newWorld(t, CoordinatorOptions{})
		old := w.start(offer("old", "", ""), plain)
		time.Sleep(time.Minute)
		require.Equal(t, "old", w.leader())
		writes := w.countLeaseWrites()
		w.start(offer("a", "1.37.0", "1.37.0"))
		w.start(offer("b", "1.37.0", "1.36.0"))
		time.Sleep(250 * time.Millisecond)
		assert.Equal(t, "b", w.preferred())
		time.Sleep(time.Hour)
		assert.Equal(t, "old", w.leader(), "it takes no notice")
		got := writes()
		assert.LessOrEqual(t, got["kube-apiserver"], 12, "where its renewals are %d", got["old"])
		assert.Greater(t, got["kube-apiserver"], 5)
		assert.InDelta(t, 1800, got["old"], 5)
		assert.LessOrEqual(t, len(w.takeEvents(Pinged)), 30, "and pings go with them")

		// After a new candidate the Coordinator does not wait.
		w.start(offer("c", "1.37.0", "1.35.0"))
		time.Sleep(250 * time.Millisecond)
		assert.Equal(t, "c", w.preferred())

		old.stop()
		time.Sleep(15*time.Second + 2*time.Second)
		assert.Equal(t, "c", w.leader())
		time.Sleep(time.Hour)
		assert.Equal(t, []string{"old", "c"}, w.reigns)
	})
}

// countLeaseWrites counts the changes of the Lease "main" by their writer, until counts
// is called.
func (w *world) countLeaseWrites() (counts func() map[string]int) {
	ctx, cancel := context.WithCancel(w.t.Context())
	writes, done := map[string]int{}, make(chan struct{})
	go func() {
		defer close(done)
		last := w.lease()
		for ctx.Err() == nil {
			for ev, err := range w.leases.Watch(ctx, store.WatchOptions{Namespace: "ns", Name: "main", ResourceVersion: last.ResourceVersion}) {
				if err != nil {
					break
				}
				writer := "kube-apiserver"
				if !ev.Object.Spec.RenewTime.Equal(last.Spec.RenewTime) && ev.Object.Spec.HolderIdentity != nil {
					writer = *ev.Object.Spec.HolderIdentity
				}
				writes[writer]++
				last = ev.Object
			}
		}
	}()
	return func() map[string]int { cancel(); <-done; return writes }
}

// A writer that at once undoes each write of the Coordinator does not start an endless
// exchange.
func TestCoordinatorBacksOffFromAWriterThatUndoesItsWrites(t *testing.T) {
	in(t, func(t *testing.T) {
		w := newWorld(t, CoordinatorOptions{})
		w.start(offer("old", "", ""), plain)
		time.Sleep(time.Second)
		go func() {
			for ev, err := range w.leases.Watch(t.Context(), store.WatchOptions{Namespace: "ns", Name: "main"}) {
				if err != nil {
					return
				}
				if ev.Object.Spec.Strategy != nil {
					_, err := w.leases.Modify(t.Context(), "ns", "main", func(l *lease.Lease) error {
						l.Spec.Strategy, l.Spec.PreferredHolder = nil, nil
						return nil
					}, store.UpdateOptions{})
					assert.NoError(t, err)
				}
			}
		}()
		w.start(offer("a", "1.37.0", "1.37.0"))
		time.Sleep(10 * time.Minute)
		assert.Equal(t, []string{"Preferred a", "Preferred a", "Preferred a", "Preferred a", "Preferred a", "Preferred a", "Preferred a"},
			w.takeEvents(Preferred), "at 0s, 5s, 15s, 35s, 75s, 155s and 315s")
	})
}

// A Contender keeps strategy and preferredHolder, so the Coordinator writes them once.
// It leads until it stops. Another one that waits and the Coordinator then both reach for
// the Lease at the same moment: one of them gets it, and the candidate leads once no
// Contender holds it.
func TestContenderLeadsUntilItStopsAfterATakeOver(t *testing.T) {
	in(t, func(t *testing.T) {
		w := newWorld(t, CoordinatorOptions{})
		first, stopFirst := w.contender("first")
		time.Sleep(time.Minute)
		require.Equal(t, "first", w.leader())
		w.start(offer("a", "1.37.0", "1.37.0"))
		time.Sleep(time.Hour)
		assert.Equal(t, []string{"Preferred a"}, w.takeEvents(Preferred))
		assert.Equal(t, "a", w.preferred())
		assert.Equal(t, "first", w.leader())

		second, stopSecond := w.contender("second")
		time.Sleep(time.Minute)
		stopFirst()
		assert.ErrorIs(t, <-first, context.Canceled)
		time.Sleep(time.Minute)
		assert.Contains(t, []string{"second", "a"}, w.leader())
		stopSecond()
		assert.ErrorIs(t, <-second, context.Canceled)
		time.Sleep(3 * time.Second)
		assert.Equal(t, "a", w.leader())

		third, stopThird := w.contender("third")
		time.Sleep(time.Hour)
		reigns := slices.DeleteFunc(w.reigns, func(holder string) bool { return holder == "second" })
		assert.Equal(t, []string{"first", "a"}, reigns, "the third waits while the elected one leads")
		stopThird()
		assert.ErrorIs(t, <-third, context.Canceled)
	})
}

// contender starts a Contender that releases the Lease at its end.
func (w *world) contender(identity string) (done <-chan error, stop func()) {
	c, err := lease.NewContender(w.leases, lease.ContenderOptions{Namespace: "ns", Name: "main", Identity: identity, ReleaseOnCancel: true})
	require.NoError(w.t, err)
	ctx, cancel := context.WithCancel(context.Background())
	w.t.Cleanup(cancel)
	p, ended := &process{w: w, name: identity}, make(chan error, 1)
	go func() {
		ended <- c.Run(ctx, func(ctx context.Context, _ lease.Holding) {
			var until time.Time
			p.lead(&until, time.Now().Add(time.Hour))
			<-ctx.Done()
			p.lead(&until, time.Time{})
		})
	}()
	return ended, cancel
}
