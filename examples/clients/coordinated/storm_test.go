package main

import (
	"slices"
	"time"
)

// agenda has the events to come.
type agenda []appointment

type appointment struct {
	at time.Time
	do func()
}

func (a *agenda) add(in time.Duration, do func()) {
	*a = append(*a, appointment{time.Now().Add(in), do})
	slices.SortStableFunc(*a, func(x, y appointment) int { return x.at.Compare(y.at) })
}

// pop returns the first appointment.
func (a *agenda) pop() appointment {
	first := (*a)[0]
	*a = (*a)[1:]
	return first
}

// storm lets things fail for a while, and then mends them.
func (w *world) storm(d time.Duration) {
	end := time.Now().Add(d)
	for {
		next := time.Now().Add(w.between(0, 16*w.timing.leaseDuration))
		if next.After(end) {
			break
		}
		for len(w.later) > 0 && w.later[0].at.Before(next) {
			w.attendTo(w.later.pop())
		}
		time.Sleep(time.Until(next))
		w.failure()
	}
	for len(w.later) > 0 {
		w.later.pop().do()
	}
	for _, s := range w.slots {
		w.change(s, clear)
		w.ensure(s)
	}
}

func (w *world) attendTo(a appointment) {
	time.Sleep(time.Until(a.at))
	a.do()
}

func (w *world) between(from, to time.Duration) time.Duration {
	return from + time.Duration(w.rng.Float64()*float64(to-from))
}

// aWhile is mostly short, sometimes long, and at times longer than candidates
// are valid for.
func (w *world) aWhile() time.Duration {
	switch dice := w.rng.IntN(20); {
	case dice < 10:
		return w.between(0, 2*w.timing.leaseDuration)
	case dice < 19:
		return w.between(0, 10*time.Minute)
	default:
		return w.between(0, 90*time.Minute)
	}
}

// victim is a slot, every other time the slot of the leader.
func (w *world) victim() *slot {
	leader := w.referee.leader()
	i := slices.IndexFunc(w.slots, func(s *slot) bool { return s.process != nil && s.name == leader })
	if i < 0 || w.rng.IntN(2) == 0 {
		i = w.rng.IntN(len(w.slots))
	}
	return w.slots[i]
}

// failure lets one thing fail.
func (w *world) failure() {
	s := w.victim()
	switch w.rng.IntN(9) {
	case 0, 1:
		w.crash(s)
		w.later.add(w.aWhile(), func() { w.ensure(s) })
	case 2:
		w.drain(s)
		w.later.add(w.between(0, time.Minute), func() { w.ensure(s) })
	case 3:
		if w.rng.IntN(3) == 0 {
			w.upgrade()
		}
	case 4, 5:
		// Who lets go of the Lease when it could not renew it tells client-go's
		// callbacks only after that: too late if that hangs.
		partition := failing
		if s.process != nil && !s.process.releases && w.rng.IntN(2) == 0 {
			partition = hanging
		}
		w.spell(s, partition)
	case 6:
		w.spell(s, flaky)
	case 7:
		w.spell(s, slow)
	case 8:
		w.failCoordinator()
	}
}

// ensure starts a process where there is none, every third time under the same
// name.
func (w *world) ensure(s *slot) {
	if s.process == nil {
		w.start(s, w.rng.IntN(3) > 0)
	}
}

// spell lets the weather be bad for a while.
func (w *world) spell(s *slot, bad weather) {
	l := s.link
	w.change(s, bad)
	w.later.add(w.aWhile(), func() {
		if s.link == l {
			w.change(s, clear)
		}
	})
}

// upgrade replaces all processes by newer ones, one after the other.
func (w *world) upgrade() {
	var in time.Duration
	for _, s := range w.slots {
		w.later.add(in, func() {
			w.drain(s)
			s.minor++
			s.name = "" // a candidate keeps the version it was made with
		})
		in += w.between(0, time.Minute)
		w.later.add(in, func() { w.ensure(s) })
		in += w.between(0, 2*time.Minute)
	}
}

// failCoordinator restarts the Coordinator, or lets two work for a while.
func (w *world) failCoordinator() {
	switch {
	case len(w.electors) == 0:
	case len(w.electors) == 1 && w.rng.IntN(2) == 0:
		w.startCoordinator()
		w.later.add(w.aWhile(), func() { w.stopCoordinator() })
	default:
		w.stopCoordinator()
		w.later.add(w.between(0, time.Minute), func() { w.startCoordinator() })
	}
}
