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
		accepted, err := l.Listener.Accept()
		if err != nil {
			return nil, err
		}
		client := tally.Host(accepted.RemoteAddr().String())
		if leave := l.open.Take(client); leave != nil {
			return &conn{Conn: accepted, closed: leave}, nil
		}
		accepted.Close()
		l.refused(client)
	}
}
