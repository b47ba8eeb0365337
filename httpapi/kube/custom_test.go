package kube_test

import (
	"encoding/json"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kubecoord/kubecoord/httpapi/apitest"
	"github.com/kubecoord/kubecoord/httpapi/kube/crd"
)

const pumps = `{"apiVersion":"apiextensions.k8s.io/v1","kind":"CustomResourceDefinition","metadata":{"name":"pumps.example.com"},"spec":{
"group":"example.com","scope":"Namespaced","names":{"plural":"pumps","kind":"Pump"},"versions":[{"name":"v1","served":true,"storage":true,
"deprecated":true,"subresources":{"status":{},"scale":{"specReplicasPath":".spec.replicas","statusReplicasPath":".status.replicas"}},"schema":{"openAPIV3Schema":
{"type":"object","properties":{"spec":{"type":"object","x-kubernetes-validations":[{"rule":"!has(self.tags)","message":"no tags"}],"properties":{"replicas":
{"type":"integer"},"tags":{"type":"array","maxItems":9,"x-kubernetes-list-type":"set","items":{"type":"string","maxLength":9}}}},"status":{"type":"object","properties":
{"replicas":{"type":"integer"}}}}}}}]}}`

func servePumps(t *testing.T) *apitest.API {
	t.Helper()
	kinds, err := crd.Parse([]byte(pumps))
	require.NoError(t, err)
	var o apitest.Options
	o.API.Kinds = kinds
	return apitest.New(t, o)
}

// The texts and codes are as in a kube-apiserver.
func TestBodiesOfCustomResources(t *testing.T) {
	api := servePumps(t)
	const path = "/apis/example.com/v1/namespaces/a/pumps"
	code, text := ask(t, api, "POST", path, "application/json", `{"apiVersion":"example.com/v1","kind":"Pump","metadata":{"name":"a"}}`)
	require.Equal(t, http.StatusCreated, code, text)
	for name, row := range map[string]struct {
		method, path, contentType, body string
		code                            int
		message                         string
	}{
		"without a kind": {
			"POST", path, "application/json", `{"metadata":{}}`, 400,
			`the object provided is unrecognized (must be of type Pump): Object 'Kind' is missing in '{"metadata":{}}' ({"metadata":{}})`,
		},
		"without a kind, where problems are ignored": {
			"POST", path + "?fieldValidation=Ignore", "application/json", `{"metadata":{}}`, 400,
			`Pump in version "v1" cannot be handled as a Pump: Object 'Kind' is missing in '{"metadata":{}}'`,
		},
		"a strict body of another group": {
			"PUT", path + "/a?fieldValidation=Strict", "application/json", `{"kind":"Pump","metadata":{"name":"a"},"spec":{"bogus":1}}`, 400,
			"the API version in the data () does not match the expected API version (example.com/v1)",
		},
		"another kind, beside which only lists and rules are validated": {
			"POST", path, "application/json", `{"apiVersion":"example.com/v1","kind":"Fan","metadata":{"name":"B"},"spec":{"replicas":"x","tags":["a","a"]}}`, 422,
			`Fan.example.com "B" is invalid: [kind: Invalid value: "Fan": must be Pump, spec.tags[1]: Duplicate value: "a", spec: Invalid value: no tags]`,
		},
		"an update of another kind": {
			"PUT", path + "/a", "application/json", `{"apiVersion":"example.com/v1","kind":"Fan","metadata":{"name":"a","resourceVersion":"1001","labels":{"/":"a"}},"spec":{"tags":["a","a"]}}`, 422,
			`Fan.example.com "a" is invalid: [metadata.labels: Invalid value: "/": prefix part must be non-empty, metadata.labels: Invalid value: "/": name part must be non-empty, metadata.labels: Invalid value: "/": name part must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]'), kind: Invalid value: "Fan": must be Pump, spec.tags[1]: Duplicate value: "a", spec: Invalid value: no tags]`,
		},
		"another kind without a name": {
			"POST", path, "application/json", `{"apiVersion":"example.com/v1","kind":"Fan","metadata":{}}`, 422,
			`Fan.example.com "" is invalid: kind: Invalid value: "Fan": must be Pump`,
		},
		"a status of another kind": {
			"PATCH", "/apis/example.com/v1/namespaces/a/pumps/a/status", "application/merge-patch+json", `{"kind":"Fan","status":{"replicas":"x"}}`, 422,
			`Fan.example.com "a" is invalid: [status.replicas: Invalid value: "string": replicas in body must be of type integer: "string", .status.replicas: Invalid value: 0: .status.replicas accessor error: x is of the type string, expected int64, <nil>: Invalid value: null: some validation rules were not checked because the object was invalid; correct the existing errors to complete validation]`,
		},
		"a strict body of another kind": {
			"POST", path + "?fieldValidation=Strict", "application/json", `{"apiVersion":"v1","kind":"Pod","metadata":{"bogus":1}}`, 400,
			`Pod in version "v1" cannot be handled as a Pod: strict decoding error: unknown field "metadata.bogus"`,
		},
		"a strict body without an apiVersion": {
			"POST", path + "?fieldValidation=Strict", "application/json", `{"kind":"Pump","metadata":{"bogus":1}}`, 400,
			`Object 'apiVersion' is missing in 'object has no apiVersion field'`,
		},
		"a scale that cannot be read": {
			"PUT", path + "/a/scale", "application/json", `{"spec":{"replicas":"x"}}`, 400,
			`no kind is registered for the type v1.Scale in scheme "kubecoord"`,
		},
	} {
		t.Run(name, func(t *testing.T) {
			code, text := ask(t, api, row.method, row.path, row.contentType, row.body)
			var s struct{ Message string }
			require.NoError(t, json.Unmarshal([]byte(text), &s), text)
			assert.Equal(t, row.code, code)
			assert.Equal(t, row.message, s.Message)
		})
	}
}

// Upstream cannot tell the fields of another type, and keeps the managers.
func TestAStatusOfAnotherKindKeepsTheManagers(t *testing.T) {
	api := servePumps(t)
	const path = "/apis/example.com/v1/namespaces/a/pumps"
	code, text := ask(t, api, "POST", path, "application/json", `{"apiVersion":"example.com/v1","kind":"Pump","metadata":{"name":"a"},"spec":{"replicas":1}}`)
	require.Equal(t, http.StatusCreated, code, text)
	require.Contains(t, text, "managedFields")
	code, text = ask(t, api, "PATCH", path+"/a/status", "application/merge-patch+json", `{"kind":"Fan","status":{"replicas":1}}`)
	require.Equal(t, http.StatusOK, code, text)
	assert.Contains(t, text, `"kind":"Pump"`)
	assert.Contains(t, text, `"status":{"replicas":1}`)
	assert.Equal(t, 1, strings.Count(text, `"manager":`), "the one of the create")
}

// The type of a patch is checked before the media type of the answer.
func TestPatchTypeComesFirst(t *testing.T) {
	api := servePumps(t)
	req, err := http.NewRequestWithContext(t.Context(), "PATCH", api.Host()+"/apis/example.com/v1/namespaces/a/pumps/a", http.NoBody)
	require.NoError(t, err)
	req.Header.Set("Content-Type", "application/strategic-merge-patch+json")
	req.Header.Set("Accept", "text/plain")
	resp, err := api.Transport().RoundTrip(req)
	require.NoError(t, err)
	defer resp.Body.Close()
	assert.Equal(t, http.StatusUnsupportedMediaType, resp.StatusCode)
	assert.NotEmpty(t, resp.Header.Get("Warning"), "the version is deprecated")
}

const fans = `{"apiVersion":"apiextensions.k8s.io/v1","kind":"CustomResourceDefinition","metadata":{"name":"fans.example.com"},"spec":{
"group":"example.com","scope":"Namespaced","names":{"plural":"fans","kind":"Fan"},"versions":[
{"name":"v1","served":true,"storage":true,"subresources":{"status":{}},"schema":SCHEMA},
{"name":"v2","served":true,"storage":false,"subresources":{"scale":{"specReplicasPath":".spec.replicas","statusReplicasPath":".status.replicas"}},"schema":SCHEMA},
{"name":"v3","served":true,"storage":false,"subresources":{"status":{},"scale":{"specReplicasPath":".spec.replicas","statusReplicasPath":".status.replicas"}},"schema":SCHEMA}]}}`

// A version of a definition has the subresources that it names (upstream: apiextensions-apiserver, customresource_handler.go).
func TestEachVersionHasItsSubresources(t *testing.T) {
	const schema = `{"openAPIV3Schema":{"type":"object","x-kubernetes-preserve-unknown-fields":true}}`
	kinds, err := crd.Parse([]byte(strings.ReplaceAll(fans, "SCHEMA", schema)))
	require.NoError(t, err)
	var o apitest.Options
	o.API.Kinds = kinds
	api := apitest.New(t, o)
	write := func(method, version, below, body string) (int, string) {
		return ask(t, api, method, "/apis/example.com/"+version+"/namespaces/a/fans"+below, "application/json",
			`{"apiVersion":"example.com/`+version+`","kind":"Fan",`+body)
	}
	code, text := write("POST", "v1", "", `"metadata":{"name":"a"},"spec":{"replicas":2},"status":{"replicas":1}}`)
	require.Equal(t, http.StatusCreated, code, text)
	assert.NotContains(t, text, `"status":`, "a write through v1 sets no status")
	code, text = write("POST", "v2", "", `"metadata":{"name":"b"},"spec":{"replicas":2},"status":{"replicas":1}}`)
	require.Equal(t, http.StatusCreated, code, text)
	assert.Contains(t, text, `"status":{"replicas":1}`)
	assert.Contains(t, text, `"f:status":`, "who sets the status owns it")

	for path, want := range map[string]int{"v1/namespaces/a/fans/b/status": 200, "v1/namespaces/a/fans/b/scale": 404, "v2/namespaces/a/fans/b/status": 404, "v2/namespaces/a/fans/b/scale": 200} {
		code, text := ask(t, api, "GET", "/apis/example.com/"+path, "", "")
		assert.Equal(t, want, code, path+text)
	}
	for version, want := range map[string][]string{"v1": {"fans", "fans/status"}, "v2": {"fans", "fans/scale"}, "v3": {"fans", "fans/status", "fans/scale"}} {
		var list struct{ Resources []struct{ Name string } }
		_, text := ask(t, api, "GET", "/apis/example.com/"+version, "", "")
		require.NoError(t, json.Unmarshal([]byte(text), &list))
		var names []string
		for _, r := range list.Resources {
			names = append(names, r.Name)
		}
		assert.Equal(t, want, names)
		_, text = ask(t, api, "GET", "/openapi/v3/apis/example.com/"+version, "", "")
		for _, name := range []string{"status", "scale"} {
			assert.Equal(t, slices.Contains(want, "fans/"+name), strings.Contains(text, "fans/{name}/"+name))
		}
	}
	code, text = ask(t, api, "PATCH", "/apis/example.com/v2/namespaces/a/fans/b", "application/merge-patch+json", `{"status":{"replicas":3}}`)
	require.Equal(t, http.StatusOK, code, text)
	assert.Contains(t, text, `"generation":2`, "through v2 the status counts as the rest does")
	code, text = ask(t, api, "PATCH", "/apis/example.com/v1/namespaces/a/fans/b", "application/merge-patch+json", `{"status":{"replicas":4}}`)
	require.Equal(t, http.StatusOK, code, text)
	assert.Contains(t, text, `"status":{"replicas":3}`)
}
