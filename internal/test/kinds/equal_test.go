package kinds

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/kubecoord/kubecoord/httpapi"
	"github.com/kubecoord/kubecoord/internal/test/exchange"
	"github.com/kubecoord/kubecoord/store"
	"github.com/kubecoord/kubecoord/store/kube/cluster"
)

// newServer returns a server in memory with all kinds of client-go, which allocates addresses and ports.
func newServer(t *testing.T) *httpapi.API {
	t.Helper()
	options, err := cluster.Options{Addresses: true}.API(httpapi.Options{})
	require.NoError(t, err)
	st := store.New(store.Options{})
	t.Cleanup(st.Close)
	api := httpapi.New(st, options)
	t.Cleanup(api.Close)
	return api
}

// TestAnswersEqualThoseOfKubeAPIServer plays each scenario and compares the answers with the recorded ones.
func TestAnswersEqualThoseOfKubeAPIServer(t *testing.T) {
	exchange.Equal(t, recorded, scenarios(newServer(t).Transport(), "http://test"), *write)
}
