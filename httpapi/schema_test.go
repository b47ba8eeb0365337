package httpapi_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kubecoord/kubecoord/httpapi"
	"github.com/kubecoord/kubecoord/store"
	"github.com/kubecoord/kubecoord/store/kind"
	"github.com/kubecoord/kubecoord/store/schema"
)

// The expected answers are from apiextensions-apiserver 0.36.3, for a CustomResourceDefinition with the schema of
// gearSchema.

const (
	gears     = "/apis/example.com/v1/namespaces/default/gears"
	strategic = "application/strategic-merge-patch+json"
)

func object(properties ...schema.Property) *schema.Schema {
	return &schema.Schema{Type: "object", Properties: properties}
}

func property(name string, s *schema.Schema) schema.Property {
	return schema.Property{Name: name, Schema: s}
}

func text() *schema.Schema { return &schema.Schema{Type: "string"} }

// gearSchema has a member of each form.
func gearSchema() *schema.Schema {
	port := object(
		property("name", text()),
		property("port", &schema.Schema{Type: "integer"}),
		property("protocol", &schema.Schema{Type: "string", Default: "TCP"}),
	)
	node := object(property("label", text()))
	node.Name = "com.example.v1.Node"
	node.Properties = append(node.Properties, property("children", &schema.Schema{Type: "array", Items: node}))
	ports := schema.Property{
		Name: "ports", PatchStrategy: "merge", PatchMergeKey: "port",
		Schema: &schema.Schema{Type: "array", Items: port, ListType: "map", ListMapKeys: []string{"port", "protocol"}},
	}
	atomic := object(property("a", text()), property("b", text()))
	atomic.Atomic = true
	open := object(property("known", text()))
	open.PreserveUnknown = true
	spec := object(
		property("size", &schema.Schema{Type: "integer", Default: int64(1)}),
		property("limit", &schema.Schema{IntOrString: true}),
		ports,
		property("tags", &schema.Schema{Type: "array", Items: text(), ListType: "set"}),
		property("args", &schema.Schema{Type: "array", Items: text()}),
		property("selector", &schema.Schema{Type: "object", Additional: text()}),
		property("reference", atomic),
		property("open", open),
		property("note", &schema.Schema{Type: "string", Nullable: true}),
		property("tree", node),
	)
	root := object(property("apiVersion", text()), property("kind", text()), property("metadata", &schema.Schema{Type: "object"}),
		property("spec", spec), property("status", object(property("ready", &schema.Schema{Type: "boolean"}))))
	root.Name = "com.example.v1.Gear"
	return root
}

func newGearServer(t testing.TB, native bool) *server {
	k := store.MustKind(kind.Descriptor[*store.Unstructured]{
		Resource: kind.Resource{Group: "example.com", Kind: "Gear", Status: true},
		Native:   &kind.Native[*store.Unstructured]{CustomResource: !native},
		Versions: []kind.Version[*store.Unstructured]{{Name: "v1", Schema: gearSchema()}},
	})
	return newServerWith(t, store.Options{}, httpapi.Options{Kinds: []kind.Kind{k}})
}

func aGear(name, spec string) string {
	return `{"apiVersion":"example.com/v1","kind":"Gear","metadata":{"name":"` + name + `"},"spec":` + spec + `}`
}

// part returns the JSON of a part of an object.
func part(t testing.TB, tr tree, path ...any) string {
	t.Helper()
	text, err := json.Marshal(tr.at(path...))
	require.NoError(t, err)
	return string(text)
}

// fieldsOf returns the FieldsV1 of a manager.
func fieldsOf(t testing.TB, tr tree, manager string) string {
	t.Helper()
	for _, entry := range tr.at("metadata", "managedFields").([]any) {
		if entry := entry.(map[string]any); entry["manager"] == manager {
			text, err := json.Marshal(entry["fieldsV1"])
			require.NoError(t, err)
			return string(text)
		}
	}
	return ""
}

func TestBodiesOfAKindWithASchema(t *testing.T) {
	s := newGearServer(t, false)
	for name, row := range map[string]struct {
		spec, want string
		problems   []string
	}{
		"defaults":                  {`{"ports":[{"port":1}]}`, `{"ports":[{"port":1,"protocol":"TCP"}],"size":1}`, nil},
		"no spec":                   {`null`, `null`, nil},
		"null with a default":       {`{"size":null,"ports":[{"port":1,"protocol":null}]}`, `{"ports":[{"port":1,"protocol":"TCP"}],"size":1}`, nil},
		"null that is not allowed":  {`{"args":null,"selector":{"a":null}}`, `{"selector":{},"size":1}`, nil},
		"null that is allowed":      {`{"note":null}`, `{"note":null,"size":1}`, nil},
		"unknown members":           {`{"foo":1,"tree":{"x":1,"children":[{"label":"a","y":{}}]},"reference":{"c":1}}`, `{"reference":{},"size":1,"tree":{"children":[{"label":"a"}]}}`, []string{"spec.foo", "spec.reference.c", "spec.tree.children[0].y", "spec.tree.x"}},
		"preserved unknown members": {`{"open":{"known":"a","x":{"y":[null]}}}`, `{"open":{"known":"a","x":{"y":[null]}},"size":1}`, nil},
		"integers and strings":      {`{"limit":"5%"}`, `{"limit":"5%","size":1}`, nil},
	} {
		t.Run(name, func(t *testing.T) {
			a := s.do(t, "POST", gears+"?dryRun=All", aGear("a", row.spec))
			require.Equal(t, 201, a.Code, a.Body)
			assert.Equal(t, row.want, part(t, a.tree(t), "spec"))
			var warnings, causes []string
			for _, path := range row.problems {
				warnings = append(warnings, `299 - "unknown field \"`+path+`\""`)
				causes = append(causes, `unknown field "`+path+`"`)
			}
			assert.Equal(t, warnings, a.Header.Values("Warning"))
			if causes == nil {
				return
			}
			a = s.do(t, "POST", gears+"?dryRun=All&fieldValidation=Strict", aGear("a", row.spec))
			assertStatus(t, a, 400, "BadRequest", `Gear in version "v1" cannot be handled as a Gear: strict decoding error: `+strings.Join(causes, ", "))
		})
	}
}

func TestApplyByTwoManagersToAKindWithASchema(t *testing.T) {
	for _, native := range []bool{false, true} {
		t.Run(fmt.Sprint(native), func(t *testing.T) {
			s := newGearServer(t, native)
			apply := func(manager, spec string) answer {
				return s.do(t, "PATCH", gears+"/a?fieldManager="+manager, aGear("a", spec), "Content-Type", applying)
			}
			a := apply("one", `{"ports":[{"port":1,"name":"x"}],"tags":["a"],"reference":{"a":"1"},"selector":{"k":"v"},"limit":1,"open":{"u":{"v":1}}}`)
			require.Equal(t, 201, a.Code, a.Body)
			assert.Equal(t, `{"f:spec":{"f:limit":{},"f:open":{"f:u":{".":{},"f:v":{}}},"f:ports":{"k:{\"port\":1,\"protocol\":\"TCP\"}":{".":{},"f:name":{},"f:port":{}}},`+
				`"f:reference":{},"f:selector":{"f:k":{}},"f:tags":{"v:\"a\"":{}}}}`, fieldsOf(t, a.tree(t), "one"))
			a = apply("two", `{"ports":[{"port":2},{"port":1,"protocol":"UDP"}],"tags":["b"],"selector":{"l":"w"},"tree":{"children":[{"label":"x"}]}}`)
			require.Equal(t, 200, a.Code, a.Body)
			assert.Equal(t, `{"limit":1,"open":{"u":{"v":1}},"ports":[{"name":"x","port":1,"protocol":"TCP"},{"port":2,"protocol":"TCP"},{"port":1,"protocol":"UDP"}],`+
				`"reference":{"a":"1"},"selector":{"k":"v","l":"w"},"size":1,"tags":["a","b"],"tree":{"children":[{"label":"x"}]}}`, part(t, a.tree(t), "spec"))
			a = apply("two", `{"ports":[{"port":1,"name":"y"}],"reference":{"b":"1"},"limit":"2","tags":["a"],"open":{"u":{"v":2}}}`)
			assertStatus(t, a, 409, "Conflict", "Apply failed with 4 conflicts: conflicts with \"one\":\n- .spec.limit\n- .spec.reference\n"+
				"- .spec.open.u.v\n- .spec.ports[port=1,protocol=\"TCP\"].name")
			a = apply("one", `{"tags":["a"]}`)
			require.Equal(t, 200, a.Code, a.Body)
			assert.Equal(t, `{"ports":[{"port":2,"protocol":"TCP"},{"port":1,"protocol":"UDP"}],"selector":{"l":"w"},"size":1,"tags":["a","b"],"tree":{"children":[{"label":"x"}]}}`,
				part(t, a.tree(t), "spec"))
			a = apply("one", `{"bogus":1}`)
			assertStatus(t, a, 500, "", `failed to create typed patch object (/a; example.com/v1, Kind=Gear): .spec.bogus: field not declared in schema`)
			a = apply("one", `{"tags":["a","a"]}`)
			assertStatus(t, a, 500, "", `failed to create typed patch object (/a; example.com/v1, Kind=Gear): .spec.tags: duplicate entries for key [="a"]`)
		})
	}
}

func TestSchemasThatCannotBeServed(t *testing.T) {
	loop := object()
	loop.Properties = []schema.Property{property("self", loop)}
	for want, s := range map[string]*schema.Schema{
		`Schema: the object: Type: got "string", want "object"`:                                                  text(),
		`Schema: a: Type: got "text", want "object", "array", "string", "integer", "number", "boolean" or ""`:    object(property("a", &schema.Schema{Type: "text"})),
		`Schema: a: ListType: got "bag", want "atomic", "set" or "map"`:                                          object(property("a", &schema.Schema{Type: "array", Items: text(), ListType: "bag"})),
		`Schema: a: ListType: got "map" for items that are no objects, want "atomic" or "set"`:                   object(property("a", &schema.Schema{Type: "array", Items: text(), ListType: "map", ListMapKeys: []string{"k"}})),
		`Schema: a: ListMapKeys: got "k", want a member of the items`:                                            object(property("a", &schema.Schema{Type: "array", Items: object(property("b", text())), ListType: "map", ListMapKeys: []string{"k"}})),
		`Schema: a: ListMapKeys: got none, want the members that identify an item`:                               object(property("a", &schema.Schema{Type: "array", Items: object(property("b", text())), ListType: "map"})),
		`Schema: a.self: Name: got "" for a schema that contains itself, want a name`:                            object(property("a", loop)),
		`Schema: a.b: Properties: got "c" twice, want it once`:                                                   object(property("a", object(property("b", object(property("c", text()), property("c", text())))))),
		`Schema: a: Additional: got Properties too, want one of both`:                                            object(property("a", &schema.Schema{Type: "object", Additional: text(), Properties: []schema.Property{property("b", text())}})),
		`Schema: a[].*: Type: got "map", want "object", "array", "string", "integer", "number", "boolean" or ""`: object(property("a", &schema.Schema{Type: "array", Items: &schema.Schema{Type: "object", Additional: &schema.Schema{Type: "map"}}})),
	} {
		_, err := store.NewKind(kind.Descriptor[*store.Unstructured]{
			Resource: kind.Resource{Group: "example.com", Kind: "Bad"},
			Versions: []kind.Version[*store.Unstructured]{{Name: "v1", Schema: s}},
		})
		assert.EqualError(t, err, "store: kind Bad: version v1: "+want)
	}
}
