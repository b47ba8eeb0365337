package atwork_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kubecoord/kubecoord/internal/atwork"
	"github.com/kubecoord/kubecoord/store/clock"
)

var epoch = time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)

// forward lets a second pass, and returns what tells whether it has.
func forward(m *clock.Manual) (passed func() bool) {
	done := make(chan struct{})
	go func() {
		defer close(done)
		m.FastForward(time.Second)
	}()
	return func() bool {
		synctest.Wait()
		select {
		case <-done:
			return true
		default:
			return false
		}
	}
}

func TestClockWaitsForAWorker(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := clock.NewManual(epoch)
		w := atwork.New(m)
		w.Work()
		passed := forward(m)
		assert.False(t, passed())
		require.True(t, w.Rest(w.Wakes()))
		assert.True(t, passed())

		w.Wake() // from rest
		passed = forward(m)
		assert.False(t, passed(), "who was woken has something to do")
		w.Away()
		assert.True(t, passed())
		w.Wake()
		passed = forward(m)
		assert.True(t, passed(), "nobody waits for who is away")
	})
}

func TestWorkerWokenBeforeItRestsLooksAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := clock.NewManual(epoch)
		w := atwork.New(m)
		w.Work()
		seen := w.Wakes()
		w.Wake()
		passed := forward(m)
		assert.False(t, w.Rest(seen))
		assert.False(t, passed())
		assert.True(t, w.Rest(w.Wakes()))
		assert.True(t, passed())
	})
}

func TestWakeOfAWorkerDoesNotWakeItsStandIn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := clock.NewManual(epoch)
		w := atwork.New(m)
		w.Work()
		other, done := w.StandIn(m)
		passed := forward(m)
		assert.False(t, passed(), "it is at work")
		require.True(t, other.Rest(other.Wakes()))
		w.Wake()
		assert.True(t, passed())
		done()
		passed = forward(m)
		assert.False(t, passed(), "the Worker goes on")
		w.Away()
		assert.True(t, passed())
	})
}

func TestTimerWakesItsWorkerBeforeTheClockGoesOn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := clock.NewManual(epoch)
		w := atwork.New(m)
		timer := w.NewTimer(m, time.Millisecond)
		defer timer.Stop()
		w.Work()
		require.True(t, w.Rest(w.Wakes()))
		passed := forward(m)
		assert.False(t, passed(), "the Worker was not waited for")
		assert.Equal(t, epoch.Add(time.Millisecond), <-timer.C())
		require.True(t, w.Rest(w.Wakes()))
		assert.True(t, passed())
	})
}

func TestDeadlineWakesTheWorkerOfItsContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := clock.NewManual(epoch)
		w := atwork.New(m)
		cause := errors.New("late")
		ctx, cancel := atwork.WithDeadline(atwork.With(t.Context(), w), m, epoch.Add(time.Millisecond), cause)
		defer cancel()
		w.Work()
		require.True(t, w.Rest(w.Wakes()))
		passed := forward(m)
		assert.False(t, passed())
		assert.Equal(t, cause, context.Cause(ctx))
		w.Away()
		assert.True(t, passed())
	})
}

func TestClocksThatMoveByThemselvesHaveNoWorkers(t *testing.T) {
	w := atwork.New(clock.Real{})
	require.Nil(t, w)
	w.Work()
	w.Wake()
	w.Away()
	assert.True(t, w.Rest(w.Wakes()))
	assert.Equal(t, t.Context(), atwork.With(t.Context(), w))
	assert.Nil(t, atwork.From(t.Context()))
	timer := w.NewTimer(clock.Real{}, 0)
	<-timer.C()
	atwork.Hold(clock.Real{})()
	other, done := w.StandIn(clock.Real{})
	assert.Nil(t, other)
	done()
}
