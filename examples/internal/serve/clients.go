package serve

import (
	"net"
	"sync"

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
		if l.open.Take(client, 1) {
			return &conn{Conn: accepted, closed: sync.OnceFunc(func() { l.open.Leave(client, 1) })}, nil
		}
		accepted.Close()
		l.refused(client)
	}
}
