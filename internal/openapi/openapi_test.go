package openapi_test

import (
	"maps"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kubecoord/kubecoord/internal/codec"
	"github.com/kubecoord/kubecoord/internal/openapi"
	"github.com/kubecoord/kubecoord/store"
	"github.com/kubecoord/kubecoord/store/kind"
	"github.com/kubecoord/kubecoord/store/meta"
)

func TestV3EqualsARealServer(t *testing.T) {
	docs := v3(coordination(t))
	for name, file := range map[string]string{
		"api/v1":                           "v3_api_v1.json",
		"apis/coordination.k8s.io/v1":      "v3_apis_coordination.k8s.io_v1.json",
		"apis/coordination.k8s.io/v1beta1": "v3_apis_coordination.k8s.io_v1beta1.json",
	} {
		t.Run(name, func(t *testing.T) {
			want, got := comparable(t, reference(t, file)), comparable(t, decode(t, docs[name].JSON()))
			assertSameMembers(t, at(t, want, "paths"), at(t, got, "paths"))
			assertSameMembers(t, at(t, want, "components", "schemas"), at(t, got, "components", "schemas"))
			assertSameMembers(t, want, got)
		})
	}
}

func TestV3HasTheDocumentsOfARealServer(t *testing.T) {
	docs := v3(coordination(t))
	want := slices.Collect(maps.Keys(at(t, reference(t, "v3.json"), "paths").(tree)))
	want = append(want, "apis/coordination.k8s.io/v1alpha1", "apis/coordination.k8s.io/v1alpha2")
	assert.ElementsMatch(t, want, slices.Collect(maps.Keys(docs)))
}

func TestV2EqualsARealServer(t *testing.T) {
	want, got := comparable(t, reference(t, "v2.json")), comparable(t, decode(t, coordination(t).V2().JSON()))
	withoutAlpha(at(t, got, "paths").(tree))
	withoutAlpha(at(t, got, "definitions").(tree))
	assertSameMembers(t, at(t, want, "paths"), at(t, got, "paths"))
	assertSameMembers(t, at(t, want, "definitions"), at(t, got, "definitions"))
	assertSameMembers(t, want, got)
}

// assertSameMembers compares two objects member by member, so that a failure names the member that differs.
func assertSameMembers(t *testing.T, want, got any) {
	t.Helper()
	w, g := want.(tree), got.(tree)
	assert.ElementsMatch(t, slices.Collect(maps.Keys(w)), slices.Collect(maps.Keys(g)))
	for name := range w {
		if g[name] != nil {
			assert.Equal(t, w[name], g[name], name)
		}
	}
}

// Barrier has the features that the three kinds lack: every kind of scalar, recursion, a type that looks like one of package meta, and
// types without a name.
type Barrier struct {
	meta.TypeMeta   `json:",inline"`
	meta.ObjectMeta `json:"metadata" protobuf:"1"`
	Spec            BarrierSpec `json:"spec" protobuf:"2"`
	Status          Status      `json:"status" protobuf:"3"`
}

type BarrierSpec struct {
	Parties int32            `json:"parties" protobuf:"1"`
	Weight  float64          `json:"weight,omitempty"`
	Secret  []byte           `json:"secret,omitempty" protobuf:"2"`
	Open    *bool            `json:"open" protobuf:"3"`
	Since   meta.Time        `json:"since,omitzero" protobuf:"4"`
	Tree    []Node           `json:"tree,omitempty" protobuf:"5" patchStrategy:"merge" patchMergeKey:"name" listType:"map" listMapKey:"name"`
	Counts  map[string]int64 `json:"counts,omitempty" protobuf:"6"`
	Limits  struct {
		Most int64 `json:"most,omitempty"`
	} `json:"limits"`
	Pair Pair[string] `json:"pair"`
}

type Node struct {
	Name     string `json:"name" protobuf:"1"`
	Children []Node `json:"children,omitempty"`
}

// Status is not meta.Status.
type Status struct {
	Arrived []string `json:"arrived" protobuf:"1"`
}

type Pair[T any] struct {
	Left T `json:"left,omitempty"`
}

func barriers() *store.Kind[Barrier] {
	return store.MustKind(kind.Descriptor[*Barrier]{Resource: kind.Resource{Group: "sync.example.com", Kind: "Barrier", Plural: "barriers"}, Versions: []kind.Version[*Barrier]{{Name: "v1"}, {Name: "v1alpha1"}}})
}

func TestKindsOfUsersAreNamedAfterTheirGroup(t *testing.T) {
	api := coordination(t, barriers())
	doc := decode(t, api.V3("apis/sync.example.com/v1").JSON())
	schemas := at(t, doc, "components", "schemas")
	barrier := at(t, schemas, "com.example.sync.v1.Barrier")
	assert.Equal(t, []any{tree{"group": "sync.example.com", "version": "v1", "kind": "Barrier"}}, at(t, barrier, "x-kubernetes-group-version-kind"))
	at(t, schemas, "com.example.sync.v1.BarrierList")
	assert.Equal(t, "com.example.sync.v1.Status", refTo(t, at(t, barrier, "properties", "status")))
	assert.Equal(t, "io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta", refTo(t, at(t, barrier, "properties", "metadata")))

	patch := at(t, doc, "paths", "/apis/sync.example.com/v1/namespaces/{namespace}/barriers/{name}", "patch")
	assert.Equal(t, "patchSyncExampleComV1NamespacedBarrier", at(t, patch, "operationId"))
	assert.Equal(t, []any{"syncExampleCom_v1"}, at(t, patch, "tags"))
	at(t, decode(t, api.V3("apis/sync.example.com").JSON()), "paths", "/apis/sync.example.com/", "get")
	at(t, decode(t, api.V2().JSON()), "definitions", "com.example.sync.v1alpha1.BarrierSpec")
}

// note is a kind with descriptions.
type note struct {
	meta.TypeMeta   `json:",inline" description:"A note."`
	meta.ObjectMeta `json:"metadata" description:"About the note."`
	Text            string    `json:"text" description:"The text."`
	Page            *int32    `json:"page,omitempty" description:"The page."`
	Spec            noteSpec  `json:"spec" description:"What is wanted."`
	More            *noteSpec `json:"more,omitempty" description:"What else is wanted."`
}

type noteSpec struct {
	Lines []string `json:"lines,omitempty" description:"The lines."`
}

// Bodies of custom kinds must have kind and apiVersion.
func TestDescriptionsAreThoseOfTheGoType(t *testing.T) {
	kind := store.MustKind(kind.Descriptor[*note]{Resource: kind.Resource{Group: "example.com", Kind: "Note"}, Versions: []kind.Version[*note]{{Name: "v1"}}})
	schemas := at(t, decode(t, coordination(t, kind).V3("apis/example.com/v1").JSON()), "components", "schemas")
	for name, want := range map[string]map[string]any{
		"com.example.v1.Note": {
			"": "A note.", "metadata": "About the note.", "text": "The text.", "page": "The page.", "spec": "What is wanted.", "more": "What else is wanted.",
			"kind":       "The type of the object in CamelCase. Cannot be changed.",
			"apiVersion": `The group and the version of the type, as "group/version", or just the version for the core group.`,
		},
		"com.example.v1.noteSpec": {"": nil, "lines": "The lines."},
	} {
		for member, text := range want {
			def := at(t, schemas, name).(tree)
			if member != "" {
				def = at(t, def, "properties", member).(tree)
			}
			assert.Equal(t, text, def["description"], "%s.%s", name, member)
		}
	}
}

func TestSchemasFollowGoTypes(t *testing.T) {
	schemas := at(t, decode(t, coordination(t, barriers()).V3("apis/sync.example.com/v1").JSON()), "components", "schemas")
	spec := at(t, schemas, "com.example.sync.v1.BarrierSpec")
	assert.Equal(t, []any{"parties", "open"}, at(t, spec, "required"))
	const refs = "#/components/schemas/"
	assert.Equal(t, tree{
		"parties": tree{"type": "integer", "format": "int32", "default": 0.0},
		"weight":  tree{"type": "number", "format": "double"},
		"secret":  tree{"type": "string", "format": "byte"},
		"open":    tree{"type": "boolean"},
		"since":   tree{"allOf": []any{tree{"$ref": refs + "io.k8s.apimachinery.pkg.apis.meta.v1.Time"}}},
		"tree": tree{
			"type": "array", "items": tree{"$ref": refs + "com.example.sync.v1.Node"},
			"x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": []any{"name"},
			"x-kubernetes-patch-strategy": "merge", "x-kubernetes-patch-merge-key": "name",
		},
		"counts": tree{"type": "object", "additionalProperties": tree{"type": "integer", "format": "int64"}},
		"limits": tree{"type": "object", "default": tree{}, "properties": tree{"most": tree{"type": "integer", "format": "int64"}}},
		"pair":   tree{"allOf": []any{tree{"$ref": refs + "com.example.sync.v1.Pair_string_"}}, "default": tree{}},
	}, at(t, spec, "properties"))
	node := at(t, schemas, "com.example.sync.v1.Node")
	assert.Equal(t, refs+"com.example.sync.v1.Node", at(t, node, "properties", "children", "items", "$ref"))
}

func TestDefinitionsOfOneNameGetDifferentNames(t *testing.T) {
	type Spec struct {
		A string `json:"a,omitempty"`
	}
	type SpecV1 struct {
		B string `json:"b,omitempty"`
	}
	type Thing struct {
		One Spec   `json:"one"`
		Two SpecV1 `json:"two"`
	}
	goType := reflect.TypeFor[Thing]()
	gv := openapi.GroupVersion{
		GroupVersion: meta.GroupVersion{Group: "example.com", Version: "v1"},
		Resources:    []openapi.Resource{{Kind: "Thing", ListKind: "ThingList", Plural: "things", Type: codec.MustCompile(goType, "v1")}},
	}
	doc := decode(t, openapi.API{GroupVersions: []openapi.GroupVersion{gv}}.V3("apis/example.com/v1").JSON())
	properties := at(t, doc, "components", "schemas", "com.example.v1.Thing", "properties")
	assert.Equal(t, "com.example.v1.Spec", refTo(t, at(t, properties, "one")))
	assert.Equal(t, "com.example.v1.SpecV1", refTo(t, at(t, properties, "two")))
}

// refTo returns the name of the definition that a member refers to.
func refTo(t testing.TB, property any) string {
	t.Helper()
	all, _ := at(t, property, "allOf").([]any)
	require.Len(t, all, 1)
	return strings.TrimPrefix(at(t, all[0], "$ref").(string), "#/components/schemas/")
}
