package httpapi_test

import (
	"net/http"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kubecoord/kubecoord/httpapi"
)

// forkServer returns a server over a fork, closed at the end of the test.
func forkServer(t testing.TB, s *server, opts httpapi.Options) *server {
	st, err := s.st.Fork()
	require.NoError(t, err)
	t.Cleanup(st.Close)
	f := s.api.Fork(st, opts)
	t.Cleanup(f.Close)
	return &server{st: st, api: f}
}

func TestForkedAPIServesItsOwnStore(t *testing.T) {
	s := newWidgetServer(t)
	s.must(t, "POST", widgets, `{"apiVersion":"example.com/v1","kind":"Widget","metadata":{"name":"a"},"spec":{"size":3}}`)
	f := forkServer(t, s, httpapi.Options{})
	assert.Equal(t, s.must(t, "GET", widgets+"/a", ""), f.must(t, "GET", widgets+"/a", ""))
	f.must(t, "POST", widgets, `{"apiVersion":"example.com/v1","kind":"Widget","metadata":{"name":"fork"}}`)
	s.must(t, "DELETE", widgets+"/a", "")
	assert.Equal(t, http.StatusNotFound, s.do(t, "GET", widgets+"/fork", "").Code)
	f.must(t, "GET", widgets+"/a", "")
	for _, path := range []string{"/apis", "/apis/example.com", "/apis/example.com/v1", "/openapi/v3", "/openapi/v3/apis/example.com/v1", "/openapi/v2"} {
		assert.Equal(t, s.must(t, "GET", path, ""), f.must(t, "GET", path, ""), path)
	}
	f.must(t, "GET", "/apis/example.com/v1alpha1/namespaces/default/widgets/a", "")
}
