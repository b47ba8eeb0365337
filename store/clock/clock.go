package clock

import (
	"context"
	"time"
)

// Clock tells the time, and wakes those who wait for a time to come. Its methods
// may be called from any goroutine.
type Clock interface {
	// Now returns the time.
	Now() time.Time
	// NewTimer returns a Timer that sends the time on its channel after d, at
	// once if d is not above zero.
	NewTimer(d time.Duration) Timer
	// AfterFunc returns a Timer that calls f after d. Its channel is nil.
	AfterFunc(d time.Duration, f func()) Timer
}

// Timer is what a Clock wakes somebody by, as a time.Timer is.
type Timer interface {
	// C returns the channel that the time is sent on.
	C() <-chan time.Time
	// Reset makes the Timer go off after d from now, and reports whether it was
	// still to go off. What was sent before is not received any more.
	Reset(d time.Duration) bool
	// Stop keeps the Timer from going off, and reports whether it was still to.
	// What was sent before is not received any more.
	Stop() bool
}

// Real is package time: the clock of the machine, or inside a testing/synctest
// bubble that of the bubble.
type Real struct{}

// Now returns time.Now.
func (Real) Now() time.Time { return time.Now() }

// NewTimer returns a time.Timer.
func (Real) NewTimer(d time.Duration) Timer { return realTimer{time.NewTimer(d)} }

// AfterFunc returns that of package time: f runs in a goroutine of its own.
func (Real) AfterFunc(d time.Duration, f func()) Timer { return realTimer{time.AfterFunc(d, f)} }

// realTimer is a time.Timer with a method for its channel.
type realTimer struct{ t *time.Timer }

// C returns the channel of the timer.
func (r realTimer) C() <-chan time.Time { return r.t.C }

// Reset is that of the timer.
func (r realTimer) Reset(d time.Duration) bool { return r.t.Reset(d) }

// Stop is that of the timer.
func (r realTimer) Stop() bool { return r.t.Stop() }

// Func is a clock for timestamps alone: what objects say is what the function
// returns, which may stand still, run ahead or jump, while all waiting is by Real.
type Func func() time.Time

// Now returns what the function does.
func (f Func) Now() time.Time { return f() }

// NewTimer returns a Timer of Real.
func (f Func) NewTimer(d time.Duration) Timer { return Real{}.NewTimer(d) }

// AfterFunc returns a Timer of Real.
func (f Func) AfterFunc(d time.Duration, do func()) Timer { return Real{}.AfterFunc(d, do) }

// Waiting returns the clock that the Timers of a clock go by, whose Now agrees
// with them: Real for nil and for a Func, else the clock itself.
func Waiting(c Clock) Clock {
	switch c.(type) {
	case nil, Func:
		return Real{}
	}
	return c
}

// WithDeadline returns a context that ends, with the cause given, when the clock
// comes to a time, unless its parent has ended or cancel was called before. On a
// clock other than Real its Err is context.Canceled, and it has no Deadline but
// its parent's: those who look at that compare it with package time.
func WithDeadline(parent context.Context, c Clock, at time.Time, cause error) (ctx context.Context, cancel context.CancelFunc) {
	c = Waiting(c)
	if _, ok := c.(Real); ok {
		return context.WithDeadlineCause(parent, at, cause)
	}
	ctx, end := context.WithCancelCause(parent)
	left := at.Sub(c.Now())
	if left <= 0 {
		end(cause)
		return ctx, func() {}
	}
	timer := c.AfterFunc(left, func() { end(cause) })
	return ctx, func() { timer.Stop(); end(nil) }
}
