package httpapi_test

import (
	"net/http"
	"testing"

	"github.com/stretchr/testify/assert"
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
