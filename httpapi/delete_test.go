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

// A real server lists by pages before it deletes, and pages are of exactly the version that was named: what is newer stays.
func TestDeleteCollectionAtAVersionKeepsNewerObjects(t *testing.T) {
	s := newServer(t)
	version, _ := s.must(t, "POST", leases, leaseNamed("a")).at("metadata", "resourceVersion").(string)
	s.must(t, "POST", leases, leaseNamed("b"))
	// Without a body the version would be a precondition of each deletion, too.
	list := s.must(t, "DELETE", leases+"?resourceVersion="+version, `{"kind":"DeleteOptions"}`)
	assert.Len(t, list["items"], 1)
	assert.Equal(t, http.StatusNotFound, s.do(t, "GET", leases+"/a", "").Code)
	assert.Equal(t, http.StatusOK, s.do(t, "GET", leases+"/b", "").Code)
}

// With the parameter the options are checked like the options of a watch. No watch starts.
func TestDeleteCollectionWithWatchIsValidatedAsAWatch(t *testing.T) {
	s := newServer(t)
	s.must(t, "POST", leases, leaseNamed("a"))
	assertStatus(t, s.do(t, "DELETE", leases+"?watch=1&resourceVersion=1&resourceVersionMatch=Exact", "{}"), http.StatusUnprocessableEntity, "Invalid",
		`ListOptions.meta.k8s.io "" is invalid: [resourceVersionMatch: Forbidden: resourceVersionMatch is forbidden for watch unless sendInitialEvents is provided, resourceVersionMatch: Unsupported value: "Exact": supported values: "NotOlderThan"]`)
	assertStatus(t, s.do(t, "DELETE", leases+"?watch=1&sendInitialEvents=1", ""), http.StatusUnprocessableEntity, "Invalid",
		`ListOptions.meta.k8s.io "" is invalid: resourceVersionMatch: Forbidden: sendInitialEvents requires setting resourceVersionMatch to NotOlderThan`)
	assert.Len(t, s.must(t, "DELETE", leases+"?watch=1", "")["items"], 1)
}
