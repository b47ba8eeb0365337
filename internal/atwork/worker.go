package atwork

import (
	"context"
	"sync"
	"time"

	"github.com/kubecoord/kubecoord/store/clock"
)

// holder is a clock that can be made to stand still.
type holder interface {
	Hold() (release func())
}

// Hold holds a clock, if it can be held, until release is called.
func Hold(c clock.Clock) (release func()) {
	if h, ok := c.(holder); ok {
		return h.Hold()
	}
	return func() {}
}

// Worker is a goroutine, or some that take turns, whose work a clock is to wait
// for. Work, Away, Wakes, Rest and what makes timers are theirs, Wake is for
// everyone.
type Worker struct {
	clock holder

	mu      sync.Mutex // guards all below; taken before that of the clock
	state   state
	wakes   uint64
	release func() // nil unless the clock is held
}

// state says what it means to wake a Worker.
type state int

const (
	away    state = iota // nothing: it does what nobody waits for
	resting              // it is at work from then on
	working              // it looks again before it rests
)

// New returns a Worker who is away, or nil where the clock cannot be held.
func New(c clock.Clock) *Worker {
	if h, ok := c.(holder); ok {
		return &Worker{clock: h}
	}
	return nil
}

// Work says that there is something to do: the clock is held.
func (w *Worker) Work() {
	if w == nil {
		return
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.workLocked()
}

func (w *Worker) workLocked() {
	w.state = working
	if w.release == nil {
		w.release = w.clock.Hold()
	}
}

// Away says that nobody is to wait for what comes now.
func (w *Worker) Away() {
	if w == nil {
		return
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.state = away
	w.letGoLocked()
}

func (w *Worker) letGoLocked() {
	if w.release != nil {
		w.release()
		w.release = nil
	}
}

// StandIn returns a Worker who is at work in place of this one, who is away, until
// done is called. It is for a wait that nothing else ends: what else wakes this one,
// such as another event of a watch, is then not to hold the clock.
func (w *Worker) StandIn(c clock.Clock) (other *Worker, done func()) {
	if w == nil {
		return nil, func() {}
	}
	other = New(c)
	other.Work()
	w.Away()
	return other, func() { w.Work(); other.Away() }
}

// Wakes returns a number for Rest. It is to be read before one looks what there
// is to do.
func (w *Worker) Wakes() uint64 {
	if w == nil {
		return 0
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.wakes
}

// Rest says that nothing was found to do and that one is about to wait. It returns
// false if the Worker was woken since seen was read: then one has to look again.
func (w *Worker) Rest(seen uint64) bool {
	if w == nil {
		return true
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.wakes != seen {
		return false
	}
	w.state = resting
	w.letGoLocked()
	return true
}

// Wake is called before one makes the wait of a Worker end, by whatever means.
func (w *Worker) Wake() {
	if w == nil {
		return
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.wakes++
	if w.state == resting {
		w.workLocked()
	}
}

// NewTimer returns a Timer of a clock that wakes the Worker. It may go off once
// more after it was set anew.
func (w *Worker) NewTimer(c clock.Clock, d time.Duration) clock.Timer {
	if w == nil {
		return c.NewTimer(d)
	}
	t := timer{c: make(chan time.Time, 1)}
	t.Timer = c.AfterFunc(d, func() {
		w.Wake()
		select {
		case t.c <- c.Now():
		default: // it has not been seen to go off before
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

// WithDeadline is clock.WithDeadline for a context that is waited for by the
// Worker that With has put into its parent, if any.
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

// key is where a Worker is in a context.
type key struct{}

// With returns a context for what a Worker calls and waits in: a watch that is
// opened with it wakes the Worker, and leaves it at work with the events that it
// returns.
func With(ctx context.Context, w *Worker) context.Context {
	if w == nil {
		return ctx
	}
	return context.WithValue(ctx, key{}, w)
}

// From returns the Worker of a context, or nil.
func From(ctx context.Context) *Worker {
	w, _ := ctx.Value(key{}).(*Worker)
	return w
}
