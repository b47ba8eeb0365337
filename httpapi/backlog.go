package httpapi

import (
	"cmp"
	"maps"
	"slices"
	"sync"
	"sync/atomic"
	"time"
)

// backlog bounds the memory that waits for slow clients. It checks the guards of all requests
// while one of them is in a write:
//   - A watch whose write takes stallPause is paused: writers to the store skip it.
//   - A watch whose write takes WatchStall is cut.
//   - If the memory of the writes is more than SlowClientBytes, the slowest are cut.
//
// A write sets no timer: that took 4 % of the CPU time of a delivery. The timer of the backlog
// rings at most once in backlogCheck.
type backlog struct {
	limit int64         // bytes; 0: none
	stall time.Duration // 0: none
	start time.Time     // the times of guards count from here

	armed atomic.Bool // the timer is set

	mu     sync.Mutex // guards guards and some of their fields; taken before the lock of the hub
	guards map[*stallGuard]struct{}
}

const (
	// slowClientBytes is the default of Options.SlowClientBytes.
	slowClientBytes = 256 << 20
	// backlogCheck is how long a write may take until its client counts as slow.
	backlogCheck = 250 * time.Millisecond
	// stallPause is how long a write may take until its watch is paused.
	stallPause = time.Second
)

// now returns the present time.
func (b *backlog) now() int64 { return int64(time.Since(b.start)) }

// add begins to check a guard, until drop.
func (b *backlog) add(g *stallGuard) {
	g.since.Store(noWrite)
	if at := g.call.deadline.at; !at.IsZero() {
		g.closeAt = int64(at.Sub(b.start) + 2*closeGrace)
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.guards[g] = struct{}{}
}

// drop ends what add began.
func (b *backlog) drop(g *stallGuard) {
	b.mu.Lock()
	defer b.mu.Unlock()
	delete(b.guards, g)
}

// arm sets the timer, unless it is set.
func (b *backlog) arm() {
	if b.armed.CompareAndSwap(false, true) {
		after := backlogCheck
		if b.stall > 0 {
			after = min(after, b.stall)
		}
		time.AfterFunc(after, b.check)
	}
}

// check is called by the timer.
func (b *backlog) check() {
	b.armed.Store(false)
	toCut, toClose := b.find()
	for _, g := range toCut {
		g.call.cutNow()
	}
	for _, g := range toClose {
		g.call.closeConnection()
	}
}

// find returns the guards whose requests must be cut, and those whose cut did not help.
func (b *backlog) find() (toCut, toClose []*stallGuard) {
	b.mu.Lock()
	defer b.mu.Unlock()
	now, waiting := b.now(), waiting{}
	pause, stall := stallPause, b.stall
	if stall > 0 {
		pause = min(pause, stall)
	}
	for g := range b.guards {
		began := g.beganLocked(now - int64(pause))
		if began == noWrite {
			continue
		}
		b.arm()
		switch {
		case g.closeAt != 0 && now >= g.closeAt:
			toClose = append(toClose, g)
		case g.isCut:
		case g.w != nil && stall > 0 && now-began >= int64(stall):
			toCut = append(toCut, g)
		default:
			waiting.add(g, began)
		}
	}
	if b.limit > 0 {
		toCut = append(toCut, waiting.excess(b.limit, now-int64(backlogCheck))...)
	}
	for _, g := range toCut {
		g.isCut, g.closeAt = true, now+int64(2*closeGrace)
	}
	return toCut, toClose
}

// waiting is the memory that is being written, by the last byte of each piece. Watches that send the
// same frame wait with the same piece.
type waiting map[*byte]*piece

type piece struct {
	bytes  int64
	newest int64 // when the last one of its writes began
	guards []*stallGuard
}

func (w waiting) add(g *stallGuard, began int64) {
	last := g.last.Load()
	p := w[last]
	if p == nil {
		p = &piece{}
		w[last] = p
	}
	p.bytes, p.newest = max(p.bytes, g.bytes.Load()), max(p.newest, began)
	p.guards = append(p.guards, g)
}

// excess returns the guards of the pieces beyond a limit in bytes: those that have waited longest,
// all of them since before a time.
func (w waiting) excess(limit, before int64) (guards []*stallGuard) {
	for _, p := range w {
		limit -= p.bytes
	}
	if limit >= 0 {
		return nil
	}
	for _, p := range slices.SortedFunc(maps.Values(w), func(a, b *piece) int { return cmp.Compare(a.newest, b.newest) }) {
		if limit >= 0 || p.newest > before {
			break
		}
		limit += p.bytes
		guards = append(guards, p.guards...)
	}
	return guards
}
