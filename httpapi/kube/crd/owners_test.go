package crd_test

import (
	"strings"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kubecoord/kubecoord/store"
)

// TestOwnersInVersionsThatTheDefinitionLost has the rule of apimachinery 0.37.2, UpdateNoErrors.
func TestOwnersInVersionsThatTheDefinitionLost(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := live(t, newStore(t, store.Options{}))
		const (
			open   = `"schema":{"openAPIV3Schema":{"type":"object","x-kubernetes-preserve-unknown-fields":true}}`
			first  = `{"name":"v1","served":true,"storage":false,` + open + `}`
			second = `{"name":"v2","served":true,"storage":true,` + open + `}`
			own    = definitionsPath + "/foos.example.com"
		)
		s.define(`{"apiVersion":"apiextensions.k8s.io/v1","kind":"CustomResourceDefinition","metadata":{"name":"foos.example.com"},"spec":{
			"group":"example.com","scope":"Namespaced","names":{"plural":"foos","singular":"foo","kind":"Foo"},"versions":[` + first + `,` + second + `]}}`)
		apply := func(version, name, manager, spec string) (int, map[string]any) {
			return s.do("PATCH", "/apis/example.com/"+version+"/namespaces/default/foos/"+name+"?force=true&fieldManager="+manager,
				`{"apiVersion":"example.com/`+version+`","kind":"Foo","metadata":{"name":"`+name+`"},"spec":`+spec+`}`, "Content-Type", "application/apply-patch+yaml")
		}
		versions := func(versions ...string) {
			code, doc := s.do("PATCH", own, `{"spec":{"versions":[`+strings.Join(versions, ",")+`]}}`, "Content-Type", "application/merge-patch+json")
			require.Equal(t, 200, code, "%v", doc)
			synctest.Wait()
		}
		owners := func(doc map[string]any) (out []string) {
			entries, _ := doc["metadata"].(map[string]any)["managedFields"].([]any)
			for _, e := range entries {
				e := e.(map[string]any)
				out = append(out, e["manager"].(string)+" "+e["apiVersion"].(string))
			}
			return out
		}
		for _, name := range []string{"a", "b"} {
			code, doc := apply("v1", name, "old", `{"x":1}`)
			require.Equal(t, 201, code, "%v", doc)
		}

		versions(strings.Replace(first, `"served":true`, `"served":false`, 1), second)
		for _, name := range []string{"a", "b"} {
			code, doc := apply("v2", name, "new", `{"y":1}`)
			require.Equal(t, 200, code, "%v", doc)
			assert.ElementsMatch(t, []string{"old example.com/v1", "new example.com/v2"}, owners(doc), "a version that is not served")
		}

		versions(second)
		code, doc := apply("v2", "a", "new", `{"y":1}`)
		assert.Equal(t, 500, code)
		assert.Equal(t, "request to convert CR to an invalid group/version: example.com/v1", doc["message"])
		code, doc = s.do("PATCH", "/apis/example.com/v2/namespaces/default/foos/b", `{"spec":{"z":1}}`, "Content-Type", "application/merge-patch+json")
		require.Equal(t, 200, code, "%v", doc)
		assert.ElementsMatch(t, []string{"old example.com/v1", "new example.com/v2"}, owners(doc), "an update keeps the owners that it cannot compute")
		code, doc = apply("v2", "b", "new", `{"y":2}`)
		assert.Equal(t, 500, code)
		assert.Equal(t, "request to convert CR to an invalid group/version: example.com/v1", doc["message"])
	})
}

// TestStatusWithAMistypedSpecLeavesTheManagers has the rule of apimachinery 0.37.2, UpdateNoErrors: the spec is reset, but only after the
// owners could not be computed.
func TestStatusWithAMistypedSpecLeavesTheManagers(t *testing.T) {
	s := serve(t, parse(t, widgets)...)
	code, made := s.do("POST", widgetsPath, widget(`{"color":"red"}`))
	require.Equal(t, 201, code, "%v", made)
	managers := made["metadata"].(map[string]any)["managedFields"]
	require.Len(t, managers, 1)
	write := func(spec, ready string) map[string]any {
		code, doc := s.do("PATCH", widgetsPath+"/w/status", `{"spec":`+spec+`,"status":{"ready":`+ready+`}}`, "Content-Type", "application/merge-patch+json")
		require.Equal(t, 200, code, "%v", doc)
		assert.Equal(t, made["spec"], doc["spec"])
		return doc["metadata"].(map[string]any)
	}
	assert.Equal(t, managers, write(`{"color":[]}`, "1")["managedFields"])
	assert.Len(t, write(`{"color":"red","tags":["a","a"]}`, "2")["managedFields"], 2, "an update may have an item twice")

	code, made = s.do("POST", widgetsPath, strings.Replace(strings.TrimSuffix(widget(`{"color":"red"}`), "}")+`,"status":1}`, `"w"`, `"x"`, 1))
	require.Equal(t, 201, code, "%v", made)
	assert.NotContains(t, made["metadata"], "managedFields")
}

// TestApplyThatChangesNothingFillsInNoDefaults and the next have the answers of a kube-apiserver.
func TestApplyThatChangesNothingFillsInNoDefaults(t *testing.T) {
	s := serve(t, parse(t, twoShapes)...)
	const path = "/apis/example.com/v1beta1/things/t"
	var versions []any
	for range 3 {
		code, doc := s.do("PATCH", path+"?fieldManager=m", `{"apiVersion":"example.com/v1beta1","kind":"Thing","metadata":{"name":"t"},"spec":{"shared":"x"}}`, "Content-Type", "application/apply-patch+yaml")
		require.Less(t, code, 300, "%v", doc)
		m := doc["metadata"].(map[string]any)
		assert.Equal(t, 1.0, m["generation"])
		versions = append(versions, m["resourceVersion"])
	}
	assert.Equal(t, []any{versions[0], versions[0], versions[0]}, versions)
}

func TestStatusResetsNothingInAVersionWithoutAStatus(t *testing.T) {
	const open = `"schema":{"openAPIV3Schema":{"type":"object","x-kubernetes-preserve-unknown-fields":true}}`
	s := serve(t, parse(t, `{"apiVersion":"apiextensions.k8s.io/v1","kind":"CustomResourceDefinition","metadata":{"name":"foos.example.com"},"spec":{
		"group":"example.com","scope":"Cluster","names":{"plural":"foos","kind":"Foo"},"versions":[
		{"name":"v1","served":true,"storage":true,"subresources":{"status":{}},`+open+`},{"name":"v2","served":true,"storage":false,`+open+`}]}}`)...)
	apply := func(version, below string) (int, map[string]any) {
		return s.do("PATCH", "/apis/example.com/"+version+"/foos/f"+below+"?fieldManager=m", `{"apiVersion":"example.com/`+version+`","kind":"Foo","metadata":{"name":"f"},"spec":{"x":"`+version+`"}}`,
			"Content-Type", "application/apply-patch+yaml")
	}
	code, doc := apply("v2", "")
	require.Equal(t, 201, code, "%v", doc)
	code, doc = apply("v1", "/status")
	assert.Equal(t, 409, code)
	assert.Equal(t, `Apply failed with 1 conflict: conflict with "m": .spec.x`, doc["message"])
}
