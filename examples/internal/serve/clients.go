package serve

import (
	"net"
	"sync"
)

// clientListener closes connections of addresses that have too many.
type clientListener struct {
	net.Listener
	most    int
	refused func(client string)

	mu   sync.Mutex
	open map[string]int // by the host of the client
}

func (l *clientListener) Accept() (net.Conn, error) {
	for {
		conn, err := l.Listener.Accept()
		if err != nil {
			return nil, err
		}
		client, _, _ := net.SplitHostPort(conn.RemoteAddr().String())
		if l.take(client) {
			return &clientConn{Conn: conn, closed: sync.OnceFunc(func() { l.leave(client) })}, nil
		}
		conn.Close()
		l.refused(client)
	}
}

func (l *clientListener) take(client string) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.open[client] >= l.most {
		return false
	}
	l.open[client]++
	return true
}

func (l *clientListener) leave(client string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.open[client]--; l.open[client] == 0 {
		delete(l.open, client)
	}
}

// clientConn is a connection that is counted until it is closed.
type clientConn struct {
	net.Conn
	closed func()
}

func (c *clientConn) Close() error {
	c.closed()
	return c.Conn.Close()
}
