package testapi

import (
	"testing"

	"github.com/stretchr/testify/require"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/metadata"
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

// Dynamic returns client-go's client for objects without a Go type.
func (a *API) Dynamic(t testing.TB) dynamic.Interface {
	c, err := dynamic.NewForConfig(a.Config())
	require.NoError(t, err)
	return c
}

// Metadata returns client-go's metadata client.
func (a *API) Metadata(t testing.TB) metadata.Interface {
	c, err := metadata.NewForConfig(a.Config())
	require.NoError(t, err)
	return c
}

// Discovery returns client-go's discovery client.
func (a *API) Discovery(t testing.TB) *discovery.DiscoveryClient {
	c, err := discovery.NewDiscoveryClientForConfig(a.Config())
	require.NoError(t, err)
	return c
}
