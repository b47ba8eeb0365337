//go:build unix

package kubectl

import (
	"encoding/json"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/kubecoord/kubecoord/httpapi"
	"github.com/kubecoord/kubecoord/store"
	"github.com/kubecoord/kubecoord/store/clock"
)

// reference returns the address of a real API server to run against, if not "".
func reference() string { return os.Getenv("KUBECOORD_REFERENCE") }

// watchingPath is answered after a kubectl has opened a watch. A session requests
// it to wait for a kubectl in the background.
const watchingPath = "/test/watching"

// server is the server of a kubectl.
type server struct {
	url     string
	watches chan struct{} // has an item for each watch that was opened
}

// newServer starts a server that is closed at the end of the test. Its clock
// stands still, so that results do not depend on the duration of a kubectl.
// It serves all kinds of Kubernetes if kinds is set.
func newServer(t *testing.T, kinds bool) *server {
	s := &server{watches: make(chan struct{}, 1000)}
	now := time.Now()
	o := store.Options{Clock: clock.Func(func() time.Time { return now })}
	if kinds {
		o.Clock = nil // kubectl keeps /openapi/v3 for as long as the second of its Last-Modified
	}
	st := store.New(o)
	t.Cleanup(st.Close)
	var opts httpapi.Options
	if kinds {
		everyKind(t, &opts)
	}
	api := httpapi.New(st, opts)
	var handler http.Handler = api
	if reference() != "" {
		handler = besideReference(t, api)
	}
	listener := httptest.NewServer(s.announceWatches(handler))
	t.Cleanup(listener.Close)
	t.Cleanup(listener.CloseClientConnections)
	t.Cleanup(api.Close) // before the server, because it ends the watches
	s.url = listener.URL
	return s
}

func (s *server) announceWatches(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == watchingPath {
			select {
			case <-s.watches:
			case <-r.Context().Done():
			}
			return
		}
		if watch := r.URL.Query().Get("watch"); watch == "true" || watch == "1" {
			s.watches <- struct{}{}
		}
		next.ServeHTTP(w, r)
	})
}

// forgetWatches makes watchingPath wait for the next watch.
func (s *server) forgetWatches() {
	for len(s.watches) > 0 {
		<-s.watches
	}
}

// besideReference passes requests to the reference, except requests for documents
// that the bare API machinery does not have.
func besideReference(t *testing.T, own http.Handler) http.Handler {
	u, err := url.Parse(reference())
	require.NoError(t, err)
	proxy := httputil.NewSingleHostReverseProxy(u)
	proxy.FlushInterval = -1 // forwards watch events at once
	resp, err := http.Get(reference() + "/openapi/v3")
	require.NoError(t, err)
	resp.Body.Close()
	documented := resp.StatusCode == http.StatusOK
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		namespace, isNamespace := strings.CutPrefix(r.URL.Path, "/api/v1/namespaces/")
		switch {
		case !documented && strings.HasPrefix(r.URL.Path, "/openapi/"),
			!documented && isNamespace && !strings.Contains(namespace, "/"):
			own.ServeHTTP(w, r)
		default:
			proxy.ServeHTTP(w, r)
		}
	})
}

// newNamespace returns a unique name, because all tests share the reference.
func newNamespace() string {
	const letters = "bcdfghjklmnpqrstvwxz"
	name := []byte("kubectl-test-")
	for range 8 {
		name = append(name, letters[rand.IntN(len(letters))])
	}
	return string(name)
}

// writeKubeconfig writes a kubeconfig for a server and a namespace.
func writeKubeconfig(t *testing.T, file, server, namespace string) {
	t.Helper()
	data, err := json.Marshal(map[string]any{
		"apiVersion": "v1", "kind": "Config", "current-context": "test",
		"clusters": []any{map[string]any{"name": "test", "cluster": map[string]any{"server": server}}},
		"users":    []any{map[string]any{"name": "test", "user": map[string]any{}}},
		"contexts": []any{map[string]any{"name": "test", "context": map[string]any{
			"cluster": "test", "user": "test", "namespace": namespace,
		}}},
	})
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(file, data, 0o600))
}
