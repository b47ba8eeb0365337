package client_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kubecoord/kubecoord/httpapi"
	"github.com/kubecoord/kubecoord/httpapi/apitest"
	"github.com/kubecoord/kubecoord/httpapi/client"
	"github.com/kubecoord/kubecoord/lease"
	"github.com/kubecoord/kubecoord/store"
	"github.com/kubecoord/kubecoord/store/meta"
)

// hosts is a transport to several servers. A host without an entry is the API.
type hosts struct {
	api *apitest.API

	mu     sync.Mutex // guards all below
	answer map[string]answer
	asked  []string // method and host of each request
}

// answer takes the place of the API.
type answer func(req *http.Request) (*http.Response, error)

// RoundTrip implements http.RoundTripper.
func (h *hosts) RoundTrip(req *http.Request) (*http.Response, error) {
	h.mu.Lock()
	h.asked = append(h.asked, req.Method+" "+req.URL.Host)
	answer := h.answer[req.URL.Host]
	h.mu.Unlock()
	if answer != nil {
		return answer(req)
	}
	return h.api.TransportFor("client").RoundTrip(req)
}

func (h *hosts) set(host string, a answer) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.answer[host] = a
}

func (h *hosts) next() (asked []string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	asked, h.asked = h.asked, nil
	return asked
}

func hang(req *http.Request) (*http.Response, error) {
	<-req.Context().Done()
	return nil, req.Context().Err()
}

func refuse(*http.Request) (*http.Response, error) {
	return nil, &net.OpError{Op: "dial", Err: syscall.ECONNREFUSED}
}

func cut(*http.Request) (*http.Response, error) { return nil, io.ErrUnexpectedEOF }

func say(code int, contentType, body string) answer {
	return func(*http.Request) (*http.Response, error) {
		return &http.Response{StatusCode: code, Header: http.Header{"Content-Type": {contentType}}, Body: io.NopCloser(strings.NewReader(body))}, nil
	}
}

// inHosts runs a test in a bubble. The Lease "a" exists.
func inHosts(t *testing.T, config client.Config, test func(t *testing.T, h *hosts, leases *client.Collection[lease.Lease])) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		api := apitest.New(t, apitest.Options{})
		put(t, api.Store(), "a", "1")
		h := &hosts{api: api, answer: map[string]answer{}}
		config.Transport = h
		if config.Servers == nil {
			config.Servers = []string{"http://a", "http://b", "http://c"}
		}
		test(t, h, leasesAt(t, config))
	})
}

// A read asks each server once. A write goes on to the next server only if none can have done it.
func TestRequestsGoToTheNextServer(t *testing.T) {
	for name, row := range map[string]struct {
		a, b        answer
		read, write string // hosts that were asked, and whether that was a success
	}{
		"all is well":    {nil, nil, "a true", "a true"},
		"refused":        {refuse, refuse, "abc true", "abc true"},
		"hung":           {hang, nil, "ab true", "a false"},
		"two hung":       {hang, hang, "abc true", "a false"},
		"cut":            {cut, cut, "abc true", "a false"},
		"a proxy":        {say(404, "text/plain", "no backend"), nil, "ab true", "a false"},
		"a page":         {say(200, "text/html", "<html>"), nil, "ab true", "a false"},
		"refused, hung":  {refuse, hang, "abc true", "ab false"},
		"hung, refused":  {hang, refuse, "abc true", "a false"},
		"unavailable":    {say(503, "text/plain", "later"), nil, "a false", "a false"},
		"too much to do": {say(429, "text/plain", "later"), nil, "a false", "a false"},
	} {
		t.Run(name, func(t *testing.T) {
			for verb, want := range map[string]string{"GET": row.read, "POST": row.write} {
				inHosts(t, client.Config{}, func(t *testing.T, h *hosts, leases *client.Collection[lease.Lease]) {
					h.set("a", row.a)
					h.set("b", row.b)
					var err error
					if verb == "GET" {
						_, err = leases.Get(t.Context(), "default", "a")
					} else {
						_, err = leases.Create(t.Context(), newLease("b", "me"), store.CreateOptions{})
					}
					asked := strings.NewReplacer(verb, "", " ", "").Replace(strings.Join(h.next(), ""))
					assert.Equal(t, want, fmt.Sprint(asked, " ", err == nil), "%s: %v", verb, err)
				})
			}
		})
	}
}

// The next request goes to the server that answered, and to the one after a server that did not.
func TestTheServerThatAnsweredIsKept(t *testing.T) {
	inHosts(t, client.Config{}, func(t *testing.T, h *hosts, leases *client.Collection[lease.Lease]) {
		get := func() error { _, err := leases.Get(t.Context(), "default", "a"); return err }
		h.set("a", hang)
		require.NoError(t, get())
		h.set("a", nil)
		require.NoError(t, get())
		assert.Equal(t, []string{"GET a", "GET b", "GET b"}, h.next())
		h.set("b", say(500, "text/plain", "no quorum"))
		assert.ErrorIs(t, get(), meta.ReasonInternalError)
		h.set("c", cut)
		_, err := leases.Create(t.Context(), newLease("b", "me"), store.CreateOptions{})
		assert.ErrorIs(t, err, io.ErrUnexpectedEOF)
		require.NoError(t, get())
		h.set("a", say(429, "text/plain", "busy"))
		assert.ErrorIs(t, get(), meta.ReasonTooManyRequests)
		assert.ErrorIs(t, get(), meta.ReasonTooManyRequests)
		assert.Equal(t, []string{"GET b", "POST c", "GET a", "GET a", "GET a"}, h.next())
	})
}

// Deadlines that are too short for any server add up. A caller that leaves says nothing about the server.
func TestServersAreLeftByTheTimeTheyWereSilent(t *testing.T) {
	inHosts(t, client.Config{}, func(t *testing.T, h *hosts, leases *client.Collection[lease.Lease]) {
		get := func(d time.Duration) {
			ctx, cancel := context.WithTimeout(t.Context(), d)
			defer cancel()
			_, err := leases.Get(ctx, "default", "a")
			assert.ErrorIs(t, err, context.DeadlineExceeded)
		}
		h.set("a", hang)
		for range 3 {
			get(300 * time.Millisecond)
		}
		ctx, cancel := context.WithCancel(t.Context())
		time.AfterFunc(time.Minute, cancel)
		_, err := leases.Create(ctx, newLease("b", "me"), store.CreateOptions{})
		assert.Error(t, err)
		h.next()
		h.set("a", nil)
		_, err = leases.Get(t.Context(), "default", "a")
		require.NoError(t, err)
		assert.NotContains(t, h.next(), "GET a")
	})
}

// If all fail, and one of them only for now, a later request may succeed.
func TestOneServerWithATemporaryFailureIsEnough(t *testing.T) {
	for _, last := range []string{"a", "c"} {
		inHosts(t, client.Config{}, func(t *testing.T, h *hosts, leases *client.Collection[lease.Lease]) {
			wrong := func(*http.Request) (*http.Response, error) { return nil, http.ErrSchemeMismatch }
			for _, host := range []string{"a", "b", "c"} {
				h.set(host, wrong)
			}
			h.set(last, refuse)
			_, err := leases.Get(t.Context(), "default", "a")
			assert.ErrorIs(t, err, syscall.ECONNREFUSED)
			assert.Equal(t, []string{"GET a", "GET b", "GET c"}, h.next())
		})
	}
}

// A replica that lags does not have the version of the watch yet.
func TestWatchGoesOnAtAReplicaThatLags(t *testing.T) {
	inHosts(t, client.Config{}, func(t *testing.T, h *hosts, leases *client.Collection[lease.Lease]) {
		status := `{"kind":"Status","status":"Failure","reason":"Timeout","code":504,"message":"Timeout: Too large resource version: 2, current: 1","details":{"causes":[{"reason":"ResourceVersionTooLarge"}],"retryAfterSeconds":1}}`
		h.set("a", say(504, "application/json", status))
		h.set("b", h.answer["a"])
		w := record(t, leases.Watch, store.WatchOptions{ResourceVersion: "1001"})
		time.Sleep(5 * time.Second)
		put(t, h.api.Store(), "a", "2")
		assert.Equal(t, []string{"MODIFIED a 2"}, w.next())
		assert.Equal(t, []string{"GET a", "GET b", "GET c"}, h.next())
	})
}

// A proxy that answers for some seconds in place of the API costs no leader its term.
func TestLeaderOutlivesTheAnswersOfAProxy(t *testing.T) {
	for name, of := range map[string]answer{
		"404": say(404, "text/plain", "default backend - 404"), "403": say(403, "text/html", "<html>"), "page": say(200, "text/html", "<html>"),
		"no path": say(404, "application/json", `{"kind":"Status","status":"Failure","reason":"NotFound","code":404,"details":{}}`),
	} {
		t.Run(name, func(t *testing.T) {
			inHosts(t, client.Config{Servers: []string{"http://a"}}, func(t *testing.T, h *hosts, leases *client.Collection[lease.Lease]) {
				ctx, cancel := context.WithCancel(t.Context())
				defer cancel()
				done := make(chan error)
				go func() {
					done <- contenderOf(t, leases, "me").Run(ctx, func(ctx context.Context, _ lease.Holding) { <-ctx.Done() })
				}()
				synctest.Wait()
				time.Sleep(time.Minute + time.Second) // not at the moment of a renewal
				h.set("a", of)
				time.Sleep(6 * time.Second)
				h.set("a", nil)
				time.Sleep(time.Minute)
				select {
				case err := <-done:
					assert.Fail(t, "lost", "%v", err)
				default:
					cancel()
					assert.ErrorIs(t, <-done, context.Canceled)
				}
			})
		})
	}
}

// A call ends after Config.Timeout if its context has no deadline, and so does the opening of a watch.
func TestCallsWithoutADeadlineHaveOne(t *testing.T) {
	for timeout, want := range map[time.Duration]time.Duration{0: 30 * time.Second, time.Minute: time.Minute, -1: time.Hour} {
		inHosts(t, client.Config{Servers: []string{"http://a"}, Timeout: timeout}, func(t *testing.T, h *hosts, leases *client.Collection[lease.Lease]) {
			h.set("a", hang)
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			time.AfterFunc(time.Hour, cancel)
			start := time.Now()
			_, err := leases.Get(ctx, "default", "a")
			assert.Equal(t, want, time.Since(start))
			if timeout < 0 {
				assert.ErrorIs(t, err, context.Canceled)
				return
			}
			assert.EqualError(t, err, fmt.Sprintf(`client: Get "http://a/apis/coordination.k8s.io/v1/namespaces/default/leases/a": gave up after %s`, want))
			assert.ErrorIs(t, err, context.DeadlineExceeded)

			h.next()
			watching, stop := context.WithTimeout(t.Context(), 3*want-time.Second)
			defer stop()
			for _, err := range leases.Watch(watching, store.WatchOptions{ResourceVersion: "1000"}) {
				assert.ErrorIs(t, err, context.DeadlineExceeded)
			}
			assert.Len(t, h.next(), 3, "openings in less than three times the limit")

			longer, stop := context.WithTimeout(t.Context(), 2*want)
			defer stop()
			start = time.Now()
			_, err = leases.Get(longer, "default", "a")
			assert.ErrorIs(t, err, context.DeadlineExceeded)
			assert.Equal(t, 2*want, time.Since(start), "a deadline of the caller counts alone")
		})
	}
}

// An error names the end of the context and the last failure, each once.
func TestErrorsNameEachReasonOnce(t *testing.T) {
	const path = `client: Get "http://a/apis/coordination.k8s.io/v1/namespaces/default/leases/a": `
	for name, row := range map[string]struct {
		answer answer
		want   string
	}{
		"hung": {hang, path + "context deadline exceeded"},
		"cut":  {cut, "context deadline exceeded; before that: " + path + "unexpected EOF"},
	} {
		t.Run(name, func(t *testing.T) {
			inHosts(t, client.Config{Servers: []string{"http://a"}}, func(t *testing.T, h *hosts, leases *client.Collection[lease.Lease]) {
				h.set("a", row.answer)
				ctx, cancel := context.WithTimeout(t.Context(), 5500*time.Millisecond)
				defer cancel()
				_, err := leases.Get(ctx, "default", "a")
				assert.EqualError(t, err, row.want)
				assert.ErrorIs(t, err, context.DeadlineExceeded)
			})
		})
	}
	inHosts(t, client.Config{Servers: []string{"http://a"}}, func(t *testing.T, h *hosts, leases *client.Collection[lease.Lease]) {
		h.set("a", say(503, "text/plain", "later"))
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		for _, err := range leases.Watch(ctx, store.WatchOptions{ResourceVersion: "1000"}) {
			assert.EqualError(t, err, "context deadline exceeded; before that: the server answered  without a Status: later")
			assert.ErrorIs(t, err, meta.ReasonServiceUnavailable)
		}
	})
}

// The loss of contact is one warning, and its end one information, however many requests fail. No
// credentials are logged, also if an answer repeats them.
func TestLossOfContactIsLoggedOnce(t *testing.T) {
	var text bytes.Buffer
	logger := slog.New(slog.NewTextHandler(&text, &slog.HandlerOptions{ReplaceAttr: func(_ []string, a slog.Attr) slog.Attr {
		if a.Key == slog.TimeKey {
			return slog.Attr{}
		}
		return a
	}}))
	inHosts(t, client.Config{Logger: logger, Token: "secret", Servers: []string{"http://a", "http://b"}}, func(t *testing.T, h *hosts, leases *client.Collection[lease.Lease]) {
		get := func() { leases.Get(t.Context(), "default", "a") }
		get()
		assert.Empty(t, text.String())
		h.set("a", func(req *http.Request) (*http.Response, error) {
			return say(404, "text/plain", "no backend for "+req.Header.Get("Authorization"))(req)
		})
		h.set("b", hang)
		for range 3 {
			get()
		}
		h.set("a", nil)
		h.set("b", nil)
		get()
		get()
		const path = `/apis/coordination.k8s.io/v1/namespaces/default/leases/a\": `
		assert.Equal(t, []string{
			`level=WARN msg="client: the server does not answer" server=http://a error="client: Get \"http://a` + path + `got 404, which is no answer of the API about the resource: \"no backend for Bearer [token]\""`,
			`level=WARN msg="client: the server does not answer" server=http://b error="client: Get \"http://b` + path + `gave up after 30s"`,
			`level=INFO msg="client: the server answers again" server=http://a`,
		}, strings.Split(strings.TrimSpace(text.String()), "\n"))
	})
}

// Without a Logger, the warning goes to slog.Default.
func TestLossOfContactIsAWarningByDefault(t *testing.T) {
	var text bytes.Buffer
	was := slog.Default()
	defer slog.SetDefault(was)
	slog.SetDefault(slog.New(slog.NewTextHandler(&text, nil)))
	inHosts(t, client.Config{Servers: []string{"http://a"}}, func(t *testing.T, h *hosts, leases *client.Collection[lease.Lease]) {
		for _, a := range []answer{cut, nil} {
			h.set("a", a)
			leases.Create(t.Context(), newLease("b", "me"), store.CreateOptions{})
		}
	})
	assert.Equal(t, 1, strings.Count(text.String(), "level=WARN"), text.String())
	assert.NotContains(t, text.String(), "level=INFO")
}

// Over sockets: the first server accepts connections and never answers, the second is closed.
func TestServersOverSockets(t *testing.T) {
	hung, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	defer hung.Close()
	dead := httptest.NewServer(nil)
	dead.Close()
	st := store.New(store.Options{})
	defer st.Close()
	api := httpapi.New(st, httpapi.Options{})
	defer api.Close()
	good := httptest.NewServer(api)
	defer good.Close()
	leases := leasesAt(t, client.Config{Servers: []string{"http://" + hung.Addr().String(), dead.URL, good.URL}, Timeout: 2 * time.Second})
	_, err = leases.Create(t.Context(), newLease("a", "me"), store.CreateOptions{})
	var timeout interface{ Temporary() bool }
	require.True(t, errors.As(err, &timeout) && timeout.Temporary(), "got %v", err)
	_, err = leases.Create(t.Context(), newLease("a", "me"), store.CreateOptions{})
	require.NoError(t, err)
	_, err = leases.Get(t.Context(), "default", "a")
	require.NoError(t, err)
}
