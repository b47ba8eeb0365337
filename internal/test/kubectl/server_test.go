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

// watchingPath is answered when a kubectl has opened a watch: that is how a
// session knows that one in the background is ready for what comes next.
const watchingPath = "/test/watching"

// server is what a kubectl is pointed at.
type server struct {
	url     string
	watches chan struct{} // has an item for each watch that was opened
}

// newServer starts a server that ends with the test. Its clock stands still,
// so that nothing depends on how long a kubectl takes.
func newServer(t *testing.T) *server {
	s := &server{watches: make(chan struct{}, 1000)}
	now := time.Now()
	st := store.New(store.Options{Clock: clock.Func(func() time.Time { return now })})
	t.Cleanup(st.Close)
	api := httpapi.New(st, httpapi.Options{})
	var handler http.Handler = api
	if reference() != "" {
		handler = besideReference(t, api)
	}
	listener := httptest.NewServer(s.announceWatches(handler))
	t.Cleanup(listener.Close)
	t.Cleanup(listener.CloseClientConnections)
	t.Cleanup(api.Close) // before them, as it ends the watches
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

// forgetWatches makes watchingPath wait for one that is yet to come.
func (s *server) forgetWatches() {
	for len(s.watches) > 0 {
		<-s.watches
	}
}

// besideReference passes requests to the reference, except those for documents
// that the bare API machinery has not got.
func besideReference(t *testing.T, own http.Handler) http.Handler {
	u, err := url.Parse(reference())
	require.NoError(t, err)
	proxy := httputil.NewSingleHostReverseProxy(u)
	proxy.FlushInterval = -1 // watches are read as they come
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

// newNamespace returns a name that no other test uses: the reference is shared.
func newNamespace() string {
	const letters = "bcdfghjklmnpqrstvwxz"
	name := []byte("kubectl-test-")
	for range 8 {
		name = append(name, letters[rand.IntN(len(letters))])
	}
	return string(name)
}

// writeKubeconfig writes a file that points kubectl at a server and a namespace.
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
