package discovery

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/version"
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

func TestAggregatedDiscoveryTakesTwoRequests(t *testing.T) {
	api := testapi.New(t, store.Options{})
	_, _, err := api.Discovery(t).ServerGroupsAndResourcesWithContext(t.Context())
	require.NoError(t, err)
	var paths []string
	for _, r := range api.Link.Requests() {
		paths = append(paths, r.Path)
		assert.Equal(t, "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList", r.AnswerType)
	}
	slices.Sort(paths)
	assert.Equal(t, []string{"/api", "/apis"}, paths)
}

func TestPreferredResourcesListEachResourceInOneVersion(t *testing.T) {
	eachProtocol(t, func(t *testing.T, _ *testapi.API, c *discovery.DiscoveryClient) {
		lists, err := c.ServerPreferredNamespacedResourcesWithContext(t.Context())
		require.NoError(t, err)
		got, err := discovery.GroupVersionResources(lists)
		require.NoError(t, err)
		assert.Equal(t, map[schema.GroupVersionResource]struct{}{
			{Version: "v1", Resource: "endpoints"}:                                          {},
			{Group: "coordination.k8s.io", Version: "v1", Resource: "leases"}:               {},
			{Group: "coordination.k8s.io", Version: "v1beta1", Resource: "leasecandidates"}: {},
		}, got)
	})
}

func TestServerVersionCanBeParsed(t *testing.T) {
	eachProtocol(t, func(t *testing.T, _ *testapi.API, c *discovery.DiscoveryClient) {
		info, err := c.ServerVersionWithContext(t.Context())
		require.NoError(t, err)
		v, err := version.ParseSemantic(info.GitVersion)
		require.NoError(t, err)
		assert.True(t, v.AtLeast(version.MustParseSemantic("1.36.0")), "%s", v)
		assert.Equal(t, "1", info.Major)
		assert.NotEmpty(t, info.Minor)
	})
}
