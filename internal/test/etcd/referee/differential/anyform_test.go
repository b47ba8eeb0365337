package differential

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/managedfields"
	"k8s.io/kube-openapi/pkg/spec3"
	openapispec "k8s.io/kube-openapi/pkg/validation/spec"

	"github.com/kubecoord/kubecoord/httpapi"
	"github.com/kubecoord/kubecoord/internal/test/ownership"
	"github.com/kubecoord/kubecoord/store"
	"github.com/kubecoord/kubecoord/store/kind"
)

// This file compares unstructured kinds with upstream's field manager for custom resources.

var blobVersions = []string{"v1", "v1beta1"}

func blobKind(version string) schema.GroupVersionKind {
	return schema.GroupVersionKind{Group: "example.com", Version: version, Kind: "Blob"}
}

// sameInAllVersions converts custom resources with the strategy None.
type sameInAllVersions struct{}

func (sameInAllVersions) Convert(_, _, _ any) error { return errors.New("not used") }

func (sameInAllVersions) ConvertToVersion(in runtime.Object, gv runtime.GroupVersioner) (runtime.Object, error) {
	out := in.DeepCopyObject().(*unstructured.Unstructured)
	kind, ok := gv.KindForGroupVersionKinds([]schema.GroupVersionKind{blobKind("v1"), blobKind("v1beta1")})
	if !ok {
		return nil, errors.New("no such version")
	}
	out.SetGroupVersionKind(kind)
	return out, nil
}

func (sameInAllVersions) ConvertFieldLabel(_ schema.GroupVersionKind, label, value string) (string, string, error) {
	return label, value, nil
}

func (sameInAllVersions) New(kind schema.GroupVersionKind) (runtime.Object, error) {
	out := &unstructured.Unstructured{}
	out.SetGroupVersionKind(kind)
	return out, nil
}

func (sameInAllVersions) Default(runtime.Object) {}

// converterOf returns a converter of the types in the OpenAPI documents of some versions.
func converterOf(t *testing.T, api http.Handler, versions ...string) managedfields.TypeConverter {
	schemas := map[string]*openapispec.Schema{}
	for _, version := range versions {
		w := httptest.NewRecorder()
		api.ServeHTTP(w, httptest.NewRequest("GET", "/openapi/v3/apis/example.com/"+version, nil))
		var doc spec3.OpenAPI
		require.NoError(t, json.Unmarshal(w.Body.Bytes(), &doc))
		maps.Copy(schemas, doc.Components.Schemas)
	}
	converter, err := managedfields.NewTypeConverter(schemas, false)
	require.NoError(t, err)
	return converter
}

// setMember copies a member from another object, or deletes it.
func setMember(o *unstructured.Unstructured, name string, of map[string]any) {
	if v, ok := of[name]; ok {
		o.Object[name] = v
	} else {
		delete(o.Object, name)
	}
}

// comparableOf returns the compared part of an object.
func comparableOf(o *unstructured.Unstructured) string {
	c := o.DeepCopy()
	c.SetAPIVersion("")
	metadata := c.Object["metadata"].(map[string]any)
	for _, name := range []string{"uid", "namespace", "creationTimestamp", "resourceVersion", "generation"} {
		delete(metadata, name)
	}
	fields := c.GetManagedFields()
	for i := range fields {
		fields[i].Time = nil
	}
	c.SetManagedFields(fields)
	text, err := json.Marshal(c.Object)
	if err != nil {
		panic(err)
	}
	return string(text)
}

// blobRequest returns the HTTP request of a write.
func blobRequest(w ownership.Write, first bool) *http.Request {
	path, method, contentType := "/apis/example.com/"+w.Version+"/blobs/a", "PUT", "application/json"
	if w.Subresource != "" {
		path += "/" + w.Subresource
	}
	query := "?fieldManager=" + w.Manager
	switch {
	case w.Verb != ownership.Update:
		method, contentType = "PATCH", "application/apply-patch+yaml"
		query += fmt.Sprintf("&force=%t", w.Verb == ownership.Force)
	case first:
		path, method = strings.TrimSuffix(path, "/a"), "POST"
	}
	r := httptest.NewRequest(method, path+query, strings.NewReader(w.Document))
	r.Header.Set("Content-Type", contentType)
	return r
}

// randomTree returns a JSON value.
func randomTree(g generator, depth int) any {
	n := g.IntN(9)
	if depth == 0 {
		n %= 5
	}
	switch n {
	case 0:
		return nil
	case 1, 2:
		return g.IntN(2)
	case 3:
		return []string{"x", "y"}[g.IntN(2)]
	case 4:
		return g.IntN(2) == 0
	case 5:
		list := make([]any, g.IntN(3))
		for i := range list {
			list[i] = randomTree(g, depth-1)
		}
		return list
	}
	object := map[string]any{}
	for range g.IntN(4) {
		object[string(rune('a'+g.IntN(3)))] = randomTree(g, depth-1)
	}
	return object
}

func randomBlobWrite(g generator, second int, first bool) ownership.Write {
	w := ownership.Write{Version: blobVersions[g.IntN(5)/4], Manager: fmt.Sprint("m", g.IntN(3)), Second: second}
	w.Verb = pick(g, ownership.Update, ownership.Update, ownership.Apply, ownership.Force)
	if !first && g.IntN(3) == 0 {
		w.Subresource = "status"
	}
	metadata := map[string]any{"name": "a"}
	for _, name := range []string{"labels", "annotations"} {
		if g.IntN(3) == 0 {
			metadata[name] = map[string]any{string(rune('a' + g.IntN(2))): fmt.Sprint(g.IntN(2))}
		}
	}
	if g.IntN(4) == 0 {
		metadata["finalizers"] = []string{fmt.Sprint("f/", g.IntN(2))}
	}
	doc := map[string]any{"apiVersion": "example.com/" + w.Version, "kind": "Blob", "metadata": metadata}
	for _, name := range []string{"spec", "status", "data"} {
		if g.IntN(4) > 0 {
			doc[name] = randomTree(g, 3)
		}
	}
	text, err := json.Marshal(doc)
	if err != nil {
		panic(err)
	}
	w.Document = string(text)
	return w
}

// TestManagedFieldsOfUnstructuredKindsEqualUpstream sends random writes to kubecoord, and does them with the field manager of
// the model of Blob.
func TestManagedFieldsOfUnstructuredKindsEqualUpstream(t *testing.T) {
	models := newModels(t)
	blob := models[slices.IndexFunc(models, func(m *model) bool { return m.kind.Kind == "Blob" })]
	d := kind.Descriptor[*store.Unstructured]{
		Resource: kind.Resource{Group: "example.com", Kind: "Blob", Status: true, ClusterScoped: true},
		Strategy: kind.Strategy[*store.Unstructured]{Update: kind.UpdateStrategy[*store.Unstructured]{Unconditional: true}},
	}
	for _, name := range blobVersions {
		d.Versions = append(d.Versions, kind.Version[*store.Unstructured]{Name: name})
	}
	eachCaseInABubble(t, 150, func(g generator) string {
		st := store.New(store.Options{})
		defer st.Close()
		api := httpapi.New(st, httpapi.Options{Kinds: []kind.Kind{store.MustKind(d)}})
		defer api.Close()
		p := player{model: blob, t: t}
		var log []string
		for second := range 8 {
			w := randomBlobWrite(g, second, p.live == nil)
			log = append(log, fmt.Sprint(w))
			before := p.live
			expected := strings.Join(p.write(w).Answer, "\n") // waits for the second
			answer := httptest.NewRecorder()
			api.ServeHTTP(answer, blobRequest(w, before == nil))
			want, got := "", ""
			if code, failed := strings.CutPrefix(expected, "error "); failed {
				want, got = code[:3], fmt.Sprint(answer.Code)
			} else {
				o := &unstructured.Unstructured{}
				require.NoError(t, o.UnmarshalJSON(answer.Body.Bytes()))
				want, got = comparableOf(p.live.(*unstructured.Unstructured)), comparableOf(o)
			}
			if before != nil && comparableOf(before.(*unstructured.Unstructured)) == want {
				p.live = before // as upstream: a write that only changes timestamps
			}
			if want != got {
				return fmt.Sprintf("%s\n\nupstream  %s\nkubecoord %s", strings.Join(log, "\n"), want, got)
			}
		}
		return ""
	})
}
