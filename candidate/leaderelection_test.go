package candidate

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kubecoord/kubecoord/internal/registry"
	"github.com/kubecoord/kubecoord/lease"
	"github.com/kubecoord/kubecoord/store"
	"github.com/kubecoord/kubecoord/store/clock"
)

// decider returns the holder of the Lease of the Coordinators.
func (w *world) decider() string {
	l, err := w.leases.Get(context.Background(), controllerNamespace, controllerLease)
	require.NoError(w.t, err)
	return *l.Spec.HolderIdentity
}

func TestOneOfTwoCoordinatorsDecides(t *testing.T) {
	in(t, func(t *testing.T) {
		w := newWorld(t, CoordinatorOptions{Identity: "one"})
		stopOne := w.stop
		synctest.Wait()
		w.elect(CoordinatorOptions{Identity: "two"})
		for _, name := range []string{"a", "b", "c"} {
			w.start(offer(name, "1.37.0", "1.37.0"))
		}
		time.Sleep(time.Minute)
		assert.Equal(t, "one", w.decider())
		assert.Equal(t, "a", w.leader())
		assert.Equal(t, []string{"Elected a"}, w.takeEvents(), "of both Coordinators")
		l, err := w.leases.Get(t.Context(), "kube-system", "leader-election-controller")
		require.NoError(t, err)
		assert.EqualValues(t, 15, *l.Spec.LeaseDurationSeconds)
		assert.Equal(t, "kube-apiserver", l.ManagedFields[0].Manager)
		assert.WithinDuration(t, time.Now(), l.Spec.RenewTime.Time, 2*time.Second)

		stopOne()
		stopped := time.Now()
		w.start(offer("better", "1.37.0", "1.36.0"))
		time.Sleep(12 * time.Second)
		assert.Equal(t, "one", w.decider(), "its Lease has not expired")
		assert.Empty(t, w.takeEvents())
		for w.lease().Spec.PreferredHolder == nil {
			time.Sleep(100 * time.Millisecond)
		}
		assert.Equal(t, "two", w.decider())
		assert.Equal(t, "better", *w.lease().Spec.PreferredHolder)
		assert.LessOrEqual(t, time.Since(stopped), 15*time.Second+time.Second)
		time.Sleep(time.Minute)
		synctest.Wait()
		assert.Equal(t, []string{"a", "better"}, w.reigns)
	})
}

func TestCoordinatorThatLosesItsLeaseStopsDeciding(t *testing.T) {
	in(t, func(t *testing.T) {
		w := newWorld(t, CoordinatorOptions{Identity: "one"})
		synctest.Wait()
		_, err := w.leases.Modify(t.Context(), controllerNamespace, controllerLease, func(l *lease.Lease) error {
			l.Spec.HolderIdentity = new("other")
			return nil
		}, store.UpdateOptions{})
		require.NoError(t, err)
		synctest.Wait()
		w.create(offer("a", "1.37.0", "1.36.0"))
		time.Sleep(10 * time.Second)
		assert.Empty(t, w.takeEvents())
		time.Sleep(6 * time.Second)
		assert.Equal(t, []string{"Pinged a"}, w.takeEvents(), "the other was silent for 15 seconds")
		assert.Equal(t, "one", w.decider())
	})
}

func TestCoordinatorWithAnIdentityEndsWithItsStore(t *testing.T) {
	in(t, func(t *testing.T) {
		st := store.New(store.Options{})
		ends := make(chan error, 2)
		for _, identity := range []string{"decides", "waits"} {
			e, err := NewCoordinator(st, CoordinatorOptions{Identity: identity})
			require.NoError(t, err)
			go func() { ends <- e.Run(t.Context()) }()
			synctest.Wait()
		}
		start := time.Now()
		st.Close()
		for range 2 {
			assert.ErrorIs(t, <-ends, store.ErrClosed)
		}
		assert.Zero(t, time.Since(start))
	})
}

func TestCoordinatorThatIsPausedEndsWithItsContext(t *testing.T) {
	in(t, func(t *testing.T) {
		w := newWorld(t, CoordinatorOptions{Identity: "one"})
		synctest.Wait()
		_, err := w.leases.Delete(t.Context(), controllerNamespace, controllerLease, store.DeleteOptions{})
		require.NoError(t, err)
		time.Sleep(time.Second) // it contends again a second later
		_, err = w.leases.Get(t.Context(), controllerNamespace, controllerLease)
		assert.ErrorIs(t, err, store.ErrNotFound)
		start := time.Now()
		w.stop() // checks the error
		assert.Zero(t, time.Since(start))
	})
}

func TestCoordinatorWithAnIdentityEndsWhenItCannotDecide(t *testing.T) {
	in(t, func(t *testing.T) {
		e, err := NewCoordinator(store.New(store.Options{}), CoordinatorOptions{Identity: "one"})
		require.NoError(t, err)
		closed := store.New(store.Options{})
		closed.Close()
		e.st = (*registry.Store)(closed) // it can still renew its Lease
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		assert.ErrorIs(t, e.Run(ctx), store.ErrClosed)
	})
}

// timers is a clock that counts the timers that are set.
type timers struct {
	clock.Clock
	set int
}

type countedTimer struct {
	clock.Timer
	c *timers
}

func (c *timers) AfterFunc(d time.Duration, f func()) clock.Timer {
	c.set++
	return countedTimer{c.Clock.AfterFunc(d, f), c}
}

func (t countedTimer) Stop() bool {
	t.c.set--
	return t.Timer.Stop()
}

// A timer that is left keeps a manual clock busy.
func TestCoordinatorLeavesNoTimer(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	for _, end := range []func(e *Coordinator) error{
		func(e *Coordinator) error { return e.pause(ctx) },
		func(e *Coordinator) error { return newElections(e).run(ctx) },
	} {
		e, err := NewCoordinator(store.New(store.Options{}), CoordinatorOptions{})
		require.NoError(t, err)
		c := &timers{Clock: e.clock}
		e.clock = c
		assert.ErrorIs(t, end(e), context.Canceled)
		assert.Zero(t, c.set)
	}
}
