package httpapi

import (
	"cmp"
	"slices"
	"sync"
	"sync/atomic"
	"time"
)

// backlog bounds the memory that waits for slow clients. While a request is in a write, it checks
// all guards: it pauses and cuts watches that do not get on, and if too much memory waits, it
// cuts the slowest requests. A timer for each write took 4 % of the CPU time of a delivery.
type backlog struct {
	limit int64         // bytes; 0: none
	stall time.Duration // of a watch; 0: no limit
	start time.Time     // the times of guards count from here

	armed   atomic.Bool  // the timer is set
	checked atomic.Int64 // when it was set

	mu     sync.Mutex // guards guards and some of their fields; taken before the lock of the hub
	guards map[*stallGuard]struct{}
}

const (
	slowClientBytes = 256 << 20 // the default of Options.SlowClientBytes
	// backlogCheck is the time between two checks, and the least time of a write that is cut to
	// make room.
	backlogCheck = 250 * time.Millisecond
	stallPause   = time.Second // how long a write may take until its watch is paused
)

func (b *backlog) now() int64 { return int64(time.Since(b.start)) }

// recent returns a time at most backlogCheck ago, for less than the clock costs.
func (b *backlog) recent() int64 {
	if b.armed.Load() {
		return b.checked.Load()
	}
	return b.now()
}

// add begins to check a guard.
func (b *backlog) add(g *stallGuard) {
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
	b.checked.Store(b.now()) // before armed: see recent
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
	for _, c := range toCut {
		c.cutNow()
	}
	for _, c := range toClose {
		c.closeConnection()
	}
}

// find returns the calls that must be cut, and those whose cut did not help.
func (b *backlog) find() (toCut, toClose []*call) {
	b.mu.Lock()
	defer b.mu.Unlock()
	now, stall := b.now(), int64(b.stall)
	var waiting []*stallGuard
	cut := func(g *stallGuard) {
		g.closeAt, g.isCut = now+int64(2*closeGrace), true
		toCut = append(toCut, g.call)
	}
	for g := range b.guards {
		g.beganLocked(now)
		switch {
		case g.began == noWrite:
			continue
		case g.closeAt != 0 && now >= g.closeAt:
			toClose = append(toClose, g.call)
		case g.isCut:
		case g.w != nil && stall > 0 && now-g.began >= stall:
			cut(g)
		default:
			waiting = append(waiting, g)
		}
		b.arm()
	}
	// The newest keep their memory. Watches that send the same frame have the same.
	slices.SortFunc(waiting, func(x, y *stallGuard) int { return cmp.Compare(y.began, x.began) })
	left, kept := b.limit, map[*byte]bool{}
	for _, g := range waiting {
		last, size := g.last.Load(), g.bytes.Load()
		if b.limit <= 0 || kept[last] {
			continue
		}
		if size > left && now-g.began >= 2*int64(backlogCheck) {
			cut(g)
			continue
		}
		kept[last] = true
		left -= size
	}
	return toCut, toClose
}
