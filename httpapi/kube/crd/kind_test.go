package crd_test

import (
	"fmt"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kubecoord/kubecoord/store"
)

// twoShapes has a member in each of two versions that the other one does not have, and a member with a default.
const twoShapes = `{apiVersion: apiextensions.k8s.io/v1, kind: CustomResourceDefinition, metadata: {name: things.example.com}, spec: {
  group: example.com, scope: Cluster, names: {plural: things, kind: Thing}, conversion: {strategy: None}, versions: [
  {name: v1, served: true, storage: true, schema: {openAPIV3Schema: {type: object, properties: {spec: {type: object, properties: {
    size: {type: integer}, color: {type: string, default: red}, shared: {type: string}}}}}}},
  {name: v1beta1, served: true, storage: false, schema: {openAPIV3Schema: {type: object, properties: {spec: {type: object, properties: {
    length: {type: integer}, shared: {type: string}, unit: {type: string, default: metre}}}}}}}]}}`

// With the strategy None only the apiVersion changes: an object is stored with the members that the stored version has, and each
// read drops the members that the version of the request does not have. Defaults come from the stored version.
// A kube-apiserver gave these answers.
func TestVersionsWithoutAConversion(t *testing.T) {
	s := serve(t, parse(t, twoShapes)...)
	const beta = "/apis/example.com/v1beta1/things"
	code, doc := s.do("POST", beta, `{"apiVersion":"example.com/v1beta1","kind":"Thing","metadata":{"name":"t"},"spec":{"length":3,"shared":"s","color":"green"}}`)
	require.Equal(t, 201, code, "%v", doc)
	both := func(asStored, asBeta map[string]any) {
		t.Helper()
		for path, want := range map[string]map[string]any{thingsPath: asStored, beta: asBeta} {
			code, doc := s.do("GET", path+"/t", "")
			require.Equal(t, 200, code)
			assert.Equal(t, want, doc["spec"], path)
		}
	}
	assert.Equal(t, map[string]any{"shared": "s"}, doc["spec"])
	both(map[string]any{"shared": "s", "color": "red"}, map[string]any{"shared": "s"})
	patch := func(path, spec string) (int, map[string]any) {
		return s.do("PATCH", path+"/t", `{"spec":`+spec+`}`, "Content-Type", "application/merge-patch+json")
	}
	code, _ = patch(thingsPath, `{"size":4,"color":"green"}`)
	require.Equal(t, 200, code)
	both(map[string]any{"shared": "s", "color": "green", "size": 4.0}, map[string]any{"shared": "s"})
	code, _ = patch(beta, `{"shared":"now","length":7}`)
	require.Equal(t, 200, code)
	both(map[string]any{"shared": "now", "color": "red"}, map[string]any{"shared": "now"})

	code, doc = patch(thingsPath, `{"size":"text"}`)
	assert.Equal(t, 422, code)
	assert.Equal(t, []string{`FieldValueTypeInvalid spec.size: Invalid value: "string": spec.size in body must be of type integer: "string"`}, causes(doc))
	code, doc = patch(beta, `{"size":"text"}`)
	assert.Equal(t, 200, code, "%v", doc)
}

// TestDefaultsThatCameLaterAreStoredByTheNextWrite has what a kube-apiserver does with an object that was stored before its
// definition got a default.
func TestDefaultsThatCameLaterAreStoredByTheNextWrite(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := live(t, newStore(t, store.Options{}))
		s.define(definition(`{type: object, properties: {a: {type: string}, later: {type: string}}}`))
		version := func(code int, doc map[string]any) string {
			require.Contains(t, []int{200, 201}, code, "%v", doc)
			m := doc["metadata"].(map[string]any)
			assert.Equal(t, 1.0, m["generation"])
			return m["resourceVersion"].(string)
		}
		nothing := func() (int, map[string]any) {
			return s.do("PATCH", thingsPath+"/t", `{}`, "Content-Type", "application/merge-patch+json")
		}
		first := version(s.do("POST", thingsPath, thing(`{"a":"x"}`)))
		assert.Equal(t, first, version(nothing()))
		code, doc := s.do("PATCH", definitionsPath+"/things.example.com",
			`[{"op":"add","path":"/spec/versions/0/schema/openAPIV3Schema/properties/spec/properties/later/default","value":"yes"}]`, "Content-Type", "application/json-patch+json")
		require.Equal(t, 200, code, "%v", doc)
		synctest.Wait()
		assert.Equal(t, first, version(s.do("GET", thingsPath+"/t", "")))
		code, doc = nothing()
		second := version(code, doc)
		assert.NotEqual(t, first, second)
		assert.Equal(t, map[string]any{"a": "x", "later": "yes"}, doc["spec"])
		assert.Equal(t, second, version(nothing()))
	})
}

// A warning names the newest version that is served and not deprecated, if it is newer (upstream: apiserver/customresource_handler.go).
func TestDeprecatedVersionsWarn(t *testing.T) {
	s := serve(t, parse(t, `{apiVersion: apiextensions.k8s.io/v1, kind: CustomResourceDefinition, metadata: {name: things.example.com}, spec: {
		group: example.com, scope: Cluster, names: {plural: things, kind: Thing}, versions: [
		{name: v1beta1, served: true, storage: false, deprecated: true, schema: {openAPIV3Schema: {type: object}}},
		{name: v1, served: true, storage: true, schema: {openAPIV3Schema: {type: object}}},
		{name: v2, served: true, storage: false, deprecated: true, schema: {openAPIV3Schema: {type: object}}},
		{name: v3, served: false, storage: false, schema: {openAPIV3Schema: {type: object}}},
		{name: v1alpha1, served: true, storage: false, deprecated: true, deprecationWarning: gone soon, schema: {openAPIV3Schema: {type: object}}}]}}`)...)
	for version, want := range map[string]string{
		"v1beta1": `299 - "example.com/v1beta1 Thing is deprecated; use example.com/v1 Thing"`, "v1": "",
		"v2": `299 - "example.com/v2 Thing is deprecated"`, "v1alpha1": `299 - "gone soon"`,
	} {
		resp, err := s.client.Get("http://server/apis/example.com/" + version + "/things")
		require.NoError(t, err)
		require.NoError(t, resp.Body.Close())
		assert.Equal(t, want, resp.Header.Get("Warning"), version)
	}
}

// A write of the status does not look at replicas of the spec, which are older than the subresource scale here (upstream:
// registry/customresource, validator.go, ValidateStatusUpdate).
func TestAStatusIsWrittenWhateverTheReplicasOfTheSpec(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := live(t, newStore(t, store.Options{}))
		s.define(`{apiVersion: apiextensions.k8s.io/v1, kind: CustomResourceDefinition, metadata: {name: things.example.com}, spec: {
			group: example.com, scope: Cluster, names: {plural: things, kind: Thing}, versions: [{name: v1, served: true, storage: true,
			subresources: {status: {}}, schema: {openAPIV3Schema: {type: object, x-kubernetes-preserve-unknown-fields: true}}}]}}`)
		code, doc := s.do("POST", thingsPath, `{"apiVersion":"example.com/v1","kind":"Thing","metadata":{"name":"t"},"spec":{"replicas":-1}}`)
		require.Equal(t, 201, code, "%v", doc)
		code, doc = s.do("PATCH", definitionsPath+"/things.example.com", `[{"op":"add","path":"/spec/versions/0/subresources/scale",
			"value":{"specReplicasPath":".spec.replicas","statusReplicasPath":".status.replicas"}}]`, "Content-Type", "application/json-patch+json")
		require.Equal(t, 200, code, "%v", doc)
		synctest.Wait()
		merge := []string{"Content-Type", "application/merge-patch+json"}
		code, doc = s.do("PATCH", thingsPath+"/t/status", `{"status":{"replicas":1}}`, merge...)
		assert.Equal(t, 200, code, "%v", doc)
		code, doc = s.do("PATCH", thingsPath+"/t/status", `{"status":{"replicas":-1}}`, merge...)
		assert.Equal(t, 422, code)
		assert.Equal(t, []string{"FieldValueInvalid .status.replicas: Invalid value: -1: should be a non-negative integer"}, causes(doc))
		code, _ = s.do("PATCH", thingsPath+"/t", `{"spec":{"a":1}}`, merge...)
		assert.Equal(t, 422, code)
	})
}

func TestEachVersionHasItsColumns(t *testing.T) {
	s := serve(t, parse(t, `{apiVersion: apiextensions.k8s.io/v1, kind: CustomResourceDefinition, metadata: {name: things.example.com}, spec: {
		group: example.com, scope: Cluster, names: {plural: things, kind: Thing}, versions: [
		{name: v1, served: true, storage: true, schema: {openAPIV3Schema: {type: object}}, additionalPrinterColumns: [{name: Color, type: string, jsonPath: .spec.color}]},
		{name: v1beta1, served: true, storage: false, schema: {openAPIV3Schema: {type: object}}, additionalPrinterColumns: [{name: Size, type: string, jsonPath: .spec.size}]},
		{name: v1alpha1, served: true, storage: false, schema: {openAPIV3Schema: {type: object}}}]}}`)...)
	for version, want := range map[string]string{"v1": "Color", "v1beta1": "Size", "v1alpha1": "Age"} {
		_, table := s.do("GET", "/apis/example.com/"+version+"/things", "", "Accept", "application/json;as=Table;g=meta.k8s.io;v=v1")
		columns := table["columnDefinitions"].([]any)
		require.Len(t, columns, 2)
		assert.Equal(t, want, columns[1].(map[string]any)["name"], version)
	}
}

// TestScaleIsWrittenInItsVersion has the answers of a kube-apiserver: a write of the scale drops what its version lacks, and an apply that
// changes the scale fails.
func TestScaleIsWrittenInItsVersion(t *testing.T) {
	version := func(name string, stored bool, more string) string {
		return fmt.Sprintf(`{"name":%q,"served":true,"storage":%v,"subresources":{"status":{},"scale":{"specReplicasPath":".spec.replicas","statusReplicasPath":".status.replicas"}},
			"schema":{"openAPIV3Schema":{"type":"object","properties":{"status":{"type":"object","properties":{"replicas":{"type":"integer"}}},
			"spec":{"type":"object","properties":{"replicas":{"type":"integer"}%s}}}}}}`, name, stored, more)
	}
	s := serve(t, parse(t, `{"apiVersion":"apiextensions.k8s.io/v1","kind":"CustomResourceDefinition","metadata":{"name":"foos.example.com"},"spec":{
		"group":"example.com","scope":"Namespaced","names":{"plural":"foos","kind":"Foo"},"versions":[`+
		version("v1", true, `,"s":{"type":"string"}`)+`,`+version("v2", false, "")+`]}}`)...)
	const below = "/namespaces/ns/foos"
	code, doc := s.do("POST", "/apis/example.com/v1"+below, `{"apiVersion":"example.com/v1","kind":"Foo","metadata":{"name":"a"},"spec":{"replicas":1,"s":"x"}}`)
	require.Equal(t, 201, code, "%v", doc)
	apply := func(replicas int) (int, any) {
		code, doc := s.do("PATCH", "/apis/example.com/v1"+below+"/a/scale?fieldManager=m&force=true", fmt.Sprintf(
			`{"apiVersion":"autoscaling/v1","kind":"Scale","metadata":{"name":"a","namespace":"ns"},"spec":{"replicas":%d}}`, replicas),
			"Content-Type", "application/apply-patch+yaml")
		return code, doc["message"]
	}
	code, message := apply(3)
	assert.Equal(t, 500, code)
	assert.Equal(t, "failed to convert new object (ns/a; autoscaling/v1, Kind=Scale) to proper version: "+
		"request to convert CR to an invalid group/version: autoscaling/v1", message)
	code, message = apply(1)
	assert.Equal(t, 200, code, message)
	for _, c := range []struct {
		version string
		want    map[string]any
	}{{"v1", map[string]any{"replicas": 2.0, "s": "x"}}, {"v2", map[string]any{"replicas": 2.0}}} {
		code, doc = s.do("PATCH", "/apis/example.com/"+c.version+below+"/a/scale", `{"spec":{"replicas":2}}`, "Content-Type", "application/merge-patch+json")
		require.Equal(t, 200, code, "%v", doc)
		assert.Equal(t, 2.0, doc["spec"].(map[string]any)["replicas"])
		_, doc = s.do("GET", "/apis/example.com/v1"+below+"/a", "")
		assert.Equal(t, c.want, doc["spec"], c.version)
	}
}

// TestScaleIsNoInternalType has the answers of a kube-apiserver.
func TestScaleIsNoInternalType(t *testing.T) {
	s := serve(t, parse(t, `{"apiVersion":"apiextensions.k8s.io/v1","kind":"CustomResourceDefinition","metadata":{"name":"foos.example.com"},"spec":{
		"group":"example.com","scope":"Cluster","names":{"plural":"foos","kind":"Foo"},"versions":[{"name":"v1","served":true,"storage":true,
		"subresources":{"scale":{"specReplicasPath":".spec.replicas","statusReplicasPath":".status.replicas"}},
		"schema":{"openAPIV3Schema":{"type":"object","x-kubernetes-preserve-unknown-fields":true}}}]}}`)...)
	code, doc := s.do("POST", "/apis/example.com/v1/foos", `{"apiVersion":"example.com/v1","kind":"Foo","metadata":{"name":"a"},"spec":{"replicas":1}}`)
	require.Equal(t, 201, code, "%v", doc)
	get := func(accept string) (int, map[string]any) {
		return s.do("GET", "/apis/example.com/v1/foos/a/scale", "", "Accept", accept)
	}
	code, doc = get("application/json;as=PartialObjectMetadataList;v=v1;g=meta.k8s.io")
	assert.Equal(t, 406, code)
	assert.Equal(t, "you requested PartialObjectMetadataList, but the requested object is not a list (*v1.Scale)", doc["message"])
	code, _ = get("application/vnd.kubernetes.protobuf")
	assert.Equal(t, 406, code)
	code, doc = get("application/vnd.kubernetes.protobuf,application/json")
	assert.Equal(t, 200, code)
	assert.Equal(t, "Scale", doc["kind"])
	_, doc = get("application/json;as=Table;v=v1;g=meta.k8s.io")
	var columns []string
	for _, c := range doc["columnDefinitions"].([]any) {
		c := c.(map[string]any)
		columns = append(columns, fmt.Sprint(c["name"], c["type"], c["format"]))
	}
	assert.Equal(t, []string{"Namestringname", "Desiredinteger", "Availableinteger", "Agedate"}, columns)
}

// TestEachVersionHasItsSelectableFields has the answers of a kube-apiserver.
func TestEachVersionHasItsSelectableFields(t *testing.T) {
	version := func(name string, stored bool, fields string) string {
		return fmt.Sprintf(`{"name":%q,"served":true,"storage":%v,"selectableFields":[%s],"schema":{"openAPIV3Schema":{"type":"object","description":%[1]q,"properties":{"spec":{"type":"object","properties":{
			"color":{"type":"string"},"size":{"type":"integer"}}}}}}}`, name, stored, fields)
	}
	const color, size = `{"jsonPath":".spec.color"}`, `{"jsonPath":".spec.size"}`
	s := serve(t, parse(t, `{"apiVersion":"apiextensions.k8s.io/v1","kind":"CustomResourceDefinition","metadata":{"name":"foos.example.com"},"spec":{
		"group":"example.com","scope":"Namespaced","names":{"plural":"foos","kind":"Foo"},"versions":[`+version("v1", true, color)+`,`+version("v2", false, size+`,`+color)+`]}}`)...)
	const below = "/namespaces/ns/foos"
	for _, name := range []string{"a", "b"} {
		code, doc := s.do("POST", "/apis/example.com/v1"+below, `{"apiVersion":"example.com/v1","kind":"Foo","metadata":{"name":"`+name+`"},"spec":{"color":"`+name+`","size":1}}`)
		require.Equal(t, 201, code, "%v", doc)
	}
	list := func(version, field string) (int, any) {
		code, doc := s.do("GET", "/apis/example.com/"+version+below+"?fieldSelector="+field, "")
		if items, ok := doc["items"].([]any); ok {
			return code, len(items)
		}
		return code, doc["message"]
	}
	for _, c := range []struct {
		version, field string
		code           int
		want           any
	}{
		{"v1", "spec.color=a", 200, 1}, {"v2", "spec.color=a", 200, 1}, {"v2", "spec.size=1", 200, 2}, {"v2", "spec.size=2", 200, 0},
		{"v1", "spec.size=1", 400, "field label not supported: spec.size"},
	} {
		code, got := list(c.version, c.field)
		assert.Equal(t, c.code, code, c)
		assert.Equal(t, c.want, got, c)
	}
}
