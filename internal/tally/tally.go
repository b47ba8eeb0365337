// Package tally bounds what clients use at a time: each of them, and all together.
package tally

import (
	"net"
	"sync"
)

// Clients counts what is in use by client. It must be made by New. It is safe for concurrent
// use.
type Clients struct {
	all, each int // limits; 0: none

	mu   sync.Mutex // guards the fields below
	used int
	by   map[string]int // without clients that use nothing
}

// New returns a Clients with a limit for all clients together and one for each client. 0
// means no limit.
func New(all, each int) *Clients { return &Clients{all: all, each: each, by: map[string]int{}} }

// Host returns the host of the address of a client.
func Host(address string) string {
	if host, _, err := net.SplitHostPort(address); err == nil {
		return host
	}
	return address
}

// Take counts n more of a client until Leave is called. It reports false, and counts nothing,
// if that would be above a limit.
func (c *Clients) Take(client string, n int) bool { return c.add(client, n) }

// Leave ends the count of n of a client. The caller must have taken them.
func (c *Clients) Leave(client string, n int) { c.add(client, -n) }

func (c *Clients) add(client string, n int) bool {
	if n == 0 || c.all <= 0 && c.each <= 0 {
		return true
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	all, each := c.used+n, c.by[client]+n
	if n > 0 && (c.all > 0 && all > c.all || c.each > 0 && each > c.each) {
		return false
	}
	c.used, c.by[client] = all, each
	if each == 0 {
		delete(c.by, client)
	}
	return true
}

// Used returns what all clients use together. It is 0 without a limit.
func (c *Clients) Used() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.used
}
