package serve

import (
	"net"
	"sync"
)

// clientListener closes connections of addresses that have too many.
type clientListener struct {
	net.Listener
	most    int // connections of one address; 0: no limit
	refused func(client string)

	mu   sync.Mutex // guards open
	open map[string]int
}

func (l *clientListener) Accept() (net.Conn, error) {
	for {
		accepted, err := l.Listener.Accept()
		if err != nil {
			return nil, err
		}
		client := accepted.RemoteAddr().String()
		if host, _, err := net.SplitHostPort(client); err == nil {
			client = host
		}
		if l.enter(client) {
			return &conn{Conn: accepted, closed: sync.OnceFunc(func() { l.leave(client) })}, nil
		}
		l.refused(client)
		accepted.Close()
	}
}

// enter counts a connection, or reports false if the client has too many.
func (l *clientListener) enter(client string) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.most > 0 && l.open[client] >= l.most {
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
