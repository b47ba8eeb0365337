package httpapi

import (
	"sync"
	"sync/atomic"
	"time"

	"github.com/kubecoord/kubecoord/internal/registry"
)

// stallGuard watches over the writes of a watch. If a write takes longer than stallPause, the
// watch is paused: writers to the store skip it. If the write takes as long as WatchStall, the
// guard cuts the watch.
//
// The timer is not set for each write: that took 4 % of the CPU time of a delivery. It rings at
// most once in stallPause, and check then finds out how long the present write has taken.
type stallGuard struct {
	limit time.Duration
	w     *registry.Watcher
	cut   func()
	began time.Time // the times below count from here

	since atomic.Int64 // when the present write began; or noWrite, or pausedWrite
	armed atomic.Bool  // the timer is set

	mu     sync.Mutex // is held while the watch is paused or resumed; guards the fields below
	timer  *time.Timer
	paused int64 // when the write of pausedWrite began
}

// stallPause is how long a write may take until the watch is paused.
const stallPause = time.Second

// Values of stallGuard.since.
const (
	noWrite     = -1
	pausedWrite = -2
)

func newStallGuard(limit time.Duration, w *registry.Watcher, cut func()) *stallGuard {
	g := &stallGuard{limit: limit, w: w, cut: cut, began: time.Now()}
	g.since.Store(noWrite)
	return g
}

// begin is called before a write.
func (g *stallGuard) begin() {
	g.since.Store(int64(time.Since(g.began)))
	// check reads since after it has cleared armed. So one of the two sets the timer.
	if !g.armed.Load() {
		g.mu.Lock()
		g.armLocked(g.pauseAfter())
		g.mu.Unlock()
	}
}

// end is called after the write.
func (g *stallGuard) end() {
	if g.since.Swap(noWrite) == pausedWrite {
		g.mu.Lock()
		g.w.Resume()
		g.mu.Unlock()
	}
}

// stop releases the timer, after the last write.
func (g *stallGuard) stop() {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.timer != nil {
		g.timer.Stop()
	}
}

func (g *stallGuard) pauseAfter() time.Duration { return min(g.limit, stallPause) }

func (g *stallGuard) armLocked(after time.Duration) {
	g.armed.Store(true)
	if g.timer == nil {
		g.timer = time.AfterFunc(after, g.check)
		return
	}
	g.timer.Reset(after)
}

// check is called by the timer.
func (g *stallGuard) check() {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.armed.Store(false)
	now := int64(time.Since(g.began))
	switch since := g.since.Load(); since {
	case noWrite:
	case pausedWrite:
		if left := g.limit - time.Duration(now-g.paused); left > 0 {
			g.armLocked(left)
		} else {
			g.cut()
		}
	default:
		if left := g.pauseAfter() - time.Duration(now-since); left > 0 {
			g.armLocked(left)
		} else if g.since.CompareAndSwap(since, pausedWrite) {
			g.paused = since
			g.w.Pause()
			g.armLocked(max(g.limit-time.Duration(now-since), 0))
		}
	}
}
