package httpapi_test

import (
	"encoding/hex"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
)

const (
	aggregatedAccept = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList,application/json"
	aggregatedType   = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList"
	typeYAML         = "application/yaml"
)

var discoveryMethods = []string{"POST", "PUT", "PATCH", "DELETE", "OPTIONS", "HEAD", "FOO"}

func TestGroupsAnswerAnyMethod(t *testing.T) {
	s := newServer(t)
	for _, path := range []string{"/apis", "/apis/", "/apis/coordination.k8s.io", "/apis/coordination.k8s.io/"} {
		want := s.do(t, "GET", path, "").Body
		for _, method := range discoveryMethods {
			a := s.do(t, method, path, `{"not":"read"}`)
			assert.Equal(t, http.StatusOK, a.Code, "%s %s", method, path)
			assert.Equal(t, typeJSON, a.Header.Get("Content-Type"))
			if method != "HEAD" {
				assert.Equal(t, want, a.Body, "%s %s", method, path)
			}
		}
		assert.Equal(t, typeJSON, s.do(t, "GET", path, "", "Accept", "application/*").Header.Get("Content-Type"))
		assertStatus(t, s.do(t, "POST", path, "", "Accept", "text/html"), http.StatusNotAcceptable, "NotAcceptable", noneAccepted)
	}
	want := s.do(t, "GET", "/apis", "", "Accept", aggregatedAccept).Body
	assert.Equal(t, want, s.do(t, "POST", "/apis", "", "Accept", aggregatedAccept).Body)
}

func TestRoutesOfDiscoveryTakeOnlyGET(t *testing.T) {
	s := newServer(t)
	for _, path := range []string{"/api", "/api/", "/api//", "/api/v1", "/api/v1/", "/apis/coordination.k8s.io//", "/apis/coordination.k8s.io/v1", "/apis/coordination.k8s.io/v1//"} {
		for _, method := range discoveryMethods {
			a := s.do(t, method, path, "")
			assert.Equal(t, http.StatusMethodNotAllowed, a.Code, "%s %s", method, path)
			if method != "HEAD" {
				assertStatus(t, a, http.StatusMethodNotAllowed, "MethodNotAllowed", "the server does not allow this method on the requested resource")
			}
		}
		assert.Equal(t, http.StatusOK, s.do(t, "GET", path, "").Code, path)
		assertStatus(t, s.do(t, "GET", path, "", "Accept", "application/*"), http.StatusNotAcceptable, "NotAcceptable", noneOfTheRoute)
	}
}

func TestAggregatedDiscoveryIsMarkedByHeaders(t *testing.T) {
	s := newServer(t)
	for _, path := range []string{"/api", "/apis", "/api/"} {
		a := s.do(t, "GET", path, "", "Accept", aggregatedAccept)
		assert.Equal(t, http.StatusOK, a.Code)
		assert.Equal(t, aggregatedType, a.Header.Get("Content-Type"), "clients decide by the parameters")
		assert.Equal(t, "Accept", a.Header.Get("Vary"))
		assert.Equal(t, "public", a.Header.Get("Cache-Control"))
		assert.Regexp(t, `^"[0-9A-F]{128}"$`, a.Header.Get("Etag"))
	}
	assert.Equal(t, typeJSON, s.do(t, "GET", "/apis/", "", "Accept", aggregatedAccept).Header.Get("Content-Type"), "not with a slash")
	// A real server that serves the same in a group has the same tag.
	assert.Equal(t, `"02B2F17030543AE14E6639C76841B1F159A02C35D042DDE49FE7F2A0D93C19491C04F29D083755543257DFF3BFF05412D217B07DA7924D747973A5040364651A"`,
		s.do(t, "GET", "/api", "", "Accept", aggregatedAccept).Header.Get("Etag"))
}

func TestAggregatedDiscoveryComesInEveryFormat(t *testing.T) {
	s := newServer(t)
	const suffix = ";g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList"
	a := s.do(t, "GET", "/api", "", "Accept", typeYAML+suffix)
	assert.Equal(t, typeYAML+suffix, a.Header.Get("Content-Type"))
	assert.True(t, strings.HasPrefix(a.Body, "apiVersion: apidiscovery.k8s.io/v2\nitems:\n- metadata: {}\n  versions:\n"), a.Body)

	a = s.do(t, "GET", "/api", "", "Accept", typeProtobuf+suffix)
	assert.Equal(t, typeProtobuf+suffix, a.Header.Get("Content-Type"))
	// The bytes are a real server's.
	assert.Equal(t, "6b3873000a2f0a16617069646973636f766572792e6b38732e696f2f7632121541504947726f7570446973636f766572794c69737412a9010a060a0012001a00"+
		"129e010a100a0012001a0022002a003200380042001289010a027631127a0a09656e64706f696e7473120f0a0012001a09456e64706f696e74731a0a4e616d65"+
		"7370616365642209656e64706f696e74732a066372656174652a0664656c6574652a1064656c657465636f6c6c656374696f6e2a036765742a046c6973742a05"+
		"70617463682a067570646174652a057761746368320265701a0743757272656e741a002200",
		hex.EncodeToString([]byte(a.Body)))

	a = s.do(t, "GET", "/api?pretty=true", "", "Accept", typeJSON+suffix)
	assert.True(t, strings.HasPrefix(a.Body, "{\n  \"kind\": \"APIGroupDiscoveryList\",\n"), a.Body)
}

func TestAggregatedDiscoveryIsNotSentTwice(t *testing.T) {
	s := newServer(t)
	tags := map[string]bool{}
	for _, path := range []string{"/api", "/apis"} {
		tag := s.do(t, "GET", path, "", "Accept", aggregatedAccept).Header.Get("Etag")
		tags[tag] = true
		a := s.do(t, "GET", path, "", "Accept", aggregatedAccept, "If-None-Match", tag)
		assert.Equal(t, http.StatusNotModified, a.Code)
		assert.Empty(t, a.Body)
		assert.Equal(t, tag, a.Header.Get("Etag"))
		a = s.do(t, "GET", path, "", "Accept", aggregatedAccept, "If-None-Match", `"another"`)
		assert.Equal(t, http.StatusOK, a.Code)
	}
	assert.Len(t, tags, 2)
	again := newServer(t)
	assert.True(t, tags[again.do(t, "GET", "/api", "", "Accept", aggregatedAccept).Header.Get("Etag")], "another server of the same has the same tag")
}

func TestAcceptHeadersOfAggregatedDiscovery(t *testing.T) {
	const (
		clause  = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList"
		nopeer  = clause + ";profile=nopeer"
		v2beta1 = "application/json;g=apidiscovery.k8s.io;v=v2beta1;as=APIGroupDiscoveryList"
	)
	s := newServer(t)
	for _, row := range []struct {
		name, accept, want string // a Content-Type, or "406"
	}{
		{"nobody in particular", "*/*", typeJSON},
		{"who asks for JSON", typeJSON, typeJSON},
		{"who asks for nothing else", clause, aggregatedType},
		{"who falls back to JSON", clause + "," + typeJSON, aggregatedType},
		{"who takes older ones too", clause + "," + v2beta1 + "," + typeJSON, aggregatedType},
		{"who wants no peers", nopeer + "," + clause + "," + typeJSON, aggregatedType},
		{"who knows older ones only, and JSON", v2beta1 + "," + typeJSON, typeJSON},
		{"who knows older ones only", v2beta1, "406"},
		{"who names JSON first", typeJSON + "," + clause, aggregatedType},
		{"who names protobuf first", typeProtobuf + "," + clause, aggregatedType},
		{"who would read it in another format", typeJSON + "," + typeYAML + strings.TrimPrefix(clause, typeJSON), typeYAML + strings.TrimPrefix(clause, typeJSON)},
		{"who asks for a schema version", clause + ";sv=v1", "406"},
		{"who asks for a stream", clause + ";stream=watch", aggregatedType},
		{"who likes it less", clause + ";q=0.1,application/json;q=0.9", aggregatedType},
		{"who takes any type", "*/*;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList", aggregatedType},
	} {
		t.Run(row.name, func(t *testing.T) {
			a := s.do(t, "GET", "/apis", "", "Accept", row.accept)
			if row.want == "406" {
				assertStatus(t, a, http.StatusNotAcceptable, "NotAcceptable",
					"only the following media types are accepted: application/json, application/yaml, application/vnd.kubernetes.protobuf")
				return
			}
			assert.Equal(t, http.StatusOK, a.Code)
			assert.Equal(t, row.want, a.Header.Get("Content-Type"))
		})
	}
}

func TestDiscoveryInProtobuf(t *testing.T) {
	s := newServer(t)
	for _, row := range []struct{ path, head string }{
		// The envelope has what the document has: an apiVersion in some, none in others.
		{"/api", "k8s\x00\n\x0f\n\x00\x12\x0bAPIVersions"},
		{"/apis", "k8s\x00\n\x12\n\x02v1\x12\x0cAPIGroupList"},
		{"/apis/coordination.k8s.io", "k8s\x00\n\x0e\n\x02v1\x12\x08APIGroup"},
		{"/api/v1", "k8s\x00\n\x13\n\x00\x12\x0fAPIResourceList"},
		{"/apis/coordination.k8s.io/v1", "k8s\x00\n\x15\n\x02v1\x12\x0fAPIResourceList"},
	} {
		t.Run(row.path, func(t *testing.T) {
			a := s.do(t, "GET", row.path, "", "Accept", typeProtobuf)
			assert.Equal(t, http.StatusOK, a.Code)
			assert.Equal(t, typeProtobuf, a.Header.Get("Content-Type"))
			assert.Equal(t, row.head, a.Body[:min(len(row.head), len(a.Body))])
		})
	}
}

func TestRootListsAllPaths(t *testing.T) {
	s := newServer(t)
	doc := s.must(t, "GET", "/", "")
	paths, _ := doc["paths"].([]any)
	for _, want := range []string{"/api", "/api/v1", "/apis", "/apis/coordination.k8s.io", "/apis/coordination.k8s.io/v1", "/healthz", "/healthz/ping", "/version"} {
		assert.Contains(t, paths, want)
	}
	for _, path := range paths {
		assert.Equal(t, http.StatusOK, s.do(t, "GET", path.(string), "").Code, path)
	}
	for _, method := range []string{"POST", "DELETE", "OPTIONS", "FOO"} {
		assert.Equal(t, s.do(t, "GET", "/", "").Body, s.do(t, method, "/", "").Body, method)
	}
}
