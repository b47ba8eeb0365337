package serve

import (
	"net"

	"github.com/kubecoord/kubecoord/internal/tally"
)

// clientListener closes connections of addresses that have too many.
type clientListener struct {
	net.Listener
	open    *tally.Clients
	refused func(client string)
}

func (l *clientListener) Accept() (net.Conn, error) {
	for {
		conn, err := l.Listener.Accept()
		if err != nil {
			return nil, err
		}
		client := tally.Host(conn.RemoteAddr().String())
		if leave := l.open.Take(client); leave != nil {
			return &clientConn{Conn: conn, closed: leave}, nil
		}
		conn.Close()
		l.refused(client)
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
