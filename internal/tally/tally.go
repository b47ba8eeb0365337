// Package tally counts what each client has open.
package tally

import (
	"net"
	"sync"
)

// Clients counts what is open by client. It must be made by New.
type Clients struct {
	most int

	mu   sync.Mutex
	open map[string]int
}

// New returns a Clients that allows each client at most so many; 0 means no limit.
func New(most int) *Clients { return &Clients{most: most, open: map[string]int{}} }

// Host returns the host of the address of a client.
func Host(address string) string {
	if host, _, err := net.SplitHostPort(address); err == nil {
		return host
	}
	return address
}

// Take counts one more of a client until leave is called. It returns nil if the client has
// too many. leave may be called more than once.
func (c *Clients) Take(client string) (leave func()) {
	if c.most <= 0 {
		return func() {}
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.open[client] >= c.most {
		return nil
	}
	c.open[client]++
	return sync.OnceFunc(func() {
		c.mu.Lock()
		defer c.mu.Unlock()
		if c.open[client]--; c.open[client] == 0 {
			delete(c.open, client)
		}
	})
}
