package serve

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"os"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// A conn answers as the connection in it would: any deadlines, set in any order at any time, end
// reads and writes at the same moments.
func TestDeadlinesPassAtTheSameTime(t *testing.T) {
	for seed := range uint64(200) {
		for _, reads := range []bool{true, false} {
			want := playDeadlines(t, seed, reads, func(c net.Conn) net.Conn { return c })
			got := playDeadlines(t, seed, reads, func(c net.Conn) net.Conn { return &conn{Conn: c, closed: func() {}} })
			require.Equal(t, want, got, "seed %d, reads %t", seed, reads)
		}
	}
}

// playDeadlines uses a connection with random deadlines, and returns what happened when.
func playDeadlines(t *testing.T, seed uint64, reads bool, wrap func(net.Conn) net.Conn) (log []string) {
	synctest.Test(t, func(t *testing.T) {
		near, far := net.Pipe()
		c := wrap(near)
		use, peer, setDeadline := c.Read, far.Write, c.SetReadDeadline
		if !reads {
			use, peer, setDeadline = c.Write, far.Read, c.SetWriteDeadline
		}
		began, goOn, ended := time.Now(), make(chan struct{}, 1), make(chan struct{})
		go func() {
			defer close(ended)
			for {
				n, err := use(make([]byte, 1))
				log = append(log, fmt.Sprint(time.Since(began), n, err))
				switch {
				case errors.Is(err, os.ErrDeadlineExceeded):
					<-goOn
				case err != nil:
					return
				}
			}
		}()
		random := rand.New(rand.NewPCG(seed, 0))
		for range 40 {
			time.Sleep(time.Duration(random.IntN(20_000)) * time.Millisecond)
			synctest.Wait()
			switch random.IntN(5) {
			case 0:
				assert.NoError(t, setDeadline(time.Time{}))
			case 1:
				assert.NoError(t, setDeadline(time.Unix(1, 0)))
			case 2:
				assert.NoError(t, c.SetDeadline(time.Now().Add(time.Duration(random.IntN(40_000))*time.Millisecond)))
			case 3:
				assert.NoError(t, setDeadline(time.Now().Add(time.Duration(random.IntN(90_000))*time.Millisecond)))
			case 4:
				require.NoError(t, far.SetDeadline(time.Now().Add(time.Millisecond)))
				peer(make([]byte, 1))
			}
			synctest.Wait()
			select {
			case goOn <- struct{}{}:
			default:
			}
			synctest.Wait()
		}
		require.NoError(t, c.Close())
		close(goOn)
		<-ended
	})
	return log
}

// The limits of http.Server end connections at the usual times, and no request sets a timer of the
// socket.
func TestServerEndsSlowAndIdleConnections(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		near, far := net.Pipe()
		socket := &pastDeadlines{near, t}
		srv := &http.Server{ReadHeaderTimeout: 32 * time.Second, IdleTimeout: 90 * time.Second, Handler: http.NotFoundHandler()}
		ln := &oneConn{conn: make(chan net.Conn, 1)}
		ln.conn <- &conn{Conn: socket, closed: func() {}}
		go srv.Serve(ln)
		defer srv.Close()
		answers := bufio.NewReader(far)
		for range 10 {
			io.WriteString(far, "GET / HTTP/1.1\r\n")
			time.Sleep(30 * time.Second) // less than ReadHeaderTimeout
			io.WriteString(far, "Host: a\r\n\r\n")
			resp, err := http.ReadResponse(answers, nil)
			require.NoError(t, err)
			_, err = io.Copy(io.Discard, resp.Body)
			require.NoError(t, err)
			time.Sleep(80 * time.Second) // less than IdleTimeout
		}
		io.WriteString(far, "GET / HT")
		began := time.Now()
		rest, err := io.ReadAll(answers)
		require.NoError(t, err)
		assert.NotContains(t, string(rest), "200 OK")
		assert.Equal(t, 32*time.Second, time.Since(began))
	})
}

// pastDeadlines is a connection that gets a deadline only when it has passed.
type pastDeadlines struct {
	net.Conn
	t *testing.T
}

func (c *pastDeadlines) SetReadDeadline(at time.Time) error {
	assert.False(c.t, at.After(time.Now()))
	return c.Conn.SetReadDeadline(at)
}

func (c *pastDeadlines) SetWriteDeadline(at time.Time) error {
	assert.False(c.t, at.After(time.Now()))
	return c.Conn.SetWriteDeadline(at)
}

// oneConn is a listener with one connection.
type oneConn struct {
	net.Listener
	conn chan net.Conn
}

func (l *oneConn) Accept() (net.Conn, error) {
	if c, ok := <-l.conn; ok {
		return c, nil
	}
	return nil, net.ErrClosed
}

func (l *oneConn) Close() error {
	close(l.conn)
	return nil
}
