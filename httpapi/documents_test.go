package httpapi_test

import (
	"net/http"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/assert"
)

// This file has a test for each row of docs/documents-versus-reality.md that no other test shows.

const candidatesV1alpha1 = "/apis/coordination.k8s.io/v1alpha1/namespaces/default/leasecandidates"

func TestCreateAnswers201(t *testing.T) {
	s := newServer(t)
	assert.Equal(t, http.StatusCreated, s.do(t, "POST", leases, leaseNamed("a")).Code)
	assert.Equal(t, http.StatusCreated, s.do(t, "POST", leases+"?dryRun=All", leaseNamed("b")).Code)
	assert.Equal(t, http.StatusCreated, s.do(t, "PUT", leases+"/c", leaseNamed("c")).Code)
}

func TestDeleteCollectionAnswersTheDeletedObjects(t *testing.T) {
	s := newServer(t)
	s.must(t, "POST", leases, leaseNamed("a"))
	list := s.must(t, "DELETE", leases, "")
	assert.Equal(t, "LeaseList", list["kind"])
	assert.Equal(t, "a", list.at("items", 0, "metadata", "name"))
}

func TestWatchFromAnExpiredVersionAnswers200AndOneErrorEvent(t *testing.T) {
	s := newServer(t)
	a := s.do(t, "GET", leases+"?watch=true&resourceVersion=1", "")
	assert.Equal(t, http.StatusOK, a.Code)
	event := a.tree(t) // which holds that there is one alone
	assert.Equal(t, "ERROR", event["type"])
	assert.EqualValues(t, http.StatusGone, event.at("object", "code"))
	assert.Equal(t, "Expired", event.at("object", "reason"))
}

func TestListAtVersion0IgnoresItsLimit(t *testing.T) {
	s := newServer(t)
	for _, name := range []string{"a", "b", "c"} {
		s.must(t, "POST", leases, leaseNamed(name))
	}
	assert.Len(t, s.must(t, "GET", leases+"?limit=1", "")["items"], 1)
	assert.Len(t, s.must(t, "GET", leases+"?limit=1&resourceVersion=0", "")["items"], 3)
}

// What a Coordinator makes of such a name is shown in package candidate.
func TestLeaseNameOfACandidateMayBeAnInvalidLeaseName(t *testing.T) {
	s := newServer(t)
	for i, name := range []string{"A_", "a/b", ".", strings.Repeat("x", 300)} {
		a := s.do(t, "POST", candidates, `{"metadata":{"generateName":"c-"},"spec":{"leaseName":"`+name+
			`","binaryVersion":"1.0.0","emulationVersion":"1.0.0","strategy":"OldestEmulationVersion"}}`)
		assert.Equal(t, http.StatusCreated, a.Code, i)
	}
	assert.Equal(t, http.StatusUnprocessableEntity, s.do(t, "POST", leases, leaseNamed("A_")).Code)
}

func TestInitialEventsBelowWatchNeedTheParameterToo(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newServer(t)
		const initial = "?sendInitialEvents=true&resourceVersionMatch=NotOlderThan&resourceVersion=0"
		const forbidden = `ListOptions.meta.k8s.io "" is invalid: sendInitialEvents: Forbidden: sendInitialEvents is forbidden for list`
		watch := strings.Replace(leases, "/v1/", "/v1/watch/", 1)
		assertStatus(t, s.do(t, "GET", watch+initial, ""), http.StatusUnprocessableEntity, "Invalid", forbidden)
		assert.Equal(t, http.StatusOK, s.do(t, "GET", watch+initial+"&watch=true&timeoutSeconds=1", "").Code)
		assertStatus(t, s.do(t, "DELETE", leases+initial, ""), http.StatusUnprocessableEntity, "Invalid", forbidden)
	})
}

func TestDeleteCollectionTakesAVersionAsAPrecondition(t *testing.T) {
	s := newServer(t)
	s.must(t, "POST", leases, leaseNamed("a"))
	version, _ := s.must(t, "POST", leases, leaseNamed("b")).at("metadata", "resourceVersion").(string)
	a := s.do(t, "DELETE", leases+"?resourceVersion="+version, "")
	assert.Equal(t, http.StatusConflict, a.Code)
	assert.Contains(t, a.tree(t)["message"], "the ResourceVersion in the precondition ("+version+") does not match")
	assert.Equal(t, http.StatusOK, s.do(t, "GET", leases+"/a", "").Code)
}

func TestUnsafeDeletionOfReadableObjectsIsRefused(t *testing.T) {
	s := newServer(t)
	s.must(t, "POST", leases, leaseNamed("a"))
	const unsafe = "?ignoreStoreReadErrorWithClusterBreakingPotential=true"
	a := s.do(t, "DELETE", leases+"/a"+unsafe, "")
	assert.Equal(t, http.StatusConflict, a.Code)
	assert.Contains(t, a.tree(t)["message"], "unsafe deletion is not allowed because the object is decodable from storage")
	assert.Equal(t, http.StatusUnprocessableEntity, s.do(t, "DELETE", leases+unsafe, "").Code)
	assert.Equal(t, http.StatusOK, s.do(t, "GET", leases+"/a", "").Code)
}

func TestDeleteThatLeavesFinalizersAnswersTheObject(t *testing.T) {
	for query, want := range map[string]int{
		"":                              http.StatusOK,
		"?propagationPolicy=Foreground": http.StatusOK,
		"?propagationPolicy=Background": http.StatusOK,
		"?orphanDependents=true":        http.StatusOK,
		"?orphanDependents=false":       http.StatusAccepted,
	} {
		s := newServer(t)
		s.must(t, "POST", leases, `{"metadata":{"name":"held","finalizers":["example.com/f"]}}`)
		a := s.do(t, "DELETE", leases+"/held"+query, "")
		assert.Equal(t, want, a.Code, query)
		assert.Equal(t, "Lease", a.tree(t)["kind"], query)
		assert.NotNil(t, a.tree(t).at("metadata", "deletionTimestamp"), query)
	}
	s := newServer(t)
	s.must(t, "POST", leases, leaseNamed("free"))
	a := s.do(t, "DELETE", leases+"/free?orphanDependents=false", "")
	assert.Equal(t, http.StatusOK, a.Code)
	assert.Equal(t, "Status", a.tree(t)["kind"])
}

func TestRenewalTimeIsDroppedWithAWarning(t *testing.T) {
	s := newServer(t)
	a := s.do(t, "POST", leases, `{"metadata":{"name":"a"},"spec":{"renewalTime":"2024-01-01T00:00:00.000000Z"}}`)
	assert.Equal(t, http.StatusCreated, a.Code)
	assert.Equal(t, []string{`299 - "unknown field \"spec.renewalTime\""`}, a.Header.Values("Warning"))
	assert.Equal(t, map[string]any{}, a.tree(t)["spec"])
}

func TestNegativeGracePeriodIsAccepted(t *testing.T) {
	s := newServer(t)
	s.must(t, "POST", leases, leaseNamed("a"))
	assert.Equal(t, http.StatusOK, s.do(t, "DELETE", leases+"/a?gracePeriodSeconds=-1", "").Code)
	assert.Equal(t, http.StatusNotFound, s.do(t, "GET", leases+"/a", "").Code)
}

func TestAddressMayBeReadyAndNotReady(t *testing.T) {
	s := newServer(t)
	got := s.must(t, "POST", endpoints, `{"metadata":{"name":"a"},"subsets":[{"addresses":[{"ip":"10.0.0.1"}],"notReadyAddresses":[{"ip":"10.0.0.1"}]}]}`)
	assert.Equal(t, "10.0.0.1", got.at("subsets", 0, "addresses", 0, "ip"))
	assert.Equal(t, "10.0.0.1", got.at("subsets", 0, "notReadyAddresses", 0, "ip"))
}

// Kubernetes 1.31, which alone served v1alpha1, takes a write without the list and clears it. The reference page says that the
// list is required; that is kept.
func TestEveryWriteOfV1alpha1NamesAStrategy(t *testing.T) {
	const required = "spec.preferredStrategies: Required value: must contain at least one strategy"
	const head, spec = `"apiVersion":"coordination.k8s.io/v1alpha1","kind":"LeaseCandidate",`, `"spec":{"leaseName":"l","binaryVersion":"1.1.0","emulationVersion":"1.1.0"`
	const merge, strategic, jsonPatch, apply = "application/merge-patch+json", "application/strategic-merge-patch+json", "application/json-patch+json", "application/apply-patch+yaml"
	for _, row := range []struct{ name, method, path, body, contentType string }{
		{"create", "POST", "", `{"metadata":{"name":"new"},` + spec + `}}`, typeJSON},
		{"create with an empty list", "POST", "", `{"metadata":{"name":"new"},` + spec + `,"preferredStrategies":[]}}`, typeJSON},
		{"create with null", "POST", "?dryRun=All", `{"metadata":{"name":"new"},` + spec + `,"preferredStrategies":null}}`, typeJSON},
		{"create by update", "PUT", "/new", `{"metadata":{"name":"new"},` + spec + `}}`, typeJSON},
		{"create by apply", "PATCH", "/new?fieldManager=m", `{` + head + `"metadata":{"name":"new"},` + spec + `}}`, apply},
		{"update", "PUT", "/there", `{"metadata":{"name":"there","resourceVersion":"{rv}"},` + spec + `}}`, typeJSON},
		{"update with an empty list", "PUT", "/there", `{"metadata":{"name":"there","resourceVersion":"{rv}"},` + spec + `,"preferredStrategies":[]}}`, typeJSON},
		{"update in YAML", "PUT", "/there", "metadata: {name: there, resourceVersion: '{rv}'}\nspec: {leaseName: l, binaryVersion: 1.1.0, emulationVersion: 1.1.0}", typeYAML},
		{"merge patch to null", "PATCH", "/there", `{"spec":{"preferredStrategies":null}}`, merge},
		{"merge patch to an empty list", "PATCH", "/there", `{"spec":{"preferredStrategies":[]}}`, merge},
		{"strategic merge patch to null", "PATCH", "/there", `{"spec":{"preferredStrategies":null}}`, strategic},
		{"strategic merge patch to an empty list", "PATCH", "/there", `{"spec":{"preferredStrategies":[]}}`, strategic},
		{"JSON patch that removes it", "PATCH", "/there", `[{"op":"remove","path":"/spec/preferredStrategies"}]`, jsonPatch},
		{"JSON patch to an empty list", "PATCH", "/there", `[{"op":"replace","path":"/spec/preferredStrategies","value":[]}]`, jsonPatch},
		{"apply by the owner", "PATCH", "/there?fieldManager=owner", `{` + head + `"metadata":{"name":"there"},` + spec + `}}`, apply},
		{"apply of an empty list by the owner", "PATCH", "/there?fieldManager=owner", `{` + head + `"metadata":{"name":"there"},` + spec + `,"preferredStrategies":[]}}`, apply},
		{"apply of an empty list by force", "PATCH", "/there?fieldManager=m&force=true", `{` + head + `"metadata":{"name":"there"},` + spec + `,"preferredStrategies":[]}}`, apply},
	} {
		t.Run(row.name, func(t *testing.T) {
			for _, list := range []string{`["OldestEmulationVersion"]`, `["OldestEmulationVersion","example.com/other"]`} {
				s := newServer(t)
				there := s.must(t, "PATCH", candidatesV1alpha1+"/there?fieldManager=owner",
					`{`+head+`"metadata":{"name":"there"},`+spec+`,"preferredStrategies":`+list+`}}`, "Content-Type", apply)
				version, _ := there.at("metadata", "resourceVersion").(string)
				a := s.do(t, row.method, candidatesV1alpha1+row.path, strings.ReplaceAll(row.body, "{rv}", version), "Content-Type", row.contentType)
				assert.Equal(t, http.StatusUnprocessableEntity, a.Code, a.Body)
				assert.Contains(t, a.tree(t)["message"], required)
				assert.Equal(t, there, s.must(t, "GET", candidatesV1alpha1+"/there", ""))
			}
		})
	}
}
