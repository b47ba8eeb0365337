package httpapi_test

import (
	"bytes"
	"fmt"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"os"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kubecoord/kubecoord/httpapi"
	"github.com/kubecoord/kubecoord/store"
	"github.com/kubecoord/kubecoord/store/clock"
)

// seededServer returns a server whose answers depend on the requests alone.
func seededServer(t testing.TB) *server {
	t.Helper()
	now := clock.Func(func() time.Time { return time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC) })
	options := store.Options{Seed: 1, Clock: now}
	return newServerWith(t, options, httpapi.Options{})
}

func TestAnswersOfATransportAreThoseOfASocket(t *testing.T) {
	s, behind := seededServer(t), seededServer(t)
	socket := httptest.NewServer(behind.api)
	defer socket.Close()
	overSocket := func(r *http.Request) (*http.Response, error) {
		u := *r.URL
		u.Host = socket.Listener.Addr().String()
		r.URL = &u
		r.Host = "test"
		return socket.Client().Transport.RoundTrip(r)
	}
	for _, row := range []struct{ method, target, body, accept string }{
		{"POST", leases, leaseNamed("a"), ""},
		{"POST", leases, leaseNamed("a"), typeProtobuf},
		{"POST", leases, `{`, ""},
		{"POST", leases, leaseNamed("b"), typeProtobuf},
		{"PUT", leases + "/a", leaseNamed("a"), ""},
		{"GET", leases + "/a", "", ""},
		{"GET", leases + "/a", "", "application/yaml"},
		{"GET", leases + "/a", "", "text/html"},
		{"HEAD", leases + "/a", "", ""},
		{"", leases, "", ""},
		{"GET", leases + "?limit=1", "", typeProtobuf},
		{"GET", leases + "/a?watch=true", "", ""},
		{"GET", leases + "?watch=true&timeoutSeconds=-1", "", ""},
		{"GET", leases + "?%77atch=true&timeoutSeconds=-1", "", ""},
		{"GET", "/apis/coordination.k8s.io/v1/watch/leases?timeoutSeconds=-1", "", ""},
		{"GET", "/openapi/v3", "", ""},
		{"GET", "/nope", "", ""},
		{"DELETE", leases + "/a", "", ""},
		{"DELETE", leases, "", ""},
	} {
		read := func(send func(*http.Request) (*http.Response, error)) answer {
			req := newRequest(t, row.method, row.target, row.body, "Accept", row.accept, "User-Agent", "test/1")
			req.Method = row.method
			resp, err := send(req)
			require.NoError(t, err)
			defer resp.Body.Close()
			body, err := io.ReadAll(resp.Body)
			require.NoError(t, err)
			resp.Header.Del("Date") // net/http's
			resp.Header.Set("Length", fmt.Sprint(resp.Status, resp.Proto, resp.ContentLength))
			return answer{resp.StatusCode, resp.Header, string(body)}
		}
		name := row.method + " " + row.target + " " + row.accept
		assert.Equal(t, read(overSocket), read(s.api.Transport().RoundTrip), name)
	}
}

func TestEveryFormOfAWatchIsStreamed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newServer(t)
		for _, target := range []string{
			leases + "?watch=true", leases + "?limit=1&watch", leases + "?w%61tch=1", leases + "?timeoutSeconds=9&watch=1",
			"/apis/coordination.k8s.io/v1/watch/leases", "/apis/coordination.k8s.io/v1/watch/namespaces/default/leases/a",
		} {
			s.watch(t, target)
		}
		assert.Equal(t, 6, s.st.Watchers())
	})
}

func TestABodyThatMayBlockDoesNotHoldTheClient(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newServer(t)
		r, w := io.Pipe()
		defer w.Close()
		req := newRequest(t, "POST", leases, "", "Content-Type", typeJSON)
		req.Body, req.ContentLength = r, -1
		client := http.Client{Transport: s.api.Transport(), Timeout: time.Second}
		_, err := client.Do(req)
		assert.True(t, os.IsTimeout(err), "%v", err)
	})
}

func TestUnreadAnswerEndsWithItsContext(t *testing.T) {
	s := newServer(t)
	resp, err := s.api.Transport().RoundTrip(newRequest(t, "GET", leases, ""))
	require.NoError(t, err)
	_, err = resp.Body.Read(make([]byte, 1))
	require.NoError(t, err)
	require.NoError(t, resp.Body.Close())
	_, err = resp.Body.Read(make([]byte, 1))
	assert.Equal(t, http.ErrBodyReadAfterClose, err)
}

// captureLog returns what package log writes during the test.
func captureLog(t *testing.T) *bytes.Buffer {
	var text bytes.Buffer
	log.SetOutput(&text)
	t.Cleanup(func() { log.SetOutput(os.Stderr) })
	return &text
}
