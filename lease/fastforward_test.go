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

// manualStart is when the clock of manualLeases starts.
var manualStart = time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)

func manualLeases(t *testing.T) (*store.Collection[Lease], *clock.Manual) {
	m := clock.NewManual(manualStart)
	return newLeases(t, store.Options{Clock: m}), m
}

// office is a Contender that leads until it is told to stop, or loses the Lease.
type office struct {
	began, ended chan string
	stop         context.CancelFunc
	over         chan struct{}
	err          error // what Run returned; set before over is closed
}

// run has a Contender run, outside of any bubble, from now on. It stops at the end of the test.
func run(t *testing.T, leases *store.Collection[Lease], m *clock.Manual, identity string) *office {
	c := newContender(t, leases, identity)
	ctx, cancel := context.WithCancel(t.Context())
	o := &office{began: make(chan string, 1), ended: make(chan string, 1), stop: cancel, over: make(chan struct{})}
	tell := func(to chan string) { to <- identity + " " + m.Now().Sub(manualStart).String() }
	release := m.Hold()
	go func() {
		defer close(o.over)
		c.worker.Work()
		release()
		o.err = c.Run(ctx, func(ctx context.Context, _ Holding) {
			tell(o.began)
			<-ctx.Done()
			tell(o.ended)
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
	assert.Empty(t, a.ended, "it had the time to renew every time")
	l := get(t, leases)
	assert.Equal(t, manualStart.Add(10*time.Minute), l.Spec.RenewTime.UTC(), "every other second, the last one included")
	assert.Equal(t, "1301", l.ResourceVersion, "the creation and 300 renewals")
}

func TestFastForwardEndsTheTermOfALeaderThatIsCutOff(t *testing.T) {
	leases, m := manualLeases(t)
	a := run(t, leases, m, "a")
	assert.Equal(t, "a 0s", <-a.began)
	m.FastForward(10 * time.Second)
	hold(t, leases, "other", 30*time.Second, m.Now())
	assert.Equal(t, "a 10s", <-a.ended)
	<-a.over
	assert.ErrorIs(t, a.err, ErrLost)
}

// Who waits has seen each renewal when it was made, so that it takes over to the second.
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

func TestFastForwardTellsAnObserverThatALeaseRanOut(t *testing.T) {
	leases, m := manualLeases(t)
	hold(t, leases, "a", 15*time.Second, m.Now())
	ctx, cancel := context.WithCancel(t.Context())
	told := make(chan string)
	done := later(func() error {
		defer close(told)
		for h, err := range Observe(ctx, leases, namespace, name) {
			if err != nil {
				return err
			}
			told <- fmt.Sprintf("%s %q", m.Now().Sub(manualStart), h.Holder)
		}
		return nil
	})
	assert.Equal(t, `0s "a"`, <-told)
	// The observer counts from when it saw the holder, which was at the start.
	m.FastForward(time.Minute)
	assert.Regexp(t, ` ""$`, <-told)
	cancel()
	assert.ErrorIs(t, <-done, context.Canceled)
}
