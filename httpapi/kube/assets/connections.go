package main

import (
	"context"
	"net"
	"net/http"
	"sync"
)

// connections knows which connections have a request. The zero value is ready.
type connections struct {
	mu     sync.Mutex // guards all below
	active map[net.Conn]struct{}
	idle   chan struct{} // closed once no connection is active, or nil if nobody waits
}

// note is for the field ConnState of http.Server. A connection of HTTP/2 is idle when the answers of all its requests are written.
func (c *connections) note(conn net.Conn, state http.ConnState) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if state == http.StateActive {
		if c.active == nil {
			c.active = map[net.Conn]struct{}{}
		}
		c.active[conn] = struct{}{}
		return
	}
	delete(c.active, conn)
	if len(c.active) == 0 && c.idle != nil {
		close(c.idle)
		c.idle = nil
	}
}

// wait returns when no connection is active, or ctx ends. Only one goroutine may call it, once.
func (c *connections) wait(ctx context.Context) {
	c.mu.Lock()
	if len(c.active) == 0 {
		c.mu.Unlock()
		return
	}
	idle := make(chan struct{})
	c.idle = idle
	c.mu.Unlock()
	select {
	case <-idle:
	case <-ctx.Done():
	}
}
