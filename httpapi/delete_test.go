package httpapi_test

import (
	"net/http"
	"testing"

	"github.com/stretchr/testify/assert"
)

// Upstream gives up an update on the way to the deletion, and answers with what it was to be made in.
func TestDryRunThatTakesOffTheLastFinalizerAnswersAnEmptyObject(t *testing.T) {
	s := newServer(t)
	held := s.must(t, "POST", leases, `{"metadata":{"name":"a","finalizers":["orphan"]}}`)
	a := s.do(t, "DELETE", leases+"/a?propagationPolicy=Background&dryRun=All", "")
	assert.Equal(t, http.StatusOK, a.Code)
	assert.Equal(t, `{"kind":"Lease","apiVersion":"coordination.k8s.io/v1","metadata":{},"spec":{}}`+"\n", a.Body)
	assert.Equal(t, held, s.must(t, "GET", leases+"/a", ""))

	a = s.do(t, "DELETE", leases+"/a?propagationPolicy=Background", "")
	assert.Equal(t, "Success", a.tree(t)["status"])
	assert.Equal(t, http.StatusNotFound, s.do(t, "GET", leases+"/a", "").Code)
}
