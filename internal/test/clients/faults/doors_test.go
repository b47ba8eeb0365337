package faults

import (
	"net/http"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	coordinationv1 "k8s.io/api/coordination/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kubecoord/kubecoord/httpapi/apitest"
	"github.com/kubecoord/kubecoord/internal/test/clients/internal/testapi"
	"github.com/kubecoord/kubecoord/lease"
)

// Two lines connect each kind of client to the server of a test.
func TestEachClientConnectsInTwoLines(t *testing.T) {
	t.Run("client-go", func(t *testing.T) {
		api := apitest.New(t)
		cs, err := kubernetes.NewForConfig(&rest.Config{Host: api.Host(), Transport: api.Transport()})
		require.NoError(t, err)
		create(t, leasesOf(cs), "a")
		assertStored(t, api)
	})
	t.Run("controller-runtime", func(t *testing.T) {
		api := apitest.New(t)
		c, err := client.New(&rest.Config{Host: api.Host(), Transport: api.Transport()}, client.Options{})
		require.NoError(t, err)
		require.NoError(t, c.Create(t.Context(), testapi.Lease("a")))
		var l coordinationv1.Lease
		require.NoError(t, c.Get(t.Context(), client.ObjectKeyFromObject(testapi.Lease("a")), &l))
		assertStored(t, api)
	})
	t.Run("client-go with TLS", func(t *testing.T) {
		api := apitest.New(t, apitest.Options{TLS: true})
		cs, err := kubernetes.NewForConfig(&rest.Config{Host: api.URL(), TLSClientConfig: rest.TLSClientConfig{CAData: api.CA()}})
		require.NoError(t, err)
		create(t, leasesOf(cs), "a")
		assertStored(t, api)
	})
	for name, withTLS := range map[string]bool{"a kubeconfig": false, "a kubeconfig with TLS": true} {
		t.Run(name, func(t *testing.T) {
			api := apitest.New(t, apitest.Options{TLS: withTLS})
			config, err := clientcmd.BuildConfigFromFlags("", api.Kubeconfig())
			require.NoError(t, err)
			cs, err := kubernetes.NewForConfig(config)
			require.NoError(t, err)
			create(t, leasesOf(cs), "a")
			assertStored(t, api)
		})
	}
	t.Run("any client with HTTP", func(t *testing.T) {
		api := apitest.New(t)
		resp, err := http.Get(api.URL() + "/apis/coordination.k8s.io/v1/leases")
		require.NoError(t, err)
		defer resp.Body.Close()
		assert.Equal(t, http.StatusOK, resp.StatusCode)
	})
}

func assertStored(t *testing.T, api *apitest.API) {
	t.Helper()
	_, err := lease.In(api.Store()).Get(t.Context(), testapi.Namespace, "a")
	assert.NoError(t, err)
}
