package discovery

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/discovery"

	"github.com/kubecoord/kubecoord/internal/test/clients/internal/testapi"
	"github.com/kubecoord/kubecoord/store"
)

// eachProtocol runs a test with aggregated discovery, which clients request
// first, and with the older documents.
func eachProtocol(t *testing.T, test func(t *testing.T, api *testapi.API, c *discovery.DiscoveryClient)) {
	for name, legacy := range map[string]bool{"aggregated": false, "legacy": true} {
		for name, start := range map[string]func(testing.TB, store.Options) *testapi.API{
			name + " in memory": testapi.New, name + " over a socket": testapi.Listen,
		} {
			t.Run(name, func(t *testing.T) {
				api := start(t, store.Options{})
				c := api.Discovery(t)
				c.UseLegacyDiscovery = legacy
				test(t, api, c)
			})
		}
	}
}

var allVerbs = metav1.Verbs{"create", "delete", "deletecollection", "get", "list", "patch", "update", "watch"}

func TestDiscoveryListsAllGroupsAndResources(t *testing.T) {
	eachProtocol(t, func(t *testing.T, api *testapi.API, c *discovery.DiscoveryClient) {
		groups, lists, err := c.ServerGroupsAndResourcesWithContext(t.Context())
		require.NoError(t, err)
		require.Len(t, groups, 2)
		assert.Equal(t, "", groups[0].Name)
		assert.Equal(t, "v1", groups[0].PreferredVersion.GroupVersion)
		assert.Equal(t, "coordination.k8s.io", groups[1].Name)
		assert.Equal(t, "coordination.k8s.io/v1", groups[1].PreferredVersion.GroupVersion)
		var versions []string
		for _, v := range groups[1].Versions {
			versions = append(versions, v.Version)
		}
		assert.Equal(t, []string{"v1", "v1beta1", "v1alpha2", "v1alpha1"}, versions)

		served := map[schema.GroupVersionResource]metav1.APIResource{}
		for _, l := range lists {
			gv, err := schema.ParseGroupVersion(l.GroupVersion)
			require.NoError(t, err)
			for _, r := range l.APIResources {
				served[gv.WithResource(r.Name)] = r
			}
		}
		assert.Len(t, served, len(testapi.Resources))
		for _, want := range testapi.Resources {
			r, ok := served[want.GroupVersionResource]
			require.True(t, ok, "%s", want)
			assert.Equal(t, want.Kind, r.Kind)
			assert.True(t, r.Namespaced)
			assert.Equal(t, allVerbs, r.Verbs)
			assert.NotEmpty(t, r.SingularName)
		}
		endpoints := served[schema.GroupVersionResource{Version: "v1", Resource: "endpoints"}]
		assert.Equal(t, []string{"ep"}, endpoints.ShortNames)
		assert.Equal(t, "endpoints", endpoints.SingularName)
	})
}
