package scheme_test

import (
	"net/http"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/client-go/kubernetes"
	clientscheme "k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"

	"github.com/kubecoord/kubecoord/httpapi"
	"github.com/kubecoord/kubecoord/store"
	"github.com/kubecoord/kubecoord/store/kube/scheme"
)

func newKinds(t testing.TB) []store.AnyKind {
	all, err := scheme.Kinds(clientscheme.Scheme, scheme.Options{})
	require.NoError(t, err)
	return all
}

// newClient returns a client of a new server with all built-in kinds.
func newClient(t testing.TB) (*kubernetes.Clientset, *httpapi.API) {
	api := httpapi.New(store.New(store.Options{}), httpapi.Options{Kinds: newKinds(t)})
	t.Cleanup(api.Close)
	config := &rest.Config{Host: "http://kubernetes", Transport: api.Transport(), ContentConfig: rest.ContentConfig{ContentType: "application/vnd.kubernetes.protobuf"}}
	c, err := kubernetes.NewForConfig(config)
	require.NoError(t, err)
	return c, api
}

func TestEachKindMakesAServerStart(t *testing.T) {
	for _, k := range newKinds(t) {
		t.Run(k.Registered().GroupResource().String(), func(t *testing.T) {
			api := httpapi.New(store.New(store.Options{}), httpapi.Options{Kinds: []store.AnyKind{k}})
			defer api.Close()
			info := k.Registered().Info()
			path := "/apis/" + info.Group + "/" + info.Versions[0].Name
			if info.Group == "" {
				path = "/api/v1"
			}
			client := &http.Client{Transport: api.Transport()}
			answer, err := client.Get("http://kubernetes" + path + "/" + info.Plural)
			require.NoError(t, err)
			defer answer.Body.Close()
			assert.Equal(t, http.StatusOK, answer.StatusCode)
		})
	}
}
