package typed

import (
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	coordinationv1 "k8s.io/api/coordination/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/kubernetes"
	coordinationclient "k8s.io/client-go/kubernetes/typed/coordination/v1"
	"k8s.io/client-go/rest"

	"github.com/kubecoord/kubecoord/httpapi"
	"github.com/kubecoord/kubecoord/internal/test/kube/clients/internal/testapi"
	"github.com/kubecoord/kubecoord/store"
)

func leases(cs kubernetes.Interface) coordinationclient.LeaseInterface {
	return cs.CoordinationV1().Leases(testapi.Namespace)
}

// create stores a Lease.
func create(t *testing.T, cs kubernetes.Interface, name string) *coordinationv1.Lease {
	t.Helper()
	l, err := leases(cs).Create(t.Context(), testapi.Lease(name), metav1.CreateOptions{})
	require.NoError(t, err)
	return l
}

// client-go makes an ERROR event of an answer that breaks off.
func TestEndOfTheServerIsNoErrorEvent(t *testing.T) {
	for name, end := range map[string]func(api *testapi.API){
		"API": func(api *testapi.API) { api.Server.Close() }, "store": func(api *testapi.API) { api.Store.Close() },
	} {
		for where, start := range map[string]func(testing.TB, store.Options) *testapi.API{"in memory": testapi.New, "over a socket": testapi.Listen} {
			t.Run(name+" "+where, func(t *testing.T) {
				api := start(t, store.Options{})
				w, err := leases(api.Client(t)).Watch(t.Context(), metav1.ListOptions{})
				require.NoError(t, err)
				end(api)
				testapi.End(t, w)
			})
		}
	}
}

// The host of a client may have a path, which begins the path of each request.
func TestClientsWorkBelowAPrefix(t *testing.T) {
	st := store.New(store.Options{})
	api := httpapi.New(st, httpapi.Options{})
	listener := httptest.NewServer(http.StripPrefix("/some/prefix", api))
	t.Cleanup(listener.Close)
	t.Cleanup(st.Close)
	t.Cleanup(api.Close)
	config := &rest.Config{Host: listener.URL + "/some/prefix", QPS: -1, WarningHandler: rest.NoWarnings{}}
	cs, err := kubernetes.NewForConfig(config)
	require.NoError(t, err)
	w, err := leases(cs).Watch(t.Context(), metav1.ListOptions{})
	require.NoError(t, err)
	defer w.Stop()
	assert.Equal(t, watch.Event{Type: watch.Added, Object: create(t, cs, "a")}, testapi.Next(t, w))
	d, err := discovery.NewDiscoveryClientForConfig(config)
	require.NoError(t, err)
	_, lists, err := d.ServerGroupsAndResourcesWithContext(t.Context())
	require.NoError(t, err)
	assert.Len(t, lists, 5)
}
