package lifetime

import (
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"

	"github.com/kubecoord/kubecoord/httpapi"
	"github.com/kubecoord/kubecoord/internal/test/clients/internal/testapi"
	"github.com/kubecoord/kubecoord/store"
)

const prefix = "/some/prefix"

// mount serves an API below a prefix, next to another handler.
func mount(t *testing.T) *rest.Config {
	st := store.New(store.Options{})
	api := httpapi.New(st, httpapi.Options{})
	mux := http.NewServeMux()
	mux.HandleFunc("/", func(w http.ResponseWriter, _ *http.Request) { http.Error(w, "not here", http.StatusTeapot) })
	mux.Handle(prefix+"/", http.StripPrefix(prefix, api))
	listener := httptest.NewServer(mux)
	t.Cleanup(listener.Close)
	t.Cleanup(st.Close)
	t.Cleanup(api.Close)
	transport := &http.Transport{}
	t.Cleanup(transport.CloseIdleConnections)
	return &rest.Config{Host: listener.URL + prefix, Transport: transport, QPS: -1, WarningHandler: rest.NoWarnings{}}
}

func TestTypedClientWorksBelowAPrefix(t *testing.T) {
	cs, err := kubernetes.NewForConfig(mount(t))
	require.NoError(t, err)
	c := cs.CoordinationV1().Leases(testapi.Namespace)
	w, err := c.Watch(t.Context(), metav1.ListOptions{})
	require.NoError(t, err)
	defer w.Stop()
	l, err := c.Create(t.Context(), testapi.Lease("a"), metav1.CreateOptions{})
	require.NoError(t, err)
	assert.Equal(t, watch.Event{Type: watch.Added, Object: l}, testapi.Next(t, w))
	l.Spec.HolderIdentity = new("b")
	l, err = c.Update(t.Context(), l, metav1.UpdateOptions{})
	require.NoError(t, err)
	_, err = c.Patch(t.Context(), "a", types.StrategicMergePatchType, []byte(`{"spec":{"holderIdentity":"c"}}`), metav1.PatchOptions{})
	require.NoError(t, err)
	_, err = c.Update(t.Context(), l, metav1.UpdateOptions{})
	assert.True(t, apierrors.IsConflict(err), "%v", err)
	list, err := c.List(t.Context(), metav1.ListOptions{})
	require.NoError(t, err)
	assert.Len(t, list.Items, 1)
	require.NoError(t, c.Delete(t.Context(), "a", metav1.DeleteOptions{}))
	_, err = c.Get(t.Context(), "a", metav1.GetOptions{})
	assert.True(t, apierrors.IsNotFound(err), "%v", err)
}

func TestUntypedClientsWorkBelowAPrefix(t *testing.T) {
	config := mount(t)
	d, err := discovery.NewDiscoveryClientForConfig(config)
	require.NoError(t, err)
	_, lists, err := d.ServerGroupsAndResourcesWithContext(t.Context())
	require.NoError(t, err)
	assert.Len(t, lists, 5)
	_, err = d.ServerVersionWithContext(t.Context())
	require.NoError(t, err)
	c, err := dynamic.NewForConfig(config)
	require.NoError(t, err)
	for _, r := range testapi.Resources {
		_, err := c.Resource(r.GroupVersionResource).Namespace(testapi.Namespace).Create(t.Context(), r.New(t, "a-"+r.Version), metav1.CreateOptions{})
		assert.NoError(t, err)
	}
}

func TestUnknownPathsBelowAPrefixAreNotFound(t *testing.T) {
	config := mount(t)
	d, err := discovery.NewDiscoveryClientForConfig(config)
	require.NoError(t, err)
	_, err = d.RESTClient().Get().AbsPath("/nothing").DoRaw(t.Context())
	assert.True(t, apierrors.IsNotFound(err), "%v", err)
}
