package faults

import (
	"net/http"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/require"
	coordinationv1 "k8s.io/api/coordination/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	coordinationclient "k8s.io/client-go/kubernetes/typed/coordination/v1"
	"k8s.io/client-go/rest"

	"github.com/kubecoord/kubecoord/httpapi/apitest"
	"github.com/kubecoord/kubecoord/internal/test/kube/clients/internal/testapi"
)

func TestMain(m *testing.M) { testapi.Main(m) }

// clientOf returns client-go's clients of a client's name, "" for none, with their defaults.
func clientOf(t testing.TB, api *apitest.API, name string, change ...func(*rest.Config)) kubernetes.Interface {
	t.Helper()
	config := &rest.Config{Host: api.Host(), Transport: api.TransportFor(name), QPS: -1, WarningHandler: rest.NoWarnings{}}
	for _, c := range change {
		c(config)
	}
	cs, err := kubernetes.NewForConfig(config)
	require.NoError(t, err)
	return cs
}

// inMemory runs a test inside a bubble, in virtual time.
func inMemory(t *testing.T, test func(t *testing.T, api *apitest.API, cs kubernetes.Interface)) {
	synctest.Test(t, func(t *testing.T) {
		api := apitest.New(t)
		test(t, api, clientOf(t, api, ""))
	})
}

// eachDoor runs a test in memory and over a socket. The test must not wait for time to pass.
func eachDoor(t *testing.T, test func(t *testing.T, api *apitest.API, leases coordinationclient.LeaseInterface)) {
	t.Run("in memory", func(t *testing.T) {
		inMemory(t, func(t *testing.T, api *apitest.API, cs kubernetes.Interface) { test(t, api, leasesOf(cs)) })
	})
	t.Run("over a socket", func(t *testing.T) {
		api := apitest.New(t)
		transport := &http.Transport{}
		t.Cleanup(transport.CloseIdleConnections)
		test(t, api, leasesOf(clientOf(t, api, "", func(c *rest.Config) { c.Host, c.Transport = api.URL(), transport })))
	})
}

func leasesOf(cs kubernetes.Interface) coordinationclient.LeaseInterface {
	return cs.CoordinationV1().Leases(testapi.Namespace)
}

func create(t testing.TB, leases coordinationclient.LeaseInterface, name string) *coordinationv1.Lease {
	t.Helper()
	l, err := leases.Create(t.Context(), testapi.Lease(name), metav1.CreateOptions{})
	require.NoError(t, err)
	return l
}
