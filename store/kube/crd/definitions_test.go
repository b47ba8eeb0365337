package crd_test

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"sigs.k8s.io/yaml"

	"github.com/kubecoord/kubecoord/store/kube/crd"
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
