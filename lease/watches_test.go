package lease

import (
	"context"
	"errors"
	"iter"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kubecoord/kubecoord/store"
	"github.com/kubecoord/kubecoord/watch"
)

// tally is a Client that counts requests by their verb. Its watches can fail.
type tally struct {
	Client
	gets, updates, watches atomic.Int64
	deaf                   atomic.Bool   // watches fail at their next event
	failing                atomic.Bool   // updates fail
	pause                  time.Duration // before an update reaches the store
}

func newTally(t *testing.T) *tally { return &tally{Client: newLeases(t, store.Options{})} }

func (c *tally) Get(ctx context.Context, namespace, name string) (*Lease, error) {
	c.gets.Add(1)
	return c.Client.Get(ctx, namespace, name)
}

func (c *tally) Update(ctx context.Context, l *Lease, opts store.UpdateOptions) (*Lease, error) {
	c.updates.Add(1)
	if c.failing.Load() {
		return nil, errors.New("no answer")
	}
	time.Sleep(c.pause)
	return c.Client.Update(ctx, l, opts)
}

func (c *tally) Watch(ctx context.Context, opts store.WatchOptions) iter.Seq2[watch.Event[Lease], error] {
	c.watches.Add(1)
	return func(yield func(watch.Event[Lease], error) bool) {
		ctx, end := context.WithCancel(ctx)
		defer end()
		for ev, err := range c.Client.Watch(ctx, opts) {
			if c.deaf.Load() {
				ev, err = watch.Event[Lease]{}, errors.New("deaf")
			}
			if !yield(ev, err) || c.deaf.Load() {
				return
			}
		}
	}
}

func TestTermHasOneWatch(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		client := newTally(t)
		require.NoError(t, contenderBy(t, client, ContenderOptions{}).Run(t.Context(), func(context.Context, Holding) {
			time.Sleep(10*time.Minute + time.Second)
		}))
		assert.EqualValues(t, 1, client.watches.Load())
		assert.EqualValues(t, 300, client.updates.Load())
		assert.EqualValues(t, 1, client.gets.Load())
	})
}

func TestWaitHasOneWatch(t *testing.T) {
	for name, wait := range map[string]func(t *testing.T, client Client){
		"of a Contender": func(t *testing.T, client Client) {
			require.NoError(t, contenderBy(t, client, ContenderOptions{}).Acquire(t.Context()))
		},
		"of an observer": func(t *testing.T, client Client) {
			for h, err := range Observe(t.Context(), client, namespace, "leader") {
				require.NoError(t, err)
				if h.Holder == "" {
					return
				}
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				client := newTally(t)
				leases := client.Client.(*store.Collection[Lease])
				hold(t, leases, "other", 15*time.Second, time.Now())
				done := later(func() error { wait(t, client); return nil })
				for range 200 {
					time.Sleep(10 * time.Second)
					hold(t, leases, "other", 15*time.Second, time.Now())
				}
				synctest.Wait()
				assert.EqualValues(t, 1, client.watches.Load())
				hold(t, leases, "", time.Second, time.Now())
				<-done
				assert.EqualValues(t, 1, client.watches.Load())
				assert.LessOrEqual(t, client.gets.Load(), int64(1))
			})
		})
	}
}

// A Contender uses the state that its watch has shown.
func TestWaitingContenderTakesTheLeaseByOneWrite(t *testing.T) {
	for name, free := range map[string]func(t *testing.T, leases *store.Collection[Lease]){
		"released": func(t *testing.T, leases *store.Collection[Lease]) { hold(t, leases, "", time.Second, time.Now()) },
		"expired":  func(*testing.T, *store.Collection[Lease]) { time.Sleep(time.Minute) },
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				client := newTally(t)
				leases := client.Client.(*store.Collection[Lease])
				hold(t, leases, "other", time.Minute, time.Now())
				done := later(func() error { return contenderBy(t, client, ContenderOptions{}).Acquire(t.Context()) })
				synctest.Wait()
				free(t, leases)
				require.NoError(t, <-done)
				assert.EqualValues(t, 1, client.gets.Load(), "before it waited")
				assert.EqualValues(t, 1, client.updates.Load())
			})
		})
	}
}

// Another writer is always first, and the watch of the Contender shows that late or never.
func TestContenderWhoseWatchIsBehindReadsTheLease(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var stamps hookedClock
		leases := newLeases(t, store.Options{Clock: stamps.clock()})
		hold(t, leases, "other", 2*time.Second, time.Now())
		client := &stuck{tally: tally{Client: leases}}
		c := contenderBy(t, client, ContenderOptions{})
		start := time.Now()
		done := later(func() error { return c.Acquire(t.Context()) })
		time.Sleep(time.Second)
		client.silent.Store(true)
		label(t, leases, "unseen")
		require.NoError(t, <-done)
		assert.Equal(t, 4*time.Second, time.Since(start), "the expiry, and RetryPeriod after the conflict")
		assert.EqualValues(t, 2, client.gets.Load())
	})
}

// stuck is a Client whose watches can be silent.
type stuck struct {
	tally
	silent atomic.Bool
}

func (s *stuck) Watch(ctx context.Context, opts store.WatchOptions) iter.Seq2[watch.Event[Lease], error] {
	return func(yield func(watch.Event[Lease], error) bool) {
		for ev, err := range s.tally.Watch(ctx, opts) {
			if (!s.silent.Load() || err != nil) && !yield(ev, err) {
				return
			}
		}
	}
}

func TestTermOutlivesItsWatches(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		client := newTally(t)
		client.deaf.Store(true)
		leases := client.Client.(*store.Collection[Lease])
		start := time.Now()
		time.AfterFunc(time.Minute+time.Second, func() { client.deaf.Store(false) })
		time.AfterFunc(2*time.Minute+time.Second, func() { remove(t, leases) })
		var why error
		c := contenderBy(t, client, ContenderOptions{})
		assert.ErrorIs(t, c.Run(t.Context(), untilDone(&why)), ErrLost)
		assert.Equal(t, 2*time.Minute+time.Second, time.Since(start), "the last watch has shown it")
		assert.LessOrEqual(t, client.watches.Load(), int64(32), "not more often than renewals")
		assert.Greater(t, client.watches.Load(), int64(10))
	})
}

// RenewPeriod is for renewals that succeed. After a failed one, and while its watch fails, a leader
// renews each RetryPeriod.
func TestRenewPeriodIsLongerWhileAllIsWell(t *testing.T) {
	for name, row := range map[string]struct {
		deaf, failing bool
		renewals      int64 // that are tried in 59 seconds
	}{
		"all is well": {renewals: 11},               // 5 s, 10 s, ...
		"no watch":    {deaf: true, renewals: 16},   // 5 s, 7 s, 12 s, 14 s, ...: each first one ends the watch
		"no answers":  {failing: true, renewals: 3}, // 5 s, 7 s, 9 s
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				client := newTally(t)
				client.deaf.Store(row.deaf)
				c := exact(t, client, ContenderOptions{Namespace: namespace, Name: "leader", Identity: "a", RenewPeriod: 5 * time.Second})
				ctx, cancel := context.WithTimeout(t.Context(), 59*time.Second)
				defer cancel()
				err := c.Run(ctx, func(ctx context.Context, _ Holding) {
					client.updates.Store(0)
					client.failing.Store(row.failing)
					<-ctx.Done()
				})
				assert.Equal(t, row.failing, errors.Is(err, ErrLost))
				assert.Equal(t, row.renewals, client.updates.Load())
			})
		})
	}
}
