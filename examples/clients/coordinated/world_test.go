package main

import (
	"context"
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/kubecoord/kubecoord/candidate"
	"github.com/kubecoord/kubecoord/httpapi"
	"github.com/kubecoord/kubecoord/store"
)

// world is a server with Coordinators, and slots in which processes come and go. It
// is for one goroutine, except where it says otherwise.
type world struct {
	t       *testing.T
	rng     *rand.Rand
	timing  timing
	options candidate.CoordinatorOptions
	*monitor
	referee  referee
	st       *store.Store
	api      *httpapi.API
	slots    []*slot
	electors []func() // each stops one
	follower *follower
	stop     func() // of monitor and follower
	later    agenda
}

// slot is where one process runs after another.
type slot struct {
	node    string
	minor   int // of its version
	starts  int
	name    string
	link    *link
	process *process // nil while there is none
}

func newWorld(t *testing.T, seed uint64, tm timing, o candidate.CoordinatorOptions, slots int) *world {
	st := store.New(store.Options{})
	w := &world{
		t: t, rng: rand.New(rand.NewPCG(seed, 0)), timing: tm, monitor: newMonitor(newBounds(tm, o)),
		st: st, api: httpapi.New(st, httpapi.Options{}),
	}
	o.Log = func(ev candidate.ElectionEvent) {
		w.note("elector: %s %s", ev.Type, ev.Candidate)
		if ev.Type == candidate.Preferred {
			w.reset()
		}
	}
	w.options = o
	w.referee.changed = w.heard
	w.follower = newFollower(w.monitor)
	stopMonitor, stopFollower := inBackground(w.monitor.run), inBackground(func(ctx context.Context) { w.follower.run(ctx, st) })
	w.stop = func() { stopFollower(); stopMonitor() }
	for i := range slots {
		w.slots = append(w.slots, &slot{node: fmt.Sprintf("node-%d", i+1), minor: 36 + w.rng.IntN(3)})
	}
	return w
}

func (w *world) close() {
	for _, s := range w.slots {
		w.crash(s)
	}
	for len(w.electors) > 0 {
		w.stopCoordinator()
	}
	w.stop()
	w.api.Close()
	w.st.Close()
}

// startCoordinator starts a Coordinator, one more if there is one.
func (w *world) startCoordinator() {
	e, err := candidate.NewCoordinator(w.st, w.options)
	require.NoError(w.t, err)
	w.fault("a Coordinator starts")
	w.update(func(time.Time) { w.monitor.electors++ })
	w.electors = append(w.electors, inBackground(func(ctx context.Context) { e.Run(ctx) }))
}

// stopCoordinator stops the Coordinator that runs for the longest time.
func (w *world) stopCoordinator() {
	w.update(func(time.Time) { w.monitor.electors-- })
	w.electors[0]()
	w.electors = w.electors[1:]
	w.fault("a Coordinator stops")
}

// start starts a process in an empty slot: as the one that was there, or as a
// new one.
func (w *world) start(s *slot, anew bool) {
	if anew || s.name == "" {
		s.starts++
		s.name = fmt.Sprintf("%s_%d", s.node, s.starts)
	}
	name := s.name
	w.mend("%s starts, version 1.%d", name, s.minor)
	h := &health{name: name, clear: true}
	w.update(func(now time.Time) {
		h.clearSince = now
		w.healths[name] = h
		if c, err := candidate.In(w.st).Get(context.Background(), leaseNamespace, name); err == nil {
			h.take(c)
		}
	})
	s.link = newLink(w.api.Transport(), w.delay, w.rng.Uint64())
	s.link.watching = func(open bool) {
		w.update(func(time.Time) {
			if open {
				h.watches++
			} else {
				h.watches--
			}
		})
	}
	s.link.failed = func() { w.reset() }
	var err error
	s.process, err = startProcess(processOptions{
		contender: contender{
			Name: name, BinaryVersion: fmt.Sprintf("1.%d.0", s.minor), EmulationVersion: fmt.Sprintf("1.%d.0", s.minor-w.rng.IntN(2)),
			Transport: s.link,
			Started:   func(ctx context.Context) { w.referee.started(ctx, name) },
			Stopped:   func() { w.referee.stopped(name) },
		},
		timing: w.timing, releases: w.rng.IntN(2) == 0,
	})
	require.NoError(w.t, err)
}

// crash kills the process in a slot, if there is one.
func (w *world) crash(s *slot) {
	if s.process == nil {
		return
	}
	w.fault("%s crashes", s.name)
	w.update(func(time.Time) { delete(w.healths, s.name) })
	s.link.set(dead)
	s.process.kill()
	s.process = nil
}

// drain ends the process in a slot in order, if there is one.
func (w *world) drain(s *slot) {
	if s.process == nil {
		return
	}
	w.fault("%s is drained", s.name)
	w.update(func(time.Time) { delete(w.healths, s.name) })
	ctx, cancel := context.WithTimeout(w.t.Context(), w.timing.renewDeadline)
	defer cancel()
	if err := s.process.drain(ctx); err != nil {
		w.note("drain of %s: %v", s.name, err)
	}
	w.fault("%s is gone", s.name)
	s.link.set(dead)
	s.process = nil
}

// change changes the weather of a slot.
func (w *world) change(s *slot, to weather) {
	if s.process == nil {
		return
	}
	if to == clear || to == slow {
		w.mend("the link of %s is %s", s.name, to)
	} else {
		w.fault("the link of %s is %s", s.name, to)
	}
	w.of(s.name, func(h *health, now time.Time) {
		h.flaky = to == flaky
		if ok := to == clear || to == slow; ok != h.clear {
			h.clear, h.clearSince, h.reported = ok, now, false
		}
	})
	s.link.set(to)
}
