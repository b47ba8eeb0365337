package cluster

import (
	"net"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
)

// Proxy forwards TCP connections, and can stop to do so in either direction, as a network
// that loses all packets. What was sent meanwhile arrives when it forwards again.
type Proxy struct {
	to       string
	listener net.Listener
	running  sync.WaitGroup

	mu     sync.Mutex
	cond   sync.Cond
	cut    [2]bool // by direction
	closed bool
	conns  map[net.Conn]bool
}

// The directions of a proxy.
const (
	ToServer = 0
	ToClient = 1
)

// NewProxy returns a proxy to an address. It ends with the test.
func NewProxy(t testing.TB, to string) *Proxy {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	p := &Proxy{to: to, listener: l, conns: map[net.Conn]bool{}}
	p.cond.L = &p.mu
	p.running.Go(p.accept)
	t.Cleanup(p.close)
	return p
}

// Address is where the proxy listens.
func (p *Proxy) Address() string { return p.listener.Addr().String() }

// Cut stops one direction, or lets it go on.
func (p *Proxy) Cut(direction int, cut bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.cut[direction] = cut
	p.cond.Broadcast()
}

// Reset closes all connections.
func (p *Proxy) Reset() {
	p.mu.Lock()
	defer p.mu.Unlock()
	for c := range p.conns {
		c.Close()
	}
}

func (p *Proxy) close() {
	p.listener.Close()
	p.mu.Lock()
	p.closed = true
	for c := range p.conns {
		c.Close()
	}
	p.cond.Broadcast()
	p.mu.Unlock()
	p.running.Wait()
}

func (p *Proxy) accept() {
	for {
		client, err := p.listener.Accept()
		if err != nil {
			return
		}
		server, err := net.Dial("tcp", p.to)
		if err != nil {
			client.Close()
			continue
		}
		p.mu.Lock()
		p.conns[client], p.conns[server] = true, true
		if p.closed {
			client.Close()
			server.Close()
		}
		p.mu.Unlock()
		p.running.Go(func() { p.forward(ToServer, client, server) })
		p.running.Go(func() { p.forward(ToClient, server, client) })
	}
}

// forward copies one direction of a connection.
func (p *Proxy) forward(direction int, from, to net.Conn) {
	defer func() {
		from.Close()
		to.Close()
		p.mu.Lock()
		delete(p.conns, from)
		p.mu.Unlock()
	}()
	buf := make([]byte, 32<<10)
	for {
		n, err := from.Read(buf)
		p.mu.Lock()
		for p.cut[direction] && !p.closed {
			p.cond.Wait()
		}
		p.mu.Unlock()
		if err != nil {
			return
		}
		if _, err := to.Write(buf[:n]); err != nil {
			return
		}
	}
}
