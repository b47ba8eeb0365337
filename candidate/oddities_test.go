package candidate

import (
	"context"
	"fmt"
	"math"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kubecoord/kubecoord/internal/registry"
	"github.com/kubecoord/kubecoord/lease"
	"github.com/kubecoord/kubecoord/store"
	"github.com/kubecoord/kubecoord/store/clock"
	"github.com/kubecoord/kubecoord/store/meta"
)

// A holder that is no candidate is asked to make way like any other.
func TestHolderWithoutACandidateIsAskedToGiveUpTheLease(t *testing.T) {
	in(t, func(t *testing.T) {
		w := newWorld(t, CoordinatorOptions{})
		_, err := w.leases.Create(t.Context(), &lease.Lease{ObjectMeta: meta.ObjectMeta{Namespace: "ns", Name: "main"}, Spec: lease.LeaseSpec{
			HolderIdentity: new("x"), LeaseDurationSeconds: new(int32(15)), RenewTime: new(meta.NewMicroTime(time.Now())),
			Strategy: new(lease.OldestEmulationVersion),
		}}, store.CreateOptions{})
		require.NoError(t, err)
		w.start(offer("a", "1.37.0", "1.37.0"))
		time.Sleep(time.Second)
		assert.Equal(t, "x", w.holder())
		assert.Equal(t, "a", w.preferred())
		w.takeEvents()
		time.Sleep(13 * time.Second)
		assert.Empty(t, w.takeEvents(), "nobody is pinged while the hand-over is pending")
		time.Sleep(7 * time.Second)
		assert.Equal(t, "a", w.leader())
	})
}

func TestConflictOfStrategiesStopsTheElectionUntilItIsResolved(t *testing.T) {
	in(t, func(t *testing.T) {
		w := newWorld(t, CoordinatorOptions{Strategies: map[lease.CoordinatedLeaseStrategy]Strategy{x: OldestEmulationVersion}})
		w.start(offer("a", "1.37.0", "1.37.0"))
		time.Sleep(time.Minute)
		require.Equal(t, "a", w.leader())
		other := offer("b", "1.37.0", "1.36.0")
		other.Spec.Strategy = x
		b := w.start(other)
		time.Sleep(time.Hour)
		assert.Equal(t, []string{`Failed: conflicting strategies: candidates "a", "b" at same binary version but received differing strategies OldestEmulationVersion, example.com/x`},
			w.takeEvents(Failed), "once")
		assert.Equal(t, "a", w.leader(), "it goes on as it was")

		// The Lease still has no holder.
		_, err := w.leases.Delete(t.Context(), "ns", "main", store.DeleteOptions{})
		require.NoError(t, err)
		before := w.writes()
		time.Sleep(time.Hour)
		assert.Empty(t, w.holder())
		assert.Less(t, w.writes()-before, 24+50, "the renewals of two candidates, and a few pings")

		b.drain()
		time.Sleep(10 * time.Second)
		assert.Equal(t, "a", w.leader())
	})
}

// writes returns how many changes the store has seen.
func (w *world) writes() int { return int((*registry.Store)(w.st).ResourceVersion()) }

func TestCustomStrategyIsUsed(t *testing.T) {
	last := func(candidates []*LeaseCandidate) *LeaseCandidate { return candidates[len(candidates)-1] }
	in(t, func(t *testing.T) {
		w := newWorld(t, CoordinatorOptions{Strategies: map[lease.CoordinatedLeaseStrategy]Strategy{x: last}})
		for _, name := range []string{"a", "b", "c"} {
			c := offer(name, "1.37.0", "")
			c.Spec.Strategy = x
			w.start(c)
		}
		time.Sleep(time.Minute)
		assert.Equal(t, "c", w.leader())
		assert.EqualValues(t, x, *w.lease().Spec.Strategy)
	})
}

func TestCoordinatorChoosesNoHolderForAThirdPartyStrategy(t *testing.T) {
	in(t, func(t *testing.T) {
		w := newWorld(t, CoordinatorOptions{})
		c := offer("a", "1.37.0", "")
		c.Spec.Strategy = y
		w.create(c)
		time.Sleep(200 * time.Millisecond)
		synctest.Wait()
		l := w.lease()
		strategy := lease.CoordinatedLeaseStrategy(y)
		assert.Equal(t, lease.LeaseSpec{
			LeaseDurationSeconds: new(int32(5)), RenewTime: new(meta.NewMicroTime(time.Now())), Strategy: &strategy,
		}, l.Spec)
		assert.Equal(t, []string{"StrategySet"}, w.takeEvents())
		time.Sleep(10 * time.Minute)
		assert.Equal(t, l, w.lease())
	})
}

// A strategy that breaks its contract only prevents an election.
func TestStrategiesThatMisbehave(t *testing.T) {
	turn := 0
	for name, strategy := range map[string]Strategy{
		"chooses nobody":     func([]*LeaseCandidate) *LeaseCandidate { return nil },
		"chooses a stranger": func([]*LeaseCandidate) *LeaseCandidate { return offer("stranger", "1.0.0", "1.0.0") },
		"changes its mind":   func(c []*LeaseCandidate) *LeaseCandidate { turn++; return c[turn%len(c)] },
	} {
		t.Run(name, func(t *testing.T) {
			in(t, func(t *testing.T) {
				w := newWorld(t, CoordinatorOptions{Strategies: map[lease.CoordinatedLeaseStrategy]Strategy{x: strategy}})
				for _, name := range []string{"a", "b"} {
					c := offer(name, "1.37.0", "")
					c.Spec.Strategy = x
					w.create(c)
				}
				time.Sleep(10 * time.Minute)
				assert.Less(t, w.writes(), 1000+4*120, "at most a write or two of each kind in each window")
			})
		})
	}
}

// leaseName may be A_, although no Lease can have that name.
func TestInvalidLeaseNameIsReportedOnce(t *testing.T) {
	for _, name := range []string{"Not A Name", "A_"} {
		t.Run(name, func(t *testing.T) {
			in(t, func(t *testing.T) {
				w := newWorld(t, CoordinatorOptions{})
				c := offer("a", "1.37.0", "1.37.0")
				c.Spec.LeaseName = name
				w.start(c)
				time.Sleep(time.Second)
				events := w.takeEvents(Failed)
				require.Len(t, events, 1)
				assert.Contains(t, events[0], `Failed: Lease.coordination.k8s.io "`+name+`" is invalid: metadata.name: Invalid value`)
				time.Sleep(14 * time.Minute)
				assert.Empty(t, w.takeEvents(Failed), "logged once")
			})
		})
	}
}

func TestClocksOfCandidatesDoNotMatter(t *testing.T) {
	far := 200 * 365 * 24 * time.Hour
	for name, skew := range map[string]time.Duration{
		"a minute behind": -time.Minute, "ten minutes ahead": 10 * time.Minute, "centuries ahead": far,
	} {
		t.Run(name, func(t *testing.T) {
			in(t, func(t *testing.T) {
				w := newWorld(t, CoordinatorOptions{})
				renew := func(name string) {
					_, err := w.candidates.Modify(t.Context(), "ns", name, func(c *LeaseCandidate) error {
						c.Spec.RenewTime = new(meta.NewMicroTime(time.Now().Add(skew)))
						return nil
					}, store.UpdateOptions{})
					assert.NoError(t, err)
				}
				w.create(offer("a", "1.37.0", "1.37.0"))
				time.Sleep(time.Second)
				renew("a")
				hold := func(seconds int32) {
					_, err := w.leases.Modify(t.Context(), "ns", "main", func(l *lease.Lease) error {
						l.Spec.LeaseDurationSeconds, l.Spec.RenewTime = &seconds, new(meta.NewMicroTime(time.Now().Add(skew)))
						return nil
					}, store.UpdateOptions{})
					assert.NoError(t, err)
				}
				hold(15)
				w.takeEvents()
				for range 20 { // the holder renews
					time.Sleep(10 * time.Second)
					hold(15)
				}
				assert.Empty(t, w.takeEvents(), "its lease did not run out")
				time.Sleep(15*time.Second - time.Millisecond)
				assert.Empty(t, w.takeEvents())
				time.Sleep(time.Second)
				assert.Contains(t, w.takeEvents(), "Pinged a", "and now it did")
				c, err := w.candidates.Get(t.Context(), "ns", "a")
				require.NoError(t, err)
				assert.True(t, isUnanswered(c), "a ping is later than what the candidate's clock said")
				renew("a")
				time.Sleep(time.Second)
				assert.Equal(t, []string{"Answered a", "Elected a"}, w.takeEvents())
			})
		})
	}
}

// The store's clock jumps. Timers do not.
func TestCoordinatorSurvivesAJumpOfTheStoreClock(t *testing.T) {
	for _, jump := range []time.Duration{time.Hour, -time.Hour, 40 * 365 * 24 * time.Hour} {
		t.Run(jump.String(), func(t *testing.T) {
			in(t, func(t *testing.T) {
				var offset atomic.Int64
				st := store.New(store.Options{Clock: clock.Func(func() time.Time { return time.Now().Add(time.Duration(offset.Load())) })})
				defer st.Close()
				w := &world{t: t, st: st, leases: lease.In(st), candidates: In(st)}
				w.elect(CoordinatorOptions{})
				w.start(offer("a", "1.37.0", "1.36.0"))
				w.start(offer("b", "1.37.0", "1.37.0"))
				time.Sleep(time.Minute)
				require.Equal(t, "a", w.leader())
				w.takeEvents()
				synctest.Wait()
				offset.Store(int64(jump))
				time.Sleep(4 * time.Minute)
				assert.Empty(t, w.takeEvents())
				assert.Equal(t, "a", w.leader())
				w.stop()
			})
		})
	}
}

// A Coordinator begins to decide on a machine whose clock is an hour from the holder's clock, and perhaps from the clocks of the candidates.
func TestCoordinatorBeginsWithAClockThatIsOff(t *testing.T) {
	for name, row := range map[string]struct {
		holder, candidates time.Duration // how far their clocks are ahead
		history            time.Duration
	}{
		"all are behind":                              {-time.Hour, -time.Hour, 0},
		"all are ahead":                               {time.Hour, time.Hour, 0},
		"all are behind, the history has times":       {-time.Hour, -time.Hour, math.MaxInt64},
		"the holder is behind":                        {-time.Hour, 0, 0},
		"the holder is behind, the history has times": {-time.Hour, 0, math.MaxInt64},
	} {
		t.Run(name, func(t *testing.T) {
			in(t, func(t *testing.T) {
				st := store.New(store.Options{HistoryAge: row.history})
				defer st.Close()
				w := &world{t: t, st: st, leases: lease.In(st), candidates: In(st)}
				by := func(ahead time.Duration) *meta.MicroTime { return new(meta.NewMicroTime(time.Now().Add(ahead))) }
				_, err := w.leases.Create(t.Context(), &lease.Lease{
					ObjectMeta: meta.ObjectMeta{Namespace: "ns", Name: "main"},
					Spec: lease.LeaseSpec{
						HolderIdentity: new("a"), LeaseDurationSeconds: new(int32(15)), RenewTime: by(row.holder),
						Strategy: new(lease.OldestEmulationVersion),
					},
				}, store.CreateOptions{})
				require.NoError(t, err)
				for _, name := range []string{"a", "b"} {
					c := offer(name, "1.37.0", "1.37.0")
					c.Spec.RenewTime = by(row.candidates)
					w.create(c)
				}
				time.Sleep(time.Second)
				w.elect(CoordinatorOptions{})
				for i := range 2000 { // more than an hour
					time.Sleep(2 * time.Second)
					_, err := w.leases.Modify(t.Context(), "ns", "main", func(l *lease.Lease) error {
						l.Spec.RenewTime = by(row.holder)
						return nil
					}, store.UpdateOptions{})
					require.NoError(t, err)
					for _, name := range []string{"a", "b"} {
						if i%150 != 0 { // as client-go's candidates do, each five minutes
							break
						}
						_, err := w.candidates.Modify(t.Context(), "ns", name, func(c *LeaseCandidate) error {
							c.Spec.RenewTime = by(row.candidates)
							return nil
						}, store.UpdateOptions{})
						require.NoError(t, err)
					}
				}
				assert.Equal(t, "a", w.holder())
				assert.Empty(t, w.takeEvents(Elected, Preferred, Collected), "all are alive")
				w.stop()
			})
		})
	}
}

func TestThousandsOfCandidatesForOneLease(t *testing.T) {
	const n = 2000
	in(t, func(t *testing.T) {
		w := newWorld(t, CoordinatorOptions{})
		w.stop()
		for i := range n {
			c := offer(fmt.Sprintf("c-%04d", i), "1.37.0", fmt.Sprintf("1.36.%d", (i*7+3)%n))
			c.Spec.RenewTime = new(meta.NewMicroTime(time.Now().Add(-time.Minute)))
			w.create(c)
		}
		go func() { // all of them answer
			opts := store.WatchOptions{Namespace: "ns", ResourceVersion: w.version()}
			for ev, err := range w.candidates.Watch(t.Context(), opts) {
				if err == nil && isUnanswered(ev.Object) {
					ev.Object.Spec.RenewTime = ev.Object.Spec.PingTime
					_, err = w.candidates.Update(t.Context(), ev.Object, store.UpdateOptions{})
					assert.NoError(t, err)
				}
			}
		}()
		synctest.Wait()
		before := w.writes()
		w.elect(CoordinatorOptions{})
		time.Sleep(200 * time.Millisecond)
		synctest.Wait()
		assert.Equal(t, 2*n+1, w.writes()-before, "a ping and an answer each, and the Lease")
		// (i*7+3) mod n is 0 here.
		assert.Equal(t, "c-0571", w.holder())
	})
}

func TestCoordinatorSurvivesExpiredHistory(t *testing.T) {
	in(t, func(t *testing.T) {
		st := store.New(store.Options{History: 1})
		defer st.Close()
		w := &world{t: t, st: st, leases: lease.In(st), candidates: In(st)}
		w.elect(CoordinatorOptions{})
		for range 50 {
			for i := range 20 {
				w.create(offer(fmt.Sprintf("c-%d", i), "1.37.0", "1.37.0"))
			}
			for i := range 20 {
				_, err := w.candidates.Delete(t.Context(), "ns", fmt.Sprintf("c-%d", i), store.DeleteOptions{})
				require.NoError(t, err)
			}
		}
		w.create(offer("last", "1.37.0", "1.37.0"))
		time.Sleep(time.Minute)
		assert.Equal(t, "last", w.holder())
		w.stop()
	})
}

func TestRunEndsWithItsContextOrTheStore(t *testing.T) {
	in(t, func(t *testing.T) {
		st := store.New(store.Options{})
		e, err := NewCoordinator(st, CoordinatorOptions{})
		require.NoError(t, err)
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		assert.ErrorIs(t, e.Run(ctx), context.Canceled)
		done := make(chan error)
		go func() { done <- e.Run(t.Context()) }()
		synctest.Wait()
		st.Close()
		assert.ErrorIs(t, <-done, store.ErrClosed)
		assert.ErrorIs(t, e.Run(t.Context()), store.ErrClosed)
	})
}

func TestInvalidCoordinatorOptionsAreRefused(t *testing.T) {
	for name, row := range map[string]struct {
		opts CoordinatorOptions
		want string
	}{
		"negative window":        {CoordinatorOptions{PingWindow: -1}, "candidate: PingWindow -1ns: must not be negative"},
		"fractions of a second":  {CoordinatorOptions{LeaseDuration: 1500 * time.Millisecond}, "candidate: LeaseDuration 1.5s: must be whole seconds, at least 1 and at most 2147483647"},
		"negative duration":      {CoordinatorOptions{LeaseDuration: -time.Second}, "candidate: LeaseDuration -1s: must be whole seconds, at least 1 and at most 2147483647"},
		"more than the API has":  {CoordinatorOptions{LeaseDuration: (math.MaxInt32 + 1) * time.Second}, "candidate: LeaseDuration 596523h14m8s: must be whole seconds, at least 1 and at most 2147483647"},
		"validity in the window": {CoordinatorOptions{Validity: 9 * time.Second}, "candidate: Validity 9s: must be at least twice the PingWindow of 5s"},
		"a nil strategy":         {CoordinatorOptions{Strategies: map[lease.CoordinatedLeaseStrategy]Strategy{x: nil}}, `candidate: strategy "example.com/x": must not be nil`},
		"a name without a slash": {CoordinatorOptions{Strategies: map[lease.CoordinatedLeaseStrategy]Strategy{"mine": OldestEmulationVersion}}, "candidate: strategies"},
		"an unprintable manager": {CoordinatorOptions{FieldManager: "\n"}, "candidate: FieldManager: "},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := NewCoordinator(store.New(store.Options{}), row.opts)
			assert.ErrorContains(t, err, row.want)
		})
	}
}

func TestLimitsOfCoordinatorOptionsAreAllowed(t *testing.T) {
	for _, opts := range []CoordinatorOptions{
		{LeaseDuration: time.Second}, {LeaseDuration: math.MaxInt32 * time.Second}, {PingWindow: time.Second, Validity: 2 * time.Second},
	} {
		_, err := NewCoordinator(store.New(store.Options{}), opts)
		assert.NoError(t, err)
	}
}
