package httpapi_test

import (
	"fmt"
	"io"
	"net/http"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// newHostileServer returns a server with one object of each kind, all named a.
func newHostileServer(t testing.TB) *server {
	t.Helper()
	s := newServer(t)
	s.must(t, "POST", leases, `{"metadata":{"name":"a","labels":{"x":"1"}},"spec":{"holderIdentity":"h"}}`)
	s.must(t, "POST", endpoints, `{"metadata":{"name":"a"},"subsets":[{"addresses":[{"ip":"10.0.0.1"}],"ports":[{"port":80}]}]}`)
	s.must(t, "POST", candidates, `{"metadata":{"name":"a"},"spec":{"leaseName":"l","binaryVersion":"1.2.3","emulationVersion":"1.2.0","strategy":"OldestEmulationVersion"}}`)
	return s
}

func TestHostileRequestsAreRefusedAndChangeNothing(t *testing.T) {
	s := newHostileServer(t)
	version, before := s.st.ResourceVersion(), s.do(t, "GET", leases+"/a", "").Body
	for _, row := range hostileRequests() {
		t.Run(row.name, func(t *testing.T) {
			a := s.send(t, row.request(t))
			assert.Equal(t, row.code, a.Code)
			if row.reason == "text" {
				assert.Equal(t, row.message, a.Body)
			} else if row.method != http.MethodHead {
				a.Body = withoutVariables(a.Body)
				assertStatus(t, a, row.code, row.reason, row.message)
			}
			assert.Equal(t, version, s.st.ResourceVersion(), "nothing was written")
			assert.Equal(t, before, s.do(t, "GET", leases+"/a", "").Body, "the server goes on")
		})
	}
}

func (r hostileRequest) request(t testing.TB) *http.Request {
	t.Helper()
	target := strings.NewReplacer("{leases}", leases, "{endpoints}", endpoints).Replace(r.target)
	req := newRequest(t, r.method, target, r.body)
	if r.method == "POST" || r.method == "PUT" || r.method == "DELETE" {
		req.Header.Set("Content-Type", typeJSON)
	}
	for i := 0; i < len(r.headers); i += 2 {
		req.Header.Set(r.headers[i], r.headers[i+1])
	}
	return req
}

// withoutVariables replaces what no two runs have in common: uids, versions, and objects that are quoted whole.
func withoutVariables(body string) string {
	for _, v := range []struct{ form, symbol string }{
		{`[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}`, "{uid}"},
		{`Invalid value: \\"\{(\\\\\\"|[^\\])*\\"`, `Invalid value: \"{object}\"`},
		{`in record \(\d+\)`, "in record ({rv})"},
	} {
		body = regexp.MustCompile(v.form).ReplaceAllString(body, v.symbol)
	}
	return body
}

const maxBody = 3 << 20

func TestBodiesOverThreeMiBAreRefused(t *testing.T) {
	const message = "Request entity too large: limit is 3145728"
	for _, row := range []struct{ method, path, contentType string }{
		{"POST", leases, typeJSON},
		{"POST", leases + "?dryRun=unknown", typeJSON},
		{"POST", leases, typeProtobuf},
		{"PUT", leases + "/a", typeJSON},
		{"PATCH", leases + "/a", "application/merge-patch+json"},
		{"PATCH", leases + "/missing", "application/json-patch+json"},
		{"DELETE", leases + "/a", typeJSON},
		{"DELETE", leases, typeJSON},
	} {
		for _, length := range []int64{maxBody + 1, -1} {
			t.Run(fmt.Sprint(row.method, " ", row.contentType, " ", length), func(t *testing.T) {
				s := newHostileServer(t)
				version := s.st.ResourceVersion()
				req := newRequest(t, row.method, row.path, " ", "Content-Type", row.contentType)
				req.Body, req.ContentLength = io.NopCloser(strings.NewReader(strings.Repeat(" ", maxBody+1))), length
				assertStatus(t, s.send(t, req), http.StatusRequestEntityTooLarge, "RequestEntityTooLarge", message)
				assert.Equal(t, version, s.st.ResourceVersion())
			})
		}
	}
}

// A body without an end must not be read to it, nor be waited for.
func TestBodyWithoutEndIsRefused(t *testing.T) {
	s := newServer(t)
	req := newRequest(t, "POST", leases, " ")
	req.Body, req.ContentLength = io.NopCloser(endless{}), -1
	assert.Equal(t, http.StatusRequestEntityTooLarge, s.send(t, req).Code)
}

type endless struct{}

func (endless) Read(p []byte) (int, error) {
	for i := range p {
		p[i] = ' '
	}
	return len(p), nil
}

// nested returns a JSON document of so many levels, with an object or a number inside.
func nested(open, inner, end string, depth int) string {
	return strings.Repeat(open, depth) + inner + strings.Repeat(end, depth)
}

func TestDeepNestingIsRefused(t *testing.T) {
	const (
		merge, strategic, jsonPatch = "application/merge-patch+json", "application/strategic-merge-patch+json", "application/json-patch+json"

		unrecognized = "the object provided is unrecognized (must be of type Lease): "
		noJSON       = "couldn't get version/kind; json parse error: "
	)
	for _, row := range []struct {
		name, method, path, contentType string
		body                            func(depth int) string
		deepest                         int // that is accepted
		code                            int // of that
		message                         string
	}{
		{"objects", "POST", leases + "?dryRun=All", typeJSON,
			func(d int) string { return nested(`{"a":`, "1", "}", d) }, 10000, 422,
			unrecognized + noJSON + `invalid character '{' exceeded max depth ({"a":{"a":{"a":{"a":{"a":{"a": ...)`},
		{"arrays in a member", "POST", leases + "?dryRun=All", typeJSON,
			func(d int) string { return `{"metadata":{"name":"n"},"x":` + nested("[", "", "]", d-1) + "}" }, 10000, 201,
			unrecognized + noJSON + `invalid character '[' exceeded max depth ({"metadata":{"name":"n"},"x":[ ...)`},
		{"objects in an object to replace", "PUT", leases + "/a?dryRun=All", typeJSON,
			func(d int) string { return `{"metadata":{"name":"a"},"spec":` + nested(`{"a":`, "1", "}", d-1) + "}" }, 10000, 422,
			unrecognized + noJSON + `invalid character '{' exceeded max depth ({"metadata":{"name":"a"},"spec ...)`},
		{"a merge patch", "PATCH", leases + "/a?dryRun=All", merge,
			func(d int) string { return nested(`{"a":`, "1", "}", d) }, 10000, 200, "invalid JSON patch"},
		{"a strategic patch", "PATCH", leases + "/a?dryRun=All", strategic,
			func(d int) string { return nested(`{"a":`, "1", "}", d) }, 10000, 200, "invalid JSON patch"},
		{"a JSON patch", "PATCH", leases + "/a?dryRun=All", jsonPatch,
			func(d int) string { return `[{"op":"test","path":"/x","value":` + nested("[", "", "]", d-2) + "}]" }, 10000, 422, "invalid JSON patch"},
		{"options of a deletion", "DELETE", leases + "/missing", typeJSON,
			func(d int) string { return nested(`{"a":`, "1", "}", d) }, 10000, 404, noJSON + "invalid character '{' exceeded max depth"},
	} {
		t.Run(row.name, func(t *testing.T) {
			s := newHostileServer(t)
			version := s.st.ResourceVersion()
			assert.Equal(t, row.code, s.do(t, row.method, row.path, row.body(row.deepest), "Content-Type", row.contentType).Code)
			for _, depth := range []int{row.deepest + 1, 100_000} {
				a := s.do(t, row.method, row.path, row.body(depth), "Content-Type", row.contentType)
				assertStatus(t, a, http.StatusBadRequest, "BadRequest", row.message)
			}
			assert.Equal(t, version, s.st.ResourceVersion())
		})
	}
}

func TestJSONPatchCannotCopyWithoutLimit(t *testing.T) {
	s := newHostileServer(t)
	version := s.st.ResourceVersion()
	body := `[{"op":"add","path":"/x","value":["` + strings.Repeat("y", 1000) + `"]}` +
		strings.Repeat(`,{"op":"copy","from":"/x","path":"/x/-"}`, 40) + "]"
	a := s.do(t, "PATCH", leases+"/a", body, "Content-Type", "application/json-patch+json")
	assertStatus(t, a, http.StatusUnprocessableEntity, "Invalid", "the server rejected our request due to an error in our request")
	assert.Equal(t, version, s.st.ResourceVersion())
}

func TestManyUnknownMembersWarnWithinLimits(t *testing.T) {
	s := newServer(t)
	var members strings.Builder
	for i := range 10_000 {
		fmt.Fprintf(&members, `,"%s%d":1`, strings.Repeat("k", 80), i)
	}
	body := `{"metadata":{"name":"d"}` + members.String() + "}"
	a := s.do(t, "POST", leases, body)
	assert.Equal(t, http.StatusCreated, a.Code)
	sum := 0
	for _, w := range a.Header.Values("Warning") {
		sum += len(w)
	}
	assert.Less(t, sum, 16<<10)

	a = s.do(t, "POST", leases+"?fieldValidation=Strict", body)
	require.Equal(t, http.StatusBadRequest, a.Code)
	message := a.tree(t)["message"].(string)
	assert.Equal(t, 100, strings.Count(message, "unknown field"))
}

func TestAnnotationsAreLimited(t *testing.T) {
	s := newServer(t)
	a := s.do(t, "POST", leases, `{"metadata":{"name":"d","annotations":{"a":"`+strings.Repeat("x", 262_144)+`"}}}`)
	assertStatus(t, a, http.StatusUnprocessableEntity, "Invalid",
		`Lease.coordination.k8s.io "d" is invalid: metadata.annotations: Too long: may not be more than 262144 bytes`)
}

func TestObjectsAreLimited(t *testing.T) {
	s := newServer(t)
	body := `{"metadata":{"name":"d"},"spec":{"holderIdentity":"` + strings.Repeat("x", 2_000_000) + `"}}`
	assertStatus(t, s.do(t, "POST", leases, body), http.StatusInternalServerError, "", "etcdserver: request is too large")
	assert.Equal(t, http.StatusNotFound, s.do(t, "GET", leases+"/d", "").Code)
}

// The timeout is longer than a time.Duration; the watch must not end at once.
func TestWatchWithAVeryLongTimeoutStaysOpen(t *testing.T) {
	s := newHostileServer(t)
	for _, timeout := range []string{"9223372036854775807", "9223372037", "99999999999"} {
		w := s.watch(t, leases+"?watch=true&resourceVersion=0&timeoutSeconds="+timeout)
		w.wants("ADDED a")
		version := s.st.ResourceVersion()
		s.must(t, "PATCH", leases+"/a", fmt.Sprintf(`{"metadata":{"labels":{"v":"%s"}}}`, version), "Content-Type", "application/merge-patch+json")
		w.wants("MODIFIED a")
	}
}

func TestWatchWithATimeoutBelowZeroEndsBeforeItsFirstEvent(t *testing.T) {
	s := newHostileServer(t)
	a := s.do(t, "GET", leases+"?watch=true&resourceVersion=0&timeoutSeconds=-1", "")
	assert.Equal(t, http.StatusOK, a.Code)
	assert.Empty(t, a.Body)
}
