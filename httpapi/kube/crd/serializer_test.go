package crd_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"sigs.k8s.io/yaml"

	"github.com/kubecoord/kubecoord/httpapi/kube/crd"
)

// TestNumbersOfADefinitionAreValues writes a definition again whose Go type has floats for numbers that are integers in its JSON.
func TestNumbersOfADefinitionAreValues(t *testing.T) {
	s := serve(t, crd.Definitions())
	text := asJSON(t, definition(`{type: object, properties: {
  a: {type: integer, minimum: 0, maximum: 9, multipleOf: 3, default: 3}, b: {type: number, minimum: 0.5, maximum: 1.0e3, enum: [1, 2]}}}`))
	const own = definitionsPath + "/things.example.com"
	state := func(code int, doc map[string]any) [2]any {
		require.Contains(t, []int{200, 201}, code, "%v", doc)
		m := doc["metadata"].(map[string]any)
		return [2]any{m["generation"], m["resourceVersion"]}
	}
	apply := func(body string) [2]any {
		return state(s.do("PATCH", own+"?fieldManager=m", body, "Content-Type", "application/apply-patch+yaml"))
	}
	first := apply(text)
	assert.Equal(t, 1.0, first[0])
	assert.Equal(t, first, apply(text))
	inYAML, err := yaml.JSONToYAML([]byte(text))
	require.NoError(t, err)
	assert.Equal(t, first, apply(string(inYAML)))
	assert.Equal(t, first, apply(strings.NewReplacer(`"minimum":0,`, `"minimum":0.0,`, `"multipleOf":3,`, `"multipleOf":3e0,`).Replace(text)))
	assert.Equal(t, first, state(s.do("PATCH", own, `{"spec":{"conversion":{"strategy":"None"}}}`, "Content-Type", "application/merge-patch+json")))
	code, doc := s.do("GET", own, "")
	require.Equal(t, 200, code)
	again, err := yaml.Marshal(doc)
	require.NoError(t, err)
	assert.Equal(t, first, state(s.do("PUT", own, string(again), "Content-Type", "application/yaml")))
	assert.Equal(t, first, state(s.do("PUT", own, asJSON(t, string(again)))))
}
