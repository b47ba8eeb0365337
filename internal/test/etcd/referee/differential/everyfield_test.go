package differential

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
)

// filled are objects with all fields, by the plural name of their kind. Requests write what their metadata may have.
var filled = map[string]string{
	"metadata": `{"name":"a","namespace":"default","selfLink":"x","uid":"","resourceVersion":"","generation":1,
		"creationTimestamp":"2026-01-02T03:04:05Z","deletionTimestamp":null,"deletionGracePeriodSeconds":null,"labels":{"a":"1"},"annotations":{"a":"1"},
		"ownerReferences":[{"apiVersion":"v1","kind":"Pod","name":"n","uid":"u1","controller":true,"blockOwnerDeletion":false}],"finalizers":["f/1"],
		"managedFields":[{"manager":"m","operation":"Update","apiVersion":"v1","time":"2026-01-02T03:04:05Z","fieldsType":"FieldsV1",
			"fieldsV1":{"f:metadata":{"f:labels":{"f:a":{}}}},"subresource":"status"}]}`,
	"leases": `{"spec":{"holderIdentity":"h","leaseDurationSeconds":15,"acquireTime":"2026-01-02T03:04:05.000006Z",
		"renewTime":"2026-01-02T03:04:05.000006Z","leaseTransitions":1,"strategy":"OldestEmulationVersion","preferredHolder":"h"}}`,
	"leasecandidates": `{"spec":{"leaseName":"l","pingTime":"2026-01-02T03:04:05.000006Z","renewTime":"2026-01-02T03:04:05.000006Z",
		"binaryVersion":"1.2.3","emulationVersion":"1.2.0","strategy":"OldestEmulationVersion"}}`,
	"endpoints": `{"subsets":[{"addresses":[{"ip":"10.0.0.1","hostname":"h","nodeName":"n","targetRef":{"kind":"Pod","namespace":"default",
		"name":"p","uid":"u","apiVersion":"v1","resourceVersion":"1","fieldPath":"x"}}],"notReadyAddresses":[{"ip":"10.0.0.2"}],
		"ports":[{"name":"p","port":80,"protocol":"TCP","appProtocol":"http"}]}]}`,
	"widgets": `{"spec":{"mode":"x","count":1,"on":true,"tags":["t1"],"steps":["s"],"parts":[{"name":"p1","size":1,"labels":["l1"]}],
		"ports":[{"port":1,"protocol":"TCP","target":"x"}],"options":{"a":"1"},"origin":{"x":"1"},"nested":{"a":"1","b":{"c":"1","d":{"k":"1"}}}}}`,
}

// wrongValues are written into every field, where most of them are wrong.
var wrongValues = []string{`null`, `true`, `1`, `-1.5`, `"x"`, `[]`, `["x"]`, `[1,null]`, `{}`, `{"x":1}`}

// TestWrongValuesAreRefusedAsUpstream writes values of other types into each field, by each verb. Texts of errors name fields and types,
// which random requests would find by chance only.
func TestWrongValuesAreRefusedAsUpstream(t *testing.T) {
	for _, r := range resources {
		for _, version := range r.versions {
			for _, part := range []string{"metadata", r.plural} {
				if part == "metadata" && r.plural != "leases" && r.plural != "widgets" {
					continue // it is the same type
				}
				t.Run(version+" "+r.plural+" "+part, func(t *testing.T) {
					synctest.Test(t, func(t *testing.T) { wrongValuesOf(t, r, version, part == "metadata") })
				})
			}
		}
	}
}

func wrongValuesOf(t *testing.T, r resource, version string, inMetadata bool) {
	w := &writers{pair: newPair(), resource: r, version: version}
	defer w.close()
	whole := parsed(filled[r.plural]).(object)
	whole["apiVersion"], whole["kind"] = w.apiVersion(), w.kind()
	whole["metadata"] = object{"name": "a", "labels": object{"a": "1"}, "finalizers": []any{"f/1"}}
	send := func(method, contentType string, named bool, body any, query url.Values) {
		text, _ := json.Marshal(body)
		w.history = w.history[:min(len(w.history), 1)] // dry runs change nothing
		if _, wrong := w.send(call{method: method, path: w.path(named), contentType: contentType, accept: typeJSON, query: query, body: string(text)}); wrong != "" {
			t.Error(wrong)
		}
	}
	send(http.MethodPost, typeJSON, false, whole, nil)
	w.look()
	// Without the type of the object. Where a patch removes it, upstream decodes an internal type, which the reference does not have.
	paths := slices.DeleteFunc(pathsOf(whole, nil), func(path []any) bool { return path[0] == "apiVersion" || path[0] == "kind" })
	if inMetadata {
		whole["metadata"] = parsed(filled["metadata"])
		paths = pathsOf(whole["metadata"], []any{"metadata"})
	} else {
		paths = slices.DeleteFunc(paths, func(path []any) bool { return len(path) > 1 && path[0] == "metadata" })
	}
	for _, path := range paths {
		for _, value := range wrongValues {
			dry := func(more ...string) url.Values {
				q := url.Values{"dryRun": {"All"}, "fieldValidation": {"Strict"}}
				for _, name := range more {
					q.Set(name, "true")
				}
				return q
			}
			body := replaced(whole, path, parsed(value)).(object)
			patch := branch(whole, path, parsed(value))
			operations := []any{object{"op": "add", "path": pointer(path), "value": parsed(value)}}
			send(http.MethodPost, typeJSON, false, body, dry())
			send(http.MethodPut, typeJSON, true, body, dry())
			send(http.MethodPatch, "application/merge-patch+json", true, patch, dry())
			send(http.MethodPatch, "application/strategic-merge-patch+json", true, patch, dry())
			send(http.MethodPatch, "application/json-patch+json", true, operations, dry())
			configuration := branch(whole, path, parsed(value)).(object)
			for _, name := range []string{"apiVersion", "kind"} {
				if _, has := configuration[name]; !has {
					configuration[name] = whole[name]
				}
			}
			send(http.MethodPatch, "application/apply-patch+yaml", true, configuration, dry("force", "fieldManager"))
		}
	}
}

func parsed(text string) (v any) {
	if err := json.Unmarshal([]byte(text), &v); err != nil {
		panic(err)
	}
	return v
}

// pathsOf returns the paths of a value and of all values in it. A path has names and indexes.
func pathsOf(v any, path []any) (all [][]any) {
	if len(path) > 0 {
		all = append(all, path)
	}
	switch v := v.(type) {
	case object:
		for _, name := range slices.Sorted(maps.Keys(v)) {
			all = append(all, pathsOf(v[name], append(slices.Clip(path), name))...)
		}
	case []any:
		for i := range v {
			all = append(all, pathsOf(v[i], append(slices.Clip(path), i))...)
		}
	}
	return all
}

// replaced returns a copy of v with another value at a path.
func replaced(v any, path []any, value any) any {
	if len(path) == 0 {
		return value
	}
	switch v := v.(type) {
	case object:
		out, name := maps.Clone(v), path[0].(string)
		out[name] = replaced(v[name], path[1:], value)
		return out
	case []any:
		out, i := slices.Clone(v), path[0].(int)
		out[i] = replaced(v[i], path[1:], value)
		return out
	}
	panic(path)
}

// branch returns a patch that writes a value at a path: of objects that are no items only the member at the path.
func branch(v any, path []any, value any) any {
	if len(path) == 0 {
		return value
	}
	if _, isItem := path[0].(int); isItem {
		return replaced(v, path, value)
	}
	name := path[0].(string)
	return object{name: branch(v.(object)[name], path[1:], value)}
}

// pointer returns a path as JSON patches write it.
func pointer(path []any) string {
	var b strings.Builder
	for _, step := range path {
		fmt.Fprint(&b, "/", strings.NewReplacer("~", "~0", "/", "~1").Replace(fmt.Sprint(step)))
	}
	return b.String()
}
