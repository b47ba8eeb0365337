package clock

import (
	"cmp"
	"fmt"
	"slices"
	"sync"
	"time"
)

// Manual is a clock that only FastForward moves. Make one with NewManual.
type Manual struct {
	forward sync.Mutex // held by the FastForward under way; taken before mu

	mu     sync.Mutex // guards all below, and every timer; held for no callback
	now    time.Time
	timers []*manualTimer // that are pending, in the order in which they fire
	set    uint64         // how many times a timer was set
	holds  int
	quiet  chan struct{} // closed when holds is 0 again; nil unless FastForward waits
}

// NewManual returns a clock at a time.
func NewManual(start time.Time) *Manual {
	return &Manual{now: start.Round(0)} // without the monotonic clock
}

// Now returns the time of the clock.
func (m *Manual) Now() time.Time {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.now
}

// FastForward moves the clock by d. Timers fire one after the other, each at its time; timers
// with the same time fire in the order in which they were set. Timers that are set meanwhile
// fire too if they are due. Before each step and before it returns, FastForward waits until
// nobody holds the clock: see Hold, and the package comment. FastForward(0) waits, and fires
// timers that are due.
//
// It may be called from any goroutine, and calls run one after the other. It never returns if
// the caller holds the clock or is the function of an AfterFunc. It panics if d is below
// zero.
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

// step waits until nobody holds the clock, and fires the next timer that is due. If there is
// none, it sets the time to until and returns false.
func (m *Manual) step(until time.Time) bool {
	m.lockAtRest()
	if len(m.timers) == 0 || m.timers[0].at.After(until) {
		m.now = until
		m.mu.Unlock()
		return false
	}
	t := m.timers[0]
	m.timers[0] = nil // for the garbage collector
	m.timers = m.timers[1:]
	m.now = t.at
	if t.f == nil {
		t.c <- m.now // never blocks: Reset has emptied it
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
		quiet := make(chan struct{})
		m.quiet = quiet
		m.mu.Unlock()
		<-quiet
		m.mu.Lock()
	}
}

// Hold stops the clock until release is called: FastForward neither moves it nor returns. A
// goroutine calls Hold when it gets work, and release when it has set its next timer.
// release may be called more than once.
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
	t := &manualTimer{m: m, c: make(chan time.Time, 1)}
	t.Reset(d)
	return t
}

// AfterFunc returns a Timer that calls f when d has passed. FastForward calls f and continues
// when f returns. If d is zero or less, f runs at once in its own goroutine, for which
// FastForward waits. f must not wait for FastForward.
func (m *Manual) AfterFunc(d time.Duration, f func()) Timer {
	t := &manualTimer{m: m, f: f}
	t.Reset(d)
	return t
}

// manualTimer is a Timer of a Manual, whose mu guards it.
type manualTimer struct {
	m   *Manual
	c   chan time.Time // capacity 1, written to with mu held; nil if f is set
	f   func()         // called instead of sending, if not nil
	at  time.Time
	set uint64 // orders timers with the same time; 0 if it was never pending
}

// find returns the place of a timer in timers, and whether it is pending.
func (m *Manual) find(t *manualTimer) (i int, pending bool) {
	return slices.BinarySearchFunc(m.timers, t, func(a, b *manualTimer) int {
		return cmp.Or(a.at.Compare(b.at), cmp.Compare(a.set, b.set))
	})
}

func (t *manualTimer) C() <-chan time.Time { return t.c }

func (t *manualTimer) Reset(d time.Duration) bool {
	m := t.m
	m.mu.Lock()
	defer m.mu.Unlock()
	pending := t.stopLocked()
	switch {
	case d > 0:
		m.set++
		t.at, t.set = m.now.Add(d), m.set
		i, _ := m.find(t)
		m.timers = slices.Insert(m.timers, i, t)
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

func (t *manualTimer) Stop() bool {
	t.m.mu.Lock()
	defer t.m.mu.Unlock()
	return t.stopLocked()
}

func (t *manualTimer) stopLocked() bool {
	i, pending := t.m.find(t)
	if pending {
		t.m.timers = slices.Delete(t.m.timers, i, i+1)
	}
	select {
	case <-t.c:
		pending = true // nobody has received the time
	default:
	}
	return pending
}

// Fork returns an independent Manual at the same time, without timers.
func (m *Manual) Fork() Clock { return NewManual(m.Now()) }
