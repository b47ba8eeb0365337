package httpapi_test

import (
	"context"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kubecoord/kubecoord/httpapi"
	"github.com/kubecoord/kubecoord/store"
)

// slowClients returns a server with a limit of 1 MB for clients that do not read, and one object.
func slowClients(t *testing.T) *server {
	s := newServerWith(t, store.Options{}, httpapi.Options{
		SlowClientBytes: 1 << 20, RequestTimeout: -1,
		Log: func(httpapi.LogEntry) {}, // the Transport then streams the answer
	})
	s.must(t, "POST", leases, `{"metadata":{"name":"a"},"spec":{"holderIdentity":"`+strings.Repeat("x", 400<<10)+`"}}`)
	return s
}

// open sends a request whose answer is not read yet.
func (s *server) open(t *testing.T, target string) io.ReadCloser {
	t.Helper()
	resp, err := s.api.Transport().RoundTrip(newRequest(t, "GET", target, ""))
	require.NoError(t, err)
	t.Cleanup(func() { resp.Body.Close() })
	return resp.Body
}

// Each of these answers waits in memory of its own.
func TestSlowestAnswersAreCutBeyondALimit(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := slowClients(t)
		s.must(t, "POST", leases, strings.Replace(leaseNamed("b"), `"b"`, `"b","annotations":{"a":"`+strings.Repeat("x", 200<<10)+`"}`, 1))
		var bodies []io.ReadCloser
		for range 6 {
			bodies = append(bodies, s.open(t, allLeases+"?limit=500&pretty=true"))
			time.Sleep(10 * time.Second)
		}
		whole := ""
		for _, body := range bodies {
			_, err := io.ReadAll(body)
			whole += map[bool]string{true: "+", false: "-"}[err == nil]
		}
		assert.Regexp(t, `^-+\++$`, whole, "those that waited longest")
	})
}

// The watches share the memory of the event that they send.
func TestWatchesThatWaitWithOneFrameStay(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := slowClients(t)
		for range 50 {
			s.open(t, leases+"?watch=true")
		}
		synctest.Wait()
		// The Transport takes the initial event. The first one after it waits.
		s.must(t, "PATCH", leases+"/a", `{"spec":{"leaseTransitions":1}}`, "Content-Type", "application/merge-patch+json")
		time.Sleep(10 * time.Minute)
		synctest.Wait()
		assert.Equal(t, 50, s.st.Watchers())
	})
}

func TestWatchesThatWaitWithManyFramesAreCut(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := slowClients(t)
		for i := range 5 {
			s.open(t, leases+"?watch=true")
			synctest.Wait()
			s.must(t, "PATCH", leases+"/a", `{"spec":{"leaseTransitions":`+string(rune('1'+i))+`}}`, "Content-Type", "application/merge-patch+json")
			time.Sleep(time.Second)
		}
		assert.Equal(t, 2, s.st.Watchers(), "more than two events of 400 KB exceed the limit")
	})
}

func TestSlowestBodiesAreCutBeyondALimit(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := slowClients(t)
		var ended []int
		var mu sync.Mutex
		for i := range 3 {
			r, w := io.Pipe()
			defer w.Close()
			req := newRequest(t, "POST", leases, "", "Content-Type", typeJSON)
			req.Body, req.ContentLength = r, 2<<20
			go func() {
				resp, err := s.api.Transport().RoundTrip(req)
				if err != nil {
					return // the end of the test
				}
				resp.Body.Close()
				mu.Lock()
				defer mu.Unlock()
				ended = append(ended, i)
			}()
			_, err := io.WriteString(w, strings.Repeat(" ", 600<<10))
			require.NoError(t, err)
			time.Sleep(time.Minute)
		}
		mu.Lock()
		defer mu.Unlock()
		assert.Equal(t, []int{0, 1}, ended, "the limit has room for one of them")
	})
}

// deafConn is the connection of a client that stops to read within the answer.
type deafConn struct {
	net.Conn
	left int // bytes that it still reads
	end  chan struct{}
}

func (c *deafConn) Read(p []byte) (int, error) {
	if c.left == 0 {
		<-c.end
		return 0, net.ErrClosed
	}
	n, err := c.Conn.Read(p[:min(len(p), c.left)])
	c.left -= n
	return n, err
}

// The server cannot even write the end of a stream.
func TestHTTP2ConnectionThatNobodyReadsIsClosed(t *testing.T) {
	for name, target := range map[string]string{"watch": allLeases + "?watch=true", "list": allLeases} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var handlers atomic.Int32
				s := newServerWith(t, store.Options{}, httpapi.Options{WatchStall: 30 * time.Second, Middleware: func(next http.Handler) http.Handler {
					return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
						handlers.Add(1)
						next.ServeHTTP(w, r)
						handlers.Add(-1)
					})
				}})
				for _, name := range []string{"a", "b", "c"} {
					s.must(t, "POST", leases, `{"metadata":{"name":"`+name+`"},"spec":{"holderIdentity":"`+strings.Repeat("x", 400<<10)+`"}}`)
				}
				conn := &deafConn{s.listen(t, true).Conn, 100 << 10, make(chan struct{})}
				defer close(conn.end)
				protocols := new(http.Protocols)
				protocols.SetUnencryptedHTTP2(true)
				client := http.Transport{Protocols: protocols, DialContext: func(context.Context, string, string) (net.Conn, error) { return conn, nil }}
				defer client.CloseIdleConnections()
				resp, err := client.RoundTrip(newRequest(t, "GET", target, ""))
				require.NoError(t, err)
				defer resp.Body.Close()
				assert.Equal(t, 2, resp.ProtoMajor)
				synctest.Wait()
				require.EqualValues(t, 1, handlers.Load())
				time.Sleep(2 * time.Minute)
				synctest.Wait()
				assert.Zero(t, handlers.Load())
			})
		})
	}
}
