package serve

import (
	"net"
	"sync"
	"time"
)

// conn is the connection of a client, which is counted until it is closed.
//
// net/http sets four deadlines in a request. A socket sets or removes a timer of the runtime
// each time, which took up to a fifth of the CPU time of a GET. So the socket gets a deadline only
// when it has passed. A timer finds out when. It rings at most once in deadlineCheck.
type conn struct {
	net.Conn
	closed func()

	mu          sync.Mutex // guards the fields below
	read, write deadline
	timer       *time.Timer // calls check; nil until the first deadline
	rings       time.Time   // when the timer rings; zero if it is not set
}

// deadline is the end of reads or writes.
type deadline struct {
	at     time.Time // zero: there is none
	passed bool      // the socket knows that it has passed
}

// deadlineCheck is shorter than the usual deadlines, so these do not set the timer again.
const deadlineCheck = 15 * time.Second

// Close ends reads and writes.
func (c *conn) Close() error {
	c.closed()
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.timer != nil {
		c.timer.Stop()
	}
	return c.Conn.Close()
}

// SetDeadline sets both deadlines.
func (c *conn) SetDeadline(at time.Time) error {
	if err := c.SetReadDeadline(at); err != nil {
		return err
	}
	return c.SetWriteDeadline(at)
}

// SetReadDeadline makes reads end at a time. The zero time removes the deadline.
func (c *conn) SetReadDeadline(at time.Time) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.read.at = at
	return c.applyLocked(&c.read, c.Conn.SetReadDeadline)
}

// SetWriteDeadline makes writes end at a time. The zero time removes the deadline.
func (c *conn) SetWriteDeadline(at time.Time) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.write.at = at
	return c.applyLocked(&c.write, c.Conn.SetWriteDeadline)
}

// check is called by the timer.
func (c *conn) check() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.rings = time.Time{}
	c.applyLocked(&c.read, c.Conn.SetReadDeadline)
	c.applyLocked(&c.write, c.Conn.SetWriteDeadline)
}

// applyLocked gives the socket, by set, a deadline that has passed, or removes it. Before the
// deadline it arms the timer, which rings then or earlier.
func (c *conn) applyLocked(d *deadline, set func(time.Time) error) error {
	passed := false
	if !d.at.IsZero() {
		now := time.Now()
		passed = !now.Before(d.at)
		if !passed {
			c.armLocked(now, d.at)
		}
	}
	if passed == d.passed {
		return nil
	}
	d.passed = passed
	if passed {
		return set(d.at)
	}
	return set(time.Time{})
}

// armLocked makes the timer ring at a time or earlier.
func (c *conn) armLocked(now, at time.Time) {
	if !c.rings.IsZero() && !at.Before(c.rings) {
		return
	}
	wait := min(at.Sub(now), deadlineCheck)
	c.rings = now.Add(wait)
	if c.timer == nil {
		c.timer = time.AfterFunc(wait, c.check)
	} else {
		c.timer.Reset(wait)
	}
}
