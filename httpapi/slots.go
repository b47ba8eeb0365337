package httpapi

import (
	"net"
	"sync"
)

// slots counts requests by client. It must be made by newSlots.
type slots struct {
	all, each int // limits; 0: none

	mu   sync.Mutex // guards the fields below
	used int
	by   map[string]int // without clients that use nothing
}

// newSlots returns slots with a limit for all clients together and one for each client.
func newSlots(all, each int) *slots { return &slots{all: all, each: each, by: map[string]int{}} }

// take counts a request of a client until leave is called. It returns false, and counts nothing, at a
// limit.
func (s *slots) take(client string) bool {
	if s.all <= 0 && s.each <= 0 {
		return true
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.all > 0 && s.used >= s.all || s.each > 0 && s.by[client] >= s.each {
		return false
	}
	s.used++
	s.by[client]++
	return true
}

// leave ends the count of a request that take has counted.
func (s *slots) leave(client string) {
	if s.all <= 0 && s.each <= 0 {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.used--
	if s.by[client]--; s.by[client] == 0 {
		delete(s.by, client)
	}
}

// inUse returns the number of requests that are counted. It is 0 without a limit.
func (s *slots) inUse() int {
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
