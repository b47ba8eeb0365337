package httpapi_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kubecoord/kubecoord/httpapi"
	"github.com/kubecoord/kubecoord/internal/registry"
	"github.com/kubecoord/kubecoord/store"
)

// A watcher that does not read is stopped by its connection, and what it misses is dropped with the history.

// change makes so many changes to one lease, of so many bytes each.
func (s *server) change(t testing.TB, name string, count, size int) {
	t.Helper()
	value := strings.Repeat("v", size)
	s.must(t, "POST", leases, fmt.Sprintf(`{"metadata":{"name":%q,"annotations":{"a":%q}}}`, name, value))
	for i := range count - 1 {
		s.must(t, "PATCH", leases+"/"+name, fmt.Sprintf(`{"spec":{"leaseTransitions":%d}}`, i), "Content-Type", "application/merge-patch+json")
	}
}

func TestSlowWatcherGetsExpired(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const count = 200
		s := newServerWith(t, store.Options{History: 16}, httpapi.Options{})
		w := s.watch(t, leases+"?watch=true")
		synctest.Wait()
		s.change(t, "a", count, 10<<10)
		synctest.Wait() // the handler waits for the reader
		seen := 0
		for {
			var ev tree
			require.NoError(t, w.decoder.Decode(&ev))
			if ev["type"] == "ERROR" {
				assert.EqualValues(t, http.StatusGone, ev.at("object", "code"))
				assert.Equal(t, "Expired", ev.at("object", "reason"))
				assert.Regexp(t, `^too old resource version: \d+ \(\d+\)$`, ev.at("object", "message"))
				break
			}
			seen++
			// What comes before has no gaps.
			assert.Equal(t, fmt.Sprint(registry.DefaultFirstVersion+seen), ev.at("object", "metadata", "resourceVersion"))
		}
		assert.Less(t, seen, count)
		_, err := w.next()
		assert.Equal(t, io.EOF, err)
		assert.Zero(t, s.st.Watchers())
	})
}

// loopback serves an API on a socket.
type loopback struct {
	*server
	web *httptest.Server
}

func newLoopback(t testing.TB, options store.Options) *loopback {
	t.Helper()
	s := newServerWith(t, options, httpapi.Options{})
	l := &loopback{s, httptest.NewServer(s.api)}
	t.Cleanup(func() {
		s.api.Close()
		l.web.CloseClientConnections()
		l.web.Close()
	})
	return l
}

// deafWatch opens a watch on a connection that nobody reads.
func (l *loopback) deafWatch(t testing.TB) {
	t.Helper()
	conn, err := net.Dial("tcp", l.web.Listener.Addr().String())
	require.NoError(t, err)
	t.Cleanup(func() { conn.Close() })
	require.NoError(t, conn.(*net.TCPConn).SetReadBuffer(4096))
	_, err = io.WriteString(conn, "GET "+leases+"?watch=true HTTP/1.1\r\nHost: test\r\n\r\n")
	require.NoError(t, err)
	// One byte says that the watch has begun.
	_, err = io.ReadFull(conn, make([]byte, 1))
	require.NoError(t, err)
}

func TestUnreadWatcherCostsOnlyItsConnection(t *testing.T) {
	const count, size = 400, 100 << 10 // 40 MB, more than any socket takes
	l := newLoopback(t, store.Options{History: 64})
	l.deafWatch(t)
	resp, err := l.web.Client().Get(l.web.URL + leases + "?watch=true")
	require.NoError(t, err)
	defer resp.Body.Close()
	seen := make(chan struct{}, count) // an item for each event
	go func() {
		defer close(seen)
		decoder := json.NewDecoder(resp.Body)
		for range count {
			var ev struct{ Type string }
			if decoder.Decode(&ev) != nil || ev.Type == "ERROR" {
				return
			}
			seen <- struct{}{}
		}
	}()
	events := 0
	await := func() {
		if _, ok := <-seen; ok {
			events++
		}
	}
	before := heap()
	value := strings.Repeat("v", size)
	for i := range count {
		// Over the socket, like everybody else.
		req, err := http.NewRequestWithContext(t.Context(), "POST", l.web.URL+leases, strings.NewReader(fmt.Sprintf(`{"metadata":{"name":"a","annotations":{"a":%q}}}`, value)))
		if i > 0 {
			req, err = http.NewRequestWithContext(t.Context(), "PATCH", l.web.URL+leases+"/a", strings.NewReader(fmt.Sprintf(`{"spec":{"leaseTransitions":%d}}`, i)))
		}
		require.NoError(t, err)
		req.Header.Set("Content-Type", map[bool]string{true: "application/merge-patch+json", false: typeJSON}[i > 0])
		resp, err := l.web.Client().Do(req)
		require.NoError(t, err)
		_, err = io.Copy(io.Discard, resp.Body)
		require.NoError(t, err)
		resp.Body.Close()
		require.Less(t, resp.StatusCode, 300)
		if i >= 32 {
			await() // on a busy machine the reader may come late, but not later than the history
		}
	}
	for range 32 {
		await()
	}
	assert.Equal(t, count, events, "another watcher has seen everything")
	assert.Less(t, int(heap()-before), 64*size*3)
	assert.Equal(t, 2, l.st.Watchers(), "the deaf one is still there")
}

func TestShutdownDoesNotWaitForAnUnreadWatcher(t *testing.T) {
	l := newLoopback(t, store.Options{History: 64})
	l.deafWatch(t)
	l.change(t, "a", 400, 100<<10)
	l.api.Close() // does not wait either
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
	defer cancel()
	assert.NoError(t, l.web.Config.Shutdown(ctx))
}

func TestShutdownDoesNotWaitForAWatcherThatReads(t *testing.T) {
	l := newLoopback(t, store.Options{})
	resp, err := l.web.Client().Get(l.web.URL + leases + "?watch=true")
	require.NoError(t, err)
	defer resp.Body.Close()
	l.api.Close()
	_, err = io.ReadAll(resp.Body)
	assert.NoError(t, err, "the end of a watch is no error")
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
	defer cancel()
	assert.NoError(t, l.web.Config.Shutdown(ctx))
}

func TestAConnectionThatBreaksEndsItsWatch(t *testing.T) {
	l := newLoopback(t, store.Options{})
	ctx, cancel := context.WithCancel(t.Context())
	req, err := http.NewRequestWithContext(ctx, "GET", l.web.URL+leases+"?watch=true", nil)
	require.NoError(t, err)
	resp, err := l.web.Client().Do(req)
	require.NoError(t, err)
	defer resp.Body.Close()
	require.Equal(t, 1, l.st.Watchers())
	cancel()
	require.Eventually(t, func() bool { return l.st.Watchers() == 0 }, time.Minute, time.Millisecond)
}
