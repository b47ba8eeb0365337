package atwork

import (
	"context"
	"sync"
	"time"

	"github.com/kubecoord/kubecoord/store/clock"
)

// holder is a clock that can be held, such as a clock.Manual.
type holder interface {
	Hold() (release func())
}

// Hold stops a clock, if it can be held, until release is called.
func Hold(c clock.Clock) (release func()) {
	if h, ok := c.(holder); ok {
		return h.Hold()
	}
	return func() {}
}

// Worker represents a goroutine, or several that take turns. A clock waits for their work.
// Only these goroutines may call its methods, except Wake.
type Worker struct {
	clock holder

	mu      sync.Mutex // guards all below; taken before the mutex of the clock
	present bool       // Wake holds the clock
	wakes   uint64
	release func() // nil unless the clock is held
}

// New returns a Worker that is away, or nil if the clock cannot be held.
func New(c clock.Clock) *Worker {
	if h, ok := c.(holder); ok {
		return &Worker{clock: h}
	}
	return nil
}

// Work starts work: it holds the clock.
func (w *Worker) Work() {
	if w == nil {
		return
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.holdLocked()
}

func (w *Worker) holdLocked() {
	if w.release == nil {
		w.release = w.clock.Hold()
	}
}

// Away ends work, and makes Wake have no effect.
func (w *Worker) Away() {
	if w == nil {
		return
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.present = false
	w.releaseLocked()
}

func (w *Worker) releaseLocked() {
	if w.release != nil {
		w.release()
		w.release = nil
	}
}

// StandIn returns a Worker that works in place of this one until done is called. It is for a
// wait that some wake-ups of this Worker, such as an event of its watch, do not end. Such
// wake-ups must not hold the clock.
func (w *Worker) StandIn(c clock.Clock) (other *Worker, done func()) {
	if w == nil {
		return nil, func() {}
	}
	other = New(c)
	other.Work()
	w.Away()
	return other, func() { w.Work(); other.Away() }
}

// Wakes returns a number for Rest. It must be called before looking for work.
func (w *Worker) Wakes() uint64 {
	if w == nil {
		return 0
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.wakes
}

// Rest releases the clock before a wait. It returns false if the Worker was woken since
// Wakes returned seen: then the caller must look for work again.
func (w *Worker) Rest(seen uint64) bool {
	if w == nil {
		return true
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.wakes != seen {
		return false
	}
	w.present = true
	w.releaseLocked()
	return true
}

// Wake must be called before an event that ends the wait of the Worker.
func (w *Worker) Wake() {
	if w == nil {
		return
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.wakes++
	if w.present {
		w.holdLocked()
	}
}

// NewTimer returns a Timer that wakes the Worker. It may fire once more after a Reset.
func (w *Worker) NewTimer(c clock.Clock, d time.Duration) clock.Timer {
	if w == nil {
		return c.NewTimer(d)
	}
	t := timer{c: make(chan time.Time, 1)}
	t.Timer = c.AfterFunc(d, func() {
		w.Wake()
		select {
		case t.c <- c.Now():
		default: // the last time has not been received yet
		}
	})
	return t
}

// timer is a Timer that wakes a Worker.
type timer struct {
	clock.Timer
	c chan time.Time // capacity 1
}

// C returns the channel that the time is sent on.
func (t timer) C() <-chan time.Time { return t.c }

// WithDeadline is like clock.WithDeadline, and also wakes the Worker of the parent.
func WithDeadline(parent context.Context, c clock.Clock, at time.Time, cause error) (context.Context, context.CancelFunc) {
	w := From(parent)
	left := at.Sub(c.Now())
	if w == nil || left <= 0 {
		return clock.WithDeadline(parent, c, at, cause)
	}
	ctx, end := context.WithCancelCause(parent)
	timer := c.AfterFunc(left, func() { w.Wake(); end(cause) })
	return ctx, func() { timer.Stop(); end(nil) }
}

// key is the context key of a Worker.
type key struct{}

// With returns a context for the calls of a Worker. A watch opened with it wakes the Worker,
// which is at work when the watch returns events.
func With(ctx context.Context, w *Worker) context.Context {
	if w == nil {
		return ctx
	}
	return context.WithValue(ctx, key{}, w)
}

// From returns the Worker in a context, or nil.
func From(ctx context.Context) *Worker {
	w, _ := ctx.Value(key{}).(*Worker)
	return w
}
