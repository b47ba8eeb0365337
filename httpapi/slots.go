package httpapi

import (
	"context"
	"net"
	"slices"
	"sync"
)

// slots counts requests of one sort by client, and lets requests wait for a place in line. It must be made by clients.slots; nil
// has no limit.
type slots struct {
	clients   *clients
	sort      int
	all, each int // limits; 0: none

	// Guarded by clients.mu.
	used int
	turn []*client // the clients in lines, the next one first
}

// clients are the clients with requests in flight, of all sorts. One lock for all lets a request go from one sort to another at once.
type clients struct {
	mu    sync.Mutex         // guards all below, and the fields of each client
	by    map[string]*client // without clients that use nothing
	spare *client            // the memory of one that has gone
}

// sorts is how many sorts of requests there are.
const sorts = 4

// client is what one client uses.
type client struct {
	name     string
	requests int // that are counted or wait in line
	used     [sorts]int
	lines    [sorts][]chan struct{} // a channel is closed when its request is counted
}

func newClients() *clients { return &clients{by: map[string]*client{}} }

// slots returns slots with a limit for all clients together and one for each client, or nil if there is none.
func (cs *clients) slots(sort, all, each int) *slots {
	if all <= 0 && each <= 0 {
		return nil
	}
	return &slots{clients: cs, sort: sort, all: all, each: each}
}

// findLocked returns a client. dropLocked must follow.
func (cs *clients) findLocked(name string) *client {
	c := cs.by[name]
	if c == nil {
		if c, cs.spare = cs.spare, nil; c == nil {
			c = new(client)
		}
		c.name = name
		cs.by[name] = c
	}
	return c
}

// dropLocked forgets a client that uses nothing.
func (cs *clients) dropLocked(c *client) {
	if c.requests == 0 {
		delete(cs.by, c.name)
		c.name, cs.spare = "", c
	}
}

// take counts a request of a client until leave is called. It returns false, and counts nothing, at a
// limit.
func (s *slots) take(name string) (*client, bool) {
	if s == nil {
		return nil, true
	}
	s.clients.mu.Lock()
	defer s.clients.mu.Unlock()
	c := s.clients.findLocked(name)
	taken := s.takeLocked(c)
	s.clients.dropLocked(c)
	return c, taken
}

func (s *slots) takeLocked(c *client) bool {
	if s.isFullLocked() || s.each > 0 && c.used[s.sort] >= s.each {
		return false
	}
	s.used++
	c.used[s.sort]++
	c.requests++
	return true
}

func (s *slots) isFullLocked() bool { return s.all > 0 && s.used >= s.all }

// exchange ends the count of a request that take has counted, and takes a slot of another sort.
func (s *slots) exchange(c *client, name string, to *slots) (*client, bool) {
	if s == nil || to == nil {
		s.leave(c)
		return to.take(name)
	}
	s.clients.mu.Lock()
	defer s.clients.mu.Unlock()
	taken := to.takeLocked(c)
	s.leaveLocked(c)
	return c, taken
}

// wait is like take, but waits in line until ctx ends. A client has a line of its own, and the lines move in turn, so a
// client with many requests does not delay another one (upstream: fair queues of apiserver, util/flowcontrol).
func (s *slots) wait(ctx context.Context, name string) (*client, bool) {
	s.clients.mu.Lock()
	c := s.clients.findLocked(name)
	if s.takeLocked(c) {
		s.clients.mu.Unlock()
		return c, true
	}
	counted := make(chan struct{})
	c.requests++
	if c.lines[s.sort] = append(c.lines[s.sort], counted); len(c.lines[s.sort]) == 1 {
		s.turn = append(s.turn, c)
	}
	s.clients.mu.Unlock()
	select {
	case <-counted:
		return c, true
	case <-ctx.Done():
	}
	s.clients.mu.Lock()
	defer s.clients.mu.Unlock()
	i := slices.Index(c.lines[s.sort], counted)
	if i < 0 {
		return c, true // counted meanwhile
	}
	s.shortenLocked(c, slices.Delete(c.lines[s.sort], i, i+1))
	s.clients.dropLocked(c)
	return c, false
}

// shortenLocked sets what is left of a client's line, which is one request shorter.
func (s *slots) shortenLocked(c *client, line []chan struct{}) {
	c.requests--
	if c.lines[s.sort] = line; len(line) == 0 {
		c.lines[s.sort] = nil
		s.turn = slices.DeleteFunc(s.turn, func(other *client) bool { return other == c })
	}
}

// leave ends the count of a request that take has counted.
func (s *slots) leave(c *client) {
	if s == nil {
		return
	}
	s.clients.mu.Lock()
	defer s.clients.mu.Unlock()
	s.leaveLocked(c)
}

func (s *slots) leaveLocked(c *client) {
	s.used--
	c.used[s.sort]--
	c.requests--
	for i := 0; i < len(s.turn) && !s.isFullLocked(); {
		next := s.turn[i]
		if !s.takeLocked(next) {
			i++ // the client has its share
			continue
		}
		line := next.lines[s.sort]
		close(line[0])
		s.turn = append(slices.Delete(s.turn, i, i+1), next)
		s.shortenLocked(next, line[1:])
	}
	s.clients.dropLocked(c)
}

// inUse returns the number of requests that are counted. It is 0 without a limit.
func (s *slots) inUse() int {
	if s == nil {
		return 0
	}
	s.clients.mu.Lock()
	defer s.clients.mu.Unlock()
	return s.used
}

// hostOfClient returns the host of the address of a client.
func hostOfClient(address string) string {
	if host, _, err := net.SplitHostPort(address); err == nil {
		return host
	}
	return address
}
