package crd_test

import (
	"encoding/json"
	"fmt"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"sigs.k8s.io/yaml"

	"github.com/kubecoord/kubecoord/httpapi/kube/crd"
)

const definitionsPath = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"

// asJSON returns a YAML document as JSON.
func asJSON(t testing.TB, text string) string {
	data, err := yaml.YAMLToJSON([]byte(text))
	require.NoError(t, err)
	return string(data)
}

func TestNewDefinitionHasDefaultsAndStoredVersions(t *testing.T) {
	s := serve(t, crd.Definitions())
	code, doc := s.do("POST", definitionsPath, `{"apiVersion":"apiextensions.k8s.io/v1","kind":"CustomResourceDefinition","metadata":{"name":"widgets.crd.example.com"},"spec":{"group":"crd.example.com","scope":"Namespaced","names":{"plural":"widgets","kind":"Widget"},"versions":[{"name":"v1","served":true,"storage":true,"schema":{"openAPIV3Schema":{"type":"object","properties":{"spec":{"type":"object","properties":{"x":{"type":"string"}}}}}}}]},"status":{"storedVersions":["v0"]}}`)
	require.Equal(t, 201, code, "%v", doc)
	text, err := json.Marshal(map[string]any{"spec": doc["spec"], "status": doc["status"]})
	require.NoError(t, err)
	assert.JSONEq(t, `{"spec": {"group": "crd.example.com", "names": {"plural": "widgets", "singular": "widget", "kind": "Widget", "listKind": "WidgetList"}, "scope": "Namespaced", "versions": [{"name": "v1", "served": true, "storage": true, "schema": {"openAPIV3Schema": {"type": "object", "properties": {"spec": {"type": "object", "properties": {"x": {"type": "string"}}}}}}}], "conversion": {"strategy": "None"}}, "status": {"conditions": null, "acceptedNames": {"plural": "", "kind": ""}, "storedVersions": ["v1"]}}`, string(text))
	fields := doc["metadata"].(map[string]any)["managedFields"].([]any)[0].(map[string]any)["fieldsV1"]
	text, err = json.Marshal(fields)
	require.NoError(t, err)
	assert.JSONEq(t, `{"f:spec": {"f:conversion": {".": {}, "f:strategy": {}}, "f:group": {}, "f:names": {"f:kind": {}, "f:listKind": {}, "f:plural": {}, "f:singular": {}}, "f:scope": {}, "f:versions": {}}}`, string(text))
}

func TestDeletionOfADefinitionBeginsWithTheFinalizer(t *testing.T) {
	s := serve(t, crd.Definitions())
	code, doc := s.do("POST", definitionsPath, asJSON(t, widgets))
	require.Equal(t, 201, code, "%v", doc)
	code, doc = s.do("DELETE", definitionsPath+"/widgets.example.com", "")
	require.Equal(t, 200, code, "%v", doc)
	m := doc["metadata"].(map[string]any)
	assert.Equal(t, []any{"customresourcecleanup.apiextensions.k8s.io"}, m["finalizers"])
	assert.NotEmpty(t, m["deletionTimestamp"])
	assert.Equal(t, 1.0, m["generation"])
	assert.NotContains(t, m, "deletionGracePeriodSeconds")
	condition := doc["status"].(map[string]any)["conditions"].([]any)[0].(map[string]any)
	assert.Equal(t, "InstanceDeletionPending", condition["reason"])
}

func TestGenerationOfADefinitionCountsItsSpec(t *testing.T) {
	s := serve(t, crd.Definitions())
	code, doc := s.do("POST", definitionsPath, asJSON(t, widgets))
	require.Equal(t, 201, code, "%v", doc)
	patch := func(path, body string) float64 {
		code, doc := s.do("PATCH", definitionsPath+"/widgets.example.com"+path, body, "Content-Type", "application/merge-patch+json")
		require.Equal(t, 200, code, "%v", doc)
		return doc["metadata"].(map[string]any)["generation"].(float64)
	}
	assert.Equal(t, 1.0, patch("", `{"metadata":{"labels":{"a":"b"}}}`))
	assert.Equal(t, 2.0, patch("", `{"spec":{"names":{"shortNames":["x"]}}}`))
	assert.Equal(t, 2.0, patch("/status", `{"status":{"acceptedNames":{"plural":"widgets"}}}`))
}

// TestStatusOfADefinitionAlsoWritesItsMetadata has the answers of a kube-apiserver.
func TestStatusOfADefinitionAlsoWritesItsMetadata(t *testing.T) {
	s := serve(t, crd.Definitions())
	code, doc := s.do("POST", definitionsPath, asJSON(t, widgets))
	require.Equal(t, 201, code, "%v", doc)
	patch := func(query, kind, body string) map[string]any {
		code, doc := s.do("PATCH", definitionsPath+"/widgets.example.com/status"+query, body, "Content-Type", kind)
		require.Equal(t, 200, code, "%v", doc)
		return doc
	}
	const apply = "application/apply-patch+yaml"
	m := patch("?fieldManager=m", apply, `{"apiVersion":"apiextensions.k8s.io/v1","kind":"CustomResourceDefinition","metadata":{"name":"widgets.example.com","labels":{"a":"b"}}}`)["metadata"].(map[string]any)
	assert.Equal(t, map[string]any{"a": "b"}, m["labels"])
	assert.Equal(t, map[string]any{"f:metadata": map[string]any{"f:labels": map[string]any{"f:a": map[string]any{}}}}, m["managedFields"].([]any)[0].(map[string]any)["fieldsV1"])
	assert.Equal(t, 1.0, m["generation"])

	doc = patch("", "application/merge-patch+json", `{"metadata":{"labels":null,"finalizers":["example.com/f"]},"spec":null,"status":null}`)
	m = doc["metadata"].(map[string]any)
	assert.NotContains(t, m, "labels")
	assert.Equal(t, []any{"example.com/f"}, m["finalizers"])
	assert.Equal(t, "Namespaced", doc["spec"].(map[string]any)["scope"])
	assert.Equal(t, []any{"v1"}, doc["status"].(map[string]any)["storedVersions"])
}

// TestSetsOfObjectsAreWarnedOfOnce has the warnings of apiextensions-apiserver 0.37.2.
func TestSetsOfObjectsAreWarnedOfOnce(t *testing.T) {
	s := serve(t, crd.Definitions())
	write := func(method, path, body string) []string {
		req := httptest.NewRequest(method, path, strings.NewReader(body))
		req.Header.Set("Content-Type", map[string]string{"POST": "application/json", "PATCH": "application/merge-patch+json"}[method])
		rec := httptest.NewRecorder()
		s.api.ServeHTTP(rec, req)
		require.Less(t, rec.Code, 300, "%s", rec.Body)
		return rec.Header().Values("Warning")
	}
	versions := func(format string) string {
		return `"versions":[{"name":"v1","served":true,"storage":true,"schema":{"openAPIV3Schema":{"type":"object","properties":{
			"a":{"type":"string","format":"` + format + `"},"b":{"type":"array","x-kubernetes-list-type":"set","items":{"type":"object","x-kubernetes-map-type":"atomic"}},
			"c":{"type":"array","x-kubernetes-list-type":"set","items":{"type":"array","x-kubernetes-list-type":"atomic","items":{"type":"string"}}},
			"d":{"type":"array","x-kubernetes-list-type":"set","items":{"type":"object","x-kubernetes-map-type":"atomic"}}}}}}]`
	}
	const set = `299 - "x-kubernetes-list-type: set for items of type \"%s\" is not supported by server-side apply or CEL validation rules"`
	assert.Equal(t, []string{`299 - "unrecognized format \"x\""`, fmt.Sprintf(set, "array"), fmt.Sprintf(set, "object")}, write("POST", definitionsPath,
		`{"apiVersion":"apiextensions.k8s.io/v1","kind":"CustomResourceDefinition","metadata":{"name":"sets.example.com"},"spec":{"group":"example.com","scope":"Cluster","names":{"plural":"sets","kind":"Set"},`+versions("x")+`}}`))
	assert.Equal(t, []string{`299 - "unrecognized format \"y\""`}, write("PATCH", definitionsPath+"/sets.example.com", `{"spec":{`+versions("y")+`}}`))
}
