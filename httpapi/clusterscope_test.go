package httpapi_test

import (
	"net/http"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/kubecoord/kubecoord/httpapi"
	"github.com/kubecoord/kubecoord/store"
	"github.com/kubecoord/kubecoord/store/kind"
)

func newClusterServer(t testing.TB) *server {
	d := engineDescriptor()
	d.Resource.ClusterScoped = true
	return newServerWith(t, store.Options{}, httpapi.Options{Kinds: []kind.Kind{store.MustKind(d)}})
}

const clusterEngines = "/apis/example.com/v1/engines"

func TestClusterScopedObjectsAreServedWithoutNamespaces(t *testing.T) {
	s := newClusterServer(t)
	w := s.watch(t, clusterEngines+"?watch=true")
	one := s.watch(t, "/apis/example.com/v1/watch/engines/a")
	created := s.must(t, "POST", clusterEngines, `{"apiVersion":"example.com/v1","kind":"Engine","metadata":{"name":"a","namespace":"default"},"spec":{"speed":1}}`)
	assert.Nil(t, created.at("metadata", "namespace"), "one that is given is dropped")
	s.must(t, "POST", clusterEngines, `{"apiVersion":"example.com/v1","kind":"Engine","metadata":{"name":"b"}}`)

	body := `{"apiVersion":"example.com/v1","kind":"Engine","metadata":{"name":"a","namespace":"other","resourceVersion":"` + created.at("metadata", "resourceVersion").(string) + `"},"spec":{"speed":2}}`
	got := s.must(t, "PUT", clusterEngines+"/a", body)
	assert.EqualValues(t, 2, got.at("spec", "speed"))
	got = s.must(t, "PATCH", clusterEngines+"/a/status", `{"metadata":{"namespace":"x"},"status":{"turns":4}}`, "Content-Type", merge)
	assert.EqualValues(t, 4, got.at("status", "turns"))
	assert.Nil(t, got.at("metadata", "namespace"))
	got = s.must(t, "PATCH", "/apis/example.com/v2/engines/c?fieldManager=m",
		`{"apiVersion":"example.com/v2","kind":"Engine","metadata":{"name":"c","namespace":"x"},"spec":{"rate":3}}`, "Content-Type", applying)
	assert.EqualValues(t, 3, got.at("spec", "rate"))

	page := s.must(t, "GET", clusterEngines+"?limit=2", "")
	assert.Len(t, page["items"], 2)
	rest := s.must(t, "GET", clusterEngines+"?limit=2&continue="+page.at("metadata", "continue").(string), "")
	assert.Equal(t, "c", rest.at("items", 0, "metadata", "name"))
	assert.Len(t, s.must(t, "DELETE", clusterEngines+"?fieldSelector=metadata.name!=a", "")["items"], 2)
	s.must(t, "DELETE", clusterEngines+"/a", "")
	w.wants("ADDED a", "ADDED b", "MODIFIED a", "MODIFIED a", "ADDED c", "DELETED b", "DELETED c", "DELETED a")
	one.wants("ADDED a", "MODIFIED a", "MODIFIED a", "DELETED a")
}

func TestPathsOfTheWrongScopeAreNotFound(t *testing.T) {
	s := newServerWith(t, store.Options{}, httpapi.Options{Kinds: []kind.Kind{newEngineKind(), store.MustKind(kind.Descriptor[*widget]{
		Resource: kind.Resource{Group: "example.com", Kind: "Widget", Plural: "widgets", ClusterScoped: true},
		Versions: []kind.Version[*widget]{{Name: "v1"}},
	})}})
	for _, row := range []struct{ method, path string }{
		{"GET", widgets},
		{"GET", widgets + "/a"},
		{"POST", widgets},
		{"GET", "/apis/example.com/v1/watch/namespaces/default/widgets"},
		{"POST", clusterEngines},
		{"DELETE", clusterEngines},
		{"GET", clusterEngines + "/a"},
		{"GET", clusterEngines + "/a/status"},
	} {
		a := s.do(t, row.method, row.path, "")
		assert.Equal(t, http.StatusNotFound, a.Code, row)
		assert.Equal(t, "404 page not found\n", a.Body, row)
	}
	assert.Equal(t, http.StatusOK, s.do(t, "GET", clusterEngines, "").Code, "all namespaces can be listed")
	assertStatus(t, s.do(t, "GET", "/apis/example.com/v1/widgets/a", ""), 404, "NotFound", `widgets.example.com "a" not found`)
	assertStatus(t, s.do(t, "GET", "/apis/example.com/v1/widgets?fieldSelector=metadata.namespace=a", ""), 400, "BadRequest",
		"field label not supported: metadata.namespace")
}
