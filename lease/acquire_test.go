package lease

import (
	"context"
	"fmt"
	"math"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kubecoord/kubecoord/store"
	"github.com/kubecoord/kubecoord/store/meta"
)

func TestTryAcquireTakesAFreeLease(t *testing.T) {
	for name, row := range map[string]struct {
		spec *LeaseSpec
		want int32 // leaseTransitions
	}{
		"missing":            {nil, 0},
		"empty":              {&LeaseSpec{}, 1},
		"released":           {&LeaseSpec{HolderIdentity: new(""), LeaseDurationSeconds: new(int32(1)), LeaseTransitions: new(int32(7))}, 8},
		"without a duration": {&LeaseSpec{HolderIdentity: new("x"), LeaseTransitions: new(int32(0))}, 1},
	} {
		t.Run(name, func(t *testing.T) {
			leases := newLeases(t, store.Options{})
			if row.spec != nil {
				_, err := leases.Create(t.Context(), &Lease{ObjectMeta: meta.ObjectMeta{Namespace: namespace, Name: "leader"}, Spec: *row.spec}, store.CreateOptions{})
				require.NoError(t, err)
			}
			c := newContender(t, leases, "c")
			assert.True(t, try(t, c))
			assert.True(t, try(t, c), "a second call keeps the Lease")
			l := get(t, leases)
			assert.Equal(t, "c", *l.Spec.HolderIdentity)
			assert.Equal(t, row.want, *l.Spec.LeaseTransitions)
		})
	}
}

// The times of the holder's clock must not matter.
func TestAcquireIgnoresTheTimesInTheLease(t *testing.T) {
	for name, renewed := range map[string]time.Time{
		"now":           {},
		"in 1970":       time.Unix(0, 0),
		"in 3000":       time.Date(3000, 1, 1, 0, 0, 0, 0, time.UTC),
		"a second late": time.Date(1999, 12, 31, 23, 59, 59, 0, time.UTC),
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				if renewed.IsZero() {
					renewed = time.Now()
				}
				leases := newLeases(t, store.Options{})
				hold(t, leases, "other", 20*time.Second, renewed)
				start := time.Now()
				ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
				defer cancel()
				require.NoError(t, newContender(t, leases, "c").Acquire(ctx))
				assert.Equal(t, 20*time.Second, time.Since(start))
			})
		})
	}
}

func TestAcquireCountsFromTheLastChange(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		leases := newLeases(t, store.Options{})
		start := time.Now()
		hold(t, leases, "other", 15*time.Second, start)
		done := later(func() error { return newContender(t, leases, "c").Acquire(t.Context()) })
		// The clock of the holder jumps. A change to an earlier time is a change too.
		for _, jump := range []time.Duration{0, -time.Hour, 1e6 * time.Hour, 1, -time.Hour} {
			time.Sleep(14 * time.Second)
			hold(t, leases, "other", 15*time.Second, start.Add(jump+time.Minute))
		}
		time.Sleep(14 * time.Second)
		label(t, leases, "not-the-record")
		require.NoError(t, <-done)
		assert.Equal(t, 5*14*time.Second+15*time.Second, time.Since(start))
	})
}

func TestAcquireReactsAtOnce(t *testing.T) {
	for name, free := range map[string]func(t *testing.T, leases *store.Collection[Lease], holder *Contender){
		"by a release": func(t *testing.T, _ *store.Collection[Lease], holder *Contender) {
			require.NoError(t, holder.Release(t.Context()))
		},
		"by a deletion": func(t *testing.T, leases *store.Collection[Lease], _ *Contender) { remove(t, leases) },
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				leases := newLeases(t, store.Options{})
				holder, c := newContender(t, leases, "holder"), newContender(t, leases, "c")
				require.True(t, try(t, holder))
				done := later(func() error { return c.Acquire(t.Context()) })
				time.Sleep(5 * time.Second)
				start := time.Now()
				free(t, leases, holder)
				require.NoError(t, <-done)
				assert.Zero(t, time.Since(start))
			})
		})
	}
}

func TestAcquireUsesANewDuration(t *testing.T) {
	for _, seconds := range []time.Duration{2, 15, 100} {
		t.Run(fmt.Sprint(seconds), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				leases := newLeases(t, store.Options{})
				hold(t, leases, "first", 60*time.Second, time.Now())
				done := later(func() error { return newContender(t, leases, "c").Acquire(t.Context()) })
				time.Sleep(10 * time.Second)
				start := time.Now()
				hold(t, leases, "second", seconds*time.Second, start)
				require.NoError(t, <-done)
				assert.Equal(t, seconds*time.Second, time.Since(start))
			})
		})
	}
}

func TestAcquireWaitsForAnotherHolderOfTheSameName(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		leases := newLeases(t, store.Options{})
		require.True(t, try(t, newContender(t, leases, "c")))
		start := time.Now()
		require.NoError(t, newContender(t, leases, "c").Acquire(t.Context()))
		assert.Equal(t, 15*time.Second, time.Since(start))
		assert.EqualValues(t, 1, *get(t, leases).Spec.LeaseTransitions, "it is a new term")
	})
}

func TestAcquireEndsWithoutTheLease(t *testing.T) {
	for name, row := range map[string]struct {
		end  func(cancel context.CancelFunc, st *store.Store)
		want error
	}{
		"when its context does":             {func(cancel context.CancelFunc, _ *store.Store) { cancel() }, context.Canceled},
		"when the store is closed":          {func(_ context.CancelFunc, st *store.Store) { st.Close() }, store.ErrClosed},
		"when its context has an end":       {func(context.CancelFunc, *store.Store) {}, context.DeadlineExceeded},
		"when its context and the store do": {func(cancel context.CancelFunc, st *store.Store) { cancel(); st.Close() }, context.Canceled},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				st := store.New(store.Options{})
				defer st.Close()
				leases := In(st)
				require.True(t, try(t, newContender(t, leases, "other")))
				ctx, cancel := context.WithTimeout(t.Context(), 14*time.Second)
				defer cancel()
				c := newContender(t, leases, "c")
				done := later(func() error { return c.Acquire(ctx) })
				synctest.Wait()
				row.end(cancel, st)
				err := <-done
				assert.ErrorIs(t, err, row.want)
				assert.NotContains(t, err.Error(), "\n", "one reason")
				assert.Zero(t, st.Watchers())
				_, held := c.Held()
				assert.False(t, held)
			})
		})
	}
	t.Run("when its context had ended before", func(t *testing.T) {
		leases := newLeases(t, store.Options{})
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		assert.ErrorIs(t, newContender(t, leases, "c").Acquire(ctx), context.Canceled)
		_, err := leases.Get(t.Context(), namespace, "leader")
		assert.ErrorIs(t, err, store.ErrNotFound, "the free Lease is not taken")
	})
}

func TestAcquireSurvivesExpiredHistoryAndWatches(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		leases := newLeases(t, store.Options{History: 2})
		hold(t, leases, "other", 3*time.Hour, time.Now()) // no watch lasts for that long
		start := time.Now()
		done := later(func() error { return newContender(t, leases, "c").Acquire(t.Context()) })
		for range 10 {
			time.Sleep(time.Minute)
			for i := range 5 { // before the watch can see them
				label(t, leases, fmt.Sprint(i))
			}
		}
		require.NoError(t, <-done)
		assert.Equal(t, 3*time.Hour, time.Since(start))
	})
}

func TestTryAcquireRetriesAfterAnotherWriter(t *testing.T) {
	for name, row := range map[string]struct {
		there   bool
		between func(t *testing.T, leases *store.Collection[Lease])
		held    bool
	}{
		"labelled by another":                 {true, func(t *testing.T, leases *store.Collection[Lease]) { label(t, leases, "x") }, true},
		"deleted by another":                  {true, remove, true},
		"taken by another":                    {true, func(t *testing.T, leases *store.Collection[Lease]) { hold(t, leases, "other", time.Minute, time.Now()) }, false},
		"created by another":                  {false, func(t *testing.T, leases *store.Collection[Lease]) { hold(t, leases, "other", time.Minute, time.Now()) }, false},
		"created by another without a holder": {false, func(t *testing.T, leases *store.Collection[Lease]) { hold(t, leases, "", time.Minute, time.Now()) }, true},
	} {
		t.Run(name, func(t *testing.T) {
			var stamps hookedClock
			leases := newLeases(t, store.Options{Clock: stamps.clock()})
			if row.there {
				hold(t, leases, "", time.Second, time.Now())
			}
			c := newContender(t, leases, "c")
			stamps.before(func() { row.between(t, leases) })
			assert.Equal(t, row.held, try(t, c))
			assert.Equal(t, row.held, *get(t, leases).Spec.HolderIdentity == "c")
		})
	}
}

func TestSlowTryAcquireHoldsNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var stamps hookedClock
		leases := newLeases(t, store.Options{Clock: stamps.clock()})
		hold(t, leases, "", time.Second, time.Now())
		c := newContender(t, leases, "c")
		stamps.before(func() { time.Sleep(10 * time.Second) })
		assert.False(t, try(t, c), "its deadline has passed")
		assert.ErrorIs(t, c.Renew(t.Context()), ErrLost)
		assert.Equal(t, "c", *get(t, leases).Spec.HolderIdentity, "others must still wait")
		require.NoError(t, c.Release(t.Context()))
		assert.Empty(t, *get(t, leases).Spec.HolderIdentity)
	})
}

// contested is a Client whose writes always conflict. It ends a context after
// some of them and, unlike a Collection, takes no notice of contexts.
type contested struct {
	Client
	lease  Lease
	left   int
	cancel context.CancelFunc
}

func (c *contested) Get(context.Context, string, string) (*Lease, error) { return new(c.lease), nil }

func (c *contested) Update(context.Context, *Lease, store.UpdateOptions) (*Lease, error) {
	if c.left--; c.left == 0 {
		c.cancel()
	}
	return nil, store.ErrConflict
}

func TestContenderWhoseWritesAlwaysConflictEndsWithItsContext(t *testing.T) {
	for name, call := range map[string]func(ctx context.Context, c *Contender) error{
		"TryAcquire": func(ctx context.Context, c *Contender) error { _, err := c.TryAcquire(ctx); return err },
		"Acquire":    func(ctx context.Context, c *Contender) error { return c.Acquire(ctx) },
		"Run":        func(ctx context.Context, c *Contender) error { return c.Run(ctx, nil) },
	} {
		t.Run(name, func(t *testing.T) {
			ctx, cancel := context.WithCancel(t.Context())
			client := &contested{Client: newLeases(t, store.Options{}), left: 5, cancel: cancel}
			client.lease.ResourceVersion = "1"
			c, err := NewContender(client, ContenderOptions{Namespace: namespace, Name: "leader", Identity: "c"})
			require.NoError(t, err)
			assert.ErrorIs(t, call(ctx, c), context.Canceled)
			assert.Zero(t, client.left)
		})
	}
	for name, call := range map[string]func(ctx context.Context, c *Contender) error{
		"Renew":   func(ctx context.Context, c *Contender) error { return c.Renew(ctx) },
		"Release": func(ctx context.Context, c *Contender) error { return c.Release(ctx) },
	} {
		t.Run(name, func(t *testing.T) {
			leases := newLeases(t, store.Options{})
			c := newContender(t, leases, "c")
			require.True(t, try(t, c))
			ctx, cancel := context.WithCancel(t.Context())
			c.leases = &contested{Client: leases, lease: *get(t, leases), left: 5, cancel: cancel}
			assert.ErrorIs(t, call(ctx, c), context.Canceled)
			_, held := c.Held()
			assert.Equal(t, name == "Renew", held, "a release that was tried ends the term")
		})
	}
}

func TestTryAcquireReturnsTheErrorOfARefusedWrite(t *testing.T) {
	leases := newLeases(t, store.Options{})
	_, err := leases.Create(t.Context(), &Lease{
		ObjectMeta: meta.ObjectMeta{Namespace: namespace, Name: name},
		Spec:       LeaseSpec{LeaseTransitions: new(int32(math.MaxInt32))},
	}, store.CreateOptions{})
	require.NoError(t, err)
	c := newContender(t, leases, "c")
	held, err := c.TryAcquire(t.Context())
	assert.False(t, held)
	assert.ErrorIs(t, err, store.ErrInvalid)
	assert.ErrorIs(t, c.Acquire(t.Context()), store.ErrInvalid)
}
