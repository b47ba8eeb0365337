package httpapi

import (
	"cmp"
	"net"
	"net/http"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/kubecoord/kubecoord/store/clock"
)

// backlog bounds the memory that waits for slow clients. While any request writes, one timer checks
// all guards. The check cuts watches that stall or are over their time and, if too much memory
// waits, the slowest requests. A timer for each write took 4 % of the CPU time of a delivery.
type backlog struct {
	limit int64         // bytes; 0: none
	stall time.Duration // of a watch; 0: no limit
	start time.Time     // the times of guards count from here
	clock clock.Clock   // of the store, for the ends of watches

	armed atomic.Bool // the timer is set

	mu     sync.Mutex // guards guards and some of their fields
	guards map[*stallGuard]struct{}
}

const (
	slowClientBytes = 256 << 20 // the default of Options.SlowClientBytes
	// backlogCheck is the time between two checks. A write that is cut to make room has taken at
	// least twice as long.
	backlogCheck = 250 * time.Millisecond
	noWrite      = -1 // stallGuard.since between writes
)

// stallGuard records when the current write of an answer, or read of a body, began, and its memory.
type stallGuard struct {
	call  *call
	watch bool
	end   time.Time // of a watch that has one, with closeGrace

	since atomic.Int64         // when the current write began, or noWrite
	last  atomic.Pointer[byte] // the last byte of the memory, as its identity; nil between writes
	bytes atomic.Int64         // of the memory

	// Guarded by backlog.mu.
	began   int64 // since, at the last check
	isCut   bool
	closeAt int64 // when the connection is closed if a write goes on; 0: never
}

// start is called before a write of data.
func (g *stallGuard) start(data []byte) {
	g.hold(data, 0)
	b := &g.call.api.backlog
	g.since.Store(b.now())
	b.arm() // check reads since after it has cleared armed, so one of the two sets the timer
}

// hold records the memory of data, up to its capacity, and the bytes of the parts before it.
func (g *stallGuard) hold(data []byte, before int) {
	if n := cap(data); n > 0 {
		g.last.Store(&data[:n][n-1])
		g.bytes.Store(int64(n + before))
	}
}

// stop is called after the write.
func (g *stallGuard) stop() {
	g.last.Store(nil) // an idle watch must not keep its last frame
	g.since.Store(noWrite)
}

func (b *backlog) now() int64 { return int64(time.Since(b.start)) }

// arm sets the timer, unless it is set.
func (b *backlog) arm() {
	if b.armed.Load() || !b.armed.CompareAndSwap(false, true) {
		return
	}
	after := backlogCheck
	if b.stall > 0 {
		after = min(after, b.stall)
	}
	time.AfterFunc(after, b.check)
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

// find returns the calls to cut, and the calls to close because their cut did not help.
func (b *backlog) find() (toCut, toClose []*call) {
	b.mu.Lock()
	defer b.mu.Unlock()
	now := b.now()
	var waiting []*stallGuard
	cut := func(g *stallGuard) {
		g.closeAt, g.isCut = now+int64(2*closeGrace), true
		toCut = append(toCut, g.call)
	}
	for g := range b.guards {
		switch g.began = g.since.Load(); {
		case g.began == noWrite:
			continue
		case g.closeAt != 0 && now >= g.closeAt:
			toClose = append(toClose, g.call)
		case g.isCut:
		case g.watch && b.stall > 0 && now-g.began >= int64(b.stall), !g.end.IsZero() && !b.clock.Now().Before(g.end):
			cut(g)
		default:
			waiting = append(waiting, g)
		}
		b.arm()
	}
	// Keep the newest. A frame that several watches send counts once.
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

// cutter ends the reads and writes of a request at a time.
type cutter struct {
	stall stallGuard // of the writes; see call.guard

	mu   sync.Mutex // guards the fields below
	done bool       // it has cut the request
	over bool       // the request has ended, so it must not be cut

	// failed means that a write has failed. HTTP/2 may then still read the data of that write, so
	// nothing may use its memory again.
	failed atomic.Bool
}

// cutter returns the cutter of the call.
func (c *call) cutter() *cutter {
	if c.cut == nil {
		c.cut = new(cutter)
	}
	return c.cut
}

// hasFailed reports whether a write has failed.
func (c *call) hasFailed() bool { return c.cut != nil && c.cut.failed.Load() }

// guard returns the guard of the call, which it adds to the backlog.
func (c *call) guard() *stallGuard {
	g, b := &c.cutter().stall, &c.api.backlog
	if g.call == nil {
		g.call = c
		g.since.Store(noWrite)
		if at := c.deadline.at; !at.IsZero() {
			g.closeAt = int64(at.Sub(b.start) + 2*closeGrace)
		}
		b.mu.Lock()
		defer b.mu.Unlock()
		b.guards[g] = struct{}{}
	}
	return g
}

// closeConnection closes the connection, if the server uses ConnContext. In HTTP/2 a client that
// reads nothing also blocks the end of its stream.
func (c *call) closeConnection() {
	if conn, ok := c.req.Context().Value(connKey{}).(net.Conn); ok {
		conn.Close()
	}
}

// cutNow ends the request, unless its writes succeed soon.
func (c *call) cutNow() {
	c.cut.mu.Lock()
	defer c.cut.mu.Unlock()
	if c.cut.over {
		return
	}
	c.cut.done = true
	now, control := time.Now(), http.NewResponseController(c.w)
	control.SetReadDeadline(now)
	control.SetWriteDeadline(now.Add(closeGrace))
}

// endTime is called after the answer.
func (c *call) endTime() {
	c.deadline.end()
	if c.cut != nil && c.cut.stall.call != nil {
		c.endCut()
	}
}

// endCut removes the deadline for writes from the connection, which may get more requests, unless a write has failed.
func (c *call) endCut() {
	b := &c.api.backlog
	b.mu.Lock()
	delete(b.guards, &c.cut.stall)
	b.mu.Unlock()
	c.cut.mu.Lock()
	defer c.cut.mu.Unlock()
	c.cut.over = true
	if c.cut.done && !c.cut.failed.Load() {
		http.NewResponseController(c.w).SetWriteDeadline(time.Time{})
	}
}

// unread returns a buffer from which the answer was written, or nil if it may still be read.
func (c *call) unread(buf []byte) []byte {
	if c.hasFailed() {
		return nil
	}
	return buf
}
