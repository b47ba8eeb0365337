package crd

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
)

// The controller serves what the store has, as a real server does: the create has validated it. A validation of seconds would delay the
// kinds of all definitions after it.
func TestADefinitionInTheStoreIsNotValidatedAgain(t *testing.T) {
	crds, err := parse([]byte(`{apiVersion: apiextensions.k8s.io/v1, kind: CustomResourceDefinition, metadata: {name: things.stored.example.com},
		spec: {group: stored.example.com, scope: Namespaced, names: {plural: things, kind: Thing}, versions: [{name: v1, served: true, storage: true,
		schema: {openAPIV3Schema: {type: object, x-kubernetes-validations: [{rule: self.nothing}]}}}]}}`))
	require.NoError(t, err)
	_, err = made().kindFor(crds[0], false)
	assert.ErrorContains(t, err, "undefined field 'nothing'")
	k, err := made().kindFor(crds[0], true)
	require.NoError(t, err)
	assert.Equal(t, "things", k.Info().Plural)

	v := &crds[0].Spec.Versions[0]
	v.Schema, v.SelectableFields = nil, []apiextensionsv1.SelectableField{{JSONPath: ".spec.a"}}
	assert.NotPanics(t, func() { _, _ = made().kindFor(crds[0], true) })
}
