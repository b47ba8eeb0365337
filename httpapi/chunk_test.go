package httpapi_test

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kubecoord/kubecoord/httpapi"
	"github.com/kubecoord/kubecoord/store"
)

// wire is a connection to a server, and what the server has sent. It has no buffer: a write of the server waits for a read.
type wire struct {
	net.Conn
	received bytes.Buffer
	in       *bufio.Reader
}

// listen serves the API on a connection. Its watches write to the connection themselves if direct is set.
func (s *server) listen(t *testing.T, direct bool) *wire {
	t.Helper()
	ours, theirs := net.Pipe()
	web := &http.Server{Handler: s.api, Protocols: new(http.Protocols)}
	web.Protocols.SetHTTP1(true)
	web.Protocols.SetUnencryptedHTTP2(true)
	if direct {
		web.ConnContext = httpapi.ConnContext
	}
	conns := make(pipeListener, 1)
	conns <- theirs
	go web.Serve(conns)
	t.Cleanup(func() {
		ours.Close()
		s.api.Close()
		web.Close()
	})
	w := &wire{Conn: ours}
	w.in = bufio.NewReader(io.TeeReader(ours, &w.received))
	return w
}

// pipeListener accepts the connections that are sent to it.
type pipeListener chan net.Conn

func (l pipeListener) Accept() (net.Conn, error) {
	if conn, ok := <-l; ok {
		return conn, nil
	}
	return nil, net.ErrClosed
}

func (l pipeListener) Close() error { close(l); return nil }

func (l pipeListener) Addr() net.Addr { return &net.TCPAddr{} }

func (w *wire) get(t *testing.T, target string) *http.Response {
	t.Helper()
	_, err := fmt.Fprintf(w, "GET %s HTTP/1.1\r\nHost: localhost\r\n\r\n", target)
	require.NoError(t, err)
	resp, err := http.ReadResponse(w.in, nil)
	require.NoError(t, err)
	return resp
}

// A watch has the same bytes whether it passes the buffers of net/http or not, chunks included. After it the connection
// serves the next request.
func TestBytesOfAWatchOnItsConnectionAreThoseOfNetHTTP(t *testing.T) {
	record := func(t *testing.T, direct bool, query string) string {
		s := newServerWith(t, store.Options{Seed: 1}, httpapi.Options{WatchStall: time.Minute})
		for i := range 300 { // more than one batch, and more than one write
			s.must(t, "POST", leases, leaseNamed(fmt.Sprint("l", i)))
		}
		w := s.listen(t, direct)
		resp := w.get(t, leases+query)
		if strings.Contains(query, "sendInitialEvents") {
			body := bufio.NewReader(resp.Body)
			for range 300 {
				_, err := body.ReadString('\n')
				require.NoError(t, err)
			}
			for i := range 3 { // single events, the last one a large one
				patch := fmt.Sprintf(`{"metadata":{"annotations":{"a":%q}}}`, strings.Repeat("x", i*5000))
				s.must(t, "PATCH", leases+"/l0", patch, "Content-Type", "application/merge-patch+json")
				_, err := body.ReadString('\n')
				require.NoError(t, err)
			}
			s.st.Close()
		}
		_, err := io.Copy(io.Discard, resp.Body)
		require.NoError(t, err)
		again := w.get(t, "/version")
		_, err = io.Copy(io.Discard, again.Body)
		require.NoError(t, err)
		return w.received.String()
	}
	for name, query := range map[string]string{
		"events":    "?watch=true&sendInitialEvents=true&resourceVersionMatch=NotOlderThan",
		"its error": "?watch=true&resourceVersion=1",
		"its end":   "?watch=true&timeoutSeconds=-1",
	} {
		t.Run(name, func(t *testing.T) {
			var got [2]string
			for i, direct := range []bool{false, true} {
				synctest.Test(t, func(t *testing.T) { got[i] = record(t, direct, query) }) // net/http sends the time
			}
			assert.Contains(t, got[0], "\r\nTransfer-Encoding: chunked\r\n")
			assert.Equal(t, got[0], got[1])
		})
	}
}

// Middleware that changes the answer sees all of it.
func TestWatchBehindMiddlewarePassesItsWriter(t *testing.T) {
	s := newServerWith(t, store.Options{}, httpapi.Options{Middleware: func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { next.ServeHTTP(upper{w}, r) })
	}})
	s.must(t, "POST", leases, leaseNamed("a"))
	resp := s.listen(t, true).get(t, leases+"?watch=true")
	line, err := bufio.NewReader(resp.Body).ReadString('\n')
	require.NoError(t, err)
	assert.Contains(t, line, `{"TYPE":"ADDED"`)
}

// upper is a writer that changes the body.
type upper struct{ http.ResponseWriter }

func (u upper) Write(data []byte) (int, error) {
	_, err := u.ResponseWriter.Write(bytes.ToUpper(data))
	return len(data), err
}

func (u upper) Unwrap() http.ResponseWriter { return u.ResponseWriter }

func (u upper) Flush() { http.NewResponseController(u.ResponseWriter).Flush() }

// The client must not take what follows the cut for a part of the body.
func TestWatchOnItsConnectionThatNobodyReadsIsCut(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newServerWith(t, store.Options{}, httpapi.Options{WatchStall: time.Minute})
		w := s.listen(t, true)
		resp := w.get(t, leases+"?watch=true")
		body := bufio.NewReader(resp.Body)
		s.must(t, "POST", leases, leaseNamed("read"))
		_, err := body.ReadString('\n')
		require.NoError(t, err)
		time.Sleep(time.Second / 2) // less than the time between two checks
		s.must(t, "POST", leases, leaseNamed("unread"))
		time.Sleep(time.Minute + time.Second)
		synctest.Wait()
		assert.Zero(t, s.st.Watchers())
		_, err = io.Copy(io.Discard, body)
		assert.ErrorIs(t, err, io.ErrUnexpectedEOF)
	})
}
