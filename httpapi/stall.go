package httpapi

import (
	"sync/atomic"

	"github.com/kubecoord/kubecoord/internal/registry"
)

// stallGuard notes when the present write of an answer began, or the read of a body, and the
// memory that waits with it. See backlog.
type stallGuard struct {
	call *call
	w    *registry.Watcher // nil if the request is not a watch

	since atomic.Int64         // when the present write began; or noWrite, or pausedWrite
	last  atomic.Pointer[byte] // the last byte of the memory, which identifies it; nil between writes
	bytes atomic.Int64         // of the memory

	// Guarded by backlog.mu.
	began   int64 // when the write of the last check began, or noWrite
	isCut   bool
	closeAt int64 // when the connection is closed if a write goes on; 0: never
}

// Values of stallGuard.since.
const (
	noWrite     = -1
	pausedWrite = -2
)

// begin is called before a write of data.
func (g *stallGuard) begin(data []byte) {
	g.hold(data)
	b := &g.call.api.backlog
	g.since.Store(b.recent())
	// check reads since after it has cleared armed. So one of the two sets the timer.
	if !b.armed.Load() {
		b.arm()
	}
}

// hold notes the memory of data, up to its capacity.
func (g *stallGuard) hold(data []byte) {
	if n := cap(data); n > 0 {
		g.last.Store(&data[:n][n-1])
		g.bytes.Store(int64(n))
	}
}

// end is called after the write.
func (g *stallGuard) end() {
	g.last.Store(nil) // an idle watch must not keep its last frame
	if g.since.Swap(noWrite) == pausedWrite {
		mu := &g.call.api.backlog.mu
		mu.Lock()
		g.w.Resume()
		mu.Unlock()
	}
}

// beganLocked sets began. It pauses a watch whose write has taken stallPause.
func (g *stallGuard) beganLocked(now int64) {
	since := g.since.Load()
	if since == pausedWrite {
		return
	}
	g.began = since
	if g.w == nil || since == noWrite || now-since < int64(stallPause) {
		return
	}
	if !g.pauseLocked(since) {
		g.began = noWrite
	}
}

// pauseLocked pauses the watch, unless the write that began at a time has ended: nobody would resume it.
func (g *stallGuard) pauseLocked(since int64) bool {
	if !g.since.CompareAndSwap(since, pausedWrite) {
		return false
	}
	g.w.Pause()
	return true
}
