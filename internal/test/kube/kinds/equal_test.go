package kinds

import (
	"net/http"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/kubecoord/kubecoord/httpapi"
	"github.com/kubecoord/kubecoord/httpapi/kube/cluster"
	"github.com/kubecoord/kubecoord/internal/test/exchange"
	"github.com/kubecoord/kubecoord/store"
)

// newServer returns a server in memory with all kinds of client-go, with the admission plugins of the server that was recorded and its
// addresses and ports.
func newServer(t *testing.T) *httpapi.API {
	t.Helper()
	options, err := cluster.Options{Plugins: cluster.DefaultPlugins(), Addresses: true}.API(httpapi.Options{})
	require.NoError(t, err)
	st := store.New(store.Options{})
	t.Cleanup(st.Close)
	api := httpapi.New(st, options)
	t.Cleanup(api.Close)
	return api
}

// namespacing makes a namespace before the first write in it, as the proxy before the server that was recorded.
type namespacing struct {
	http.RoundTripper
	made sync.Map
}

// RoundTrip implements http.RoundTripper.
func (n *namespacing) RoundTrip(r *http.Request) (*http.Response, error) {
	_, below, _ := strings.Cut(r.URL.Path, "/namespaces/")
	name, _, inside := strings.Cut(below, "/")
	if inside && r.Method != http.MethodGet {
		if _, made := n.made.LoadOrStore(name, true); made {
			return n.RoundTripper.RoundTrip(r)
		}
		post, err := http.NewRequestWithContext(r.Context(), http.MethodPost, "http://test/api/v1/namespaces", strings.NewReader(`{"metadata":{"name":"`+name+`"}}`))
		if err != nil {
			return nil, err
		}
		post.Header.Set("Content-Type", typeJSON)
		resp, err := n.RoundTripper.RoundTrip(post)
		if err != nil {
			return nil, err
		}
		resp.Body.Close()
	}
	return n.RoundTripper.RoundTrip(r)
}

// TestAnswersEqualThoseOfKubeAPIServer plays each scenario and compares the answers with the recorded ones.
func TestAnswersEqualThoseOfKubeAPIServer(t *testing.T) {
	exchange.Equal(t, recorded, scenarios(&namespacing{RoundTripper: newServer(t).Transport()}, "http://test"), *write)
}
