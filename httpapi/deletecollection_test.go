package httpapi_test

import (
	"net/http"
	"testing"

	"github.com/stretchr/testify/assert"
)

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

// Pages are of a size of the server's where none is named, and there are none below 0.
func TestDeleteCollectionWithoutPagesUsesTheLatestVersion(t *testing.T) {
	s := newServer(t)
	version, _ := s.must(t, "POST", leases, leaseNamed("a")).at("metadata", "resourceVersion").(string)
	s.must(t, "POST", leases, leaseNamed("b"))
	assert.Len(t, s.must(t, "DELETE", leases+"?limit=0&resourceVersion="+version, `{"dryRun":["All"]}`)["items"], 1)
	assert.Len(t, s.must(t, "DELETE", leases+"?limit=-1&resourceVersion="+version, `{"dryRun":["All"]}`)["items"], 2)
}

func TestDeleteCollectionAtAnExpiredVersionDeletesNothing(t *testing.T) {
	s := newServer(t)
	s.must(t, "POST", leases, leaseNamed("a"))
	assertStatus(t, s.do(t, "DELETE", leases+"?resourceVersion=1", "{}"), http.StatusGone, "Expired", "The resourceVersion for the provided list is too old.")
	assert.Equal(t, http.StatusOK, s.do(t, "GET", leases+"/a", "").Code)
}

func TestDeleteCollectionWithWrongOptionsDeletesNothing(t *testing.T) {
	s := newServer(t)
	s.must(t, "POST", leases, leaseNamed("a"))
	for _, body := range []string{"{", `{"kind":"Lease","apiVersion":"coordination.k8s.io/v1"}`} {
		assert.Equal(t, http.StatusBadRequest, s.do(t, "DELETE", leases, body).Code, body)
	}
	assert.Equal(t, http.StatusOK, s.do(t, "GET", leases+"/a", "").Code)
}

func TestDeleteCollectionStaysInItsNamespace(t *testing.T) {
	s := newServer(t)
	const other = "/apis/coordination.k8s.io/v1/namespaces/other/leases"
	s.must(t, "POST", leases, leaseNamed("a"))
	s.must(t, "POST", other, leaseNamed("a"))
	list := s.must(t, "DELETE", leases, "")
	assert.Len(t, list["items"], 1)
	assert.Equal(t, http.StatusOK, s.do(t, "GET", other+"/a", "").Code)
}

func TestListParametersAreParsedInTheOrderOfTheReference(t *testing.T) {
	s := newServer(t)
	for _, method := range []string{"GET", "DELETE"} {
		a := s.do(t, method, leases+"?limit=1.5&timeoutSeconds=abc", "")
		assertStatus(t, a, http.StatusBadRequest, "BadRequest", `strconv.ParseInt: parsing "abc": invalid syntax`)
	}
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
