package crd_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
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
