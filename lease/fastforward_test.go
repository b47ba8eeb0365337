package lease

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/kubecoord/kubecoord/store"
	"github.com/kubecoord/kubecoord/store/clock"
)

// manualStart is the first time of the clock of manualLeases.
var manualStart = time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)

func manualLeases(t *testing.T) (*store.Collection[Lease], *clock.Manual) {
	m := clock.NewManual(manualStart)
	return newLeases(t, store.Options{Clock: m}), m
}

// office is a running Contender that leads until it is stopped or loses the Lease.
type office struct {
	began, ended chan string
	stop         context.CancelFunc
	over         chan struct{}
	err          error // the result of Run; set before over is closed
}

// run starts a Contender outside of any bubble. It stops at the end of the test.
func run(t *testing.T, leases *store.Collection[Lease], m *clock.Manual, identity string) *office {
	c := newContender(t, leases, identity)
	ctx, cancel := context.WithCancel(t.Context())
	o := &office{began: make(chan string, 1), ended: make(chan string, 1), stop: cancel, over: make(chan struct{})}
	send := func(to chan string) { to <- identity + " " + m.Now().Sub(manualStart).String() }
	release := m.Hold()
	go func() {
		defer close(o.over)
		c.worker.Work()
		release()
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
	leases, m := manualLeases(t)
	a := run(t, leases, m, "a")
	assert.Equal(t, "a 0s", <-a.began)
	m.FastForward(10 * time.Minute)
	assert.Empty(t, a.ended, "it must have time for every renewal")
	l := get(t, leases)
	assert.Equal(t, manualStart.Add(10*time.Minute), l.Spec.RenewTime.UTC(), "renewed every two seconds, up to the last")
	assert.Equal(t, "1301", l.ResourceVersion, "the creation and 300 renewals")
}

func TestFastForwardEndsTheTermOfADisconnectedLeader(t *testing.T) {
	leases, m := manualLeases(t)
	a := run(t, leases, m, "a")
	assert.Equal(t, "a 0s", <-a.began)
	m.FastForward(10 * time.Second)
	hold(t, leases, "other", 30*time.Second, m.Now())
	assert.Equal(t, "a 10s", <-a.ended)
	<-a.over
	assert.ErrorIs(t, a.err, ErrLost)
}

// A waiting Contender sees each renewal at once, so it takes over at the exact second.
func TestFastForwardLetsTheNextOneTakeOver(t *testing.T) {
	leases, m := manualLeases(t)
	a := run(t, leases, m, "a")
	assert.Equal(t, "a 0s", <-a.began)
	b := run(t, leases, m, "b")
	m.FastForward(101 * time.Second)
	a.stop()
	assert.Equal(t, "a 1m41s", <-a.ended)
	<-a.over
	m.FastForward(14*time.Second - 1)
	assert.Empty(t, b.began)
	m.FastForward(1)
	assert.Equal(t, "b 1m55s", <-b.began, "the last renewal was after 1m40s")
	assert.Equal(t, manualStart.Add(115*time.Second), get(t, leases).Spec.AcquireTime.UTC())
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
				m.FastForward(time.Second) // the observer does not hold the clock
				return err
			}
			seen <- fmt.Sprintf("%s %q", m.Now().Sub(manualStart), h.Holder)
		}
		return nil
	})
	assert.Equal(t, `0s "a"`, <-seen)
	// The observer counts from its first sight of the holder, at the start.
	m.FastForward(time.Minute)
	assert.Regexp(t, ` ""$`, <-seen)
	cancel()
	assert.ErrorIs(t, <-done, context.Canceled)
}
