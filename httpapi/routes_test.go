package httpapi_test

import (
	"net/http"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/kubecoord/kubecoord/httpapi"
	"github.com/kubecoord/kubecoord/store"
	"github.com/kubecoord/kubecoord/store/kind"
)

func TestEscapedPathsAreDecodedBeforeRouting(t *testing.T) {
	s := newServer(t)
	s.must(t, "POST", leases, leaseNamed("a"))
	for _, row := range []struct {
		path string
		code int
	}{
		{"/apis/coordination.k8s.io%2Fv1/leases", http.StatusOK},
		{"/apis%2Fcoordination.k8s.io/v1/leases", http.StatusOK},
		{"/apis/coordination.k8s.io/v1%2Fleases", http.StatusOK},
		{leases + "%2Fa", http.StatusOK},
		{leases + "/%61", http.StatusOK},
		{leases + "/a%2F", http.StatusOK},
		{"/api%2Fv1", http.StatusOK},
		{"/healthz%2Fping", http.StatusOK},
		{"/%68ealthz", http.StatusOK},
		{"/apis/coordination.k8s.io/v1/namespaces/a%2Fb/leases/x", http.StatusNotFound},
		{leases + "/x%2Fy", http.StatusNotFound},
		{leases + "/x%20y", http.StatusNotFound},
		{"/apis/coordination.k8s.io/v9/leases", http.StatusNotFound},
		{"/apis/other.example.com/v1/leases", http.StatusNotFound},
		{"/api/v2", http.StatusNotFound},
		{"/apisx", http.StatusNotFound},
		{"/version//", http.StatusOK},
		{"//version", http.StatusNotFound},
		{"/version//x", http.StatusNotFound},
		{"/index.html", http.StatusOK},
		{"/index.html/", http.StatusNotFound},
	} {
		assert.Equal(t, row.code, s.send(t, newRequest(t, "GET", row.path, "")).Code, row.path)
	}
}

// The answers come from a kube-apiserver for the group of a CustomResourceDefinition.
func TestPathsOfAGroupWithoutBuiltInKinds(t *testing.T) {
	s := newServerWith(t, store.Options{}, httpapi.Options{Kinds: []kind.Kind{widgetKind(t, nil)}})
	const group, text = "/apis/example.com", "404 page not found\n"
	for _, path := range []string{
		"/v1/nosuch", "/v1/namespaces/ns/nosuch", "/v1/namespaces/ns/nosuch/x", "/v1/namespaces/ns/nosuch/x/status", "/v1/watch/nosuch",
		"/v3", "/v3/", "/v3/widgets", "//v1", "/v1//widgets", "/v1/namespaces", "/v1/namespaces/ns", "/v1/namespaces/ns/", "/v1/watch/namespaces",
		"/v1/proxy/widgets", "/v1/widgets/x/y/z",
	} {
		for _, method := range append(discoveryMethods, "GET") {
			a := s.do(t, method, group+path, "", "Accept", "text/html")
			assert.Equal(t, http.StatusNotFound, a.Code, "%s %s", method, path)
			assert.Equal(t, "text/plain; charset=utf-8", a.Header.Get("Content-Type"), "%s %s", method, path)
			if method != "HEAD" {
				assert.Equal(t, text, a.Body, "%s %s", method, path)
			}
		}
	}
	for _, path := range []string{"", "/", "//", "/v1", "/v1/", "/v1//"} {
		want := s.do(t, "GET", group+path, "")
		assert.Equal(t, http.StatusOK, want.Code, path)
		for _, method := range discoveryMethods {
			a := s.do(t, method, group+path, "", "Accept", "application/*")
			assert.Equal(t, http.StatusOK, a.Code, "%s %s", method, path)
			if method != "HEAD" {
				assert.Equal(t, want.Body, a.Body)
			}
		}
		assertStatus(t, s.do(t, "GET", group+path, "", "Accept", "text/html"), http.StatusNotAcceptable, "NotAcceptable", noneAccepted)
	}
	for _, path := range []string{"/v1/watch", "/v1/proxy"} {
		assert.Equal(t, http.StatusInternalServerError, s.do(t, "GET", group+path, "").Code, path)
	}
	assertStatus(t, s.do(t, "GET", "/apis/coordination.k8s.io/v1/nosuch", ""), http.StatusNotFound, "NotFound", "the server could not find the requested resource")
}
