package lease

import (
	"context"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kubecoord/kubecoord/store"
	"github.com/kubecoord/kubecoord/store/clock"
)

// manualStart is the first time of the clock of manualLeases.
var manualStart = time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)

func manualLeases(t *testing.T) (*store.Collection[Lease], *clock.Manual) {
	m := clock.NewManual(manualStart)
	return newLeases(t, store.Options{Clock: m}), m
}

// forward moves the clock in steps of a second at most. After each it waits until every goroutine
// of the bubble waits.
func forward(m *clock.Manual, d time.Duration) {
	for synctest.Wait(); d > 0; d -= time.Second {
		m.FastForward(min(d, time.Second))
		synctest.Wait()
	}
}

// office is a running Contender that leads until it is stopped or loses the Lease.
type office struct {
	began, ended chan string
	stop         context.CancelFunc
	over         chan struct{}
	err          error // the result of Run; set before over is closed
}

// run starts a Contender. It stops at the end of the test.
func run(t *testing.T, leases *store.Collection[Lease], m *clock.Manual, identity string) *office {
	c := newContender(t, leases, identity)
	ctx, cancel := context.WithCancel(t.Context())
	o := &office{began: make(chan string, 1), ended: make(chan string, 1), stop: cancel, over: make(chan struct{})}
	send := func(to chan string) { to <- identity + " " + m.Now().Sub(manualStart).String() }
	go func() {
		defer close(o.over)
		o.err = c.Run(ctx, func(ctx context.Context, _ Holding) {
			send(o.began)
			<-ctx.Done()
			send(o.ended)
		})
	}()
	t.Cleanup(func() { cancel(); <-o.over })
	return o
}

func TestFastForwardLetsALeaderRenew(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		leases, m := manualLeases(t)
		a := run(t, leases, m, "a")
		assert.Equal(t, "a 0s", <-a.began)
		forward(m, 10*time.Minute)
		assert.Empty(t, a.ended)
		l := get(t, leases)
		assert.Equal(t, manualStart.Add(10*time.Minute), l.Spec.RenewTime.UTC(), "renewed every two seconds, up to the last")
		assert.Equal(t, "1301", l.ResourceVersion, "the creation and 300 renewals")
	})
}

// A leader cannot renew in a single move that is longer than its term.
func TestFastForwardPastTheTermEndsIt(t *testing.T) {
	leases, m := manualLeases(t)
	a := run(t, leases, m, "a")
	assert.Equal(t, "a 0s", <-a.began)
	m.FastForward(time.Minute)
	assert.Equal(t, "a 1m0s", <-a.ended)
	<-a.over
	assert.ErrorIs(t, a.err, ErrLost)
}

func TestFastForwardEndsTheTermOfADisconnectedLeader(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		leases, m := manualLeases(t)
		a := run(t, leases, m, "a")
		assert.Equal(t, "a 0s", <-a.began)
		forward(m, 10*time.Second)
		hold(t, leases, "other", 30*time.Second, m.Now())
		assert.Equal(t, "a 10s", <-a.ended)
		<-a.over
		assert.ErrorIs(t, a.err, ErrLost)
	})
}

// A waiting Contender sees each renewal at once, so it takes over at the exact second.
func TestFastForwardLetsTheNextOneTakeOver(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		leases, m := manualLeases(t)
		a := run(t, leases, m, "a")
		assert.Equal(t, "a 0s", <-a.began)
		b := run(t, leases, m, "b")
		forward(m, 101*time.Second)
		a.stop()
		assert.Equal(t, "a 1m41s", <-a.ended)
		<-a.over
		forward(m, 14*time.Second-1)
		assert.Empty(t, b.began)
		forward(m, 1)
		assert.Equal(t, "b 1m55s", <-b.began, "the last renewal was after 1m40s")
		assert.Equal(t, manualStart.Add(115*time.Second), get(t, leases).Spec.AcquireTime.UTC())
	})
}

func TestFastForwardLetsAContenderTryAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		leases, m := manualLeases(t)
		r := &remote{Client: leases}
		r.set(func() error {
			if m.Now().Sub(manualStart) > 9*time.Second {
				return nil
			}
			return errCutOff
		}, nil, false)
		c := contenderBy(t, r, ContenderOptions{})
		done := later(func() error { return c.Acquire(t.Context()) })
		forward(m, time.Minute)
		require.NoError(t, <-done)
		assert.Equal(t, manualStart.Add(10*time.Second), get(t, leases).Spec.AcquireTime.UTC())
	})
}

func TestFastForwardShowsAnObserverTheExpiry(t *testing.T) {
	leases, m := manualLeases(t)
	hold(t, leases, "a", 15*time.Second, m.Now())
	ctx, cancel := context.WithCancel(t.Context())
	seen := make(chan string)
	done := later(func() error {
		defer close(seen)
		for h, err := range Observe(ctx, leases, namespace, name) {
			if err != nil {
				return err
			}
			seen <- fmt.Sprintf("%s %q", m.Now().Sub(manualStart), h.Holder)
		}
		return nil
	})
	assert.Equal(t, `0s "a"`, <-seen)
	m.FastForward(time.Minute)
	assert.Equal(t, `1m0s ""`, <-seen)
	cancel()
	assert.ErrorIs(t, <-done, context.Canceled)
}
