package codec

import (
	"encoding/json"
	"errors"
	"reflect"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kubecoord/kubecoord/store/schema"
)

func withMembers(properties ...schema.Property) *schema.Schema {
	return &schema.Schema{Type: "object", Properties: properties}
}

func propertyOf(name string, s *schema.Schema) schema.Property {
	return schema.Property{Name: name, Schema: s}
}

func textSchema() *schema.Schema { return &schema.Schema{Type: "string"} }

// compileTree compiles the type open with a schema.
func compileTree(t testing.TB, s *schema.Schema) *Type {
	typ, err := CompileTree(reflect.TypeFor[open](), "v1", s)
	require.NoError(t, err)
	return typ
}

// at returns the type at a path of members of trees; "[]" are the items of a list.
func (t *Type) atPath(path ...string) *Type {
	for _, name := range path {
		if name == "[]" {
			t = t.Elem
			continue
		}
		f, elem := t.Member(name)
		if t = elem; f != nil {
			t = f.Type
		}
	}
	return t
}

func TestTypesOfASchema(t *testing.T) {
	set := &schema.Schema{Type: "array", Items: textSchema(), ListType: "set"}
	item := withMembers(propertyOf("k", &schema.Schema{Type: "string", Default: "d"}), propertyOf("n", &schema.Schema{Type: "integer"}))
	keep := withMembers(propertyOf("inner", withMembers(propertyOf("a", textSchema()))))
	keep.PreserveUnknown = true
	loop := withMembers()
	loop.Name = "a.b.Loop"
	loop.Properties = []schema.Property{propertyOf("again", loop)}
	embedded := withMembers(propertyOf("metadata", &schema.Schema{Type: "object"}), propertyOf("spec", textSchema()))
	embedded.Embedded = true
	typ := compileTree(t, withMembers(
		propertyOf("metadata", textSchema()), propertyOf("size", textSchema()), // declared by the struct
		propertyOf("sets", &schema.Schema{Type: "object", Additional: set}),
		schema.Property{Name: "merged", PatchStrategy: "merge,retainKeys", PatchMergeKey: "k", Schema: &schema.Schema{Type: "array", Items: item}},
		schema.Property{Name: "mergedTexts", PatchStrategy: "merge", Schema: &schema.Schema{Type: "array", Items: textSchema()}},
		propertyOf("lists", &schema.Schema{Type: "array", Items: item}),
		propertyOf("keep", keep), propertyOf("loop", loop), propertyOf("embedded", embedded),
		propertyOf("anything", &schema.Schema{}), propertyOf("whole", &schema.Schema{Atomic: true}), propertyOf("either", &schema.Schema{IntOrString: true}),
		propertyOf("empty", withMembers()),
		propertyOf("quantity", &schema.Schema{Name: quantityName}), propertyOf("raw", &schema.Schema{Type: "object", Name: rawExtensionName}),
		propertyOf("time", &schema.Schema{Type: "string", Extra: map[string]any{"format": "date-time"}}),
		propertyOf("flag", &schema.Schema{Type: "boolean"}), propertyOf("number", &schema.Schema{Type: "number"}),
	))
	assert.Equal(t, shapeStruct, typ.Field("metadata").Type.shape, "the struct's own type")
	assert.Equal(t, "set", typ.atPath("sets", "x").AsField.ListType, "a list in a map has a type of its own")
	merged, _ := typ.Member("merged")
	assert.Equal(t, "map", merged.ListType)
	assert.Equal(t, []string{"k"}, merged.ListMapKeys)
	assert.Equal(t, "d", merged.Type.Elem.Field("k").Default)
	texts, _ := typ.Member("mergedTexts")
	assert.Equal(t, "set", texts.ListType)
	lists, _ := typ.Member("lists")
	assert.Equal(t, "atomic", lists.ListType)
	assert.True(t, typ.IsClosed())
	assert.Equal(t, Untyped, typ.atPath("keep", "x").Kind)
	assert.Equal(t, Untyped, typ.atPath("keep", "inner", "x").Kind, "below preserved unknown members all are")
	assert.Same(t, typ.atPath("loop"), typ.atPath("loop", "again", "again"))
	assert.Equal(t, "Loop", typ.atPath("loop").Name)
	assert.Same(t, typ.Field("metadata").Type, typ.atPath("embedded", "metadata"))
	for name, want := range map[string]struct {
		kind   Kind
		scalar ScalarKind
		goKind reflect.Kind
	}{
		"anything": {Untyped, AnyScalar, reflect.Struct}, "whole": {Opaque, AnyScalar, reflect.Struct}, "either": {Untyped, AnyScalar, reflect.Struct},
		"empty": {Map, AnyScalar, reflect.Map}, "quantity": {Scalar, AnyScalar, reflect.Struct}, "raw": {Opaque, AnyScalar, reflect.Struct},
		"time": {Scalar, AnyScalar, reflect.Struct}, "flag": {Scalar, Boolean, reflect.Bool}, "number": {Scalar, Numeric, reflect.Int32},
		"lists": {List, AnyScalar, reflect.Slice}, "loop": {Struct, AnyScalar, reflect.Struct},
	} {
		got := typ.atPath(name)
		assert.Equal(t, want.kind, got.Kind, name)
		assert.Equal(t, want.scalar, got.ScalarKind(), name)
		assert.Equal(t, want.goKind, got.GoKind(), name)
	}
}

func TestASchemaIsCompiledOnce(t *testing.T) {
	typ := compileTree(t, withMembers(propertyOf("a", textSchema())))
	var found [4]*Type
	var wg sync.WaitGroup
	for i := range found {
		wg.Go(func() { found[i] = typ.Undeclared() })
	}
	wg.Wait()
	for _, other := range found {
		assert.Same(t, found[0], other)
	}
	assert.NotNil(t, typ.TreeSchema())
	assert.Nil(t, compileFor[open]("v1").TreeSchema())
	assert.Nil(t, compileFor[Lease]("v1").Undeclared())
}

func TestPruneAndDefaultBySchema(t *testing.T) {
	nullable := &schema.Schema{Type: "string", Nullable: true, Default: "n"}
	item := withMembers(propertyOf("d", &schema.Schema{Type: "integer", Default: 7}), propertyOf("t", textSchema()))
	keep := withMembers(propertyOf("known", withMembers(propertyOf("a", textSchema()))))
	keep.PreserveUnknown = true
	values := &schema.Schema{Type: "object", Additional: &schema.Schema{Type: "string", Default: "v"}}
	embedded := withMembers()
	embedded.Embedded = true
	s := withMembers(
		propertyOf("list", &schema.Schema{Type: "array", Items: item}), propertyOf("keep", keep), propertyOf("nullable", nullable), propertyOf("values", values),
		propertyOf("plain", &schema.Schema{Type: "object", Additional: textSchema()}), propertyOf("embedded", embedded), propertyOf("text", textSchema()),
		propertyOf("byName", &schema.Schema{Type: "object", Additional: embedded}),
		propertyOf("made", &schema.Schema{Type: "object", Default: map[string]any{"d": map[string]any{}}, Properties: []schema.Property{propertyOf("d", item)}}),
	)
	typ := compileTree(t, s)
	for doc, want := range map[string]string{
		`{}`: `{"made":{"d":{"d":7}},"nullable":"n"}`,
		`{"list":[{"t":null,"x":1},null,{"d":null},"s"],"made":{},"nullable":null}`:           `{"list":[{"d":7},null,{"d":7},"s"],"made":{},"nullable":null}`,
		`{"keep":{"x":null,"known":{"a":null,"b":1},"y":[{"z":null}]},"made":{}}`:             `{"keep":{"known":{},"x":null,"y":[{"z":null}]},"made":{},"nullable":"n"}`,
		`{"values":{"a":null,"b":"c"},"plain":{"a":null,"b":"c"},"made":{}}`:                  `{"made":{},"nullable":"n","plain":{"b":"c"},"values":{"a":"v","b":"c"}}`,
		`{"text":{"a":1},"list":{"a":1},"made":[[{"a":1}]]}`:                                  `{"list":{},"made":[[{}]],"nullable":"n","text":{}}`,
		`{"embedded":{"kind":"K","metadata":{"name":"n","x":1,"labels":{}},"y":1},"made":{}}`: `{"embedded":{"kind":"K","metadata":{"name":"n"}},"made":{},"nullable":"n"}`,
		`{"embedded":{"metadata":null},"made":{}}`:                                            `{"embedded":{"metadata":{}},"made":{},"nullable":"n"}`,
	} {
		var o open
		_, err := typ.DecodeJSON([]byte(doc), &o, false)
		require.NoError(t, err)
		typ.Default(&o)
		got, err := json.Marshal(o.Rest)
		require.NoError(t, err)
		assert.Equal(t, want, string(got), doc)
	}
	var o open
	problems, err := typ.DecodeJSON([]byte(`{"z":1,"list":[{"x":1}],"embedded":{"y":1,"metadata":{"b":1,"a":{}}},"b":1}`), &o, true)
	require.NoError(t, err)
	var texts []string
	for _, p := range problems {
		texts = append(texts, p.Error())
	}
	assert.Equal(t, []string{
		`unknown field "b"`, `unknown field "embedded.y"`, `unknown field "list[0].x"`, `unknown field "z"`,
		`unknown field "embedded.metadata.a"`, `unknown field "embedded.metadata.b"`,
	}, texts)
	_, err = typ.DecodeJSON([]byte(`{"embedded":{"kind":1}}`), &o, true)
	assert.EqualError(t, err, "embedded.kind: Invalid value: 1: must be a string")
	_, err = typ.DecodeJSON([]byte(`{"embedded":{"metadata":[]}}`), &o, true)
	assert.ErrorContains(t, err, "embedded.metadata: Invalid value: []: json: cannot unmarshal array")
	_, err = typ.DecodeJSON([]byte(`{"byName":{"k":{"kind":1}}}`), &o, true)
	assert.EqualError(t, err, "byName[k].kind: Invalid value: 1: must be a string")
	problems, err = typ.DecodeJSON([]byte(`{"byName":{"k":{"x":1,"metadata":{"a":1}}}}`), &o, true)
	require.NoError(t, err)
	assert.EqualError(t, errors.Join(problems...), "unknown field \"byName.k.x\"\nunknown field \"byName[k].metadata.a\"")
}

func TestSchemasThatCannotBeCompiled(t *testing.T) {
	loop := &schema.Schema{Type: "array"}
	loop.Items = loop
	for want, s := range map[string]*schema.Schema{
		`Schema: the object: Type: got "", want "object"`:                                      {},
		`Schema: the object: Properties: got "a" twice, want it once`:                          withMembers(propertyOf("a", nil), propertyOf("a", nil)),
		`Schema: a[]: Name: got "" for a schema that contains itself, want a name`:             withMembers(propertyOf("a", loop)),
		`Schema: a: ListType: got "map" for items that are no objects, want "atomic" or "set"`: withMembers(propertyOf("a", &schema.Schema{Type: "array", ListType: "map"})),
	} {
		_, err := CompileTree(reflect.TypeFor[open](), "v1", s)
		assert.EqualError(t, err, want)
	}
	_, err := CompileTree(reflect.TypeFor[Lease](), "v1", withMembers())
	assert.ErrorContains(t, err, "has no field for other members")
}
