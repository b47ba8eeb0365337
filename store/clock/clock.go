package clock

import (
	"context"
	"time"
)

// Clock gives the time and timers. Its methods may be called from any goroutine, and may call the store.
type Clock interface {
	// Now returns the time.
	Now() time.Time
	// AfterFunc returns a Timer that calls f after d, or at once if d is zero or less. It does not wait for f.
	AfterFunc(d time.Duration, f func()) Timer
}

// Timer is the result of AfterFunc, such as a *time.Timer.
type Timer interface {
	// Reset makes the Timer fire after d from now, and reports whether it was pending.
	Reset(d time.Duration) bool
	// Stop prevents the Timer from firing, and reports whether it was pending.
	Stop() bool
}

// Real is package time: the clock of the machine, or of the testing/synctest bubble.
type Real struct{}

// Now returns time.Now.
func (Real) Now() time.Time { return time.Now() }

// AfterFunc returns time.AfterFunc: f runs in its own goroutine.
func (Real) AfterFunc(d time.Duration, f func()) Timer { return time.AfterFunc(d, f) }

// Func is a clock that only gives timestamps: the function may return any time. Its timers are real.
type Func func() time.Time

// Now calls the function.
func (f Func) Now() time.Time { return f() }

// AfterFunc returns a Timer of Real.
func (f Func) AfterFunc(d time.Duration, do func()) Timer { return time.AfterFunc(d, do) }

// Waiting returns the clock to compute timers with: Real for nil and for a Func, else the clock itself.
func Waiting(c Clock) Clock {
	switch c.(type) {
	case nil, Func:
		return Real{}
	}
	return c
}

// WithDeadline returns a context that ends at a time of the clock; context.Cause then returns cause. On a clock other
// than Real its Err is context.Canceled, and it has only its parent's Deadline, since callers compare that with package
// time.
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

// Forker is a Clock that Store.Fork copies. A fork of a store shares any other clock with its parent.
type Forker interface {
	Clock
	// Fork returns an independent clock at the same time.
	Fork() Clock
}
