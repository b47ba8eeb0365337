package clock_test

import (
	"cmp"
	"context"
	"errors"
	"maps"
	"math/rand/v2"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kubecoord/kubecoord/store/clock"
)

var start = time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)

// diary records the order in which timers fire.
type diary struct {
	m       *clock.Manual
	entries []string
}

func newDiary() *diary { return &diary{m: clock.NewManual(start)} }

// note returns a function that records a word and the time since the start, by the clock.
func (d *diary) note(word string) func() {
	return func() { d.entries = append(d.entries, word+" "+d.m.Now().Sub(start).String()) }
}

func TestTimersFireInTheirOrder(t *testing.T) {
	d := newDiary()
	d.m.AfterFunc(3*time.Second, d.note("c"))
	d.m.AfterFunc(time.Second, d.note("a"))
	d.m.AfterFunc(2*time.Second, d.note("b"))
	d.m.AfterFunc(time.Second, d.note("a, set later"))
	d.m.AfterFunc(5*time.Second, d.note("late"))
	stopped := d.m.AfterFunc(2*time.Second, d.note("stopped"))
	assert.True(t, stopped.Stop())
	assert.False(t, stopped.Stop())
	assert.Empty(t, d.entries)

	d.m.FastForward(4 * time.Second)
	assert.Equal(t, []string{"a 4s", "a, set later 4s", "b 4s", "c 4s"}, d.entries, "at the new time")
	d.m.FastForward(time.Second)
	assert.Equal(t, "late 5s", d.entries[len(d.entries)-1], "due at the very end")
}

// Each step sets, resets or stops a timer, or moves the clock. A timer that is due fires in
// the order of times, and of their setting.
func TestManyTimersFireInTheirOrder(t *testing.T) {
	type entry struct {
		name, set int
		at        time.Duration
	}
	for seed := range uint64(20) {
		rnd := rand.New(rand.NewPCG(seed, 1))
		m := clock.NewManual(start)
		now := func() time.Duration { return m.Now().Sub(start) }
		var got []entry
		var timers [12]clock.Timer
		pending := map[int]entry{}
		for i := range timers {
			timers[i] = m.AfterFunc(time.Hour, func() { got = append(got, entry{name: i, at: now()}) })
			timers[i].Stop()
		}
		for step := range 200 {
			i := rnd.IntN(len(timers))
			_, was := pending[i]
			switch rnd.IntN(8) {
			case 0:
				until := now() + time.Duration(rnd.IntN(4))*time.Second
				var want []entry
				for _, e := range slices.SortedFunc(maps.Values(pending), func(a, b entry) int {
					return cmp.Or(cmp.Compare(a.at, b.at), cmp.Compare(a.set, b.set))
				}) {
					if e.at <= until {
						want = append(want, entry{name: e.name, at: until})
						delete(pending, e.name)
					}
				}
				got = nil
				m.FastForward(until - now())
				require.Equal(t, want, got, "seed %d, step %d", seed, step)
			case 1, 2:
				delete(pending, i)
				require.Equal(t, was, timers[i].Stop())
			default:
				d := time.Duration(1+rnd.IntN(3)) * time.Second
				pending[i] = entry{i, step, now() + d}
				require.Equal(t, was, timers[i].Reset(d))
			}
		}
	}
}

func TestTimersCountFromTheTimeWhenTheyAreSet(t *testing.T) {
	d := newDiary()
	var tick clock.Timer
	tick = d.m.AfterFunc(time.Minute, func() {
		d.note("tick")()
		tick.Reset(time.Minute)
		d.m.AfterFunc(time.Second, d.note("tock"))
	})
	d.m.FastForward(3 * time.Minute)
	assert.Equal(t, []string{"tick 3m0s"}, d.entries, "those that it set are due later")
	d.m.FastForward(time.Minute)
	assert.Equal(t, []string{"tick 3m0s", "tock 4m0s", "tick 4m0s"}, d.entries)
}

func TestTimerMayStopOneThatIsDueAtTheSameTime(t *testing.T) {
	d := newDiary()
	var second clock.Timer
	d.m.AfterFunc(time.Second, func() { assert.True(t, second.Stop()) })
	second = d.m.AfterFunc(time.Second, d.note("second"))
	d.m.FastForward(time.Hour)
	assert.Empty(t, d.entries)
}

func TestResetPutsATimerOff(t *testing.T) {
	d := newDiary()
	timer := d.m.AfterFunc(time.Second, d.note("off"))
	assert.True(t, timer.Reset(3*time.Second))
	d.m.FastForward(2 * time.Second)
	assert.Empty(t, d.entries)
	d.m.FastForward(time.Second)
	assert.Equal(t, []string{"off 3s"}, d.entries)
	assert.False(t, timer.Reset(time.Second), "it has fired")
	d.m.FastForward(time.Second)
	assert.Equal(t, []string{"off 3s", "off 4s"}, d.entries)
}

func TestTimerThatIsDueAtOnceNeedsNoFastForward(t *testing.T) {
	for _, d := range []time.Duration{0, -time.Second} {
		m := clock.NewManual(start)
		fired := make(chan bool)
		timer := m.AfterFunc(d, func() { fired <- true })
		assert.True(t, <-fired)
		assert.False(t, timer.Reset(d))
		assert.True(t, <-fired)
	}
}

// A function may call the clock, and wait for other goroutines that do.
func TestClockIsNotLockedWhileAFunctionRuns(t *testing.T) {
	d := newDiary()
	d.m.AfterFunc(time.Second, func() {
		done := make(chan struct{})
		go func() { defer close(done); d.m.FastForward(time.Second) }()
		<-done
		d.note("first")()
	})
	d.m.AfterFunc(2*time.Second, d.note("second"))
	d.m.FastForward(time.Second)
	assert.Equal(t, []string{"second 2s", "first 2s"}, d.entries)
}

func TestTimeOfAllFastForwardsPasses(t *testing.T) {
	m := clock.NewManual(start)
	var fired atomic.Int32
	for i := range 80 {
		m.AfterFunc(time.Duration(i+1)*time.Second, func() { fired.Add(1) })
	}
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			for range 10 {
				m.FastForward(time.Second)
				m.Now()
			}
		})
	}
	wg.Wait()
	assert.Equal(t, start.Add(80*time.Second), m.Now())
	assert.EqualValues(t, 80, fired.Load())
}

func TestTimeDoesNotGoBack(t *testing.T) {
	assert.PanicsWithValue(t, "clock: FastForward(-1s): want zero or more, time does not go back", func() {
		clock.NewManual(start).FastForward(-time.Second)
	})
}

func TestContextEndsAtATimeOfItsClock(t *testing.T) {
	cause := errors.New("the time has come")
	for name, c := range map[string]clock.Clock{"real": clock.Real{}, "for timestamps": clock.Func(func() time.Time { return start }), "manual": clock.NewManual(start)} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				pass := time.Sleep
				if m, ok := c.(*clock.Manual); ok {
					pass = m.FastForward
				}
				now := clock.Waiting(c).Now
				ctx, cancel := clock.WithDeadline(t.Context(), c, now().Add(time.Minute), cause)
				defer cancel()
				_, hasDeadline := ctx.Deadline()
				assert.Equal(t, name != "manual", hasDeadline)
				pass(time.Minute - 1)
				synctest.Wait()
				require.NoError(t, ctx.Err())
				pass(1)
				<-ctx.Done()
				assert.Equal(t, cause, context.Cause(ctx))
				if name == "manual" {
					assert.Equal(t, context.Canceled, ctx.Err())
				} else {
					assert.Equal(t, context.DeadlineExceeded, ctx.Err())
				}

				ctx, cancel = clock.WithDeadline(t.Context(), c, now(), cause)
				defer cancel()
				assert.Error(t, ctx.Err(), "it had come before")
				assert.Equal(t, cause, context.Cause(ctx))

				ctx, cancel = clock.WithDeadline(t.Context(), c, now().Add(time.Minute), cause)
				cancel()
				pass(time.Hour)
				assert.Equal(t, context.Canceled, context.Cause(ctx))
			})
		})
	}
}

// stoppable is a Manual that counts the timers that were stopped.
type stoppable struct {
	*clock.Manual
	stopped int
}

func (s *stoppable) AfterFunc(d time.Duration, f func()) clock.Timer {
	return stoppableTimer{s.Manual.AfterFunc(d, f), s}
}

type stoppableTimer struct {
	clock.Timer
	of *stoppable
}

func (t stoppableTimer) Stop() bool {
	t.of.stopped++
	return t.Timer.Stop()
}

func TestEndOfAContextStopsItsTimer(t *testing.T) {
	c := &stoppable{Manual: clock.NewManual(start)}
	_, cancel := clock.WithDeadline(t.Context(), c, start.Add(time.Hour), nil)
	cancel()
	assert.Equal(t, 1, c.stopped)
}
