package httpapi_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/kubecoord/kubecoord/internal/yaml"
)

// Run one of these for as long as there is time:
//
//	go test ./httpapi -run '^$' -fuzz FuzzApply -fuzztime 5m

const typeApply = "application/apply-patch+yaml"

// fuzzTargets are the objects of a fuzzServer, and two that do not exist, one of them in another version.
var fuzzTargets = []string{leases + "/a", endpoints + "/a", candidates + "/a", leases + "/new", "/apis/coordination.k8s.io/v1alpha1/namespaces/default/leasecandidates/new"}

// state is what must not change where a request is refused.
func state(s *server, do func(method, target, contentType, accept string, body []byte) (int, string, string), target string) string {
	_, _, object := do("GET", target, "", typeJSON, nil)
	return fmt.Sprint(s.version(), object)
}

// checkRecord fails where the managedFields of an object cannot be read, or where sending it back as it is is a change. forged
// tells that a client has written them.
func checkRecord(t *testing.T, s *server, do func(method, target, contentType, accept string, body []byte) (int, string, string), target string, forged bool) {
	t.Helper()
	_, _, object := do("GET", target, "", typeJSON, nil)
	var o struct {
		Metadata struct {
			ManagedFields []struct {
				Operation, APIVersion, FieldsType string
				FieldsV1                          map[string]any
			}
		}
	}
	if err := json.Unmarshal([]byte(object), &o); err != nil {
		t.Fatalf("%v: %s", err, object)
	}
	for _, e := range o.Metadata.ManagedFields {
		if e.Operation != "Apply" && e.Operation != "Update" || e.APIVersion == "" || e.FieldsType != "FieldsV1" {
			t.Errorf("stored %+v", e)
		}
	}
	if forged {
		// A claim to managedFields lasts until the next write, whatever that writes.
		if _, _, object = do("PUT", target+"?fieldManager=somebody", typeJSON, typeJSON, []byte(object)); object == "" {
			t.Error("no answer")
		}
	}
	version := s.version()
	if code, _, answer := do("PUT", target+"?fieldManager=somebody", typeJSON, typeJSON, []byte(object)); code != http.StatusOK || s.version() != version {
		t.Errorf("sent back as it is: %d %s\nwas %s", code, answer, object)
	}
}

func FuzzApply(f *testing.F) {
	for _, body := range []string{
		`{"apiVersion":"coordination.k8s.io/v1","kind":"Lease","metadata":{"name":"a","labels":{"x":"2"},"finalizers":["f/1","f/2"]},"spec":{"holderIdentity":"h"}}`,
		"apiVersion: coordination.k8s.io/v1\nkind: Lease\nmetadata:\n  name: new\n  ownerReferences: [{apiVersion: v1, kind: Pod, name: p, uid: u}]\nspec: {}\n",
		"apiVersion: v1\nkind: Endpoints\nmetadata: {name: a}\nsubsets:\n- addresses: [{ip: 10.0.0.1}]\n  ports: [{port: 80}]\n",
		`{"apiVersion":"coordination.k8s.io/v1beta1","kind":"LeaseCandidate","metadata":{"name":"a","annotations":{}},"spec":{"leaseName":"l","binaryVersion":"1.2.3","strategy":"a/b"}}`,
		`{"apiVersion":"coordination.k8s.io/v1alpha1","kind":"LeaseCandidate","metadata":{"name":"new"},"spec":{"leaseName":"l","preferredStrategies":["OldestEmulationVersion"],"binaryVersion":"1.2.3","emulationVersion":"1.2.0"}}`,
		`{"apiVersion":"coordination.k8s.io/v1","kind":"Lease","metadata":{"name":"a","annotations":{"kubectl.kubernetes.io/last-applied-configuration":"{}"}},"spec":null}`,
		`{"apiVersion":"coordination.k8s.io/v1","kind":"Lease","metadata":{"name":"a","managedFields":[],"resourceVersion":"1"},"spec":{"renewTime":1,"zzz":2}}`,
		"a: &x [*x]", "a: 1\na: 2", "[]", "null", "", "\x00", "!!binary x", `{"metadata":{"name":"a","finalizers":["f/1","f/1"],"ownerReferences":[{}]}}`,
	} {
		for i := range fuzzTargets {
			f.Add([]byte(body), "m", uint8(i), uint8(i*5))
		}
	}
	f.Fuzz(func(t *testing.T, body []byte, manager string, target, how uint8) {
		s, do := fuzzServer(t)
		path := fuzzTargets[int(target)%len(fuzzTargets)]
		query := url.Values{"fieldManager": {manager}, "fieldValidation": {[]string{"Warn", "Strict", "Ignore"}[how%3]}}
		if how&4 != 0 {
			query.Set("force", "true")
		}
		if how&8 != 0 {
			query.Set("dryRun", "All")
		}
		tooLong := how == 255
		if tooLong {
			body = append(bytes.Clone(body), bytes.Repeat([]byte(" "), 3<<20)...)
		}
		accept := []string{typeJSON, "application/yaml", typeProtobuf}[how>>4%3]
		request := path + "?" + query.Encode()
		before := state(s, do, path)
		code, answerType, answer := do("PATCH", request, typeApply, accept, body)
		if code == 0 {
			return
		}
		checkAnswer(t, code, answerType, answer)
		if tooLong && len(body) > 3<<20 && code != http.StatusRequestEntityTooLarge {
			t.Errorf("%d for %d bytes", code, len(body))
		}
		after := state(s, do, path)
		if (code >= 400 || how&8 != 0) && before != after {
			t.Errorf("answered %d (dry run %v) and wrote: %s\nwas %s", code, how&8 != 0, after, before)
		}
		if code >= 400 || how&8 != 0 {
			return
		}
		checkRecord(t, s, do, path, false)
		if strings.Contains(string(body), "resourceVersion") {
			return // which is another one now
		}
		after = state(s, do, path)
		code, _, answer = do("PATCH", request, typeApply, typeJSON, body)
		if again := state(s, do, path); code != http.StatusOK || again != after {
			t.Errorf("applied again: %d %s\nbecame %s\nwas    %s", code, answer, again, after)
		}
	})
}

func FuzzManagedFieldsOfClients(f *testing.F) {
	for _, entries := range []string{
		`[]`, `[{}]`, `null`, `{}`, `[null]`, `[1]`,
		`[{"manager":"m","operation":"Update","apiVersion":"coordination.k8s.io/v1","time":"2026-01-02T03:04:05Z","fieldsType":"FieldsV1","fieldsV1":{"f:metadata":{"f:labels":{".":{},"f:x":{}}},"f:spec":{"f:holderIdentity":{}}}}]`,
		`[{"manager":"m","operation":"Apply","apiVersion":"v1","fieldsType":"FieldsV1","fieldsV1":{"f:subsets":{}}},{"manager":"m","operation":"Apply","apiVersion":"v2","fieldsType":"FieldsV1","fieldsV1":{}}]`,
		`[{"manager":"m","operation":"Apply","apiVersion":"coordination.k8s.io/v1","fieldsType":"FieldsV1","fieldsV1":{"f:metadata":{"f:finalizers":{"v:\"f/1\"":{}},"f:ownerReferences":{"k:{\"uid\":\"u\"}":{".":{},"f:name":{}}},"f:name":{},"f:managedFields":{}},"f:spec":{"i:0":{}}}}]`,
		`[{"manager":"m","operation":"Other","apiVersion":"a/b/c","time":"x","fieldsType":"FieldsV2","fieldsV1":{"x":{}},"subresource":"status"}]`,
		`[{"manager":"m","operation":"Update","apiVersion":"coordination.k8s.io/v1","fieldsType":"FieldsV1","fieldsV1":{"f:a":1,"k:{":{},"v:":{},"i:x":{}}}]`,
		`[{"manager":"m","operation":"Update","apiVersion":"coordination.k8s.io/v1","fieldsType":"FieldsV1","fieldsV1":null},{"manager":"m","operation":"Update","apiVersion":"coordination.k8s.io/v1","fieldsType":"FieldsV1"}]`,
	} {
		for how := range uint8(15) {
			f.Add([]byte(entries), "m", how)
		}
	}
	f.Fuzz(func(t *testing.T, entries []byte, manager string, how uint8) {
		s, do := fuzzServer(t)
		i := how % 3
		path, name := fuzzTargets[i], "a"
		method, contentType, target := "PATCH", "application/merge-patch+json", path
		content := []string{`"spec":{"holderIdentity":"z"}`, `"subsets":[]`, `"spec":{"leaseName":"l","binaryVersion":"1.2.4","strategy":"a/b"}`}[i]
		version := fmt.Sprint(seeded - 2 + []int{0, 1, 2}[i])
		switch how / 3 % 5 {
		case 0:
			method, contentType, target, name, version = "POST", typeJSON, path[:len(path)-2], "b", ""
		case 1:
			method, contentType = "PUT", typeJSON
		case 2:
			contentType = "application/strategic-merge-patch+json"
		case 3:
			content += `,"metadata":{"finalizers":null}`
		}
		body := fmt.Sprintf(`{"metadata":{"name":%q,"resourceVersion":%q,"managedFields":%s},%s}`, name, version, entries, content)
		if name == "b" {
			path = path[:len(path)-1] + "b"
		}
		before := state(s, do, path)
		query := "?fieldManager=" + url.QueryEscape(manager)
		code, answerType, answer := do(method, target+query, contentType, typeJSON, []byte(body))
		checkAnswer(t, code, answerType, answer)
		if code >= 400 {
			if after := state(s, do, path); before != after {
				t.Errorf("answered %d and wrote: %s\nwas %s", code, after, before)
			}
			return
		}
		checkRecord(t, s, do, path, true)
		applied := fmt.Sprintf(`{"apiVersion":%q,"kind":%q,"metadata":{"name":%q,"labels":{"applied":"yes"}}}`,
			[]string{"coordination.k8s.io/v1", "v1", "coordination.k8s.io/v1beta1"}[i], []string{"Lease", "Endpoints", "LeaseCandidate"}[i], name)
		code, answerType, answer = do("PATCH", path+"?fieldManager=applier&force=true", typeApply, typeJSON, []byte(applied))
		checkAnswer(t, code, answerType, answer)
		if code != http.StatusOK {
			t.Fatalf("%d %s", code, answer)
		}
		after := state(s, do, path)
		if do("PATCH", path+"?fieldManager=applier", typeApply, typeJSON, []byte(applied)); state(s, do, path) != after {
			t.Errorf("applied again: became %s\nwas %s", state(s, do, path), after)
		}
	})
}

// FuzzYAMLBody checks that YAML in a body means what its JSON means.
func FuzzYAMLBody(f *testing.F) {
	for _, body := range []string{
		"metadata:\n  name: b\n  labels: {x: '1', y: \"2\"}\nspec:\n  holderIdentity: h\n  leaseDurationSeconds: 0x10\n", "metadata: {name: b}\nmetadata: {name: c}",
		"apiVersion: v1\nkind: Endpoints\nmetadata:\n  name: b\nsubsets:\n- addresses:\n  - ip: 10.0.0.1\n", "metadata:\n  name: 1\n", "a: *x", "- x", "", "---\n...\n", "? [a]\n: b",
		"metadata:\n  name: b\n  annotations:\n    text: |+\n      a\n\n    folded: >-\n      b\n      c\n", "{metadata: {name: b}, spec: {renewTime: 2026-01-02T03:04:05.000000Z}}",
	} {
		f.Add([]byte(body), uint8(0))
		f.Add([]byte(body), uint8(1))
	}
	f.Fuzz(func(t *testing.T, body []byte, kind uint8) {
		target := []string{leases, endpoints, candidates}[kind%3] + "?dryRun=All&fieldValidation=Ignore"
		s, do := fuzzServer(t)
		code, answerType, answer := do("POST", target, "application/yaml", typeJSON, body)
		checkAnswer(t, code, answerType, answer)
		if s.version() != seeded {
			t.Errorf("a dry run wrote: %d %s", code, answer)
		}
		text, _, err := yaml.ToJSON(body)
		if err != nil {
			if code != http.StatusBadRequest && code != http.StatusRequestEntityTooLarge {
				t.Errorf("%d for %v", code, err)
			}
			return
		}
		wantCode, _, want := do("POST", target, typeJSON, typeJSON, text)
		if code != wantCode || code < 300 && withoutUID(t, answer) != withoutUID(t, want) {
			t.Errorf("YAML: %d %s\nJSON: %d %s", code, answer, wantCode, want)
		}
	})
}

func withoutUID(t *testing.T, object string) string {
	t.Helper()
	var o map[string]any
	if err := json.Unmarshal([]byte(object), &o); err != nil {
		t.Fatalf("%v: %s", err, object)
	}
	m := o["metadata"].(map[string]any)
	for _, name := range []string{"uid", "creationTimestamp", "managedFields"} { // random, and times
		delete(m, name)
	}
	text, _ := json.Marshal(o)
	return string(text)
}
