package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"
)

// monitor holds the bounds against what happens, at every change.
type monitor struct {
	bounds
	began time.Time
	turn  chan struct{} // capacity 1: something has changed

	mu       sync.Mutex // guards all below
	healths  map[string]*health
	electors int
	leader   string
	lost     time.Time // when it was last lost, or something else failed
	overdue  bool      // nobody leads for too long, and that has been told
	log      []string  // the last things that happened
	errs     []error
	longest  time.Duration // that nobody led though somebody could
	faults   int
}

func newMonitor(b bounds) *monitor {
	return &monitor{bounds: b, began: time.Now(), turn: make(chan struct{}, 1), healths: map[string]*health{}}
}

// update changes the known state.
func (m *monitor) update(change func(now time.Time)) {
	m.mu.Lock()
	now := time.Now()
	change(now)
	for _, h := range m.healths {
		h.settle(now)
	}
	m.mu.Unlock()
	select {
	case m.turn <- struct{}{}:
	default:
	}
}

// of changes what is known of a process, if it runs.
func (m *monitor) of(name string, change func(h *health, now time.Time)) {
	m.update(func(now time.Time) {
		if h := m.healths[name]; h != nil {
			change(h, now)
		}
	})
}

// noteLocked remembers what happened, for the report of a failure.
func (m *monitor) noteLocked(now time.Time, format string, args ...any) {
	m.log = append(m.log, m.clock(now)+" "+fmt.Sprintf(format, args...))
	if len(m.log) > 400 {
		m.log = slices.Delete(m.log, 0, 200)
	}
}

func (m *monitor) note(format string, args ...any) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.noteLocked(time.Now(), format, args...)
}

func (m *monitor) clock(t time.Time) string { return t.Sub(m.began).String() }

// mend notes that something gets better from now on.
func (m *monitor) mend(format string, args ...any) {
	m.update(func(now time.Time) {
		m.faults++
		m.noteLocked(now, format, args...)
	})
}

// fault notes that something fails from now on.
func (m *monitor) fault(format string, args ...any) {
	m.update(func(now time.Time) {
		m.faults++
		m.lost = now
		m.noteLocked(now, format, args...)
	})
}

// reset notes that a single request has failed, or that a better candidate has
// come in: the bound counts from here.
func (m *monitor) reset() { m.update(func(now time.Time) { m.lost = now }) }

// wrong notes that something is not as it should be.
func (m *monitor) wrong(format string, args ...any) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.wrongLocked(time.Now(), format, args...)
}

func (m *monitor) wrongLocked(now time.Time, format string, args ...any) {
	err := fmt.Errorf("%s: %s", m.clock(now), fmt.Sprintf(format, args...))
	if len(m.errs) < 10 {
		m.errs = append(m.errs, err)
	}
	m.noteLocked(now, "WRONG: "+format, args...)
}

// heard takes in who leads.
func (m *monitor) heard(leader string) {
	m.update(func(now time.Time) {
		if leader == "" {
			m.lost = now
		} else if wait, ok := m.waitLocked(now); ok {
			m.longest = max(m.longest, now.Sub(wait))
		}
		m.leader, m.overdue = leader, false
		m.noteLocked(now, "leader: %q", leader)
	})
}

// waitLocked returns since when somebody should come to lead.
func (m *monitor) waitLocked(now time.Time) (since time.Time, ok bool) {
	if h := m.healths[m.leader]; m.electors == 0 || h != nil && (h.clear || h.flaky) {
		return time.Time{}, false
	}
	for _, h := range m.healths {
		if at := later(h.since, m.lost); h.sound && (!ok || at.Before(since)) {
			since, ok = at, true
		}
	}
	return since, ok
}

func later(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}

// run tells of what takes too long, until the context ends.
func (m *monitor) run(ctx context.Context) {
	for {
		next := time.NewTimer(m.check())
		select {
		case <-next.C:
		case <-m.turn:
		case <-ctx.Done():
			return
		}
		next.Stop()
	}
}

// check tells of what takes too long by now, and returns when to look again.
func (m *monitor) check() time.Duration {
	m.mu.Lock()
	defer m.mu.Unlock()
	now, next := time.Now(), time.Hour
	if since, ok := m.waitLocked(now); ok && !m.overdue {
		if left := since.Add(m.lead).Sub(now); left > 0 {
			next = min(next, left)
		} else {
			m.overdue = true
			m.wrongLocked(now, "nobody healthy leads %s after the last failure, want at most %s", now.Sub(since), m.lead)
		}
	}
	for _, h := range m.healths {
		if !h.clear || h.sound || h.reported {
			continue
		}
		most := m.recover
		if !h.exists {
			most = m.remake
		}
		if left := later(h.clearSince, h.until).Add(most).Sub(now); left > 0 {
			next = min(next, left)
		} else {
			h.reported = true
			m.wrongLocked(now, "%s is no healthy candidate %s after its link was mended: %+v", h.name, now.Sub(h.clearSince), *h)
		}
	}
	return next
}

func (m *monitor) verdict() error {
	m.mu.Lock()
	defer m.mu.Unlock()
	return errors.Join(m.errs...)
}
