package crd_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kubecoord/kubecoord/httpapi/kube/crd"
)

// definition returns a definition of kind Thing with the schema of its spec in YAML flow style.
func definition(spec string) string {
	return `{apiVersion: apiextensions.k8s.io/v1, kind: CustomResourceDefinition, metadata: {name: things.example.com}, spec: {
  group: example.com, scope: Cluster, names: {plural: things, kind: Thing}, versions: [{name: v1, served: true, storage: true,
  schema: {openAPIV3Schema: {type: object, properties: {spec: ` + spec + `}}}}]}}`
}

func thing(spec string) string {
	return `{"apiVersion":"example.com/v1","kind":"Thing","metadata":{"name":"t"},"spec":` + spec + `}`
}

const thingsPath = "/apis/example.com/v1/things"

func TestSchemaOfAMegabyteIsRead(t *testing.T) {
	var b strings.Builder
	b.WriteString("{type: object, properties: {")
	for i := range 8000 {
		fmt.Fprintf(&b, "f%d: {type: string, default: x, pattern: '^[a-z]*$', description: %s},\n", i, strings.Repeat("d", 60))
	}
	b.WriteString("}}")
	require.Greater(t, b.Len(), 1_000_000)
	s := serve(t, parse(t, definition(b.String()))...)
	code, doc := s.do("POST", thingsPath, thing(`{"f7999":"A"}`))
	assert.Equal(t, 422, code)
	assert.Equal(t, []string{"FieldValueInvalid spec.f7999: Invalid value: \"A\": spec.f7999 in body should match '^[a-z]*$'"}, causes(doc))
	code, doc = s.do("POST", thingsPath, thing(`{}`))
	require.Equal(t, 201, code)
	assert.Len(t, doc["spec"], 8000)
}

func TestRuleThatTakesTooLongEnds(t *testing.T) {
	// The estimate of the cost trusts maxItems of the inner list; the cost of one call is bounded at run time.
	s := serve(t, parse(t, definition(`{type: object, properties: {
  a: {type: array, maxItems: 400, items: {type: string, maxLength: 5}}},
  x-kubernetes-validations: [{rule: "!has(self.a) || self.a.all(x, self.a.all(y, x.contains(y) || true))"}]}`))...)
	items := strings.TrimSuffix(strings.Repeat(`"aaaaa",`, 400), ",")
	code, doc := s.do("POST", thingsPath, thing(`{"a":[`+items+`]}`))
	assert.Equal(t, 201, code, "%v", causes(doc))

	_, err := crd.Parse([]byte(definition(`{type: object, properties: {a: {type: array, items: {type: string}}},
  x-kubernetes-validations: [{rule: "self.a.all(x, self.a.all(y, self.a.all(z, x + y != z)))"}]}`)))
	assert.ErrorContains(t, err, "Forbidden: estimated rule cost exceeds budget by factor of more than 100x")
}

func TestRegularExpressionThatExplodesElsewhereDoesNotHere(t *testing.T) {
	s := serve(t, parse(t, definition(`{type: object, properties: {a: {type: string, pattern: '^(a+)+$'}}}`))...)
	code, doc := s.do("POST", thingsPath, thing(`{"a":"`+strings.Repeat("a", 100_000)+`!"}`))
	assert.Equal(t, 422, code)
	require.Len(t, causes(doc), 1)

	_, err := crd.Parse([]byte(definition(`{type: object, properties: {a: {type: string, pattern: '(a{1000}){1000}'}}}`)))
	assert.ErrorContains(t, err, "must be a valid regular expression")
}

func TestDeepDefinitionsAndObjects(t *testing.T) {
	const depth = 500
	nested := strings.Repeat("{type: object, properties: {a: ", depth) + "{type: string}" + strings.Repeat("}}", depth)
	s := serve(t, parse(t, definition(nested))...)
	code, doc := s.do("POST", thingsPath, thing(strings.Repeat(`{"a":`, depth)+`1`+strings.Repeat("}", depth)))
	assert.Equal(t, 422, code)
	assert.Len(t, causes(doc), 1)

	code, _ = s.do("POST", thingsPath, thing(strings.Repeat(`{"a":`, 20_000)+`1`+strings.Repeat("}", 20_000)))
	assert.Equal(t, 400, code)

	_, err := crd.Parse([]byte(definition(strings.Repeat("{a: ", 20_000) + "1" + strings.Repeat("}", 20_000))))
	assert.Error(t, err)
}
