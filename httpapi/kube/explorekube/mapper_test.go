package explorekube_test

import (
	"net/http"
	"sync"
	"testing"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kubecoord/kubecoord/httpapi"
	"github.com/kubecoord/kubecoord/httpapi/apitest"
	"github.com/kubecoord/kubecoord/httpapi/apitest/explore"
	"github.com/kubecoord/kubecoord/httpapi/kube/cluster"
	"github.com/kubecoord/kubecoord/httpapi/kube/crd"
	"github.com/kubecoord/kubecoord/httpapi/kube/explorekube"
)

// counting counts the requests of a part.
type counting struct {
	http.RoundTripper
	n int
}

func (c *counting) RoundTrip(r *http.Request) (*http.Response, error) {
	c.n++
	return c.RoundTripper.RoundTrip(r)
}

// The first client of a scenario asks the server for its kinds, and the later ones do not. A kind that is served later is found when a client needs it.
func TestRESTMapper(t *testing.T) {
	options, err := cluster.Options{
		Serves: func(r schema.GroupVersionResource) bool { return r.Group == "" || r.Group == "apiextensions.k8s.io" },
	}.API(httpapi.Options{})
	require.NoError(t, err)
	api := apitest.New(t, apitest.Options{API: options})
	transport := &counting{RoundTripper: api.Transport()}
	c := explore.Conn{Host: api.Host(), Transport: transport, Shared: &sync.Map{}}

	first, err := explorekube.RESTMapper(c)
	require.NoError(t, err)
	asked := transport.n
	assert.NotZero(t, asked)
	second, err := explorekube.RESTMapper(c)
	require.NoError(t, err)
	for _, m := range []meta.RESTMapper{first, second} {
		found, err := m.RESTMapping(schema.GroupKind{Kind: "Pod"}, "v1")
		require.NoError(t, err)
		assert.Equal(t, schema.GroupVersionResource{Version: "v1", Resource: "pods"}, found.Resource)
		kind, err := m.KindFor(schema.GroupVersionResource{Resource: "configmaps"})
		require.NoError(t, err)
		assert.Equal(t, "ConfigMap", kind.Kind)
	}
	assert.Equal(t, asked, transport.n, "nobody has asked again")

	widget := schema.GroupKind{Group: "example.com", Kind: "Widget"}
	_, err = second.RESTMapping(widget)
	assert.True(t, meta.IsNoMatchError(err), "%v", err)
	established, err := crd.Establish(&apiextensionsv1.CustomResourceDefinition{
		ObjectMeta: metav1.ObjectMeta{Name: "widgets.example.com"},
		Spec: apiextensionsv1.CustomResourceDefinitionSpec{
			Group: "example.com", Scope: apiextensionsv1.NamespaceScoped, Names: apiextensionsv1.CustomResourceDefinitionNames{Plural: "widgets", Kind: "Widget"},
			Versions: []apiextensionsv1.CustomResourceDefinitionVersion{{
				Name: "v1", Served: true, Storage: true, Schema: &apiextensionsv1.CustomResourceValidation{OpenAPIV3Schema: &apiextensionsv1.JSONSchemaProps{Type: "object"}},
			}},
		},
	}, "test")
	require.NoError(t, err)
	_, err = crd.Install(t.Context(), api.Handler(), established)
	require.NoError(t, err)
	found, err := second.RESTMapping(widget)
	require.NoError(t, err)
	assert.Equal(t, "widgets", found.Resource.Resource)
	asked = transport.n
	_, err = second.RESTMapping(widget)
	require.NoError(t, err)
	assert.Equal(t, asked, transport.n, "it keeps what it has found")

	third, err := explorekube.RESTMapper(c)
	require.NoError(t, err)
	asked = transport.n
	_, err = third.RESTMapping(widget)
	require.NoError(t, err, "what one part has found is not for the others, which ask when they look for it")
	assert.Greater(t, transport.n, asked)

	alone, err := explorekube.RESTMapper(explore.Conn{Host: c.Host, Transport: transport})
	require.NoError(t, err, "without Shared")
	_, err = alone.RESTMapping(widget)
	assert.NoError(t, err)
}
