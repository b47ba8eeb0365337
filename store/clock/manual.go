package clock

import (
	"container/heap"
	"fmt"
	"sync"
	"time"
)

// Manual is a clock that stands still until it is told how much time has passed.
// Make one with NewManual.
type Manual struct {
	forward sync.Mutex // held by the FastForward under way; taken before mu

	mu     sync.Mutex // guards all below, and every timer; held for no callback
	now    time.Time
	timers timerQueue
	set    uint64 // how many times a timer was set
	holds  int
	quiet  chan struct{} // closed when holds falls to 0; nil while nobody waits
}

// NewManual returns a clock that shows a time.
func NewManual(start time.Time) *Manual {
	return &Manual{now: start.Round(0)} // the process's own time has no say in it
}

// Now returns the time that the clock shows.
func (m *Manual) Now() time.Time {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.now
}

// FastForward lets d pass. Timers that fall due go off one after the other, each
// when the clock shows its time, those of one time in the order in which they were
// set; what they set goes off too if it falls due. Before each step, and before it
// returns, it waits until nobody holds the clock: see Hold, and "What has come to
// rest" in the package comment. FastForward(0) does no more than wait and let go
// off what is due.
//
// It may be called from any goroutine; of two calls at once one waits for the
// other, and the time of both passes. It must not be called by who holds the clock,
// or by the function of an AfterFunc, which it would wait for: it would never
// return. It panics if d is below zero.
func (m *Manual) FastForward(d time.Duration) {
	if d < 0 {
		panic(fmt.Sprintf("clock: FastForward(%s): want zero or more, time does not go back", d))
	}
	m.forward.Lock()
	defer m.forward.Unlock()
	until := m.Now().Add(d)
	for m.step(until) {
	}
}

// step waits for rest and lets the next timer go off. It reports whether there was
// one; if not the clock shows the time given.
func (m *Manual) step(until time.Time) bool {
	m.lockAtRest()
	if len(m.timers) == 0 || m.timers[0].at.After(until) {
		m.now = until
		m.mu.Unlock()
		return false
	}
	t := heap.Pop(&m.timers).(*manualTimer)
	if t.at.After(m.now) {
		m.now = t.at
	}
	if t.f == nil {
		t.c <- m.now // it is empty: setting the timer has seen to it
		m.mu.Unlock()
		return true
	}
	m.mu.Unlock()
	t.f()
	return true
}

// lockAtRest locks mu at a moment when nobody holds the clock.
func (m *Manual) lockAtRest() {
	m.mu.Lock()
	for m.holds > 0 {
		if m.quiet == nil {
			m.quiet = make(chan struct{})
		}
		quiet := m.quiet
		m.mu.Unlock()
		<-quiet
		m.mu.Lock()
	}
}

// Hold makes FastForward wait until release is called: it goes to no other time,
// and does not return. Who has been given something to do calls it, and release
// when that is done and the next Timer is set. Calling release more than once does
// no harm.
func (m *Manual) Hold() (release func()) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.holds++
	return sync.OnceFunc(m.release)
}

func (m *Manual) release() {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.holds--; m.holds == 0 && m.quiet != nil {
		close(m.quiet)
		m.quiet = nil
	}
}

// NewTimer returns a Timer that sends the time on its channel when d has passed.
func (m *Manual) NewTimer(d time.Duration) Timer {
	t := &manualTimer{m: m, c: make(chan time.Time, 1), index: -1}
	t.Reset(d)
	return t
}

// AfterFunc returns a Timer that calls f when d has passed. f is called by
// FastForward, which goes on when it has returned; if d is not above zero it is
// called at once, in a goroutine of its own, which FastForward waits for. It must
// not wait for what happens after FastForward.
func (m *Manual) AfterFunc(d time.Duration, f func()) Timer {
	t := &manualTimer{m: m, f: f, index: -1}
	t.Reset(d)
	return t
}

// manualTimer is a Timer of a Manual, whose mu guards it.
type manualTimer struct {
	m     *Manual
	c     chan time.Time // capacity 1, written to with mu held
	f     func()         // what to call in place of sending
	at    time.Time
	set   uint64 // orders those of one time
	index int    // in the queue; -1 if it is not to go off
}

// C returns the channel that the time is sent on.
func (t *manualTimer) C() <-chan time.Time { return t.c }

// Reset makes the Timer go off after d from now.
func (t *manualTimer) Reset(d time.Duration) bool {
	m := t.m
	m.mu.Lock()
	defer m.mu.Unlock()
	pending := t.stopLocked()
	switch {
	case d > 0:
		m.set++
		t.at, t.set = m.now.Add(d), m.set
		heap.Push(&m.timers, t)
	case t.f == nil:
		t.c <- m.now
	default:
		m.holds++
		go func() {
			defer m.release()
			t.f()
		}()
	}
	return pending
}

// Stop keeps the Timer from going off.
func (t *manualTimer) Stop() bool {
	t.m.mu.Lock()
	defer t.m.mu.Unlock()
	return t.stopLocked()
}

func (t *manualTimer) stopLocked() bool {
	pending := t.index >= 0
	if pending {
		heap.Remove(&t.m.timers, t.index)
	}
	if t.f == nil {
		select {
		case <-t.c:
			pending = true // nobody has seen it go off
		default:
		}
	}
	return pending
}

// timerQueue is a heap of timers by when they go off.
type timerQueue []*manualTimer

func (q timerQueue) Len() int { return len(q) }
func (q timerQueue) Less(i, j int) bool {
	if !q[i].at.Equal(q[j].at) {
		return q[i].at.Before(q[j].at)
	}
	return q[i].set < q[j].set
}
func (q timerQueue) Swap(i, j int) {
	q[i], q[j] = q[j], q[i]
	q[i].index, q[j].index = i, j
}
func (q *timerQueue) Push(x any) {
	t := x.(*manualTimer)
	t.index = len(*q)
	*q = append(*q, t)
}
func (q *timerQueue) Pop() any {
	last := len(*q) - 1
	t := (*q)[last]
	(*q)[last] = nil
	*q = (*q)[:last]
	t.index = -1
	return t
}
