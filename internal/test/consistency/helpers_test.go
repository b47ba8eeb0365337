package consistency_test

import (
	"bufio"
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kubecoord/kubecoord/httpapi/apitest"
	"github.com/kubecoord/kubecoord/internal/registry"
	"github.com/kubecoord/kubecoord/internal/test/consistency"
	"github.com/kubecoord/kubecoord/lease"
	"github.com/kubecoord/kubecoord/store"
	"github.com/kubecoord/kubecoord/store/meta"
)

const (
	leases  = "/apis/coordination.k8s.io/v1/namespaces/default/leases"
	leasesA = leases + "/a"

	heldBy = `{"spec":{"holderIdentity":"`
	endOf  = `"}}`
)

var storeOptions store.CreateOptions

func leaseOf(name string) *lease.Lease {
	return &lease.Lease{ObjectMeta: meta.ObjectMeta{Namespace: "default", Name: name}}
}

func leaseNamed(name string) string { return `{"metadata":{"name":"` + name + `"}}` }

// door is a server and one client of it.
type door struct {
	*consistency.API
	client *http.Client
	base   string
}

func doorFor(api *consistency.API, client string) *door {
	return &door{api, &http.Client{Transport: api.TransportFor(client)}, api.Host()}
}

// doorTo returns a door through the Transport.
func doorTo(api *consistency.API) *door {
	return &door{api, &http.Client{Transport: api.Transport()}, api.Host()}
}

// eachDoor runs a test through a transport in a bubble, and through sockets with and without TLS.
func eachDoor(t *testing.T, test func(t *testing.T, d *door)) {
	t.Run("transport", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) { test(t, doorTo(consistency.New(t, apitest.Options{}))) })
	})
	socket := func(withTLS bool) func(*testing.T) {
		return func(t *testing.T) {
			api := consistency.New(t, apitest.Options{TLS: withTLS})
			url, pool := api.URL(), x509.NewCertPool()
			pool.AppendCertsFromPEM(api.CA())
			transport := &http.Transport{TLSClientConfig: &tls.Config{RootCAs: pool}, ForceAttemptHTTP2: true}
			t.Cleanup(transport.CloseIdleConnections)
			test(t, &door{api, &http.Client{Transport: transport}, url})
		}
	}
	t.Run("socket", socket(false))
	t.Run("TLS", socket(true))
}

// answer is the answer to a request, or the error of its connection.
type answer struct {
	code int
	body string
	err  error
}

func (a answer) String() string {
	if a.err != nil {
		return a.err.Error()
	}
	return fmt.Sprint(a.code, " ", a.body)
}

// open sends a request. Headers come in pairs.
func (d *door) open(t testing.TB, method, target, body string, headers ...string) (*http.Response, error) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), method, d.base+target, strings.NewReader(body))
	require.NoError(t, err)
	if body != "" {
		req.Header.Set("Content-Type", "application/json")
	}
	for i := 0; i < len(headers); i += 2 {
		req.Header.Set(headers[i], headers[i+1])
	}
	return d.client.Do(req)
}

func (d *door) do(t testing.TB, method, target, body string, headers ...string) answer {
	t.Helper()
	resp, err := d.open(t, method, target, body, headers...)
	if err != nil {
		return answer{err: err}
	}
	defer resp.Body.Close()
	data, err := io.ReadAll(resp.Body)
	return answer{resp.StatusCode, string(data), err}
}

// create creates a Lease.
func (d *door) create(t testing.TB, name string) {
	t.Helper()
	a := d.do(t, "POST", leases, leaseNamed(name))
	require.Equal(t, http.StatusCreated, a.code, a)
}

// watch opens a watch until the end of the test and returns its lines.
func (d *door) watch(t testing.TB, target string, headers ...string) *bufio.Reader {
	t.Helper()
	resp, err := d.open(t, "GET", target, "", headers...)
	require.NoError(t, err)
	t.Cleanup(func() { resp.Body.Close() })
	require.Equal(t, http.StatusOK, resp.StatusCode)
	return bufio.NewReader(resp.Body)
}

// writers sends requests to a server as named clients.
type writers struct {
	t   *testing.T
	api *consistency.API
}

func (w *writers) does(client, method, path, body string, headers ...string) answer {
	return doorFor(w.api, client).do(w.t, method, path, body, headers...)
}

// patches sends a merge patch of the Lease a.
func (w *writers) patches(client, body string) answer {
	return w.does(client, "PATCH", leasesA, body, "Content-Type", "application/merge-patch+json")
}

// Check reports each finding as an error of the test.
func TestCheckFailsTheTest(t *testing.T) {
	d, put := behind(t)
	put(says(http.StatusCreated, `{"kind":"Lease","metadata":{"name":"a","namespace":"default","resourceVersion":"1001"}}`))
	d.create(t, "a")
	l := &listener{TB: t}
	d.Check(l)
	require.Len(t, l.errors, 1)
	assert.Contains(t, l.errors[0], "a confirmed write is not in the history: create")
}

func TestCheckNeedsTheWholeHistory(t *testing.T) {
	api := consistency.New(t, apitest.Options{})
	(*registry.Store)(api.Store()).Record(2)
	for _, name := range []string{"a", "b", "c", "d", "e", "f"} {
		doorTo(api).create(t, name)
	}
	l := &listener{TB: t}
	api.Check(l)
	assert.Equal(t, []string{"consistency: got more changes than the store records, want all of them: see registry.Store.Record"}, l.errors)
}

// listener is a testing.TB that records its errors.
type listener struct {
	testing.TB
	errors []string
}

func (l *listener) Errorf(format string, args ...any) {
	l.errors = append(l.errors, fmt.Sprintf(format, args...))
}
