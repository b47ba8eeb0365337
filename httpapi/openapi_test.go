package httpapi_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

const (
	openAPIV2 = "/openapi/v2"
	openAPIV3 = "/openapi/v3"

	askProtobufV2 = "application/com.github.proto-openapi.spec.v2@v1.0+protobuf"
	askProtobufV3 = "application/com.github.proto-openapi.spec.v3@v1.0+protobuf"
	typeV2        = "application/com.github.proto-openapi.spec.v2.v1.0+protobuf"
	typeV3        = "application/com.github.proto-openapi.spec.v3.v1.0+protobuf"
)

// link returns where the index of version 3 says that a document is.
func (s *server) link(t testing.TB, name string) string {
	t.Helper()
	url, _ := s.must(t, http.MethodGet, openAPIV3, "").at("paths", name, "serverRelativeURL").(string)
	require.NotEmpty(t, url, "no document %q", name)
	return url
}

// kubectl validates on the server only if it finds this parameter on the patch of the kind.
func TestOpenAPIHasFieldValidationForKubectl(t *testing.T) {
	s := newServer(t)
	patch := s.must(t, http.MethodGet, s.link(t, "apis/coordination.k8s.io/v1"), "").
		at("paths", "/apis/coordination.k8s.io/v1/namespaces/{namespace}/leases/{name}", "patch")
	kind := tree(patch.(map[string]any))["x-kubernetes-group-version-kind"]
	assert.Equal(t, map[string]any{"group": "coordination.k8s.io", "version": "v1", "kind": "Lease"}, kind)
	var names []any
	for _, p := range patch.(map[string]any)["parameters"].([]any) {
		names = append(names, p.(map[string]any)["name"])
	}
	assert.Subset(t, names, []any{"fieldValidation", "dryRun"})
}

func TestOpenAPIWithTheRightHashMayBeKept(t *testing.T) {
	s := newServer(t)
	a := s.do(t, http.MethodGet, s.link(t, "api/v1"), "")
	assert.Equal(t, http.StatusOK, a.Code)
	assert.Equal(t, "public, immutable", a.Header.Get("Cache-Control"))
	_, err := http.ParseTime(a.Header.Get("Expires"))
	assert.NoError(t, err)

	without := s.do(t, http.MethodGet, openAPIV3+"/api/v1", "")
	assert.Equal(t, http.StatusOK, without.Code)
	assert.Equal(t, "no-cache, private", without.Header.Get("Cache-Control"))
	assert.Empty(t, without.Header.Get("Expires"))
	assert.Equal(t, a.Body, without.Body)
}

func TestOpenAPIWithAnotherHashLeadsToTheRightOne(t *testing.T) {
	s := newServer(t)
	a := s.do(t, http.MethodGet, openAPIV3+"/api/v1?hash=ABC", "")
	assert.Equal(t, http.StatusMovedPermanently, a.Code)
	assert.Equal(t, s.link(t, "api/v1"), a.Header.Get("Location"))
}

func TestOpenAPINegotiatesItsMediaType(t *testing.T) {
	s := newServer(t)
	for _, row := range []struct {
		name, target, accept, want string
		code                       int
	}{
		{"version 2 to kubectl 1.20", openAPIV2, askProtobufV2, typeV2, 200},
		{"version 2 by its proper name", openAPIV2, typeV2, typeV2, 200},
		{"version 2 in JSON", openAPIV2, typeJSON, typeJSON, 200},
		{"version 2 to anybody", openAPIV2, "*/*", typeJSON, 200},
		{"version 2 to the silent", openAPIV2, "-", typeJSON, 200},
		{"version 2 by preference", openAPIV2, typeJSON + ";q=0.5," + askProtobufV2, typeV2, 200},
		{"version 2 in the form of version 3", openAPIV2, askProtobufV3, "", 406},
		{"version 2 in HTML", openAPIV2, "text/html", "", 406},
		{"version 3 in protobuf", openAPIV3 + "/api/v1", askProtobufV3, typeV3, 200},
		{"version 3 in JSON", openAPIV3 + "/api/v1", typeJSON, typeJSON, 200},
		{"version 3 in HTML", openAPIV3 + "/api/v1", "text/html", "", 406},
		{"version 2 to a header without a slash", openAPIV2, "json", "", 406},
		{"the index to a header without a slash", openAPIV3, "json", "text/plain; charset=utf-8", 200},
		{"the index in HTML", openAPIV3, "text/html", "text/plain; charset=utf-8", 200},
	} {
		t.Run(row.name, func(t *testing.T) {
			a := s.do(t, http.MethodGet, row.target, "", "Accept", row.accept)
			assert.Equal(t, row.code, a.Code)
			assert.Equal(t, row.want, a.Header.Get("Content-Type"))
			switch row.target {
			case openAPIV2:
				assert.Equal(t, []string{"Accept-Encoding", "Accept"}, a.Header["Vary"])
			case openAPIV3:
			default:
				assert.Equal(t, []string{"Accept"}, a.Header["Vary"])
			}
			assert.Equal(t, row.code == 200, a.Body != "")
		})
	}
}

// TestOpenAPIWithoutAMediaTypeIsEmpty has the answers of a kube-apiserver.
func TestOpenAPIWithoutAMediaTypeIsEmpty(t *testing.T) {
	s := newServer(t)
	for _, accept := range []string{"json", ",", ";", "application/", "application/json/x"} {
		a := s.do(t, http.MethodGet, openAPIV3+"/api/v1", "", "Accept", accept)
		assert.Equal(t, 200, a.Code, accept)
		assert.Empty(t, a.Body, accept)
		assert.Empty(t, a.Header["Vary"], accept)
		assert.Empty(t, a.Header["Content-Type"], accept)
	}
}

func TestOpenAPIIsNotSentTwice(t *testing.T) {
	s := newServer(t)
	for _, target := range []string{openAPIV2, openAPIV3 + "/apis/coordination.k8s.io/v1"} {
		t.Run(target, func(t *testing.T) {
			first := s.do(t, http.MethodGet, target, "")
			tag := first.Header.Get("Etag")
			require.NotEmpty(t, tag)
			again := s.do(t, http.MethodGet, target, "", "If-None-Match", tag)
			assert.Equal(t, http.StatusNotModified, again.Code)
			assert.Empty(t, again.Body)
			other := s.do(t, http.MethodGet, target, "", "If-None-Match", `"ABC"`)
			assert.Equal(t, first.Body, other.Body)
		})
	}
}

// The index of a real kube-apiserver has no Etag, and its Last-Modified is the time of the request.
func TestOpenAPIIndexIsPlainTextWithoutATag(t *testing.T) {
	s := newServer(t)
	for _, row := range []struct {
		name, method, header, value string
		code                        int
	}{
		{"get", "GET", "", "", 200},
		{"head", "HEAD", "", "", 200},
		{"post", "POST", "", "", 200},
		{"delete", "DELETE", "", "", 200},
		{"a tag", "GET", "If-None-Match", `"ABC"`, 200},
		{"any tag", "GET", "If-None-Match", "*", 304},
		{"not modified since the past", "GET", "If-Modified-Since", "Mon, 02 Jan 2006 15:04:05 GMT", 200},
		{"not modified since the future", "GET", "If-Modified-Since", "Fri, 01 Jan 2100 00:00:00 GMT", 304},
		{"a range", "GET", "Range", "bytes=0-9", 206},
	} {
		t.Run(row.name, func(t *testing.T) {
			a := s.do(t, row.method, openAPIV3, "", row.header, row.value)
			assert.Equal(t, row.code, a.Code)
			assert.NotContains(t, a.Header, "Etag")
			assert.NotEmpty(t, a.Header.Get("Last-Modified"))
			assert.Equal(t, "no-cache, private", a.Header.Get("Cache-Control"))
			assert.Equal(t, row.code == 304 || row.method == "HEAD", a.Body == "")
			if row.code == 304 {
				assert.NotContains(t, a.Header, "Content-Type")
				return
			}
			assert.Equal(t, "text/plain; charset=utf-8", a.Header.Get("Content-Type"))
		})
	}
}

func TestRangeThatIsNotThereKeepsCacheControl(t *testing.T) {
	s := newServer(t)
	for _, target := range []string{openAPIV2, openAPIV3, openAPIV3 + "/version", s.link(t, "version")} {
		a := s.do(t, "GET", target, "", "Range", "bytes=99999999-")
		assert.Equal(t, http.StatusRequestedRangeNotSatisfiable, a.Code)
		assert.Equal(t, []string{"no-cache, private"}, a.Header["Cache-Control"])
	}
}

// Each range costs a header, so an answer has few. More are ignored.
func TestManyRangesAreIgnored(t *testing.T) {
	s := newServer(t)
	for _, target := range []string{"/openapi/v2", "/openapi/v3"} {
		whole := s.do(t, "GET", target, "").Body
		some := s.do(t, "GET", target, "", "Range", "bytes="+strings.Repeat("0-0,", 15)+"1-1")
		assert.Equal(t, http.StatusPartialContent, some.Code)
		assert.Equal(t, 16, strings.Count(some.Body, "Content-Range"))
		req := newRequest(t, "GET", target, "", "Range", "bytes="+strings.Repeat("0-0,", 60_000)+"1-1")
		many := s.send(t, req)
		assert.Equal(t, http.StatusOK, many.Code)
		assert.Equal(t, whole, many.Body)
		assert.NotEmpty(t, req.Header.Get("Range"), "the request of the client stays as it is")
	}
}
