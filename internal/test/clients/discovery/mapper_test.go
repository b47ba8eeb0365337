package discovery

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/discovery/cached/memory"
	"k8s.io/client-go/restmapper"

	"github.com/kubecoord/kubecoord/internal/test/clients/internal/testapi"
)

func TestMapperMapsKindsToResourcesAndBack(t *testing.T) {
	eachProtocol(t, func(t *testing.T, api *testapi.API, c *discovery.DiscoveryClient) {
		mapper := restmapper.NewDeferredDiscoveryRESTMapper(memory.NewMemCacheClient(c))
		for _, r := range testapi.Resources {
			gk := schema.GroupKind{Group: r.Group, Kind: r.Kind}
			m, err := mapper.RESTMapping(gk, r.Version)
			require.NoError(t, err)
			assert.Equal(t, r.GroupVersionResource, m.Resource)
			assert.Equal(t, meta.RESTScopeNameNamespace, m.Scope.Name())
			gvk, err := mapper.KindFor(r.GroupVersionResource)
			require.NoError(t, err)
			assert.Equal(t, r.GroupVersion().WithKind(r.Kind), gvk)

			o := r.New(t, "a")
			_, err = api.Dynamic(t).Resource(m.Resource).Namespace(testapi.Namespace).Create(t.Context(), o, metav1.CreateOptions{DryRun: []string{"All"}})
			assert.NoError(t, err)
		}
		_, err := mapper.RESTMapping(schema.GroupKind{Kind: "Pod"})
		assert.True(t, meta.IsNoMatchError(err), "%v", err)
	})
}

func TestMapperKnowsShortAndSingularNames(t *testing.T) {
	eachProtocol(t, func(t *testing.T, _ *testapi.API, c *discovery.DiscoveryClient) {
		cached := memory.NewMemCacheClient(c)
		mapper := restmapper.NewShortcutExpander(restmapper.NewDeferredDiscoveryRESTMapper(cached), cached, nil)
		for word, want := range map[string]string{"ep": "endpoints", "lease": "leases", "leases": "leases", "leasecandidate": "leasecandidates"} {
			got, err := mapper.ResourceFor(schema.GroupVersionResource{Resource: word})
			require.NoError(t, err, word)
			assert.Equal(t, want, got.Resource, word)
		}
	})
}
