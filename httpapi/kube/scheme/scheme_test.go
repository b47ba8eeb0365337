package scheme_test

import (
	"encoding/json"
	"net/http"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	apidiscovery "k8s.io/api/apidiscovery/v2"
	"k8s.io/client-go/kubernetes"
	clientscheme "k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"

	"github.com/kubecoord/kubecoord/httpapi"
	"github.com/kubecoord/kubecoord/httpapi/kube/scheme"
	"github.com/kubecoord/kubecoord/store"
	"github.com/kubecoord/kubecoord/store/kind"
)

func newKinds(t testing.TB) []kind.Kind {
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
		t.Run(k.GroupResource().String(), func(t *testing.T) {
			api := httpapi.New(store.New(store.Options{}), httpapi.Options{Kinds: []kind.Kind{k}})
			defer api.Close()
			info := k.Info()
			path := "/apis/" + info.Group + "/" + info.Versions[0].Name
			if info.Group == "" {
				path = "/api/v1"
			}
			client := &http.Client{Transport: api.Transport()}
			answer, err := client.Get("http://kubernetes" + path + "/" + info.Plural)
			require.NoError(t, err)
			defer answer.Body.Close()
			want := http.StatusOK
			if !info.Serves("list") {
				want = http.StatusNotFound
			}
			assert.Equal(t, want, answer.StatusCode)
		})
	}
}

// recorded is the answer of a kube-apiserver, by resource: of each group, version and plural.
func recorded(t *testing.T) map[string]apidiscovery.APIResourceDiscovery {
	all := map[string]apidiscovery.APIResourceDiscovery{}
	for _, name := range []string{"api", "apis"} {
		data, err := os.ReadFile("../../../internal/test/kube/kinds/testdata/discovery/" + name + ".json")
		require.NoError(t, err)
		add(t, data, all)
	}
	return all
}

func add(t *testing.T, data []byte, all map[string]apidiscovery.APIResourceDiscovery) {
	var list apidiscovery.APIGroupDiscoveryList
	require.NoError(t, json.Unmarshal(data, &list))
	for _, g := range list.Items {
		for _, v := range g.Versions {
			for _, r := range v.Resources {
				all[g.Name+"/"+v.Version+"/"+r.Resource] = r
			}
		}
	}
}

// TestDiscoveryIsThatOfARealServer compares each resource with the recorded one. Resources and subresources that are not served
// are a list here.
func TestDiscoveryIsThatOfARealServer(t *testing.T) {
	_, api := newClient(t)
	got := map[string]apidiscovery.APIResourceDiscovery{}
	for _, path := range []string{"/api", "/apis"} {
		request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "http://kubernetes"+path, nil)
		require.NoError(t, err)
		request.Header.Set("Accept", "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList")
		answer, err := api.Transport().RoundTrip(request)
		require.NoError(t, err)
		defer answer.Body.Close()
		var data json.RawMessage
		require.NoError(t, json.NewDecoder(answer.Body).Decode(&data))
		add(t, data, got)
	}
	want := recorded(t)
	for name, r := range want {
		if notServed[name] {
			continue
		}
		var subresources []apidiscovery.APISubresourceDiscovery
		for _, s := range r.Subresources {
			if !notServed[name+"/"+s.Subresource] {
				subresources = append(subresources, s)
			}
		}
		r.Subresources = subresources
		assert.Equal(t, r, got[name], name)
	}
	for name := range got {
		if !strings.Contains(name, "/leasecandidates") {
			assert.True(t, want[name].Resource != "", "%s is not served", name)
		}
	}
}

// notServed are resources that other packages serve, and those that need a cluster.
var notServed = map[string]bool{
	"/v1/endpoints": true, "coordination.k8s.io/v1/leases": true,
	"apiextensions.k8s.io/v1/customresourcedefinitions": true, "apiregistration.k8s.io/v1/apiservices": true,

	"authentication.k8s.io/v1/selfsubjectreviews": true, "authentication.k8s.io/v1/tokenreviews": true,
	"authorization.k8s.io/v1/localsubjectaccessreviews": true, "authorization.k8s.io/v1/selfsubjectaccessreviews": true,
	"authorization.k8s.io/v1/selfsubjectrulesreviews": true, "authorization.k8s.io/v1/subjectaccessreviews": true,
	"/v1/serviceaccounts/token": true,
}
