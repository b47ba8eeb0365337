package httpapi

import (
	"sync/atomic"

	"github.com/kubecoord/kubecoord/internal/registry"
)

// stallGuard watches over the writes of an answer, or over the read of a body. It notes when the
// present one began and the memory that waits with it. See backlog.
type stallGuard struct {
	backlog *backlog
	call    *call
	w       *registry.Watcher // nil if the request is not a watch

	since atomic.Int64         // when the present write began; or noWrite, or pausedWrite
	last  atomic.Pointer[byte] // the last byte of the memory, which identifies it
	bytes atomic.Int64         // of the memory

	// Guarded by backlog.mu.
	paused  int64 // when the write of pausedWrite began
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
	g.since.Store(g.backlog.now())
	// check reads since after it has cleared armed. So one of the two sets the timer.
	if !g.backlog.armed.Load() {
		g.backlog.arm()
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
	if g.since.Swap(noWrite) == pausedWrite {
		g.backlog.mu.Lock()
		g.w.Resume()
		g.backlog.mu.Unlock()
	}
}

// beganLocked returns when the present write began, or noWrite. It pauses a watch whose write began
// before a time.
func (g *stallGuard) beganLocked(pauseBefore int64) int64 {
	since := g.since.Load()
	if since == pausedWrite {
		return g.paused
	}
	if g.w == nil || since == noWrite || since > pauseBefore {
		return since
	}
	if !g.since.CompareAndSwap(since, pausedWrite) {
		return noWrite // it has just ended
	}
	g.paused = since
	g.w.Pause()
	return since
}
