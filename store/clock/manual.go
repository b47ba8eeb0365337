package clock

import (
	"fmt"
	"slices"
	"sort"
	"sync"
	"time"
)

// Manual is a clock that only FastForward moves. Make one with NewManual.
type Manual struct {
	mu     sync.Mutex // guards all below, and every timer; not held while a function runs
	now    time.Time
	timers []*manualTimer // that are pending, in the order in which they fire
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

// FastForward moves the clock by d at once. Then it fires the timers that are due, one after
// the other, in the order of their times; timers with the same time fire in the order in which
// they were set. It does not wait for goroutines that a timer wakes, and it does not fire
// timers that are set meanwhile: they count from the new time. See the package comment.
//
// It may be called from any goroutine. It panics if d is below zero.
func (m *Manual) FastForward(d time.Duration) {
	if d < 0 {
		panic(fmt.Sprintf("clock: FastForward(%s): want zero or more, time does not go back", d))
	}
	m.mu.Lock()
	m.now = m.now.Add(d)
	for len(m.timers) > 0 && !m.timers[0].at.After(m.now) {
		t := m.timers[0]
		m.timers[0] = nil // for the garbage collector
		m.timers = m.timers[1:]
		m.mu.Unlock()
		t.f()
		m.mu.Lock()
	}
	m.mu.Unlock()
}

// AfterFunc returns a Timer that calls f when d has passed. FastForward calls f and continues
// when f returns. If d is zero or less, f runs at once in its own goroutine.
func (m *Manual) AfterFunc(d time.Duration, f func()) Timer {
	t := &manualTimer{m: m, f: f}
	t.Reset(d)
	return t
}

// Fork returns an independent Manual at the same time, without timers.
func (m *Manual) Fork() Clock { return NewManual(m.Now()) }

// manualTimer is a Timer of a Manual, whose mu guards it.
type manualTimer struct {
	m  *Manual
	f  func()
	at time.Time
}

func (t *manualTimer) Reset(d time.Duration) bool {
	m := t.m
	m.mu.Lock()
	defer m.mu.Unlock()
	pending := t.stopLocked()
	if d <= 0 {
		go t.f()
		return pending
	}
	t.at = m.now.Add(d)
	behind := sort.Search(len(m.timers), func(i int) bool { return m.timers[i].at.After(t.at) })
	m.timers = slices.Insert(m.timers, behind, t)
	return pending
}

func (t *manualTimer) Stop() bool {
	t.m.mu.Lock()
	defer t.m.mu.Unlock()
	return t.stopLocked()
}

func (t *manualTimer) stopLocked() bool {
	i := slices.Index(t.m.timers, t)
	if i >= 0 {
		t.m.timers = slices.Delete(t.m.timers, i, i+1)
	}
	return i >= 0
}
