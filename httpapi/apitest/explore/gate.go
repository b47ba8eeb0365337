package explore

import (
	"runtime"
	"sync"
	"time"
)

// gate bounds how many runs with programs go on at once. A run waits most of the time, so there are as many as keep the processors at 80 %: more would
// let programs be late by themselves. What else the machine does shows in how late timers are.
type gate struct {
	mu    sync.Mutex
	free  sync.Cond
	in    int
	limit int
	fixed bool
	since time.Time     // of the last look
	used  time.Duration // of the processors, by then
	late  time.Duration // of timers since then, in all
	times int           // how many
}

// The bounds of a gate, for each processor, and how much of the time of the processors is too little or too much.
const (
	leastRuns, firstRuns       = 1, 8
	tooLittle, enough, tooMuch = 0.72, 0.8, 0.85
	betweenLooks               = 2 * time.Second
)

// mostRuns returns how many runs of programs go on at the same time at most. Those of a program that rests for seconds need no processor for most of their time.
func mostRuns(processors int) int { return max(64, 16*processors) }

// newGate returns a gate for a number of runs, or for as many as fit if it is zero. A run is busy for a share of its time.
func newGate(runs int, share float64) *gate {
	g := &gate{limit: runs, fixed: runs > 0, since: time.Now(), used: cpuTime()}
	if processors := runtime.GOMAXPROCS(0); !g.fixed {
		g.limit = min(max(int(float64(processors)*enough/max(share, 0.001)), leastRuns*processors), firstRuns*processors)
	}
	g.free.L = &g.mu
	return g
}

// enter waits until one more run may go on.
func (g *gate) enter() {
	g.mu.Lock()
	defer g.mu.Unlock()
	for g.in >= g.limit {
		g.free.Wait()
	}
	g.in++
}

// leave ends a run.
func (g *gate) leave() {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.in--
	if now := time.Now(); !g.fixed && now.Sub(g.since) >= betweenLooks {
		used := cpuTime()
		busy := float64(used-g.used) / float64(now.Sub(g.since))
		if g.late > time.Duration(g.times)*glance {
			busy = float64(runtime.GOMAXPROCS(0))
		}
		g.limit = nextLimit(g.limit, busy, runtime.GOMAXPROCS(0))
		g.since, g.used, g.late, g.times = now, used, 0, 0
	}
	g.free.Broadcast()
}

// slow lets more runs in at once, as those that follow take so many times as long for the same work. A nil gate needs not know.
func (g *gate) slow(times int) {
	if g == nil {
		return
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	if !g.fixed {
		g.limit = min(g.limit*times, mostRuns(runtime.GOMAXPROCS(0)))
		g.free.Broadcast()
	}
}

// see takes how late a timer was. A nil gate needs not know.
func (g *gate) see(late time.Duration) {
	if g == nil {
		return
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	g.late += late
	g.times++
}

// nextLimit returns how many runs may go on after a time in which so many processors were at work.
func nextLimit(limit int, used float64, processors int) int {
	switch share := used / float64(processors); {
	case share < tooLittle:
		limit += max(1, limit/4)
	case share > tooMuch:
		limit -= max(1, limit/8)
	}
	return min(max(limit, leastRuns*processors), mostRuns(processors))
}
