package cluster_test

import (
	"context"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kubecoord/kubecoord/httpapi/apitest"
	"github.com/kubecoord/kubecoord/httpapi/kube/cluster"
)

// The answers for APIServices are compared with a real server in internal/test/kube/cluster.

// elsewhere is another server, which is reached without a network.
type elsewhere struct {
	conns   chan net.Conn
	closed  sync.Once
	down    atomic.Bool
	checked atomic.Int32 // requests for the version
	// certificate is that of a server with TLS, in PEM.
	certificate []byte
	mu          sync.Mutex
	dialed      []string // guarded by mu
}

// newElsewhere returns a server that has a group, with a certificate of its own.
func newElsewhere(t *testing.T) *elsewhere {
	e := &elsewhere{}
	return e.serve(t, true, func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/apis/example.com/v1":
			e.checked.Add(1)
			fmt.Fprint(w, `{"kind":"APIResourceList","groupVersion":"example.com/v1","resources":[{"name":"things","singularName":"thing","kind":"Thing","verbs":["get"]}]}`)
		case "/apis/example.com/v1/things/a":
			fmt.Fprint(w, r.Header.Get("X-Remote-User"), r.Header["Authorization"])
		default:
			w.WriteHeader(http.StatusNotFound)
		}
	})
}

// serve starts the server.
func (e *elsewhere) serve(t *testing.T, secure bool, answer http.HandlerFunc) *elsewhere {
	e.conns = make(chan net.Conn)
	server := httptest.NewUnstartedServer(answer)
	server.Listener.Close()
	server.Listener = e
	server.Config.ErrorLog = log.New(io.Discard, "", 0)
	if secure {
		server.StartTLS()
		e.certificate = pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: server.Certificate().Raw})
	} else {
		server.Start()
	}
	t.Cleanup(server.Close)
	return e
}

// addresses returns the addresses that were dialed, each once, in the order of their first.
func (e *elsewhere) addresses() (all []string) {
	e.mu.Lock()
	defer e.mu.Unlock()
	for _, address := range e.dialed {
		if !slices.Contains(all, address) {
			all = append(all, address)
		}
	}
	return all
}

// Dial is for cluster.Options.
func (e *elsewhere) Dial(ctx context.Context, _, address string) (net.Conn, error) {
	e.mu.Lock()
	e.dialed = append(e.dialed, address)
	e.mu.Unlock()
	if e.down.Load() {
		return nil, errors.New("it is down")
	}
	here, there := net.Pipe()
	select {
	case e.conns <- there:
		return here, nil
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// Accept, Close and Addr implement net.Listener.
func (e *elsewhere) Accept() (net.Conn, error) {
	c, open := <-e.conns
	if !open {
		return nil, net.ErrClosed
	}
	return c, nil
}

func (e *elsewhere) Close() error {
	e.closed.Do(func() { close(e.conns) })
	return nil
}

func (e *elsewhere) Addr() net.Addr { return &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1)} }

const thingsService = `{"metadata":{"name":"v1.example.com"},"spec":{"group":"example.com","version":"v1","groupPriorityMinimum":100,"versionPriority":10,
"insecureSkipTLSVerify":true,"service":{"namespace":"default","name":"things"}}}`

const thingsAt = `{"metadata":{"name":"things"},"spec":{"type":"ExternalName","externalName":"things.example.com"}}`

const (
	apiServices = "/apis/apiregistration.k8s.io/v1/apiservices"
	aggregated  = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList"
)

// registerThings returns a server with Dial that has the APIService of the group.
func registerThings(t *testing.T, dial func(context.Context, string, string) (net.Conn, error)) *apitest.API {
	o := cluster.KubeAPIServer()
	o.Dial = dial
	api := serve(t, o, apitest.Options{})
	create(t, api, apiServices, thingsService)
	create(t, api, "/api/v1/namespaces/default/services", thingsAt)
	synctest.Wait()
	return api
}

// condition returns the reason and the message of an APIService.
func condition(t *testing.T, api *apitest.API) string {
	t.Helper()
	_, text := do(t, api, request{method: http.MethodGet, path: "/apis/apiregistration.k8s.io/v1/apiservices/v1.example.com"})
	_, text, _ = strings.Cut(text, `"reason":"`)
	reason, text, _ := strings.Cut(text, `","message":"`)
	message, _, _ := strings.Cut(text, `"}`)
	return reason + ": " + message
}

func TestAnAPIServiceIsAskedEveryHalfMinute(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		there := newElsewhere(t)
		api := registerThings(t, there.Dial)
		require.Equal(t, "Passed: all checks passed", condition(t, api))
		assert.Equal(t, []string{"things.example.com:443"}, there.addresses())
		_, text := do(t, api, request{method: http.MethodGet, path: "/apis/example.com/v1/things/a", header: http.Header{"Authorization": {"Bearer secret"}}})
		assert.Equal(t, "admin[]", text, "the user without the credentials")

		asked := there.checked.Load()
		time.Sleep(29 * time.Second)
		synctest.Wait()
		assert.Equal(t, asked, there.checked.Load())
		time.Sleep(time.Second)
		synctest.Wait()
		assert.Greater(t, there.checked.Load(), asked)

		there.down.Store(true)
		code, text := do(t, api, request{method: http.MethodGet, path: "/apis/example.com/v1/things/a"})
		assert.Equal(t, 503, code)
		assert.Contains(t, text, "it is down")
		time.Sleep(30 * time.Second)
		synctest.Wait()
		assert.Contains(t, condition(t, api), "FailedDiscoveryCheck: failing or missing response from https://things.example.com:443/apis/example.com/v1: ")
		code, text = do(t, api, request{method: http.MethodGet, path: "/apis/example.com/v1/things/a"})
		assert.Equal(t, 503, code)
		assert.Equal(t, "service unavailable\n", text)

		// A fork asks for itself.
		fork := api.Fork(t)
		there.down.Store(false)
		time.Sleep(30 * time.Second)
		synctest.Wait()
		assert.Contains(t, condition(t, api), "Passed")
		assert.Contains(t, condition(t, fork), "Passed")
		code, text = do(t, fork, request{method: http.MethodGet, path: "/apis", header: http.Header{"Accept": {aggregated}}})
		assert.Equal(t, 200, code)
		assert.Contains(t, text, `"resource":"things"`)
	})
}

// Servers that say nothing keep the workers that probe them for five seconds each. Registering has workers of its own.
func TestDeadServersDoNotDelayRegistration(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o := cluster.KubeAPIServer()
		var dialed atomic.Int32
		o.Dial = func(context.Context, string, string) (net.Conn, error) {
			here, there := net.Pipe()
			t.Cleanup(func() { there.Close() })
			dialed.Add(1)
			return here, nil
		}
		api := serve(t, o, apitest.Options{})
		create(t, api, "/api/v1/namespaces/default/services", thingsAt)
		for i := range 20 {
			create(t, api, apiServices, strings.ReplaceAll(thingsService, "example.com", fmt.Sprintf("dead%d.example.com", i)))
		}
		synctest.Wait()
		assert.EqualValues(t, 5, dialed.Load(), "workers")
		code := func() int {
			synctest.Wait()
			code, _ := do(t, api, request{method: http.MethodGet, path: apiServices + "/v1.live.example.com"})
			return code
		}
		const definitions = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
		begin := time.Now()
		create(t, api, definitions, `{"metadata":{"name":"lives.live.example.com"},"spec":{"group":"live.example.com","scope":"Cluster",
"names":{"plural":"lives","kind":"Live"},"versions":[{"name":"v1","served":true,"storage":true,"schema":{"openAPIV3Schema":{"type":"object"}}}]}}`)
		assert.Equal(t, 200, code())
		status, text := do(t, api, request{method: http.MethodDelete, path: definitions + "/lives.live.example.com"})
		require.Equal(t, 200, status, text)
		assert.Equal(t, 404, code())
		assert.Zero(t, time.Since(begin))

		// The dead servers are asked by turns, and a server that begins to live is found.
		time.Sleep(21 * time.Second)
		synctest.Wait()
		for i := range 20 {
			_, text := do(t, api, request{method: http.MethodGet, path: fmt.Sprintf("%s/v1.dead%d.example.com", apiServices, i)})
			assert.Contains(t, text, "FailedDiscoveryCheck")
		}
	})
}

// The aggregator asks with the rights of system:masters, and whoever registers an APIService chooses whom.
func TestAnAggregatedServerRedirectsNobody(t *testing.T) {
	for _, location := range []string{"http://192.0.2.9/internal", "https://things.example.com/internal", "/internal"} {
		t.Run(location, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var mu sync.Mutex
				paths := map[string]string{} // with what is accepted, and the groups of the last request
				var all atomic.Bool
				there := (&elsewhere{}).serve(t, true, func(w http.ResponseWriter, r *http.Request) {
					mu.Lock()
					defer mu.Unlock()
					paths[r.URL.Path+" "+r.Header.Get("Accept")] = strings.Join(r.Header["X-Remote-Group"], ",")
					if r.URL.Path == "/apis/example.com/v1" && r.Header.Get("Accept") == "" && !all.Load() {
						return
					}
					w.Header().Set("Location", location)
					w.WriteHeader(http.StatusTemporaryRedirect)
				})
				api := registerThings(t, there.Dial)
				require.Equal(t, "Passed: all checks passed", condition(t, api))
				code, text := do(t, api, request{method: http.MethodGet, path: "/apis", header: http.Header{"Accept": {aggregated}}})
				assert.Equal(t, 200, code)
				assert.Contains(t, text, `"versions":[{"version":"v1","freshness":"Stale"}]`)
				for _, method := range []string{http.MethodGet, http.MethodPost} {
					code, text = do(t, api, request{method: method, path: "/apis/example.com/v1/things/a", header: http.Header{"Authorization": {"Bearer secret"}}})
					assert.Equal(t, 502, code)
					assert.Equal(t, "the backend attempted to redirect this request, which is not permitted", text)
				}
				all.Store(true)
				time.Sleep(30 * time.Second)
				synctest.Wait()
				assert.Contains(t, condition(t, api), "bad status from https://things.example.com:443/apis/example.com/v1: 307")
				assert.Equal(t, []string{"things.example.com:443"}, there.addresses())
				mu.Lock()
				defer mu.Unlock()
				assert.Equal(t, map[string]string{
					"/apis " + aggregated: "system:masters", "/apis/example.com/v1 ": "system:masters", "/apis/example.com/v1 application/json": "",
					"/apis/example.com/v1/things/a ": "system:masters,system:authenticated",
				}, paths)
			})
		})
	}
}

// The text of an error may be another each time, as that of a connection which is reset. What a probe writes does not cause the next one.
func TestAFailedProbeWaitsForTheNext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var dialed atomic.Int32
		api := registerThings(t, func(context.Context, string, string) (net.Conn, error) {
			return nil, fmt.Errorf("reset from port %d", min(dialed.Add(1), 2000))
		})
		time.Sleep(3 * time.Second)
		synctest.Wait()
		assert.Less(t, dialed.Load(), int32(100), "ten probes, each of five attempts")
		assert.Contains(t, condition(t, api), "reset from port")
	})
}

// endless is the beginning of a document of discovery that does not end: at most 64 MiB, so that a test that fails does.
func endless(w http.ResponseWriter, contentType string) (n int) {
	w.Header().Set("Content-Type", contentType)
	spaces := []byte(strings.Repeat(" ", 1<<20))
	for n < 64<<20 {
		k, err := w.Write(spaces)
		if n += k; err != nil {
			return n
		}
	}
	return n
}

func TestADocumentOfAnotherServerIsBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var most atomic.Int64
		there := (&elsewhere{}).serve(t, true, func(w http.ResponseWriter, r *http.Request) {
			if accept := r.Header.Get("Accept"); accept != "" {
				n := int64(endless(w, accept))
				most.Store(max(n, most.Load()))
			}
		})
		api := registerThings(t, there.Dial)
		require.Equal(t, "Passed: all checks passed", condition(t, api))
		assert.Greater(t, most.Load(), int64(8<<20))
		assert.Less(t, most.Load(), int64(32<<20))
		_, text := do(t, api, request{method: http.MethodGet, path: "/apis", header: http.Header{"Accept": {aggregated}}})
		assert.Contains(t, text, `"versions":[{"version":"v1","freshness":"Stale"}]`)
	})
}

func TestLeaseCandidatesAreServedIfAsked(t *testing.T) {
	const path = "/apis/coordination.k8s.io/v1beta1/leasecandidates"
	for _, asked := range []bool{false, true} {
		o := cluster.KubeAPIServer()
		o.LeaseCandidates = asked
		api := serve(t, o, apitest.Options{})
		for _, at := range []*apitest.API{api, api.Fork(t)} {
			code, _ := do(t, at, request{method: http.MethodGet, path: path})
			assert.Equal(t, map[bool]int{false: 404, true: 200}[asked], code)
			_, groups := do(t, at, request{method: http.MethodGet, path: "/apis"})
			assert.Equal(t, asked, strings.Contains(groups, "coordination.k8s.io/v1beta1"))
			code, _ = do(t, at, request{method: http.MethodGet, path: "/apis/apiregistration.k8s.io/v1/apiservices/v1beta1.coordination.k8s.io"})
			assert.Equal(t, map[bool]int{false: 404, true: 200}[asked], code)
		}
	}
}
