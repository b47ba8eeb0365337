package testapi

import (
	"testing"

	"github.com/stretchr/testify/require"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/kubernetes"
)

// Client returns client-go's typed clients with their default, protobuf.
func (a *API) Client(t testing.TB) kubernetes.Interface {
	cs, err := kubernetes.NewForConfig(a.Config())
	require.NoError(t, err)
	return cs
}

// JSONClient returns client-go's typed clients, set to JSON.
func (a *API) JSONClient(t testing.TB) kubernetes.Interface {
	config := a.Config()
	config.ContentType = "application/json"
	config.AcceptContentTypes = "application/json"
	cs, err := kubernetes.NewForConfig(config)
	require.NoError(t, err)
	return cs
}

// Discovery returns client-go's discovery client.
func (a *API) Discovery(t testing.TB) *discovery.DiscoveryClient {
	c, err := discovery.NewDiscoveryClientForConfig(a.Config())
	require.NoError(t, err)
	return c
}
