package clock

import (
	"context"
	"time"
)

// Clock gives the time and timers. Its methods may be called from any goroutine, and may
// call the store.
type Clock interface {
	// Now returns the time.
	Now() time.Time
	// NewTimer returns a Timer that sends the time on its channel after d, or at once if d
	// is zero or less.
	NewTimer(d time.Duration) Timer
	// AfterFunc returns a Timer that calls f after d. Its channel is nil.
	AfterFunc(d time.Duration, f func()) Timer
}

// Timer is like a time.Timer.
type Timer interface {
	// C returns the channel on which the time is sent.
	C() <-chan time.Time
	// Reset makes the Timer fire after d from now, and reports whether it was pending. A
	// time that was sent before and not received is dropped.
	Reset(d time.Duration) bool
	// Stop prevents the Timer from firing, and reports whether it was pending. A time that
	// was sent before and not received is dropped.
	Stop() bool
}

// Real is package time: the clock of the machine, or of the testing/synctest bubble.
type Real struct{}

// Now returns time.Now.
func (Real) Now() time.Time { return time.Now() }

// NewTimer returns a time.Timer.
func (Real) NewTimer(d time.Duration) Timer { return realTimer{time.NewTimer(d)} }

// AfterFunc returns time.AfterFunc: f runs in its own goroutine.
func (Real) AfterFunc(d time.Duration, f func()) Timer { return realTimer{time.AfterFunc(d, f)} }

// realTimer is a time.Timer with a method for its channel.
type realTimer struct{ t *time.Timer }

func (r realTimer) C() <-chan time.Time { return r.t.C }

func (r realTimer) Reset(d time.Duration) bool { return r.t.Reset(d) }

func (r realTimer) Stop() bool { return r.t.Stop() }

// Func is a clock that only gives timestamps: the function may return any time. Timers are
// those of Real.
type Func func() time.Time

// Now calls the function.
func (f Func) Now() time.Time { return f() }

// NewTimer returns a Timer of Real.
func (f Func) NewTimer(d time.Duration) Timer { return Real{}.NewTimer(d) }

// AfterFunc returns a Timer of Real.
func (f Func) AfterFunc(d time.Duration, do func()) Timer { return Real{}.AfterFunc(d, do) }

// Waiting returns the clock to compute timers with: Real for nil and for a Func, else the
// clock itself.
func Waiting(c Clock) Clock {
	switch c.(type) {
	case nil, Func:
		return Real{}
	}
	return c
}

// WithDeadline returns a context that ends at a time of the clock, with this cause. On a
// clock other than Real its Err is context.Canceled, and it has only its parent's Deadline,
// since callers compare that with package time.
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

// Forker is a Clock that Store.Fork copies. A fork of a store shares any other clock with its
// parent.
type Forker interface {
	Clock
	// Fork returns an independent clock at the same time.
	Fork() Clock
}
