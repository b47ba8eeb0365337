package atwork_test

import (
	"context"
	"errors"
	"runtime"
	"sync"
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

		w.Work()
		require.True(t, w.Rest(w.Wakes()))
		w.Away() // from rest
		w.Wake()
		passed = forward(m)
		assert.True(t, passed(), "nor for who rested before")

		w.Work()
		w.Work()
		w.Away()
		passed = forward(m)
		assert.True(t, passed(), "two calls of Work are one hold")
	})
}

// clockWithHook calls a function before each hold and one after it, and counts the moments
// without a hold.
type clockWithHook struct {
	*clock.Manual
	before, after func()
	holds         int
	free          int
}

func (c *clockWithHook) Hold() (release func()) {
	if c.before != nil {
		c.before()
	}
	c.holds++
	end := c.Manual.Hold()
	return func() {
		if c.holds--; c.holds == 0 {
			c.free++
		}
		end()
		if c.after != nil {
			c.after()
		}
	}
}

// Otherwise the Worker could rest again before it is held, and then be held for ever.
func TestClockIsHeldBeforeTheEventThatEndsAWait(t *testing.T) {
	for name, event := range map[string]func(c *clockWithHook, w *atwork.Worker) (has func() bool){
		"timer": func(c *clockWithHook, w *atwork.Worker) (has func() bool) {
			timer := w.NewTimer(c, time.Second)
			return func() bool { return len(timer.C()) > 0 }
		},
		"deadline": func(c *clockWithHook, w *atwork.Worker) (has func() bool) {
			ctx, cancel := atwork.WithDeadline(atwork.With(t.Context(), w), c, epoch.Add(time.Second), nil)
			t.Cleanup(cancel)
			return func() bool { return ctx.Err() != nil }
		},
	} {
		t.Run(name, func(t *testing.T) {
			c := &clockWithHook{Manual: clock.NewManual(epoch)}
			w := atwork.New(c)
			w.Work()
			has := event(c, w)
			require.True(t, w.Rest(w.Wakes()))
			calls := 0
			c.before = func() {
				calls++
				assert.False(t, has(), "the event came first")
				go w.Away() // so that FastForward returns
			}
			c.FastForward(time.Second)
			assert.Equal(t, 1, calls)
			assert.True(t, has())
		})
	}
}

func TestHoldStopsTheClock(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := clock.NewManual(epoch)
		release := atwork.Hold(m)
		passed := forward(m)
		assert.False(t, passed())
		release()
		assert.True(t, passed())
	})
}

// The clock is called in the middle of each method.
func TestMethodsOfAWorkerRunOneAfterTheOther(t *testing.T) {
	c := &clockWithHook{Manual: clock.NewManual(epoch)}
	w := atwork.New(c)
	var others sync.WaitGroup
	calls := 0
	inside := func() {
		calls++
		done := make(chan struct{})
		others.Go(func() {
			w.Wakes()
			close(done)
		})
		for range 1000 {
			runtime.Gosched()
			select {
			case <-done:
				assert.Fail(t, "two methods ran at once")
				return
			default:
			}
		}
	}
	c.before, c.after = inside, inside
	w.Work()
	others.Wait()
	w.Rest(w.Wakes())
	others.Wait()
	w.Wake()
	others.Wait()
	w.Away()
	others.Wait()
	assert.Equal(t, 4, calls)
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

		w.Work()
		_, done = w.StandIn(m)
		done() // while the other one is at work
		w.Away()
		passed = forward(m)
		assert.True(t, passed())
	})
}

func TestClockIsHeldWhileAStandInBeginsAndEnds(t *testing.T) {
	c := &clockWithHook{Manual: clock.NewManual(epoch)}
	w := atwork.New(c)
	w.Work()
	_, done := w.StandIn(c)
	done()
	assert.Zero(t, c.free)
	w.Away()
	assert.Equal(t, 1, c.free)
}

// Nobody has told the clock of the goroutine, so the clock does not wait for its wait.
func TestNoWorkerHasNoStandIn(t *testing.T) {
	other, done := (*atwork.Worker)(nil).StandIn(clock.NewManual(epoch))
	assert.Nil(t, other)
	done()
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

func TestContextWithADeadlineIsAContextOfItsParent(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := clock.NewManual(epoch)
		w := atwork.New(m)
		late := errors.New("late")
		type key struct{}
		parent, end := context.WithCancel(context.WithValue(t.Context(), key{}, "value"))
		parent = atwork.With(parent, w)
		assert.Equal(t, "value", parent.Value(key{}))

		for _, at := range []time.Duration{0, -time.Second} {
			ctx, cancel := atwork.WithDeadline(parent, m, epoch.Add(at), late)
			assert.Equal(t, late, context.Cause(ctx), "it has ended at once")
			cancel()
		}

		ctx, cancel := atwork.WithDeadline(parent, m, epoch.Add(time.Millisecond), late)
		assert.Equal(t, "value", ctx.Value(key{}))
		assert.NoError(t, ctx.Err())
		w.Work()
		require.True(t, w.Rest(w.Wakes()))
		cancel()
		assert.Equal(t, context.Canceled, context.Cause(ctx))
		passed := forward(m)
		assert.True(t, passed(), "the deadline wakes nobody any more")

		ctx, cancel = atwork.WithDeadline(parent, m, epoch.Add(time.Hour), late)
		defer cancel()
		end()
		assert.Equal(t, context.Canceled, context.Cause(ctx))
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
