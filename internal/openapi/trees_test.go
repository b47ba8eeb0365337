package openapi_test

import (
	"encoding/json"
	"os"
	"reflect"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kubecoord/kubecoord/internal/codec"
	"github.com/kubecoord/kubecoord/internal/openapi"
	"github.com/kubecoord/kubecoord/store"
	"github.com/kubecoord/kubecoord/store/meta"
	"github.com/kubecoord/kubecoord/store/schema"
)

func properties(properties ...schema.Property) *schema.Schema {
	return &schema.Schema{Type: "object", Properties: properties}
}

func property(name string, s *schema.Schema) schema.Property {
	return schema.Property{Name: name, Schema: s}
}

func text() *schema.Schema { return &schema.Schema{Type: "string"} }

// listOf returns the schema of a list, with its type and the keys of its items.
func listOf(items *schema.Schema, listType string, keys ...string) *schema.Schema {
	return &schema.Schema{Type: "array", Items: items, ListType: listType, ListMapKeys: keys}
}

// gear returns the schema that was published as testdata/gear.json.
func gear() *schema.Schema {
	port := properties(property("name", text()), schema.Property{Name: "port", Schema: &schema.Schema{Type: "integer"}, Required: true},
		property("protocol", &schema.Schema{Type: "string", Default: "TCP"}))
	reference, open := properties(property("a", text()), property("b", text())), properties(property("known", text()))
	reference.Atomic, open.PreserveUnknown = true, true
	template := properties(property("spec", properties(property("a", text()))))
	template.Embedded = true
	tree := properties(property("label", text()))
	for range 2 {
		tree = properties(property("label", text()), property("children", listOf(tree, "")))
	}
	either := []any{map[string]any{"type": "integer"}, map[string]any{"type": "string"}}
	return properties(
		property("spec", properties(
			property("size", &schema.Schema{Type: "integer", Default: int64(1)}),
			property("limit", &schema.Schema{IntOrString: true, Extra: map[string]any{"anyOf": either}}),
			property("ports", listOf(port, "map", "port", "protocol")), property("tags", listOf(text(), "set")), property("args", listOf(text(), "")),
			property("selector", &schema.Schema{Type: "object", Additional: text()}),
			property("reference", reference), property("open", open), property("note", &schema.Schema{Type: "string", Nullable: true}),
			property("template", template), property("tree", tree),
		)),
		property("status", properties(property("ready", &schema.Schema{Type: "boolean"}))))
}

// describe returns an API with one kind.
func describe(t *testing.T, group, kind string, native bool, s *schema.Schema) openapi.API {
	typ, err := codec.CompileTree(reflect.TypeFor[store.Unstructured](), "v1", s)
	require.NoError(t, err)
	gv := openapi.GroupVersion{
		GroupVersion: meta.GroupVersion{Group: group, Version: "v1"},
		Resources:    []openapi.Resource{{Kind: kind, ListKind: kind + "List", Plural: "things", Type: typ, JSONOnly: !native, NotStrategic: !native, Native: native}},
	}
	return openapi.API{Version: "v1.37.2", GroupVersions: []openapi.GroupVersion{gv}}
}

func TestDefinitionOfACustomResourceEqualsARealServers(t *testing.T) {
	data, err := os.ReadFile("testdata/gear.json")
	require.NoError(t, err)
	want := decode(t, data)
	api := describe(t, "schema.example.com", "Gear", false, gear())
	v3 := comparable(t, decode(t, api.V3("apis/schema.example.com/v1").JSON()))
	v2 := comparable(t, decode(t, api.V2().JSON()))
	const name = "com.example.schema.v1.Gear"
	sortRequired(want)
	sortRequired(v3)
	sortRequired(v2)
	assertSameMembers(t, at(t, want, "v3"), at(t, v3, "components", "schemas", name))
	assertSameMembers(t, at(t, want, "v2"), at(t, v2, "definitions", name))
	assert.NotContains(t, at(t, v3, "components", "schemas", name+"List", "properties", "metadata"), "default")
}

// sortRequired sorts the lists of required members, whose order means nothing.
func sortRequired(v any) {
	switch v := v.(type) {
	case tree:
		if names, ok := v["required"].([]any); ok && len(names) == 2 && names[0].(string) > names[1].(string) {
			names[0], names[1] = names[1], names[0]
		}
		for _, member := range v {
			sortRequired(member)
		}
	case []any:
		for _, item := range v {
			sortRequired(item)
		}
	}
}

func TestDefinitionsOfABuiltInKindAreShared(t *testing.T) {
	quantity := &schema.Schema{Name: "io.k8s.apimachinery.pkg.api.resource.Quantity", Extra: map[string]any{
		"oneOf": []any{map[string]any{"type": "string"}, map[string]any{"type": "number"}},
	}}
	node := properties(property("limits", &schema.Schema{Type: "object", Additional: quantity}))
	node.Name, node.Description = "io.k8s.api.apps.v1.Node", "A node."
	node.Properties = append(node.Properties, schema.Property{
		Name: "children", PatchStrategy: "merge", PatchMergeKey: "name", Schema: listOf(node, "atomic"),
	})
	root := properties(schema.Property{Name: "node", Schema: node, Description: "The root.", Default: map[string]any{}},
		property("raw", &schema.Schema{Type: "object", Nullable: true, PreserveUnknown: true, Name: "io.k8s.apimachinery.pkg.runtime.RawExtension"}),
		schema.Property{Name: "port", Required: true, Schema: &schema.Schema{Name: "io.k8s.apimachinery.pkg.util.intstr.IntOrString", IntOrString: true}},
		property("most", &schema.Schema{Type: "integer", Extra: map[string]any{"maximum": 2.5, "maxLength": int64(3), "enum": []any{int64(1), "a", nil}, "unheard": "of"}}))
	root.Name = "io.k8s.api.apps.v1.Thing"
	api := describe(t, "apps", "Thing", true, root)
	v3, v2 := decode(t, api.V3("apis/apps/v1").JSON()), decode(t, api.V2().JSON())
	definition := func(name string) string {
		text, err := json.Marshal([]any{at(t, v3, "components", "schemas", name), at(t, v2, "definitions", name)})
		require.NoError(t, err)
		return string(text)
	}
	assert.JSONEq(t, `[{"description":"A node.","type":"object","properties":{
		"limits":{"type":"object","additionalProperties":{"$ref":"#/components/schemas/io.k8s.apimachinery.pkg.api.resource.Quantity"}},
		"children":{"type":"array","items":{"$ref":"#/components/schemas/io.k8s.api.apps.v1.Node"},
			"x-kubernetes-list-type":"atomic","x-kubernetes-patch-strategy":"merge","x-kubernetes-patch-merge-key":"name"}}},
		{"description":"A node.","type":"object","properties":{
		"limits":{"type":"object","additionalProperties":{"$ref":"#/definitions/io.k8s.apimachinery.pkg.api.resource.Quantity"}},
		"children":{"type":"array","items":{"$ref":"#/definitions/io.k8s.api.apps.v1.Node"},
			"x-kubernetes-list-type":"atomic","x-kubernetes-patch-strategy":"merge","x-kubernetes-patch-merge-key":"name"}}}]`, definition("io.k8s.api.apps.v1.Node"))
	assert.JSONEq(t, `[{"oneOf":[{"type":"string"},{"type":"number"}]},{"type":"string"}]`, definition("io.k8s.apimachinery.pkg.api.resource.Quantity"))
	assert.JSONEq(t, `[{"oneOf":[{"type":"integer"},{"type":"string"}],"format":"int-or-string"},{"type":"string","format":"int-or-string"}]`,
		definition("io.k8s.apimachinery.pkg.util.intstr.IntOrString"))
	assert.NotContains(t, definition("io.k8s.apimachinery.pkg.runtime.RawExtension"), "preserve")
	thing := at(t, v3, "components", "schemas", "io.k8s.api.apps.v1.Thing")
	assert.Equal(t, tree{"allOf": []any{tree{"$ref": "#/components/schemas/io.k8s.api.apps.v1.Node"}}, "default": tree{}, "description": "The root."}, at(t, thing, "properties", "node"))
	assert.Equal(t, tree{}, at(t, thing, "properties", "metadata", "default"))
	assert.Equal(t, []any{"port"}, at(t, thing, "required"))
	assert.NotEmpty(t, api.V2().Protobuf())
	assert.NotEmpty(t, api.V3("apis/apps/v1").Protobuf())
	patch := at(t, v2, "paths", "/apis/apps/v1/namespaces/{namespace}/things/{name}", "patch").(tree)
	assert.Contains(t, patch["consumes"], "application/strategic-merge-patch+json")
}

// A StatefulSet has PersistentVolumeClaims, which are a kind of another document.
func TestKindOfAnotherDocumentIsDefinedAsAKind(t *testing.T) {
	claim := properties(property("spec", properties(property("size", &schema.Schema{Type: "integer"}))))
	claim.Name = "io.k8s.api.core.v1.Claim"
	set := properties(property("claims", listOf(claim, "atomic")))
	set.Name = "io.k8s.api.apps.v1.Set"
	core, apps := describe(t, "", "Claim", true, claim), describe(t, "apps", "Set", true, set)
	for _, api := range []openapi.API{
		{GroupVersions: slices.Concat(core.GroupVersions, apps.GroupVersions)}, {GroupVersions: slices.Concat(apps.GroupVersions, core.GroupVersions)},
	} {
		want := at(t, decode(t, api.V3("api/v1").JSON()), "components", "schemas", "io.k8s.api.core.v1.Claim")
		assert.Equal(t, []any{tree{"group": "", "kind": "Claim", "version": "v1"}}, at(t, want, "x-kubernetes-group-version-kind"))
		v3 := decode(t, api.V3("apis/apps/v1").JSON())
		assert.Equal(t, want, at(t, v3, "components", "schemas", "io.k8s.api.core.v1.Claim"))
		assert.NotContains(t, at(t, v3, "components", "schemas"), "io.k8s.api.core.v1.ClaimList")
	}
}

// A schema may describe the members that all kinds have.
func TestASchemaDescribesTheMembersOfAllKinds(t *testing.T) {
	text := &schema.Schema{Type: "string"}
	root := properties(schema.Property{Name: "kind", Schema: text, Description: "The kind of a thing."}, property("apiVersion", text),
		schema.Property{Name: "metadata", Schema: &schema.Schema{Type: "object"}, Description: "The metadata of a thing."})
	root.Name = "io.k8s.api.apps.v1.Thing"
	api := describe(t, "apps", "Thing", true, root)
	v3 := decode(t, api.V3("apis/apps/v1").JSON())
	for member, want := range map[string]string{
		"kind": "The kind of a thing.", "metadata": "The metadata of a thing.",
		"apiVersion": `The group and the version of the type, as "group/version", or just the version for the core group.`,
	} {
		assert.Equal(t, want, at(t, v3, "components", "schemas", "io.k8s.api.apps.v1.Thing", "properties", member, "description"), member)
	}
}
