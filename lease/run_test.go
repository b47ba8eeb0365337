package lease

import (
	"context"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kubecoord/kubecoord/store"
)

// untilDone is a lead function that returns when its context ends, and records the cause.
func untilDone(why *error) func(context.Context, Holding) {
	return func(ctx context.Context, _ Holding) {
		<-ctx.Done()
		*why = context.Cause(ctx)
	}
}

func TestRunRenewsWhileItLeads(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		leases := newLeases(t, store.Options{})
		c, b := newContender(t, leases, "c"), newContender(t, leases, "b")
		err := c.Run(t.Context(), func(ctx context.Context, h Holding) {
			held, ok := c.Held()
			assert.True(t, ok)
			assert.Equal(t, held, h)
			for i := range 1800 {
				time.Sleep(2 * time.Second)
				synctest.Wait()
				require.Equal(t, micro(), get(t, leases).Spec.RenewTime, "renewal %d", i)
				require.False(t, try(t, b))
			}
			assert.NoError(t, ctx.Err())
		})
		assert.NoError(t, err)
		l := get(t, leases)
		assert.Equal(t, "c", *l.Spec.HolderIdentity, "it is only released if the options ask for it")
		time.Sleep(time.Minute)
		assert.Equal(t, l, get(t, leases), "Run has stopped renewing")
	})
}

func TestRunReleasesAfterLeadHasReturned(t *testing.T) {
	for name, row := range map[string]struct {
		cancel bool
		want   error
	}{"after its context has ended": {true, context.Canceled}, "before its context has ended": {false, nil}} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				leases := newLeases(t, store.Options{})
				c := contenderWith(t, leases, ContenderOptions{Identity: "c", ReleaseOnCancel: true})
				b := newContender(t, leases, "b")
				ctx, cancel := context.WithCancel(t.Context())
				defer cancel()
				leads, stopped := false, time.Time{}
				done := later(func() error {
					defer func() { assert.Zero(t, time.Since(stopped), "the release is at once") }()
					return c.Run(ctx, func(ctx context.Context, _ Holding) {
						leads = true
						if row.cancel {
							<-ctx.Done()
						}
						time.Sleep(time.Hour) // lead stops slowly
						leads, stopped = false, time.Now()
					})
				})
				time.Sleep(30 * time.Second)
				if row.cancel {
					cancel()
				}
				require.NoError(t, b.Acquire(t.Context()))
				assert.False(t, leads, "the Lease is renewed until lead returns")
				assert.Zero(t, time.Since(stopped))
				assert.ErrorIs(t, <-done, row.want)
			})
		})
	}
}

// The context of lead ends as soon as the Lease is lost in any way.
func TestRunCancelsLeadAtOnceWhenTheLeaseIsLost(t *testing.T) {
	for name, lose := range map[string]func(t *testing.T, leases *store.Collection[Lease]){
		"taken by another":    func(t *testing.T, leases *store.Collection[Lease]) { hold(t, leases, "other", time.Minute, time.Now()) },
		"released by another": func(t *testing.T, leases *store.Collection[Lease]) { hold(t, leases, "", time.Second, time.Now()) },
		"deleted":             remove,
		"deleted and created again": func(t *testing.T, leases *store.Collection[Lease]) {
			remove(t, leases)
			hold(t, leases, "c", time.Minute, time.Now())
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				leases := newLeases(t, store.Options{})
				c := contenderWith(t, leases, ContenderOptions{Identity: "c", ReleaseOnCancel: true})
				var why error
				done := later(func() error { return c.Run(t.Context(), untilDone(&why)) })
				time.Sleep(7 * time.Second)
				start := time.Now()
				lose(t, leases)
				before, _ := leases.Get(t.Context(), namespace, "leader")
				assert.ErrorIs(t, <-done, ErrLost)
				assert.ErrorIs(t, why, ErrLost)
				assert.Zero(t, time.Since(start))
				_, held := c.Held()
				assert.False(t, held)
				after, _ := leases.Get(t.Context(), namespace, "leader")
				assert.Equal(t, before, after, "another's Lease is not changed")
			})
		})
	}
}

func TestRunKeepsTheLeaseAfterOtherWrites(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		leases := newLeases(t, store.Options{History: 2})
		c := newContender(t, leases, "c")
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		var why error
		done := later(func() error { return c.Run(ctx, untilDone(&why)) })
		for range 500 {
			time.Sleep(100 * time.Millisecond)
			for _, value := range []string{"a", "b", "c", "d"} { // more than the history holds
				label(t, leases, value)
			}
			_, err := leases.Modify(t.Context(), namespace, name, func(l *Lease) error {
				l.Spec.RenewTime, l.Spec.LeaseDurationSeconds = nil, nil
				l.Spec.Strategy, l.Spec.PreferredHolder = new(OldestEmulationVersion), new("another")
				return nil
			}, store.UpdateOptions{})
			require.NoError(t, err)
			require.NoError(t, ctx.Err())
		}
		time.Sleep(2 * time.Second)
		synctest.Wait()
		assert.EqualValues(t, 15, *get(t, leases).Spec.LeaseDurationSeconds, "the next renewal restores it")
		assert.ErrorIs(t, <-done, context.DeadlineExceeded)
		assert.Equal(t, context.DeadlineExceeded, why)
	})
}

// The process is paused in the middle of a renewal. The context of lead still ends
// in time, although the renewal cannot end it.
func TestRunCancelsAPausedLeaderBeforeOthersTakeOver(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var stamps hookedClock
		leases := newLeases(t, store.Options{Clock: stamps.clock()})
		c, b := newContender(t, leases, "c"), newContender(t, leases, "b")
		var stopped time.Time
		var why error
		done := later(func() error {
			return c.Run(t.Context(), func(ctx context.Context, h Holding) {
				untilDone(&why)(ctx, h)
				stopped = time.Now()
			})
		})
		time.Sleep(time.Second)
		waiting := later(func() error { return b.Acquire(t.Context()) })
		time.Sleep(2 * time.Second) // the last renewal was a second ago
		renewed := get(t, leases).Spec.RenewTime.Time
		stamps.before(func() { time.Sleep(30 * time.Second) })
		require.NoError(t, <-waiting)
		synctest.Wait()
		assert.Equal(t, 10*time.Second, stopped.Sub(renewed))
		assert.ErrorIs(t, why, ErrLost)
		assert.Equal(t, 5*time.Second, time.Since(stopped), "the time that lead has to stop")
		assert.ErrorIs(t, <-done, ErrLost, "the renewal is refused")
		assert.Equal(t, "b", *get(t, leases).Spec.HolderIdentity)
	})
}

// Run waits for a lead that does not stop. Other Contenders do not wait for it.
func TestRunWaitsForALeaderThatDoesNotStop(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		leases := newLeases(t, store.Options{})
		c := contenderWith(t, leases, ContenderOptions{Identity: "c", ReleaseOnCancel: true})
		done := later(func() error {
			return c.Run(t.Context(), func(ctx context.Context, _ Holding) {
				<-ctx.Done()
				time.Sleep(time.Hour)
			})
		})
		time.Sleep(time.Minute)
		hold(t, leases, "other", time.Minute, time.Now())
		start := time.Now()
		assert.ErrorIs(t, <-done, ErrLost)
		assert.Equal(t, time.Hour, time.Since(start))
		assert.Equal(t, "other", *get(t, leases).Spec.HolderIdentity)
	})
}

// Another writer fills the Lease to its limit and removes renewTime, so that a
// renewal would be too large.
func TestRunGivesUpAtTheDeadlineWhenRenewalsAreRefused(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		leases := newLeases(t, store.Options{})
		c := newContender(t, leases, "c")
		var why error
		done := later(func() error { return c.Run(t.Context(), untilDone(&why)) })
		time.Sleep(5 * time.Second) // the last renewal was a second ago
		fill(t, leases)
		start := time.Now()
		err := <-done
		assert.ErrorIs(t, err, ErrLost)
		assert.ErrorContains(t, err, "etcdserver: request is too large", "the error of the renewal")
		assert.ErrorIs(t, why, ErrLost)
		assert.Equal(t, 9*time.Second, time.Since(start))
	})
}

// fill makes the Lease as large as allowed.
func fill(t *testing.T, leases *store.Collection[Lease]) {
	room := 0
	for step := 1 << 21; step > 0; step /= 2 {
		l := get(t, leases)
		l.Spec.Strategy, l.Spec.PreferredHolder = new(OldestEmulationVersion), new(strings.Repeat("x", room+step))
		l.Spec.RenewTime, l.Spec.LeaseDurationSeconds = nil, nil
		if _, err := leases.Update(t.Context(), l, store.UpdateOptions{FieldManager: "hog"}); err == nil {
			room += step
		}
	}
	require.NotZero(t, room)
}

func TestRunEndsWithTheStore(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		st := store.New(store.Options{})
		leases := In(st)
		var why error
		c := newContender(t, leases, "c")
		leading := later(func() error { return c.Run(t.Context(), untilDone(&why)) })
		synctest.Wait()
		waiting := later(func() error { return newContender(t, leases, "b").Run(t.Context(), nil) })
		synctest.Wait()
		st.Close()
		assert.ErrorIs(t, <-leading, store.ErrClosed)
		assert.ErrorIs(t, why, store.ErrClosed)
		assert.ErrorIs(t, <-waiting, store.ErrClosed)
	})
}

func TestRunCancelledWhileItWaitsNeverLeads(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		leases := newLeases(t, store.Options{})
		require.True(t, try(t, newContender(t, leases, "other")))
		ctx, cancel := context.WithTimeout(t.Context(), 15*time.Second-1)
		defer cancel()
		err := newContender(t, leases, "c").Run(ctx, func(context.Context, Holding) { t.Error("led") })
		assert.ErrorIs(t, err, context.DeadlineExceeded)
	})
}

func TestRunPassesAPanicOnAndDoesNotRelease(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		leases := newLeases(t, store.Options{})
		c := contenderWith(t, leases, ContenderOptions{Identity: "c", ReleaseOnCancel: true})
		b := newContender(t, leases, "b")
		assert.PanicsWithValue(t, "lead", func() {
			c.Run(t.Context(), func(context.Context, Holding) {
				time.Sleep(5 * time.Second)
				panic("lead")
			})
		})
		l := get(t, leases)
		assert.Equal(t, "c", *l.Spec.HolderIdentity)
		start := time.Now()
		require.NoError(t, b.Acquire(t.Context()))
		assert.Equal(t, 15*time.Second, time.Since(start))
		assert.ErrorIs(t, c.Renew(t.Context()), ErrLost, "the Contender can be used again")
	})
}

func TestRunMayBeCalledAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		leases := newLeases(t, store.Options{})
		c := newContender(t, leases, "c")
		var terms []Holding
		lead := func(ctx context.Context, h Holding) { terms = append(terms, h) }
		require.NoError(t, c.Run(t.Context(), lead))
		require.NoError(t, c.Run(t.Context(), lead), "at once: it still holds the Lease")
		time.Sleep(12 * time.Second)
		require.NoError(t, c.Run(t.Context(), lead), "after its deadline it acquires the Lease again")
		require.Len(t, terms, 3)
		assert.Equal(t, terms[0], terms[1])
		assert.EqualValues(t, 1, terms[2].LeaseTransitions)
		assert.Greater(t, terms[2].FencingToken, terms[1].FencingToken)
	})
}

func TestContenderPanicsWhenLeadUsesIt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		leases := newLeases(t, store.Options{})
		c := newContender(t, leases, "c")
		err := c.Run(t.Context(), func(context.Context, Holding) {
			assert.Panics(t, func() { c.Release(t.Context()) })
			_, held := c.Held()
			assert.True(t, held)
		})
		assert.NoError(t, err)
	})
}
