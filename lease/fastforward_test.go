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
