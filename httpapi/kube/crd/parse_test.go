package crd_test

import (
	"strings"
	"testing"
	"testing/fstest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kubecoord/kubecoord/httpapi/kube/crd"
)

func TestBadDefinitionsAreRefusedWithTheFieldAndTheRule(t *testing.T) {
	for name, row := range map[string]struct{ old, new, want string }{
		"not structural": {
			"color: {type: string, enum: [red, green], maxLength: 10}", "color: {enum: [red]}",
			`crd: CustomResourceDefinition "widgets.example.com": [spec.validation.openAPIV3Schema.properties[spec].properties[color].type: Required value: must not be empty for specified object fields`,
		},
		"a rule that does not compile": {
			"self.color == oldSelf.color", "self.colour == oldSelf.color",
			"spec.validation.openAPIV3Schema.properties[spec].x-kubernetes-validations[1].rule: Invalid value: " +
				`{"Rule":"self.colour == oldSelf.color","Message":"","MessageExpression":"'color is immutable, it was ' + oldSelf.color","Reason":null,"FieldPath":"","OptionalOldSelf":null}: compilation failed: ERROR: <input>:1:5: undefined field 'colour'`,
		},
		"a rule that may cost too much": {
			`"self.color == oldSelf.color"`, `"self.ports.all(a, self.ports.all(b, self.ports.all(c, a.name + b.name != c.name)))"`,
			"spec.validation.openAPIV3Schema.properties[spec].x-kubernetes-validations[1].rule: Forbidden: estimated rule cost exceeds budget by factor of more than 100x",
		},
		"a default of another type": {
			"default: low", "default: 1",
			`spec.validation.openAPIV3Schema.properties[spec].properties[level].default: Invalid value: "integer":  in body must be of type string: "integer"`,
		},
		"a reference": {
			"level: {type: string, default: low}", "level: {$ref: '#/x'}",
			`crd: CustomResourceDefinition "widgets.example.com": spec: Internal error: validation panics`,
		},
		"a key of a map that may be missing": {
			"required: [name]", "minProperties: 1",
			"spec.validation.openAPIV3Schema.properties[spec].properties[ports].items.properties[name].default: Required value: this property is in x-kubernetes-list-map-keys, so it must have a default or be a required property",
		},
		"a name that does not fit": {
			"metadata: {name: widgets.example.com}", "metadata: {name: gadgets.example.com}",
			`metadata.name: Invalid value: "gadgets.example.com": must be spec.names.plural+"."+spec.group`,
		},
		"no storage version": {"storage: true", "storage: false", "spec.versions: Invalid value"},
		"an unknown field":   {"scope: Namespaced", "scop: Namespaced", `crd: document 1: CustomResourceDefinition "widgets.example.com": unknown field "spec.scop"`},
		"a duplicate key":    {"scope: Namespaced", "scope: Namespaced\n  scope: Cluster", `key "scope" already set in map`},
		"another kind":       {"kind: CustomResourceDefinition", "kind: Pod", `crd: document 1: got kind "Pod" of "apiextensions.k8s.io/v1", want CustomResourceDefinition of apiextensions.k8s.io/v1`},
	} {
		t.Run(name, func(t *testing.T) {
			require.Contains(t, widgets, row.old)
			kinds, err := crd.Parse([]byte(strings.Replace(widgets, row.old, row.new, 1)))
			require.Error(t, err)
			assert.Contains(t, err.Error(), row.want)
			assert.Nil(t, kinds)
		})
	}
}

func TestTwoDefinitionsOfOneName(t *testing.T) {
	_, err := crd.Parse([]byte(widgets + "\n---\n" + widgets))
	assert.EqualError(t, err, `crd: CustomResourceDefinition "widgets.example.com": metadata.name: Duplicate value: "widgets.example.com"`)

	other := strings.NewReplacer("widgets.example.com", "things.example.com", "plural: widgets", "plural: things").Replace(widgets)
	_, err = crd.Parse([]byte(widgets + "---\n" + other))
	assert.EqualError(t, err, `crd: CustomResourceDefinition "things.example.com": spec.names: "widget" is already in use by "widgets.example.com"`)
}

func TestReadFindsDefinitionsInADirectory(t *testing.T) {
	file := func(text string) *fstest.MapFile { return &fstest.MapFile{Data: []byte(text)} }
	kinds, err := crd.Read(fstest.MapFS{
		"a/widgets.yaml": file("# a comment\n---" + widgets + "---\n"), "README.md": file("# no definition"),
	})
	require.NoError(t, err)
	require.Len(t, kinds, 1)
	info := kinds[0].Info()
	assert.Equal(t, []string{"example.com", "Widget", "widgets", "widget"}, []string{info.Group, info.Kind, info.Plural, info.Singular})

	_, err = crd.Read(fstest.MapFS{"x.txt": file("")})
	assert.EqualError(t, err, "crd: got a directory without definitions, want at least one file .yaml, .yml or .json")
	_, err = crd.Read(fstest.MapFS{"bad.yaml": file("---\n# empty\n--- # and another\n---x")})
	assert.EqualError(t, err, "crd: bad.yaml: document 2: invalid Yaml document separator: x", "the text of kubectl")
	_, err = crd.Read(fstest.MapFS{"bad.yaml": file("kind: [")})
	assert.ErrorContains(t, err, "crd: bad.yaml: document 1: ")
}
