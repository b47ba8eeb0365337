package lease

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kubecoord/kubecoord/store"
	"github.com/kubecoord/kubecoord/store/clock"
	"github.com/kubecoord/kubecoord/store/meta"
	"github.com/kubecoord/kubecoord/watch"
)

// preceded is a Client that calls a function before each request.
type preceded struct {
	Client
	by func(verb string)
}

func (p *preceded) Get(ctx context.Context, namespace, name string) (*Lease, error) {
	p.by("get")
	return p.Client.Get(ctx, namespace, name)
}

func (p *preceded) Update(ctx context.Context, l *Lease, opts store.UpdateOptions) (*Lease, error) {
	p.by("update")
	return p.Client.Update(ctx, l, opts)
}

func (p *preceded) Watch(ctx context.Context, opts store.WatchOptions) iter.Seq2[watch.Event[Lease], error] {
	p.by("watch")
	return p.Client.Watch(ctx, opts)
}

// contenderBy returns a Contender for a Client.
func contenderBy(t *testing.T, leases Client, opts ContenderOptions) *Contender {
	opts.Namespace, opts.Name, opts.Identity = namespace, name, "c"
	return exact(t, leases, opts)
}

// timers is a clock that counts the timers that are pending.
type timers struct {
	clock.Clock
	pending int
}

type countedTimer struct {
	clock.Timer
	of *timers
}

func (c *timers) AfterFunc(d time.Duration, f func()) clock.Timer {
	c.pending++
	return countedTimer{c.Clock.AfterFunc(d, func() { c.pending--; f() }), c}
}

func (t countedTimer) Stop() bool {
	stopped := t.Timer.Stop()
	if stopped {
		t.of.pending--
	}
	return stopped
}

func (t countedTimer) Reset(d time.Duration) bool {
	stopped := t.Timer.Reset(d)
	if !stopped {
		t.of.pending++
	}
	return stopped
}

// withClock is a Client with another clock.
type withClock struct {
	Client
	clock clock.Clock
}

func (w *withClock) Clock() clock.Clock { return w.clock }

func TestMethodsLeaveNoTimerBehind(t *testing.T) {
	for name, call := range map[string]func(ctx context.Context, c *Contender){
		"Acquire": func(ctx context.Context, c *Contender) { c.Acquire(ctx) },
		"Run":     func(ctx context.Context, c *Contender) { c.Run(ctx, func(context.Context, Holding) {}) },
		"Run whose lead panics": func(ctx context.Context, c *Contender) {
			defer func() { recover() }()
			c.Run(ctx, func(context.Context, Holding) { panic("lead") })
		},
		"Observe": func(ctx context.Context, c *Contender) {
			for h := range Observe(ctx, c.leases, namespace, name) {
				_ = h
			}
		},
	} {
		for when, prepare := range map[string]func(r *remote){
			"a free Lease": func(*remote) {},
			"a held Lease": func(r *remote) {
				hold(t, r.Client.(*store.Collection[Lease]), "other", time.Hour, time.Now())
			},
			"no server": func(r *remote) { r.set(func() error { return errCutOff }, nil, false) },
		} {
			t.Run(name+" of "+when, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					r := &remote{Client: newLeases(t, store.Options{})}
					prepare(r)
					count := &timers{Clock: r.Clock()}
					c := contenderBy(t, &withClock{r, count}, ContenderOptions{ReleaseOnCancel: true})
					ctx, cancel := context.WithTimeout(t.Context(), time.Minute+time.Second)
					defer cancel()
					call(ctx, c)
					assert.Zero(t, count.pending)
				})
			})
		}
	}
}

// Another holder may have renewed the Lease while the Contender read it.
func TestLeaseExpiresAfterTheEndOfTheReadThatSawIt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		leases := newLeases(t, store.Options{})
		pause := 5 * time.Second
		c := contenderBy(t, &preceded{leases, func(string) { time.Sleep(pause) }}, ContenderOptions{})
		time.AfterFunc(4*time.Second, func() { hold(t, leases, "other", 15*time.Second, time.Now()) })
		require.False(t, try(t, c))
		pause = 0
		time.Sleep(15*time.Second - 1)
		assert.False(t, try(t, c))
		time.Sleep(time.Nanosecond)
		assert.True(t, try(t, c))
	})
}

// A Contender that has lost the Lease need not see its record once more.
func TestContenderTakesTheLeaseAgainWhenTheRecordThatItKnowsExpires(t *testing.T) {
	for name, row := range map[string]func(t *testing.T, r *remote, c *Contender){
		"its own": func(t *testing.T, _ *remote, c *Contender) { require.True(t, try(t, c)) },
		"its own, found later": func(t *testing.T, r *remote, c *Contender) {
			r.set(nil, errCutOff, false)
			_, err := c.TryAcquire(t.Context())
			require.ErrorIs(t, err, errCutOff)
			require.True(t, try(t, c))
		},
		"of the next holder": func(t *testing.T, r *remote, c *Contender) {
			require.True(t, try(t, c))
			hold(t, r.Client.(*store.Collection[Lease]), "other", 15*time.Second, time.Now().Add(time.Hour))
			require.ErrorIs(t, c.Renew(t.Context()), ErrLost)
		},
	} {
		for wait, taken := range map[time.Duration]bool{15*time.Second - 1: false, 15 * time.Second: true} {
			t.Run(fmt.Sprint(name, wait), func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					r, c := newRemote(t)
					row(t, r, c)
					time.Sleep(wait)
					assert.Equal(t, taken, try(t, c))
				})
			})
		}
	}
}

// shifted is a clock that can be set.
type shifted struct {
	clock.Clock
	by time.Duration
}

func (s *shifted) Now() time.Time { return s.Clock.Now().Round(0).Add(s.by) }

// Others wait for 15 seconds from the renewal, so the term must not last until 10 seconds after
// the time of an earlier one.
func TestRenewalOfAClockThatWasSetBackEndsTheTermEarlier(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &shifted{Clock: clock.Real{}}
		c := contenderBy(t, &withClock{newLeases(t, store.Options{}), s}, ContenderOptions{})
		require.True(t, try(t, c))
		s.by = -5 * time.Second
		require.NoError(t, c.Renew(t.Context()))
		time.Sleep(10*time.Second - 1)
		_, held := c.Held()
		assert.True(t, held)
		time.Sleep(time.Nanosecond)
		_, held = c.Held()
		assert.False(t, held)
	})
}

func TestRenewalsOfRunStartEachRetryPeriod(t *testing.T) {
	for name, row := range map[string]struct {
		prepare func(t *testing.T, r *remote, c *Contender)
		pause   time.Duration // of each renewal
		want    []time.Duration
	}{
		"slow ones": {func(*testing.T, *remote, *Contender) {}, time.Second, []time.Duration{2, 4, 6}},
		"after an acquisition whose answer was lost": {func(_ *testing.T, r *remote, _ *Contender) {
			r.set(nil, errCutOff, false)
		}, 0, []time.Duration{2, 4, 6}},
		"after an earlier Run": {func(t *testing.T, _ *remote, c *Contender) {
			require.NoError(t, c.Run(t.Context(), func(context.Context, Holding) { time.Sleep(5 * time.Second) }))
		}, 0, []time.Duration{2, 4, 6, 8, 10}},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				start := time.Now()
				var got []time.Duration
				r := &remote{Client: newLeases(t, store.Options{})}
				c := contenderBy(t, &preceded{r, func(verb string) {
					if verb == "update" {
						got = append(got, time.Since(start)/time.Second)
						time.Sleep(row.pause)
					}
				}}, ContenderOptions{})
				row.prepare(t, r, c)
				last := row.want[len(row.want)-1] * time.Second
				require.NoError(t, c.Run(t.Context(), func(context.Context, Holding) { time.Sleep(last - time.Since(start) + 1) }))
				assert.Equal(t, row.want, got)
			})
		})
	}
}

// assertLostAfter lets a Contender lead until it loses its Lease, and checks how long that took.
func assertLostAfter(t *testing.T, c *Contender, want time.Duration) {
	t.Helper()
	start := time.Now()
	stopped := time.Duration(0)
	assert.ErrorIs(t, c.Run(t.Context(), func(ctx context.Context, _ Holding) {
		<-ctx.Done()
		stopped = time.Since(start)
	}), ErrLost)
	assert.Equal(t, want, stopped)
}

// The process is paused in its first renewal.
func TestTermOfALostAnswerEndsAfterItsWrite(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := &remote{Client: newLeases(t, store.Options{})}
		r.set(nil, errCutOff, false)
		s := &slow{Client: r}
		s.pause.Store(int64(time.Minute))
		assertLostAfter(t, contenderBy(t, s, ContenderOptions{}), 10*time.Second)
	})
}

func TestRunWaitsForARenewalBeforeItPassesAPanicOn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &slow{Client: newLeases(t, store.Options{})}
		s.pause.Store(int64(3 * time.Second))
		start := time.Now()
		assert.PanicsWithValue(t, "lead", func() {
			contenderBy(t, s, ContenderOptions{}).Run(t.Context(), func(context.Context, Holding) {
				time.Sleep(4 * time.Second) // the renewal began after 2 seconds
				panic("lead")
			})
		})
		assert.Equal(t, 5*time.Second, time.Since(start))
	})
}

func TestRunReturnsTheErrorOfItsContextNotItsCause(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newContender(t, newLeases(t, store.Options{}), "c")
		cause := errors.New("cause")
		ctx, cancel := context.WithCancelCause(t.Context())
		var why error
		done := later(func() error { return c.Run(ctx, untilDone(&why)) })
		synctest.Wait()
		cancel(cause)
		assert.Equal(t, context.Canceled, <-done)
		assert.Equal(t, cause, why)
	})
}

func TestContextOfLeadEndsWithRun(t *testing.T) {
	c := newContender(t, newLeases(t, store.Options{}), "c")
	var kept context.Context
	require.NoError(t, c.Run(t.Context(), func(ctx context.Context, _ Holding) { kept = ctx }))
	assert.ErrorIs(t, kept.Err(), context.Canceled)
}

// A bookmark comes each minute.
func TestBookmarkDoesNotEndAHolding(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		leases := newLeases(t, store.Options{})
		hold(t, leases, "other", time.Hour, time.Now())
		go func() {
			for range 100 { // a bookmark tells of versions of other objects
				time.Sleep(20 * time.Second)
				_, err := leases.Create(t.Context(), &Lease{ObjectMeta: meta.ObjectMeta{Namespace: "other", GenerateName: "a"}}, store.CreateOptions{})
				assert.NoError(t, err)
			}
		}()
		ctx, cancel := context.WithTimeout(t.Context(), 2*time.Hour)
		defer cancel()
		start := time.Now()
		var holders []string
		for h, err := range Observe(ctx, leases, namespace, name) {
			require.NoError(t, err)
			if holders = append(holders, h.Holder); h.Holder == "" {
				break
			}
		}
		assert.Equal(t, []string{"other", ""}, holders)
		assert.Equal(t, time.Hour, time.Since(start))
	})
}

func TestObserverUsesAShorterDuration(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		leases := newLeases(t, store.Options{})
		hold(t, leases, "a", time.Minute, time.Now())
		d := observe(t, leases)
		assert.Equal(t, []string{`0s "a" 0`}, d.take())
		time.Sleep(10 * time.Second)
		hold(t, leases, "a", 5*time.Second, time.Now())
		time.Sleep(6 * time.Second)
		assert.Equal(t, []string{`15s "" 0`}, d.take())
		hold(t, leases, "", time.Second, time.Now())
		bump(t, leases, 7)
		remove(t, leases)
		assert.Empty(t, d.take(), "nobody is followed by nobody")
	})
}

func TestLeaderSurvivesARenewalWithoutAnAnswer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r, c := newRemote(t)
		start := time.Now()
		time.AfterFunc(5*time.Second, func() { r.set(nil, nil, true) })
		time.AfterFunc(7*time.Second, func() { r.set(nil, nil, false) }) // the one after 6 seconds hangs
		require.NoError(t, c.Run(t.Context(), func(ctx context.Context, _ Holding) {
			time.Sleep(time.Minute)
			assert.NoError(t, ctx.Err())
		}))
		assert.Equal(t, time.Minute, time.Since(start))
	})
}

func TestDeadlineCountsFromTheStartOfASlowRenewal(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &slow{Client: newLeases(t, store.Options{})}
		s.pause.Store(int64(3 * time.Second)) // the renewal after 2 seconds
		time.AfterFunc(4*time.Second, func() { s.pause.Store(int64(time.Minute)) })
		assertLostAfter(t, contenderBy(t, s, ContenderOptions{}), 12*time.Second)
	})
}

func TestRunReturnsTheErrorOfItsRelease(t *testing.T) {
	lead := func(context.Context, Holding) {}
	t.Run("failed", func(t *testing.T) {
		s := &slow{Client: newLeases(t, store.Options{})}
		s.down.Store(true)
		assert.ErrorIs(t, contenderBy(t, s, ContenderOptions{ReleaseOnCancel: true}).Run(t.Context(), lead), errCutOff)
	})
	t.Run("slow", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			s := &slow{Client: newLeases(t, store.Options{})}
			s.pause.Store(int64(6 * time.Second)) // more than half of RenewDeadline
			assert.NoError(t, contenderBy(t, s, ContenderOptions{ReleaseOnCancel: true}).Run(t.Context(), lead), "it was done")
		})
	})
}

func TestErrorOfASlowRequestTellsBoth(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newContender(t, newLeases(t, store.Options{}), "c")
		err := c.inTime(t.Context(), func(ctx context.Context) error { <-ctx.Done(); return errCutOff })
		assert.ErrorIs(t, err, errSlow)
		assert.ErrorIs(t, err, errCutOff)
	})
}

func TestAcquireReturnsTheEndOfItsContextWithALastingError(t *testing.T) {
	r, c := newRemote(t)
	ctx, cancel := context.WithCancel(t.Context())
	r.set(func() error { cancel(); return errForbidden }, nil, false)
	err := c.Acquire(ctx)
	assert.ErrorIs(t, err, context.Canceled)
	assert.ErrorIs(t, err, errForbidden)
}

func TestContenderThatDoesNotReleaseKnowsThatItHasLost(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		leases := newLeases(t, store.Options{})
		c := newContender(t, leases, "c")
		time.AfterFunc(time.Second, func() { hold(t, leases, "other", time.Minute, time.Now()) })
		var why error
		assert.ErrorIs(t, c.Run(t.Context(), untilDone(&why)), ErrLost)
		_, held := c.Held()
		assert.False(t, held)
	})
}
