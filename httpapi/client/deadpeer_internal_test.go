package client

import (
	"context"
	"crypto/tls"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"sync"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kubecoord/kubecoord/httpapi"
	"github.com/kubecoord/kubecoord/lease"
	"github.com/kubecoord/kubecoord/store"
	"github.com/kubecoord/kubecoord/store/meta"
)

// network connects a client and a server in a bubble.
type network struct {
	accept chan net.Conn
	closed chan struct{}

	mu    sync.Mutex // guards all below
	conns []*link
	state string // "hung" or "dead" or anything else
}

func newNetwork() *network {
	return &network{accept: make(chan net.Conn, 10), closed: make(chan struct{})}
}

func (n *network) dial(context.Context, string, string) (net.Conn, error) {
	near, far := net.Pipe()
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.state == "dead" {
		return nil, &net.OpError{Op: "dial", Err: syscall.ECONNREFUSED}
	}
	l := &link{Conn: near, dead: make(chan struct{}), closed: make(chan struct{})}
	n.conns = append(n.conns, l)
	if n.state == "hung" {
		close(l.dead)
	} else {
		n.accept <- far
	}
	return l, nil
}

// set changes the server: "hung" takes connections and never answers, also on open connections;
// "dead" refuses connections and closes open ones.
func (n *network) set(state string) {
	n.mu.Lock()
	defer n.mu.Unlock()
	was := n.state
	n.state = state
	if state == was {
		return
	}
	for _, l := range n.conns {
		switch {
		case state == "dead":
			l.Close()
		case state == "hung":
			close(l.dead)
		}
	}
	n.conns = nil
}

// Accept, Close and Addr make a network a net.Listener.
func (n *network) Accept() (net.Conn, error) {
	select {
	case c := <-n.accept:
		return c, nil
	case <-n.closed:
		return nil, net.ErrClosed
	}
}

func (n *network) Close() error { close(n.closed); return nil }

func (n *network) Addr() net.Addr { return &net.UnixAddr{} }

// kill makes all connections of today lead nowhere, without an end: as behind a router that has
// forgotten them.
func (n *network) kill() {
	n.mu.Lock()
	defer n.mu.Unlock()
	for _, l := range n.conns {
		close(l.dead)
	}
	n.conns = nil
}

// open returns how many connections are open. A watch and a renewal that lose theirs together both
// dial, and net/http closes the second one at once.
func (n *network) open() (open int) {
	n.mu.Lock()
	defer n.mu.Unlock()
	for _, l := range n.conns {
		select {
		case <-l.closed:
		default:
			open++
		}
	}
	return open
}

// link is the end of a connection at the client.
type link struct {
	net.Conn
	dead, closed chan struct{}
	once         sync.Once
}

func (l *link) Read(b []byte) (int, error) {
	n, err := l.Conn.Read(b)
	select {
	case <-l.dead:
		<-l.closed
		return 0, net.ErrClosed
	default:
		return n, err
	}
}

func (l *link) Write(b []byte) (int, error) {
	select {
	case <-l.dead:
		return len(b), nil
	default:
		return l.Conn.Write(b)
	}
}

func (l *link) Close() error {
	l.once.Do(func() { close(l.closed) })
	return l.Conn.Close()
}

// newPeer returns the Leases of a server with TLS, and the network between.
func newPeer(t *testing.T, pair tls.Certificate) (*store.Store, *network, *Collection[lease.Lease]) {
	t.Helper()
	st := store.New(store.Options{})
	api := httpapi.New(st, httpapi.Options{})
	n := newNetwork()
	server := &http.Server{Handler: api, TLSConfig: &tls.Config{Certificates: []tls.Certificate{pair}}, ErrorLog: log.New(io.Discard, "", 0)}
	served := make(chan error)
	go func() { served <- server.ServeTLS(n, "", "") }()
	c, err := New(Config{Server: "https://peer", TLS: &tls.Config{InsecureSkipVerify: true}})
	require.NoError(t, err)
	c.own.DialContext = n.dial
	t.Cleanup(func() {
		c.Close()
		server.Close()
		assert.ErrorIs(t, <-served, http.ErrServerClosed)
		api.Close()
		st.Close()
	})
	return st, n, In(c, lease.Kind())
}

// A leader has one connection for its watch and its renewals. If it leads nowhere, the leader finds
// that out in time to renew over another.
func TestLeaderSurvivesADeadConnection(t *testing.T) {
	pair := certificate(t)
	synctest.Test(t, func(t *testing.T) {
		_, n, leases := newPeer(t, pair)
		contender, err := lease.NewContender(leases, lease.ContenderOptions{Namespace: "default", Name: "leader", Identity: "a"})
		require.NoError(t, err)
		ctx, cancel := context.WithCancel(t.Context())
		start := time.Now()
		led := make(chan time.Duration, 1)
		done := make(chan error)
		go func() {
			done <- contender.Run(ctx, func(ctx context.Context, _ lease.Holding) {
				<-ctx.Done()
				led <- time.Since(start)
			})
		}()
		for range 5 {
			time.Sleep(time.Minute)
			n.kill()
		}
		time.Sleep(time.Minute)
		assert.Equal(t, 1, n.open(), "HTTP/2 needs one connection")
		cancel()
		assert.ErrorIs(t, <-done, context.Canceled)
		assert.Equal(t, 6*time.Minute, <-led)
	})
}

// certificate returns the certificate of net/http/httptest.
func certificate(t *testing.T) tls.Certificate {
	t.Helper()
	server := httptest.NewUnstartedServer(nil)
	server.StartTLS()
	defer server.Close()
	return server.TLS.Certificates[0]
}

// A watch whose connection leads nowhere goes on over another within ten seconds.
func TestWatchOverADeadConnectionGoesOn(t *testing.T) {
	pair := certificate(t)
	synctest.Test(t, func(t *testing.T) {
		st, n, leases := newPeer(t, pair)
		var killed time.Time
		names := 0
		for ev, err := range leases.Watch(t.Context(), store.WatchOptions{AllowWatchBookmarks: true}) {
			require.NoError(t, err)
			if ev.InitialEventsEnd {
				synctest.Wait()
				n.kill()
				killed = time.Now()
				_, err := lease.In(st).Create(t.Context(), &lease.Lease{ObjectMeta: meta.ObjectMeta{Namespace: "default", Name: "a"}}, store.CreateOptions{})
				require.NoError(t, err)
				continue
			}
			names++
			assert.Equal(t, "a", ev.Object.Name)
			break
		}
		assert.Equal(t, 1, names)
		assert.LessOrEqual(t, time.Since(killed), 10*time.Second)
	})
}
