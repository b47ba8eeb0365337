package crd_test

import (
	"encoding/json"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kubecoord/kubecoord/store"
)

func TestObjectsAreRefusedWithUpstreamsTexts(t *testing.T) {
	s := serve(t, parse(t, widgets)...)
	for name, row := range map[string]struct {
		spec string
		want []string
	}{
		"a missing member": {`{}`, []string{
			"FieldValueRequired spec.color: Required value",
			`FieldValueInvalid <nil>: Invalid value: null: some validation rules were not checked because the object was invalid; correct the existing errors to complete validation`,
		}},
		"a value that is not in the list": {`{"color":"blue"}`, []string{
			`FieldValueNotSupported spec.color: Unsupported value: "blue": supported values: "red", "green"`,
			`FieldValueInvalid <nil>: Invalid value: null: some validation rules were not checked because the object was invalid; correct the existing errors to complete validation`,
		}},
		"a wrong type": {`{"color":"red","size":"big"}`, []string{
			`FieldValueTypeInvalid spec.size: Invalid value: "string": spec.size in body must be of type integer: "string"`,
			`FieldValueInvalid <nil>: Invalid value: null: some validation rules were not checked because the object was invalid; correct the existing errors to complete validation`,
		}},
		"a pattern": {`{"color":"red","name":"A"}`, []string{
			`FieldValueInvalid spec.name: Invalid value: "A": spec.name in body should match '^[a-z]*$'`,
		}},
		"too many items": {`{"color":"red","tags":["a","b","c","d"]}`, []string{
			"FieldValueTooMany spec.tags: Too many: 4: must have at most 3 items",
			`FieldValueInvalid <nil>: Invalid value: null: some validation rules were not checked because the object was invalid; correct the existing errors to complete validation`,
		}},
		"a duplicate in a set": {`{"color":"red","tags":["a","b","a"]}`, []string{`FieldValueDuplicate spec.tags[2]: Duplicate value: "a"`}},
		"a duplicate in a map": {`{"color":"red","ports":[{"name":"a"},{"name":"a","port":1}]}`, []string{
			`FieldValueDuplicate spec.ports[1]: Duplicate value: {"name":"a"}`,
		}},
		"an embedded object without a type": {`{"color":"red","template":{"metadata":{"name":"x"}}}`, []string{
			"FieldValueRequired spec.template.apiVersion: Required value",
			"FieldValueRequired spec.template.kind: Required value",
			`FieldValueInvalid <nil>: Invalid value: null: some validation rules were not checked because the object was invalid; correct the existing errors to complete validation`,
		}},
		"a CEL rule": {`{"color":"red","size":-1}`, []string{"FieldValueForbidden spec.size: Forbidden: size must not be negative"}},
	} {
		t.Run(name, func(t *testing.T) {
			code, doc := s.do("POST", widgetsPath, widget(row.spec))
			assert.Equal(t, 422, code, "%v", doc)
			assert.Equal(t, row.want, causes(doc))
		})
	}
}

func TestTransitionRulesCompareWithTheOldObject(t *testing.T) {
	s := serve(t, parse(t, widgets)...)
	code, doc := s.do("POST", widgetsPath, widget(`{"color":"red"}`))
	require.Equal(t, 201, code, "%v", doc)
	code, doc = s.do("PATCH", widgetsPath+"/w", `{"spec":{"color":"green"}}`, "Content-Type", "application/merge-patch+json")
	assert.Equal(t, 422, code)
	assert.Equal(t, []string{`FieldValueInvalid spec: Invalid value: color is immutable, it was red`}, causes(doc))
}

// TestRulesThatOlderObjectsBreakWarn has the answers of a kube-apiserver: a rule that fails for a value that stays does not refuse a
// write, and an answer has a warning for each, also if other rules refuse it.
func TestRulesThatOlderObjectsBreakWarn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := live(t, newStore(t, store.Options{}))
		write := func(method, path, body string) (code int, message string, warnings []string) {
			req := httptest.NewRequest(method, path, strings.NewReader(body))
			req.Header.Set("Content-Type", map[string]string{"POST": "application/json", "PATCH": "application/merge-patch+json"}[method])
			rec := httptest.NewRecorder()
			s.api.ServeHTTP(rec, req)
			var doc struct{ Message string }
			require.NoError(t, json.Unmarshal(rec.Body.Bytes(), &doc))
			return rec.Code, doc.Message, rec.Header().Values("Warning")
		}
		versions := func(spec, value, status string) string {
			return `"versions":[{"name":"v1","served":true,"storage":true,"subresources":{"status":{}},"schema":{"openAPIV3Schema":{"type":"object","properties":{
				"spec":{"type":"object","properties":{"a":{"type":"integer"},"m":{"type":"object","maxProperties":9,"additionalProperties":{"type":"integer"` + value + `}}}` + spec + `},
				"status":{"type":"object","properties":{"n":{"type":"integer"}}` + status + `}}}}}]`
		}
		rules := func(all ...string) string {
			return `,"x-kubernetes-validations":[{"rule":` + strings.Join(all, `},{"rule":`) + `}]`
		}
		s.define(`{"apiVersion":"apiextensions.k8s.io/v1","kind":"CustomResourceDefinition","metadata":{"name":"widgets.example.com"},"spec":{
			"group":"example.com","scope":"Namespaced","names":{"plural":"widgets","kind":"Widget"},` + versions("", "", "") + `}}`)
		code, text, _ := write("POST", widgetsPath, widget(`{"a":9,"m":{"q":9,"p":9}}`))
		require.Equal(t, 201, code, text)
		const w = widgetsPath + "/w"
		code, text, _ = write("PATCH", w+"/status", `{"status":{"n":9}}`)
		require.Equal(t, 200, code, text)
		code, text, _ = write("PATCH", definitionsPath+"/widgets.example.com", `{"spec":{`+versions(
			rules(`"self.a < 5","message":"a is too big"`, `"self.a < 6","fieldPath":".a","reason":"FieldValueForbidden"`, `"self.a >= oldSelf.a","message":"a shrinks"`),
			rules(`"self < 5"`), rules(`"self.n < 5"`))+`}}`)
		require.Equal(t, 200, code, text)
		synctest.Wait()

		spec := []string{`299 - "spec: Invalid value: a is too big"`, `299 - "spec.a: Forbidden: failed rule: self.a < 6"`}
		p, q := `299 - "spec.m[p]: Invalid value: 9: failed rule: self < 5"`, `299 - "spec.m[q]: Invalid value: 9: failed rule: self < 5"`
		n := `299 - "status: Invalid value: failed rule: self.n < 5"`
		for _, tt := range []struct {
			name, path, body, message string
			warnings                  []string
		}{
			{"nothing", w, `{}`, "", append(slices.Clone(spec), p, q, n)},
			{"a label", w, `{"metadata":{"labels":{"a":"b"}}}`, "", append(slices.Clone(spec), p, q, n)},
			{"a dry run", w + "?dryRun=All", `{"metadata":{"labels":{"a":"c"}}}`, "", append(slices.Clone(spec), p, q, n)},
			{"the status as it is", w + "/status", `{}`, "", append(slices.Clone(spec), p, q, n)},
			{"the status", w + "/status", `{"status":{"n":8}}`, "status: Invalid value: failed rule: self.n < 5", append(slices.Clone(spec), p, q)},
			{"a member", w, `{"spec":{"m":{"p":8}}}`,
				"[spec: Invalid value: a is too big, spec.a: Forbidden: failed rule: self.a < 6, spec.m[p]: Invalid value: 8: failed rule: self < 5]", []string{q, n}},
			{"a good member", w, `{"spec":{"m":{"p":1}}}`, "[spec: Invalid value: a is too big, spec.a: Forbidden: failed rule: self.a < 6]", []string{q, n}},
		} {
			code, text, warnings := write("PATCH", tt.path, tt.body)
			if tt.message == "" {
				assert.Equal(t, 200, code, "%s: %s", tt.name, text)
			} else {
				assert.Equal(t, `Widget.example.com "w" is invalid: `+tt.message, text, tt.name)
				assert.Equal(t, 422, code, tt.name)
			}
			assert.Equal(t, tt.warnings, warnings, tt.name)
		}
	})
}
