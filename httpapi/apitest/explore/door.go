package explore

import (
	"context"
	"crypto/tls"
	"encoding/pem"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"sync"
)

// door is the address of the loopback at which one replica of a program reaches the API. Each start of the program has the same address, which no other replica
// has, so the door tells who sends a request. While the program does not run, and after a crash, connections are cut as soon as they come.
type door struct {
	server *httptest.Server

	mu      sync.Mutex
	process *process // nil: none
	open    map[*doorConn]bool
}

// doorConn is a connection of a process.
type doorConn struct {
	net.Conn
	door *door
	by   *process
}

// Close closes the connection and forgets it.
func (c *doorConn) Close() error {
	c.door.mu.Lock()
	delete(c.door.open, c)
	c.door.mu.Unlock()
	return c.Conn.Close()
}

// reset closes a connection so that the other side does not take it for the end of an answer.
func reset(c net.Conn) {
	if t, ok := c.(*net.TCPConn); ok {
		_ = t.SetLinger(0)
	}
	_ = c.Close()
}

type doorListener struct {
	net.Listener
	door *door
}

// Accept returns the next connection of a process that lives.
func (l doorListener) Accept() (net.Conn, error) {
	for {
		c, err := l.Listener.Accept()
		if err != nil {
			return nil, err
		}
		if admitted := l.door.admit(c); admitted != nil {
			return admitted, nil
		}
		reset(c)
	}
}

func (d *door) admit(c net.Conn) net.Conn {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.process == nil {
		return nil
	}
	admitted := &doorConn{c, d, d.process}
	d.open[admitted] = true
	return admitted
}

type doorKey struct{}

// newDoor opens a door. Its connections are HTTP/1.1, so that a fault which cuts one affects one request only.
func newDoor(useTLS bool) (*door, error) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	d := &door{open: map[*doorConn]bool{}}
	d.server = &httptest.Server{Listener: doorListener{listener, d}, Config: &http.Server{
		Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			r.Context().Value(doorKey{}).(*process).ServeHTTP(w, r)
		}),
		ErrorLog: log.New(io.Discard, "", 0), // faults cut connections
		ConnContext: func(ctx context.Context, c net.Conn) context.Context {
			if secure, ok := c.(*tls.Conn); ok {
				c = secure.NetConn()
			}
			return context.WithValue(ctx, doorKey{}, c.(*doorConn).by)
		},
	}}
	if useTLS {
		d.server.StartTLS()
	} else {
		d.server.Start()
	}
	return d, nil
}

// ca returns the certificate as PEM, or nil without TLS.
func (d *door) ca() []byte {
	if c := d.server.Certificate(); c != nil {
		return pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: c.Raw})
	}
	return nil
}

// let lets the connections of a process in.
func (d *door) let(p *process) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.process = p
}

// shut cuts the connections of the present process.
func (d *door) shut() {
	d.mu.Lock()
	d.process = nil
	open := d.open
	d.open = map[*doorConn]bool{}
	d.mu.Unlock()
	for c := range open {
		reset(c.Conn)
	}
}

// close ends the server.
func (d *door) close() {
	d.shut()
	d.server.Close()
}
