package lease

import (
	"context"
	"fmt"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kubecoord/kubecoord/store"
	"github.com/kubecoord/kubecoord/store/clock"
)

// spreadContender returns a Contender as users get it.
func spreadContender(t *testing.T, leases Client, identity string) *Contender {
	c, err := NewContender(leases, ContenderOptions{Namespace: namespace, Name: name, Identity: identity})
	require.NoError(t, err)
	return c
}

func TestChancesDifferAndRepeatThemselves(t *testing.T) {
	now := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	a := chanceOf("a")
	assert.Equal(t, chanceOf("a")(now), a(now))
	assert.NotEqual(t, a(now), a(now.Add(1)))
	assert.NotEqual(t, a(now), chanceOf("b")(now))
	var tenths [10]int
	for i := range 10_000 {
		chance := chanceOf(fmt.Sprint("worker-", i))(now)
		require.GreaterOrEqual(t, chance, 0.0)
		require.Less(t, chance, 1.0)
		tenths[int(chance*10)]++
	}
	for i, n := range tenths {
		assert.InDelta(t, 1000, n, 150, "from 0.%d", i)
	}
}

func TestRenewalsAreALittleLate(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var times []time.Time
		client := &preceded{newLeases(t, store.Options{}), func(verb string) {
			if verb == "update" {
				times = append(times, time.Now())
			}
		}}
		require.NoError(t, spreadContender(t, client, "c").Run(t.Context(), func(ctx context.Context, _ Holding) {
			time.Sleep(time.Hour)
			assert.NoError(t, ctx.Err())
		}))
		pauses := map[time.Duration]bool{}
		for i := range times[1:] {
			pause := times[i+1].Sub(times[i])
			require.GreaterOrEqual(t, pause, DefaultRetryPeriod)
			require.Less(t, pause, DefaultRetryPeriod*11/10)
			pauses[pause] = true
		}
		assert.Greater(t, len(pauses), 1000)
	})
}

func TestOfACrowdFewWriteAtARelease(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		client := newTally(t)
		client.pause = 5 * time.Millisecond
		leases := client.Client.(*store.Collection[Lease])
		hold(t, leases, "other", time.Hour, time.Now())
		ctx, cancel := context.WithCancel(t.Context())
		var all sync.WaitGroup
		leads := make(chan time.Time)
		for i := range 500 {
			c := spreadContender(t, client, fmt.Sprint("worker-", i))
			all.Go(func() {
				c.Run(ctx, func(ctx context.Context, _ Holding) { leads <- time.Now(); <-ctx.Done() })
			})
		}
		synctest.Wait()
		for _, free := range []func(){
			func() { hold(t, leases, "", time.Second, time.Now()) },
			func() { remove(t, leases) },
		} {
			client.updates.Store(0)
			start := time.Now()
			free()
			assert.LessOrEqual(t, (<-leads).Sub(start), lastTurn+client.pause)
			synctest.Wait()
			assert.LessOrEqual(t, client.updates.Load(), int64(20), "one in a hundred, and their races")
			assert.LessOrEqual(t, client.gets.Load(), int64(505), "the first read of each")
			assert.LessOrEqual(t, client.watches.Load(), int64(510))
		}
		cancel()
		all.Wait()
	})
}

func TestLoneContenderWaitsForItsTurn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		leases := newLeases(t, store.Options{})
		hold(t, leases, "other", 15*time.Second, time.Now())
		start := time.Now()
		require.NoError(t, spreadContender(t, leases, "c").Acquire(t.Context()))
		assert.GreaterOrEqual(t, time.Since(start), 15*time.Second)
		assert.LessOrEqual(t, time.Since(start), 15*time.Second+lastTurn)
	})
}

// The clock would stand still before the turn.
func TestContenderWithAManualClockDoesNotWaitForATurn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		leases, m := manualLeases(t)
		l := hold(t, leases, "other", time.Minute, m.Now())
		done := later(func() error { return spreadContender(t, leases, "c").Acquire(t.Context()) })
		synctest.Wait()
		l.Spec.HolderIdentity = new("")
		_, err := leases.Update(t.Context(), l, store.UpdateOptions{})
		require.NoError(t, err)
		assert.NoError(t, <-done)
	})
	assert.NotZero(t, spreadContender(t, newLeases(t, store.Options{Clock: clock.Func(time.Now)}), "c").chance(manualStart), "its timers are real")
}
