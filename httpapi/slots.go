package httpapi

import (
	"context"
	"net"
	"slices"
	"sync"
)

// slots counts requests by client, and lets requests wait for a place in line. It must be made by newSlots; nil has no limit.
type slots struct {
	all, each int // limits; 0: none

	mu    sync.Mutex // guards the fields below
	used  int
	by    map[string]int             // without clients that use nothing
	lines map[string][]chan struct{} // by client; a channel is closed when its request is counted
	turn  []string                   // the clients in lines, the next one first
}

// newSlots returns slots with a limit for all clients together and one for each client, or nil if there is none.
func newSlots(all, each int) *slots {
	if all <= 0 && each <= 0 {
		return nil
	}
	return &slots{all: all, each: each, by: map[string]int{}, lines: map[string][]chan struct{}{}}
}

// take counts a request of a client until leave is called. It returns false, and counts nothing, at a
// limit.
func (s *slots) take(client string) bool {
	if s == nil {
		return true
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.takeLocked(client)
}

func (s *slots) takeLocked(client string) bool {
	if s.isFullLocked() || s.each > 0 && s.by[client] >= s.each {
		return false
	}
	s.used++
	s.by[client]++
	return true
}

func (s *slots) isFullLocked() bool { return s.all > 0 && s.used >= s.all }

// wait is like take, but waits in line until ctx ends. A client has a line of its own, and the lines move in turn, so a
// client with many requests does not delay another one (upstream: fair queues of apiserver, util/flowcontrol).
func (s *slots) wait(ctx context.Context, client string) bool {
	s.mu.Lock()
	if s.takeLocked(client) {
		s.mu.Unlock()
		return true
	}
	counted := make(chan struct{})
	if s.lines[client] = append(s.lines[client], counted); len(s.lines[client]) == 1 {
		s.turn = append(s.turn, client)
	}
	s.mu.Unlock()
	select {
	case <-counted:
		return true
	case <-ctx.Done():
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	i := slices.Index(s.lines[client], counted)
	if i < 0 {
		return true // counted meanwhile
	}
	s.shortenLocked(client, slices.Delete(s.lines[client], i, i+1))
	return false
}

// shortenLocked sets what is left of a client's line.
func (s *slots) shortenLocked(client string, line []chan struct{}) {
	if s.lines[client] = line; len(line) == 0 {
		delete(s.lines, client)
		s.turn = slices.DeleteFunc(s.turn, func(c string) bool { return c == client })
	}
}

// leave ends the count of a request that take has counted.
func (s *slots) leave(client string) {
	if s == nil {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.used--
	if s.by[client]--; s.by[client] == 0 {
		delete(s.by, client)
	}
	for i := 0; i < len(s.turn) && !s.isFullLocked(); {
		next := s.turn[i]
		if !s.takeLocked(next) {
			i++ // the client has its share
			continue
		}
		close(s.lines[next][0])
		s.turn = append(slices.Delete(s.turn, i, i+1), next)
		s.shortenLocked(next, s.lines[next][1:])
	}
}

// inUse returns the number of requests that are counted. It is 0 without a limit.
func (s *slots) inUse() int {
	if s == nil {
		return 0
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.used
}

// hostOfClient returns the host of the address of a client.
func hostOfClient(address string) string {
	if host, _, err := net.SplitHostPort(address); err == nil {
		return host
	}
	return address
}
