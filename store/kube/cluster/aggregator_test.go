package cluster_test

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kubecoord/kubecoord/httpapi/apitest"
	"github.com/kubecoord/kubecoord/store/kube/cluster"
)

// The answers for APIServices are compared with a real server in internal/test/cluster.

// elsewhere is the server of another group, which is reached without a network.
type elsewhere struct {
	conns   chan net.Conn
	closed  sync.Once
	down    atomic.Bool
	checked atomic.Int32 // requests for the version
	dialed  atomic.Value // the last address
}

func newElsewhere(t *testing.T) *elsewhere {
	e := &elsewhere{conns: make(chan net.Conn)}
	server := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/apis/example.com/v1":
			e.checked.Add(1)
			fmt.Fprint(w, `{"kind":"APIResourceList","groupVersion":"example.com/v1","resources":[{"name":"things","singularName":"thing","kind":"Thing","verbs":["get"]}]}`)
		case "/apis/example.com/v1/things/a":
			fmt.Fprint(w, r.Header.Get("X-Remote-User"), r.Header["Authorization"])
		default:
			w.WriteHeader(http.StatusNotFound)
		}
	}))
	server.Listener.Close()
	server.Listener = e
	server.StartTLS()
	t.Cleanup(server.Close)
	return e
}

// Dial is for cluster.Options.
func (e *elsewhere) Dial(ctx context.Context, _, address string) (net.Conn, error) {
	e.dialed.Store(address)
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
		o := cluster.Bare()
		o.Dial = there.Dial
		api := serve(t, o, apitest.Options{})
		must := func(path, body string) {
			t.Helper()
			code, text := do(t, api, request{method: http.MethodPost, path: path, body: body})
			require.Equal(t, 201, code, text)
		}
		must("/apis/apiregistration.k8s.io/v1/apiservices", thingsService)
		must("/api/v1/namespaces/default/services", `{"metadata":{"name":"things"},"spec":{"type":"ExternalName","externalName":"things.example.com"}}`)
		synctest.Wait()
		require.Equal(t, "Passed: all checks passed", condition(t, api))
		assert.Equal(t, "things.example.com:443", there.dialed.Load())
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
		code, text = do(t, fork, request{method: http.MethodGet, path: "/apis", header: http.Header{"Accept": {"application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList"}}})
		assert.Equal(t, 200, code)
		assert.Contains(t, text, `"resource":"things"`)
	})
}

func TestLeaseCandidatesAreServedIfAsked(t *testing.T) {
	const path = "/apis/coordination.k8s.io/v1beta1/leasecandidates"
	for _, asked := range []bool{false, true} {
		o := cluster.Bare()
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
