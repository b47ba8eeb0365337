package apitest_test

import (
	"bufio"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"runtime"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kubecoord/kubecoord/httpapi/apitest"
)

const (
	leases  = "/apis/coordination.k8s.io/v1/namespaces/default/leases"
	leasesA = leases + "/a"
)

// door is an API and a client that reaches it in one way.
type door struct {
	*apitest.API
	client *http.Client
	base   string
	socket bool
}

// doorTo returns the door through the Transport of an API, and doorFor the door of a
// named client.
func doorTo(api *apitest.API) *door {
	return &door{API: api, client: clientOf(api), base: api.Host()}
}

func doorFor(api *apitest.API, client string) *door {
	return &door{API: api, client: &http.Client{Transport: api.TransportFor(client)}, base: api.Host()}
}

// newDoor returns the door to a new server. Without a socket it also works in a bubble.
func newDoor(t testing.TB, opts ...apitest.Options) *door { return doorTo(apitest.New(t, opts...)) }

// eachDoor runs a test through a transport, inside a bubble, and over sockets with and without TLS.
func eachDoor(t *testing.T, test func(t *testing.T, d *door)) {
	t.Run("transport", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			api := apitest.New(t)
			test(t, doorTo(api))
		})
	})
	t.Run("socket", func(t *testing.T) {
		api := apitest.New(t)
		transport := &http.Transport{}
		t.Cleanup(transport.CloseIdleConnections)
		test(t, &door{api, &http.Client{Transport: transport}, api.URL(), true})
	})
	t.Run("TLS", func(t *testing.T) {
		api := apitest.New(t, apitest.Options{TLS: true})
		test(t, &door{api, tlsClient(t, api), api.URL(), true})
	})
}

func tlsClient(t testing.TB, api *apitest.API) *http.Client {
	pool := x509.NewCertPool()
	require.True(t, pool.AppendCertsFromPEM(api.CA()))
	transport := &http.Transport{TLSClientConfig: &tls.Config{RootCAs: pool}, ForceAttemptHTTP2: true}
	t.Cleanup(transport.CloseIdleConnections)
	return &http.Client{Transport: transport}
}

// answer is the result of a request.
type answer struct {
	code   int
	header http.Header
	body   string
	err    error // of the connection
}

// String is the code and the body, or the error.
func (a answer) String() string {
	if a.err != nil {
		return a.err.Error()
	}
	return fmt.Sprint(a.code, " ", a.body)
}

// do sends a request with JSON in its body, if it has one. Headers come in pairs.
func (d *door) do(t testing.TB, method, target, body string, headers ...string) answer {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), method, d.base+target, strings.NewReader(body))
	require.NoError(t, err)
	if body != "" {
		req.Header.Set("Content-Type", "application/json")
	}
	for i := 0; i < len(headers); i += 2 {
		req.Header.Set(headers[i], headers[i+1])
	}
	resp, err := d.client.Do(req)
	if err != nil {
		return answer{err: err}
	}
	defer resp.Body.Close()
	data, err := io.ReadAll(resp.Body)
	return answer{resp.StatusCode, resp.Header, string(data), err}
}

// create creates a Lease and requires that it is new.
func (d *door) create(t testing.TB, name string) {
	t.Helper()
	a := d.do(t, "POST", leases, leaseNamed(name))
	require.Equal(t, http.StatusCreated, a.code, a)
}

func leaseNamed(name string) string { return `{"metadata":{"name":"` + name + `"}}` }

// stream is an open watch.
type stream struct {
	t    testing.TB
	body io.ReadCloser
	*bufio.Reader
}

// watch opens a watch; the end of the test closes it.
func (d *door) watch(t testing.TB, target string, headers ...string) *stream {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), "GET", d.base+target, nil)
	require.NoError(t, err)
	for i := 0; i < len(headers); i += 2 {
		req.Header.Set(headers[i], headers[i+1])
	}
	resp, err := d.client.Do(req)
	require.NoError(t, err)
	require.Equal(t, http.StatusOK, resp.StatusCode)
	t.Cleanup(func() { resp.Body.Close() })
	return &stream{t, resp.Body, bufio.NewReader(resp.Body)}
}

// next waits for an event and returns its type and the name, or the code, of its object; or the error that ended the
// stream.
func (s *stream) next() string {
	line, err := s.ReadBytes('\n')
	if err != nil {
		return fmt.Sprintf("%d bytes, %v", len(line), err)
	}
	var ev struct {
		Type   string
		Object struct {
			Metadata struct{ Name string }
			Code     int
		}
	}
	require.NoError(s.t, json.Unmarshal(line, &ev), "%s", line)
	if ev.Object.Code != 0 {
		return fmt.Sprint(ev.Type, " ", ev.Object.Code)
	}
	return ev.Type + " " + ev.Object.Metadata.Name
}

// failing is a TB for a test that must fail.
type failing struct {
	testing.TB
	message string
}

// failure runs do with a failing test and returns its message.
func failure(t testing.TB, do func(t testing.TB)) string {
	f := &failing{TB: t}
	done := make(chan struct{})
	go func() {
		defer close(done)
		do(f)
	}()
	<-done
	return f.message
}

func (f *failing) Fatalf(format string, args ...any) {
	f.Errorf(format, args...)
	runtime.Goexit()
}

func (f *failing) Errorf(format string, args ...any) { f.message += fmt.Sprintf(format, args...) }

// assertCut checks that a connection was cut before an answer came.
func assertCut(t testing.TB, d *door, a answer) {
	t.Helper()
	if assert.Error(t, a.err, "%s", a) {
		want := "unexpected EOF"
		if d.socket {
			want = "connection reset by peer"
		}
		assert.ErrorContains(t, a.err, want)
	}
}
