package httpapi_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"runtime"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kubecoord/kubecoord/httpapi"
	"github.com/kubecoord/kubecoord/store"
)

// Most tests here run in a bubble, which also fails where a goroutine is left behind.

// fill creates count leases of about 1 KiB each.
func (s *server) fill(t testing.TB, count int) {
	t.Helper()
	value := strings.Repeat("v", 900)
	for i := range count {
		s.must(t, "POST", leases, fmt.Sprintf(`{"metadata":{"name":"l%06d","annotations":{"a":%q}}}`, i, value))
	}
}

func TestTransportStreamsEventsAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newServer(t)
		w := s.watch(t, leases+"?watch=true")
		for i := range 3 {
			time.Sleep(time.Minute)
			name := fmt.Sprint("l", i)
			s.must(t, "POST", leases, leaseNamed(name))
			w.wants("ADDED " + name)
		}
	})
}

func TestTransportRefusesACancelledRequest(t *testing.T) {
	s := newServer(t)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	body := &closable{Reader: strings.NewReader(leaseNamed("a"))}
	req := newRequest(t, "POST", leases, leaseNamed("a")).WithContext(ctx)
	req.Body = body
	_, err := s.api.Transport().RoundTrip(req)
	assert.ErrorIs(t, err, context.Canceled)
	assert.True(t, body.isClosed())
	assert.Equal(t, http.StatusNotFound, s.do(t, "GET", leases+"/a", "").Code)
}

func TestNoHandlerSeesARequestThatWasCancelledBefore(t *testing.T) {
	served := false
	s := newServerWith(t, store.Options{}, httpapi.Options{Middleware: func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			served = true
			next.ServeHTTP(w, r)
		})
	}})
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err := s.api.Transport().RoundTrip(newRequest(t, "GET", leases, "").WithContext(ctx))
	assert.ErrorIs(t, err, context.Canceled)
	s.api.Close() // waits for handlers
	assert.False(t, served)
}

// As behind a socket, a header that is set after the answer has begun is not sent.
func TestHeaderOfAnAnswerThatHasBegunStays(t *testing.T) {
	s := newServerWith(t, store.Options{}, httpapi.Options{Middleware: func(http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("X-Part", "head")
			w.WriteHeader(http.StatusOK)
			w.Header().Set("X-Part", "body")
			io.WriteString(w, "body")
		})
	}})
	resp, err := s.api.Transport().RoundTrip(newRequest(t, "GET", leases, ""))
	require.NoError(t, err)
	data, err := io.ReadAll(resp.Body)
	require.NoError(t, err)
	assert.Equal(t, "body", string(data))
	assert.Equal(t, "head", resp.Header.Get("X-Part"))
}

func TestCancellationBeforeTheHeaderEndsTheWait(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newServer(t)
		ctx, cancel := context.WithCancel(t.Context())
		time.AfterFunc(time.Second, cancel)
		start := time.Now()
		// A version that is still to come is waited for.
		_, err := s.api.Transport().RoundTrip(newRequest(t, "GET", leases+"/a?resourceVersion=999999", "").WithContext(ctx))
		assert.ErrorIs(t, err, context.Canceled)
		assert.Equal(t, time.Second, time.Since(start))
	})
}

func TestDeadlineOfAnHTTPClientEndsAWatch(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newServer(t)
		client := http.Client{Transport: s.api.Transport(), Timeout: time.Minute}
		start := time.Now()
		resp, err := client.Get("http://test" + leases + "?watch=true")
		require.NoError(t, err)
		defer resp.Body.Close()
		_, err = io.ReadAll(resp.Body)
		// The client says that it was its Timeout if it notices before its context.
		assert.True(t, os.IsTimeout(err), "%v", err)
		assert.Equal(t, time.Minute, time.Since(start))
	})
}

func TestCancellationEndsAWatchWithAnError(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newServer(t)
		ctx, cancel := context.WithCancel(t.Context())
		resp, err := s.api.Transport().RoundTrip(newRequest(t, "GET", leases+"?watch=true", "").WithContext(ctx))
		require.NoError(t, err)
		synctest.Wait()
		assert.Equal(t, 1, s.st.Watchers())
		cancel()
		synctest.Wait() // the handler is done before anything is read
		assert.Zero(t, s.st.Watchers())
		_, err = resp.Body.Read(make([]byte, 1))
		assert.ErrorIs(t, err, context.Canceled)
	})
}

// An answer that was cut short must not look like one that is complete.
func TestCancellationInTheMiddleOfAnAnswerIsAnError(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newServer(t)
		s.fill(t, 1000)
		ctx, cancel := context.WithCancel(t.Context())
		resp, err := s.api.Transport().RoundTrip(newRequest(t, "GET", leases, "").WithContext(ctx))
		require.NoError(t, err)
		synctest.Wait() // the handler waits for the reader
		cancel()
		synctest.Wait()
		body, err := io.ReadAll(resp.Body)
		assert.Less(t, int64(len(body)), resp.ContentLength)
		assert.ErrorIs(t, err, context.Canceled)
	})
}

func TestClosingTheBodyEndsTheHandler(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newServer(t)
		w := s.watch(t, leases+"?watch=true")
		synctest.Wait()
		require.Equal(t, 1, s.st.Watchers())
		require.NoError(t, w.body.Close())
		synctest.Wait()
		assert.Zero(t, s.st.Watchers())
		_, err := w.body.Read(make([]byte, 1))
		assert.ErrorIs(t, err, http.ErrBodyReadAfterClose)
		assert.NoError(t, w.body.Close(), "twice is fine")
	})
}

func TestClosingTheBodyFreesAHandlerThatWaitsForItsReader(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newServer(t)
		s.fill(t, 1000)
		resp, err := s.api.Transport().RoundTrip(newRequest(t, "GET", leases, ""))
		require.NoError(t, err)
		synctest.Wait()
		resp.Body.Close()
		// The bubble would report the handler if it were still there.
	})
}

func TestHEADHasHeadersAndNoBody(t *testing.T) {
	s := newServer(t)
	for _, path := range []string{"/healthz", leases, allLeases, "/nope"} {
		get, head := s.do(t, "GET", path, ""), s.do(t, "HEAD", path, "")
		assert.Empty(t, head.Body, path)
		assert.NotEmpty(t, get.Body, path)
		assert.NotEmpty(t, head.Header.Get("Content-Length"), path)
	}
}

func TestTransportPassesLargeBodiesAndAnswers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newServer(t)
		address := `{"ip":"10.1.2.3","hostname":"` + strings.Repeat("h", 60) + `"},`
		body := `{"metadata":{"name":"large"},"subsets":[{"addresses":[` + strings.TrimSuffix(strings.Repeat(address, 12000), ",") + `]}]}`
		require.Greater(t, len(body), 1<<20)
		a := s.do(t, "POST", endpoints, body)
		require.Equal(t, http.StatusCreated, a.Code)
		assert.Greater(t, len(a.Body), 1<<20)

		s.fill(t, 3000)
		a = s.do(t, "GET", leases, "")
		assert.Greater(t, len(a.Body), 3<<20)
		assert.Equal(t, fmt.Sprint(len(a.Body)), a.Header.Get("Content-Length"))
		items, _ := a.tree(t)["items"].([]any)
		assert.Len(t, items, 3000)
	})
}

// A client gives the length of its body if it knows it; zero with a body means that it does not.
func TestBodyOfUnknownLengthIsRead(t *testing.T) {
	for _, length := range []int64{0, -1} {
		s := newServer(t)
		req := newRequest(t, "POST", leases, leaseNamed("a"))
		req.Body, req.ContentLength = io.NopCloser(strings.NewReader(leaseNamed("a"))), length
		assert.Equal(t, http.StatusCreated, s.send(t, req).Code, "ContentLength %d", length)
	}
}

func TestBodyOfAPipeIsRead(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newServer(t)
		r, w := io.Pipe()
		go func() {
			io.WriteString(w, `{"metadata":`)
			io.WriteString(w, `{"name":"a"}}`)
			w.Close()
		}()
		req := newRequest(t, "POST", leases, leaseNamed("a"))
		req.Body, req.ContentLength = r, 0
		assert.Equal(t, http.StatusCreated, s.send(t, req).Code)
	})
}

func TestIncompleteBodyStoresNothing(t *testing.T) {
	s := newServer(t)
	before := s.st.ResourceVersion()
	for _, length := range []int64{100, -1} {
		req := newRequest(t, "POST", leases, leaseNamed("a"))
		req.Body = io.NopCloser(io.MultiReader(strings.NewReader(leaseNamed("a")), errorReader{}))
		req.ContentLength = length
		assert.GreaterOrEqual(t, s.send(t, req).Code, 400)
	}
	assert.Equal(t, before, s.st.ResourceVersion())
}

type errorReader struct{}

func (errorReader) Read([]byte) (int, error) { return 0, errors.New("the line was cut") }

func TestARequestWithoutMethodOrPathIsAGETOfTheRoot(t *testing.T) {
	s := newServer(t)
	req, err := http.NewRequest("", "http://test", nil)
	require.NoError(t, err)
	req.Method = ""
	a := s.send(t, req)
	assert.Equal(t, http.StatusOK, a.Code)
	assert.Contains(t, a.Body, `"paths"`)
}

func TestTransportPassesARequestAsAServerReceivesIt(t *testing.T) {
	for host, want := range map[string]string{"": "test", "other:1": "other:1"} {
		var got string
		s := newServerWith(t, store.Options{}, httpapi.Options{Middleware: func(h http.Handler) http.Handler {
			return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				got = r.Host
				assert.Equal(t, leases+"?a=%62", r.RequestURI)
				assert.Equal(t, "HTTP/1.1 127.0.0.1:0", r.Proto+" "+r.RemoteAddr)
				h.ServeHTTP(w, r)
			})
		}})
		req := newRequest(t, "GET", leases+"?a=%62", "")
		req.Host = host
		assert.Equal(t, http.StatusOK, s.send(t, req).Code)
		assert.Equal(t, want, got)
	}
}

// closable records whether it was closed.
type closable struct {
	io.Reader
	mu     sync.Mutex
	closed bool
}

func (c *closable) Close() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.closed = true
	return nil
}

func (c *closable) isClosed() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.closed
}

func TestRequestBodyIsAlwaysClosed(t *testing.T) {
	for _, row := range []struct{ name, method, path, contentType string }{
		{"read", "POST", leases, typeJSON},
		{"refused before it is read", "POST", leases, "text/plain"},
		{"of no interest", "GET", leases, typeJSON},
		{"for an unknown path", "POST", "/nope", typeJSON},
	} {
		t.Run(row.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := newServer(t)
				body := &closable{Reader: strings.NewReader(leaseNamed("a"))}
				req := newRequest(t, row.method, row.path, leaseNamed("a"), "Content-Type", row.contentType)
				req.Body = body
				s.send(t, req)
				synctest.Wait()
				assert.True(t, body.isClosed())
			})
		})
	}
}

func TestTransportDoesNotChangeTheRequest(t *testing.T) {
	s := newServer(t)
	req := newRequest(t, "GET", leases+"/?limit=1", "")
	req.Header.Set("Accept", "application/json;as=Table;v=v1;g=meta.k8s.io")
	before := req.Clone(t.Context())
	s.send(t, req)
	assert.Equal(t, before.URL.String(), req.URL.String())
	assert.Equal(t, before.Header, req.Header)
	assert.Empty(t, req.RequestURI)
}

func TestRequestsRunConcurrently(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const writers, writes = 8, 25
		s := newServer(t)
		w := s.watch(t, leases+"?watch=true")
		var group sync.WaitGroup
		for i := range writers {
			group.Go(func() {
				for j := range writes {
					name := fmt.Sprintf("l%d-%d", i, j)
					assert.Equal(t, http.StatusCreated, s.do(t, "POST", leases, leaseNamed(name)).Code)
					assert.Equal(t, http.StatusOK, s.do(t, "GET", leases+"/"+name, "").Code)
					assert.Equal(t, http.StatusOK, s.do(t, "GET", leases+"?limit=3", "").Code)
					patch := `{"metadata":{"labels":{"a":"b"}}}`
					assert.Equal(t, http.StatusOK, s.do(t, "PATCH", leases+"/"+name, patch, "Content-Type", "application/merge-patch+json").Code)
					assert.Equal(t, http.StatusOK, s.do(t, "DELETE", leases+"/"+name, "").Code)
				}
			})
		}
		counts := map[string]int{}
		for range 3 * writers * writes {
			event, err := w.next()
			require.NoError(t, err)
			kind, _, _ := strings.Cut(event, " ")
			counts[kind]++
		}
		group.Wait()
		assert.Equal(t, map[string]int{"ADDED": writers * writes, "MODIFIED": writers * writes, "DELETED": writers * writes}, counts)
	})
}

func TestSlowReaderDelaysOnlyItself(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newServer(t)
		s.fill(t, 1000)
		slow, err := s.api.Transport().RoundTrip(newRequest(t, "GET", leases, ""))
		require.NoError(t, err)
		synctest.Wait()
		start := time.Now()
		w := s.watch(t, leases+"?watch=true&resourceVersion="+fmt.Sprint(s.st.ResourceVersion()))
		s.must(t, "POST", leases, leaseNamed("extra"))
		w.wants("ADDED extra")
		assert.Equal(t, http.StatusOK, s.do(t, "GET", leases, "").Code)
		assert.Zero(t, time.Since(start))
		// And it misses nothing.
		body, err := io.ReadAll(slow.Body)
		require.NoError(t, err)
		assert.EqualValues(t, slow.ContentLength, len(body))
	})
}

// A reader that keeps going, but never catches up, must not make the server keep all that it has read.
func TestLaggingReaderCostsOnlyItsLag(t *testing.T) {
	const size, count = 200 << 10, 100
	synctest.Test(t, func(t *testing.T) {
		s := newServerWith(t, store.Options{History: 4}, httpapi.Options{})
		s.must(t, "POST", leases, fmt.Sprintf(`{"metadata":{"name":"a","annotations":{"a":%q}}}`, strings.Repeat("v", size)))
		w := s.watch(t, leases+"?watch=true")
		change := func(i int) {
			s.must(t, "PATCH", leases+"/a", fmt.Sprintf(`{"spec":{"leaseTransitions":%d}}`, i), "Content-Type", "application/merge-patch+json")
			synctest.Wait() // the event is written
		}
		change(1)
		before := heap()
		for i := range count {
			_, err := io.CopyN(io.Discard, w.body, size)
			require.NoError(t, err)
			change(i + 2)
		}
		assert.Less(t, int(heap()-before), size*count/4)
	})
}

// heap returns how many bytes are in use.
func heap() int64 {
	var m runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}

func TestCloseEndsWatchesAndRequestsThatWait(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newServer(t)
		w := s.watch(t, leases+"?watch=true")
		start := time.Now()
		s.api.Close()
		assert.Zero(t, time.Since(start))
		_, err := w.next()
		assert.Equal(t, io.EOF, err, "the end of a watch is no error")
	})
}

func TestCloseWaitsForRunningRequests(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newServer(t)
		answered := false
		go func() {
			a := s.do(t, "GET", leases+"/a?resourceVersion=999999", "")
			assert.NotEqual(t, http.StatusOK, a.Code)
			answered = true
		}()
		synctest.Wait()
		s.api.Close()
		synctest.Wait()
		assert.True(t, answered)
	})
}

// What a client does not read must not keep the server from stopping.
func TestCloseEndsUnreadAnswers(t *testing.T) {
	for _, row := range []struct{ name, path string }{
		{"a watch", leases + "?watch=true"},
		{"a list", leases},
	} {
		t.Run(row.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := newServer(t)
				s.fill(t, 1000)
				resp, err := s.api.Transport().RoundTrip(newRequest(t, "GET", row.path, ""))
				require.NoError(t, err)
				synctest.Wait()
				closed := make(chan struct{})
				go func() {
					s.api.Close()
					close(closed)
				}()
				select {
				case <-closed:
				case <-time.After(time.Minute):
					t.Error("Close waits for a reader that does not read")
					resp.Body.Close()
					<-closed
				}
			})
		})
	}
}

func TestRequestsAfterCloseAreRefused(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newServer(t)
		s.api.Close()
		s.api.Close() // twice is fine
		body := &closable{Reader: strings.NewReader(leaseNamed("a"))}
		req := newRequest(t, "POST", leases, leaseNamed("a"))
		req.Body = body
		_, err := s.api.Transport().RoundTrip(req)
		assert.ErrorContains(t, err, "closed")
		assert.True(t, body.isClosed())
		assert.Equal(t, "1000", s.st.ResourceVersion())
	})
}

func TestStoreStaysOpenAfterItsAPIIsClosed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		st := store.New(store.Options{})
		defer st.Close()
		first := &server{st, httpapi.New(st, httpapi.Options{})}
		first.must(t, "POST", leases, leaseNamed("a"))
		first.api.Close()
		second := &server{st, httpapi.New(st, httpapi.Options{})}
		defer second.api.Close()
		assert.Equal(t, http.StatusOK, second.do(t, "GET", leases+"/a", "").Code)
	})
}

func TestClosingTheStoreEndsWatches(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newServer(t)
		w := s.watch(t, leases+"?watch=true")
		s.st.Close()
		_, err := w.next()
		assert.Equal(t, io.EOF, err)
	})
}

// A handler may be wrapped by one that cannot stream. An empty watch would make the client try again for ever.
func TestWatchThroughAWriterThatCannotFlushIsAnError(t *testing.T) {
	s := newServer(t)
	w := &bareWriter{header: http.Header{}}
	s.api.ServeHTTP(w, newRequest(t, "GET", leases+"?watch=true", ""))
	assert.Equal(t, http.StatusInternalServerError, w.code)
	assert.Contains(t, w.body.String(), "unable to start watch - can't get http.Flusher")
}

// bareWriter is an http.ResponseWriter and nothing else.
type bareWriter struct {
	header http.Header
	code   int
	body   strings.Builder
}

func (w *bareWriter) Header() http.Header            { return w.header }
func (w *bareWriter) WriteHeader(code int)           { w.code = code }
func (w *bareWriter) Write(data []byte) (int, error) { return w.body.Write(data) }
