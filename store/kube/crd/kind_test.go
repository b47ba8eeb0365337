package crd_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestColumnsAndSelectableFields(t *testing.T) {
	s := serve(t, parse(t, widgets)...)
	code, doc := s.do("POST", widgetsPath, widget(`{"color":"red","size":3}`))
	require.Equal(t, 201, code, "%v", doc)
	_, table := s.do("GET", widgetsPath+"?fieldSelector=spec.color%3Dred", "", "Accept", "application/json;as=Table;g=meta.k8s.io;v=v1")
	columns := table["columnDefinitions"].([]any)
	require.Len(t, columns, 4)
	assert.Equal(t, map[string]any{"name": "Color", "type": "string", "format": "", "priority": 0.0,
		"description": "Custom resource definition column (in JSONPath format): .spec.color"}, columns[1])
	assert.Equal(t, map[string]any{"name": "Size", "type": "integer", "format": "", "priority": 1.0, "description": "How large it is."}, columns[2])
	rows := table["rows"].([]any)
	require.Len(t, rows, 1)
	assert.Equal(t, []any{"w", "red", 3.0, "0s"}, rows[0].(map[string]any)["cells"])

	_, list := s.do("GET", widgetsPath+"?fieldSelector=spec.color%3Dgreen", "")
	assert.Empty(t, list["items"])
}

func TestStatusIsValidatedAlone(t *testing.T) {
	s := serve(t, parse(t, widgets)...)
	code, doc := s.do("POST", widgetsPath, widget(`{"color":"red"}`))
	require.Equal(t, 201, code, "%v", doc)
	patch := []string{"Content-Type", "application/merge-patch+json"}
	code, doc = s.do("PATCH", widgetsPath+"/w/status", `{"status":{"ready":-1}}`, patch...)
	assert.Equal(t, 422, code)
	assert.Equal(t, []string{"FieldValueInvalid status.ready: Invalid value: -1: ready in body should be greater than or equal to 0"}, causes(doc))
	code, doc = s.do("PATCH", widgetsPath+"/w/status", `{"status":{"ready":1},"spec":{"color":"blue"}}`, patch...)
	assert.Equal(t, 200, code, "%v", doc)
	assert.Equal(t, 1.0, doc["metadata"].(map[string]any)["generation"])
}
