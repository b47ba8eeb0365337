package httpapi_test

import (
	"bufio"
	"context"
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
	"github.com/kubecoord/kubecoord/internal/kinds"
	"github.com/kubecoord/kubecoord/store"
	"github.com/kubecoord/kubecoord/store/clock"
	"github.com/kubecoord/kubecoord/store/field"
	"github.com/kubecoord/kubecoord/store/kind"
	"github.com/kubecoord/kubecoord/store/meta"
)

const timedOutText = "Timeout: request did not complete within the allotted timeout"

// assertTimedOut checks the answer after the deadline of a request, as a kube-apiserver
// sent it whatever the client accepts.
func assertTimedOut(t testing.TB, a answer) {
	t.Helper()
	assert.Equal(t, http.StatusGatewayTimeout, a.Code)
	assert.Equal(t, "text/plain; charset=utf-8", a.Header.Get("Content-Type"))
	assert.Empty(t, a.Header.Get("Warning"), "which a handler had set")
	assert.Equal(t, `{"metadata":{},"status":"Failure","message":"`+timedOutText+`","reason":"Timeout","details":{},"code":504}`+"\n", a.Body)
}

// slowBody begins an object and never goes on.
type slowBody struct {
	begun  *strings.Reader
	closed chan struct{}
}

func newSlowBody() *slowBody { return &slowBody{strings.NewReader("{"), make(chan struct{})} }

func (b *slowBody) Read(p []byte) (int, error) {
	if n, err := b.begun.Read(p); err == nil {
		return n, nil
	}
	<-b.closed
	return 0, http.ErrBodyReadAfterClose
}

func (b *slowBody) Close() error {
	close(b.closed)
	return nil
}

func TestRequestWithASlowBodyEnds(t *testing.T) {
	for _, row := range []struct {
		method, target string
		limit, want    time.Duration
	}{
		{"POST", leases, 0, time.Minute},
		{"PUT", leases + "/a", 0, time.Minute},
		{"PATCH", leases + "/a", 10 * time.Second, 10 * time.Second},
		{"DELETE", leases + "/a", 2 * time.Minute, 2 * time.Minute},
		{"DELETE", leases, 0, time.Minute},
		{"POST", leases + "?timeout=5s", 0, 5 * time.Second},
		{"POST", leases + "?timeout=2m", 0, time.Minute},
		{"POST", leases + "?timeout=0", 0, time.Minute},
		{"POST", leases + "?timeout=-1s", 0, time.Minute},
		{"POST", leases + "?timeout=5s", -1, 5 * time.Second},
	} {
		t.Run(row.method+" "+row.target+" "+row.limit.String(), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := newServerWith(t, store.Options{}, httpapi.Options{RequestTimeout: row.limit})
				s.must(t, "POST", leases, leaseNamed("a"))
				req := newRequest(t, row.method, row.target, "", "Content-Type", typeJSON)
				if row.method == "PATCH" {
					req.Header.Set("Content-Type", "application/merge-patch+json")
				}
				req.Body, req.ContentLength = newSlowBody(), 100
				began := time.Now()
				a := s.send(t, req)
				assert.Equal(t, row.want, time.Since(began))
				assertTimedOut(t, a)
				assert.EqualValues(t, 1001, s.version())
			})
		})
	}
}

const boxes = "/apis/box.k8s.io/v1/namespaces/default/boxes"

func TestRequestWithASlowValidationEnds(t *testing.T) {
	for _, row := range []struct{ method, target, mediaType, name string }{
		{"POST", boxes + "?timeout=1s", typeJSON, "new"},
		{"POST", boxes + "?timeout=1s&dryRun=All", typeJSON, "new"},
		{"PUT", boxes + "/old?timeout=1s", typeJSON, "old"},
		{"PATCH", boxes + "/old?timeout=1s", "application/merge-patch+json", "old"},
		{"PATCH", boxes + "/old?timeout=1s&fieldManager=m", "application/apply-patch+yaml", "old"},
		{"PATCH", boxes + "/new?timeout=1s&fieldManager=m", "application/apply-patch+yaml", "new"},
	} {
		t.Run(row.method+" "+row.target, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				end := make(chan struct{})
				k, err := kinds.NewKind(kind.Descriptor[meta.Object]{
					Resource: kind.Resource{Group: "box.k8s.io", Kind: "Box", Plural: "boxes"},
					Native:   &kind.Native[meta.Object]{SlowValidation: true},
					Strategy: kind.Strategy[meta.Object]{Update: kind.UpdateStrategy[meta.Object]{Unconditional: true}},
					New:      func() kinds.Object { return &store.Unstructured{} },
					Versions: []kind.Version[meta.Object]{{Name: "v1", Validate: func(o, _ kinds.Object) field.Errors {
						if o.(*store.Unstructured).Content["size"] != nil {
							<-end
						}
						return nil
					}}},
				})
				require.NoError(t, err)
				s := newServerWith(t, store.Options{}, httpapi.Options{Kinds: []kind.Kind{k}})
				defer close(end)
				body := `{"apiVersion":"box.k8s.io/v1","kind":"Box","metadata":{"name":"old"}}`
				s.must(t, "POST", boxes, body)
				began, version := time.Now(), s.version()
				body = strings.Replace(body, `"old"}`, `"`+row.name+`"},"size":1`, 1)
				a := s.do(t, row.method, row.target, body, "Content-Type", row.mediaType)
				assert.Equal(t, time.Second, time.Since(began))
				assertTimedOut(t, a)
				assert.Equal(t, version, s.version())
			})
		})
	}
}

func TestReadOfABodyEndsWithItsClient(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		answered := false
		s := newServerWith(t, store.Options{}, httpapi.Options{RequestTimeout: -1, Log: func(httpapi.LogEntry) { answered = true }})
		ctx, cancel := context.WithCancel(t.Context())
		req := newRequest(t, "POST", leases, "").WithContext(ctx)
		req.Body, req.ContentLength = newSlowBody(), 100
		time.AfterFunc(time.Second, cancel)
		_, err := s.api.Transport().RoundTrip(req)
		assert.ErrorIs(t, err, context.Canceled)
		synctest.Wait()
		assert.True(t, answered)
	})
}

func TestReadsThatWaitEndAtTheirTimeout(t *testing.T) {
	for _, target := range []string{leases + "/a?resourceVersion=5000", leases + "?resourceVersion=5000&resourceVersionMatch=NotOlderThan", allLeases + "?resourceVersion=5000", endpoints + "?resourceVersion=5000"} {
		t.Run(target, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := newServer(t)
				began := time.Now()
				a := s.do(t, "GET", target+"&timeout=1s", "", "Accept", "application/yaml")
				assert.Equal(t, time.Second, time.Since(began))
				assertTimedOut(t, a)
				a = s.do(t, "GET", target+"&timeout=10s", "")
				assertStatus(t, a, http.StatusGatewayTimeout, "Timeout", "Timeout: Too large resource version: 5000, current: 1000")
			})
		})
	}
}

// The handler has written its answer before the deadline, but the client reads slowly.
func TestAnswerCanBeReadAMomentAfterTheDeadline(t *testing.T) {
	for late, whole := range map[time.Duration]bool{200 * time.Millisecond: true, 300 * time.Millisecond: false} {
		t.Run(late.String(), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := newServerWith(t, store.Options{}, httpapi.Options{Log: func(httpapi.LogEntry) {}}) // so that the answer is a stream
				for i := range 10 {
					s.must(t, "POST", leases, fmt.Sprintf(`{"metadata":{"name":"l%d","annotations":{"a":%q}}}`, i, strings.Repeat("x", 100_000)))
				}
				resp, err := s.api.Transport().RoundTrip(newRequest(t, "GET", leases+"?timeout=1s", ""))
				require.NoError(t, err)
				defer resp.Body.Close()
				time.Sleep(time.Second + late)
				body, err := io.ReadAll(resp.Body)
				assert.Equal(t, whole, err == nil, "%d bytes, %v", len(body), err)
			})
		})
	}
}

func TestWatchHasNoRequestTimeout(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newServerWith(t, store.Options{}, httpapi.Options{WatchStall: time.Second})
		for _, target := range []string{
			leases + "?watch=true&timeout=1s&timeoutSeconds=600", leases + "?%77atch=true&timeout=1s&timeoutSeconds=600",
			"/apis/coordination.k8s.io/v1/watch/namespaces/default/leases?timeout=1s&timeoutSeconds=600",
		} {
			w := s.watch(t, target)
			began := time.Now()
			time.Sleep(5 * time.Minute)
			s.must(t, "POST", leases, leaseNamed("a"))
			w.wants("ADDED a")
			_, err := w.next()
			assert.Equal(t, io.EOF, err)
			assert.Equal(t, 10*time.Minute, time.Since(began))
			s.must(t, "DELETE", leases+"/a", "")
		}
	})
}

// unread returns the error that ends an answer that nobody reads for an hour, and the bytes before it.
func (s *server) unread(t *testing.T, target string) (read int, err error) {
	t.Helper()
	resp, err := s.api.Transport().RoundTrip(newRequest(t, http.MethodGet, target, ""))
	require.NoError(t, err)
	defer resp.Body.Close()
	time.Sleep(time.Hour)
	data, err := io.ReadAll(resp.Body)
	return len(data), err
}

func TestListThatNobodyReadsIsCut(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for limit, want := range map[time.Duration]error{0: io.ErrUnexpectedEOF, -1: nil} {
			s := newServerWith(t, store.Options{}, httpapi.Options{
				RequestTimeout: limit,
				Log:            func(httpapi.LogEntry) {}, // the Transport then streams the answer
			})
			for i := range 20 {
				s.must(t, "POST", leases, fmt.Sprintf(`{"metadata":{"name":"l%d","annotations":{"a":%q}}}`, i, strings.Repeat("x", 100<<10)))
			}
			read, err := s.unread(t, leases)
			assert.Equal(t, want, err)
			assert.Equal(t, want == nil, read > 20*100<<10)
		}
	})
}

func TestWatchThatNobodyReadsEnds(t *testing.T) {
	for name, row := range map[string]struct {
		query string
		stall time.Duration
		gone  time.Duration // when the watch is gone
	}{
		"after its time":   {"&timeoutSeconds=4", 0, 4*time.Second + 500*time.Millisecond},
		"after its stall":  {"", 30 * time.Second, 30*time.Second + 250*time.Millisecond},
		"after the sooner": {"&timeoutSeconds=4", 30 * time.Second, 4*time.Second + 500*time.Millisecond},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := newServerWith(t, store.Options{}, httpapi.Options{WatchStall: row.stall})
				s.watch(t, leases+"?watch=true"+row.query)
				s.change(t, "a", 20, 100<<10)
				time.Sleep(row.gone - time.Millisecond)
				synctest.Wait()
				require.Equal(t, 1, s.st.Watchers())
				time.Sleep(2 * time.Millisecond)
				synctest.Wait()
				assert.Zero(t, s.st.Watchers())
			})
		})
	}
}

// A watch whose client does not read for a while is left out by writers. It misses nothing.
func TestWatchGoesOnAfterAPause(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newServerWith(t, store.Options{}, httpapi.Options{WatchStall: time.Minute})
		w := s.watch(t, leases+"?watch=true")
		s.change(t, "a", 20, 100<<10)
		for range 3 {
			time.Sleep(30 * time.Second)
			s.must(t, "PATCH", leases+"/a", `{"spec":{"leaseDurationSeconds":1}}`, "Content-Type", "application/merge-patch+json")
			w.next() // makes room for a write
			synctest.Wait()
		}
		for last := uint64(1003); last < s.version(); last++ {
			var ev tree
			require.NoError(t, w.decoder.Decode(&ev))
			require.Equal(t, fmt.Sprint(last+1), ev.at("object", "metadata", "resourceVersion"))
		}
		s.must(t, "DELETE", leases+"/a", "")
		w.wants("DELETED a")
	})
}

// A socket has deadlines of its own, which must not outlive a request.
func TestSocketIsUsedAgainAfterADeadline(t *testing.T) {
	st := store.New(store.Options{})
	api := httpapi.New(st, httpapi.Options{RequestTimeout: 100 * time.Millisecond, WatchStall: 50 * time.Millisecond})
	web := httptest.NewServer(api)
	t.Cleanup(func() { api.Close(); web.Close(); st.Close() })
	conn, err := net.Dial("tcp", web.Listener.Addr().String())
	require.NoError(t, err)
	defer conn.Close()
	get := func(target string) string {
		_, err := fmt.Fprintf(conn, "GET %s HTTP/1.1\r\nHost: x\r\n\r\n", target)
		require.NoError(t, err)
		resp, err := http.ReadResponse(bufio.NewReader(conn), nil)
		require.NoError(t, err)
		data, err := io.ReadAll(resp.Body)
		require.NoError(t, err)
		return fmt.Sprint(resp.StatusCode, " ", string(data))
	}
	assert.Contains(t, get(leases+"/a?resourceVersion=5000"), timedOutText)
	assert.Contains(t, get(leases+"?watch=true&timeoutSeconds=1&sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true"), "BOOKMARK")
	assert.Contains(t, get(leases), `"items":[]`)
}

func TestEndedWatchLeavesItsConnectionAlone(t *testing.T) {
	m := clock.NewManual(time.Now())
	st := store.New(store.Options{Clock: m})
	api := httpapi.New(st, httpapi.Options{})
	web := httptest.NewServer(api)
	t.Cleanup(func() { api.Close(); web.Close(); st.Close() })
	conn, err := net.Dial("tcp", web.Listener.Addr().String())
	require.NoError(t, err)
	defer conn.Close()
	in := bufio.NewReader(conn)
	for _, target := range []string{leases + "?watch=true&timeoutSeconds=1", leases} {
		_, err := fmt.Fprintf(conn, "GET %s HTTP/1.1\r\nHost: x\r\n\r\n", target)
		require.NoError(t, err)
		resp, err := http.ReadResponse(in, nil)
		require.NoError(t, err)
		m.FastForward(time.Second)
		_, err = io.ReadAll(resp.Body)
		require.NoError(t, err)
		m.FastForward(time.Second) // the watch would have been cut by now
	}
}

func TestSlowBodyOfASocketIsAnswered(t *testing.T) {
	st := store.New(store.Options{})
	api := httpapi.New(st, httpapi.Options{RequestTimeout: 50 * time.Millisecond})
	web := httptest.NewServer(api)
	t.Cleanup(func() { api.Close(); web.Close(); st.Close() })
	conn, err := net.Dial("tcp", web.Listener.Addr().String())
	require.NoError(t, err)
	defer conn.Close()
	_, err = fmt.Fprintf(conn, "POST %s HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: 3145728\r\n\r\n{", leases)
	require.NoError(t, err)
	resp, err := http.ReadResponse(bufio.NewReader(conn), nil)
	require.NoError(t, err)
	data, err := io.ReadAll(resp.Body)
	require.NoError(t, err)
	assertTimedOut(t, answer{Code: resp.StatusCode, Header: resp.Header, Body: string(data)})
	_, err = io.ReadAll(conn)
	assert.NoError(t, err, "the connection ends, since the rest of the body never came")
}

// What is refused without a look at its body must not wait for it for ever.
func TestRefusedRequestWithASlowBodyEnds(t *testing.T) {
	st := store.New(store.Options{})
	api := httpapi.New(st, httpapi.Options{RequestTimeout: 50 * time.Millisecond, Hosts: []string{}})
	guarded := api.Guard(http.NotFoundHandler())
	web := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if strings.HasPrefix(r.URL.Path, "/debug/") {
			guarded.ServeHTTP(w, r)
			return
		}
		api.ServeHTTP(w, r)
	}))
	t.Cleanup(func() { api.Close(); web.Close(); st.Close() })
	for _, row := range []struct {
		path, host string
		code       int
	}{{"/nope", "localhost", 404}, {leases, "evil.example", 403}, {"/debug/a", "localhost", 404}, {leases + "?timeout=x", "localhost", 400}} {
		t.Run(row.path, func(t *testing.T) {
			conn, err := net.Dial("tcp", web.Listener.Addr().String())
			require.NoError(t, err)
			defer conn.Close()
			_, err = fmt.Fprintf(conn, "POST %s HTTP/1.1\r\nHost: %s\r\nContent-Length: 1000\r\n\r\n{", row.path, row.host)
			require.NoError(t, err)
			resp, err := http.ReadResponse(bufio.NewReader(conn), nil)
			require.NoError(t, err)
			assert.Equal(t, row.code, resp.StatusCode)
		})
	}
}
