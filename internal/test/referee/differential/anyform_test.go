package differential

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/managedfields"
	"k8s.io/kube-openapi/pkg/spec3"
	openapispec "k8s.io/kube-openapi/pkg/validation/spec"
	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"

	"github.com/kubecoord/kubecoord/httpapi"
	"github.com/kubecoord/kubecoord/store"
)

// This file compares unstructured kinds with upstream's field manager for custom
// resources, with its reset fields for a status subresource.

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

// blobReference is one object with upstream's field managers.
type blobReference struct {
	managers map[string]*managedfields.FieldManager // by version and subresource
	live     *unstructured.Unstructured
}

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

// newBlobReference reads the types from the OpenAPI documents of the API.
func newBlobReference(t *testing.T, api http.Handler) *blobReference {
	ref := &blobReference{managers: map[string]*managedfields.FieldManager{}}
	converter := converterOf(t, api, blobVersions...)
	ofStatus := map[fieldpath.APIVersion]*fieldpath.Set{}
	for _, version := range blobVersions {
		ofStatus[fieldpath.APIVersion("example.com/"+version)] = fieldpath.NewSet(fieldpath.MakePathOrDie("metadata"), fieldpath.MakePathOrDie("spec"))
	}
	for _, version := range blobVersions {
		of := map[string]map[fieldpath.APIVersion]*fieldpath.Set{
			"":       {fieldpath.APIVersion("example.com/" + version): fieldpath.NewSet(fieldpath.MakePathOrDie("status"))},
			"status": ofStatus,
		}
		for subresource, reset := range of {
			m, err := managedfields.NewDefaultCRDFieldManager(converter, sameInAllVersions{}, sameInAllVersions{}, sameInAllVersions{},
				blobKind(version), blobKind(version).GroupVersion(), subresource, fieldpath.NewExcludeFilterSetMap(reset))
			require.NoError(t, err)
			ref.managers[version+"/"+subresource] = m
		}
	}
	return ref
}

// write does a write as upstream's handlers and strategies do.
func (r *blobReference) write(w blobWrite) error {
	live := &unstructured.Unstructured{}
	if r.live != nil {
		live = r.live.DeepCopy()
	}
	live.SetGroupVersionKind(blobKind(w.version))
	sent := w.object()
	m := r.managers[w.version+"/"+w.subresource]
	var next *unstructured.Unstructured
	if w.apply {
		out, err := m.Apply(live, sent, w.manager, w.force)
		if err != nil {
			return err
		}
		next = out.(*unstructured.Unstructured)
	} else {
		next = m.UpdateNoErrors(live, sent, w.manager).(*unstructured.Unstructured)
	}
	if w.subresource == "status" {
		only := r.live.DeepCopy()
		only.SetManagedFields(next.GetManagedFields())
		setMember(only, "status", next.Object)
		next = only
	} else if r.live == nil {
		delete(next.Object, "status")
	} else {
		setMember(next, "status", r.live.Object)
	}
	for name, v := range next.Object["metadata"].(map[string]any) {
		if v == nil {
			delete(next.Object["metadata"].(map[string]any), name) // as the storage does
		}
	}
	next.SetName("a")
	next.SetUID("u")
	if r.live != nil && comparableOf(r.live) == comparableOf(next) {
		return nil // as upstream: a write that only changes timestamps
	}
	r.live = next
	return nil
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

// blobWrite is one write.
type blobWrite struct {
	version, subresource, manager string
	apply, force                  bool
	body                          string
}

func (w blobWrite) object() *unstructured.Unstructured {
	o := &unstructured.Unstructured{}
	if err := o.UnmarshalJSON([]byte(w.body)); err != nil {
		panic(err)
	}
	return o
}

func (w blobWrite) String() string {
	return fmt.Sprintf("%s/%s by %s, apply %t, force %t: %s", w.version, w.subresource, w.manager, w.apply, w.force, w.body)
}

// request returns the HTTP request of the write.
func (w blobWrite) request(first bool) *http.Request {
	path, method, contentType := "/apis/example.com/"+w.version+"/blobs/a", "PUT", "application/json"
	if w.subresource != "" {
		path += "/" + w.subresource
	}
	query := "?fieldManager=" + w.manager
	switch {
	case w.apply:
		method, contentType = "PATCH", "application/apply-patch+yaml"
		query += fmt.Sprintf("&force=%t", w.force)
	case first:
		path, method = strings.TrimSuffix(path, "/a"), "POST"
	}
	r := httptest.NewRequest(method, path+query, strings.NewReader(w.body))
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

func randomBlobWrite(g generator, first bool) blobWrite {
	w := blobWrite{version: blobVersions[g.IntN(5)/4], manager: fmt.Sprint("m", g.IntN(3)), apply: g.IntN(2) == 0, force: g.IntN(2) == 0}
	if !first && g.IntN(3) == 0 {
		w.subresource = "status"
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
	doc := map[string]any{"apiVersion": "example.com/" + w.version, "kind": "Blob", "metadata": metadata}
	for _, name := range []string{"spec", "status", "data"} {
		if g.IntN(4) > 0 {
			doc[name] = randomTree(g, 3)
		}
	}
	text, err := json.Marshal(doc)
	if err != nil {
		panic(err)
	}
	w.body = string(text)
	return w
}

// TestManagedFieldsOfUnstructuredKindsEqualUpstream sends random writes to both.
func TestManagedFieldsOfUnstructuredKindsEqualUpstream(t *testing.T) {
	eachCaseInABubble(t, 150, func(g generator) string {
		d := store.Descriptor[store.Unstructured]{
			Group: "example.com", Name: "Blob", Status: true, ClusterScoped: true, UnconditionalUpdate: true,
		}
		for _, name := range blobVersions {
			d.Versions = append(d.Versions, store.Version[store.Unstructured]{Name: name})
		}
		st := store.New(store.Options{})
		defer st.Close()
		api := httpapi.New(st, httpapi.Options{Kinds: []store.AnyKind{store.MustKind(d)}})
		defer api.Close()
		ref := newBlobReference(t, api)
		var log []string
		for range 8 {
			time.Sleep(time.Second)
			w := randomBlobWrite(g, ref.live == nil)
			log = append(log, w.String())
			answer := httptest.NewRecorder()
			api.ServeHTTP(answer, w.request(ref.live == nil))
			want, got := "", answer.Body.String()
			if err := ref.write(w); err != nil {
				want = fmt.Sprint(codeOf(err))
				got = fmt.Sprint(answer.Code)
			} else if answer.Code < 300 {
				o := &unstructured.Unstructured{}
				require.NoError(t, o.UnmarshalJSON(answer.Body.Bytes()))
				want, got = comparableOf(ref.live), comparableOf(o)
			}
			if want != got {
				return fmt.Sprintf("%s\n\nupstream  %s\nkubecoord %s", strings.Join(log, "\n"), want, got)
			}
		}
		return ""
	})
}

func codeOf(err error) int {
	if status, ok := err.(apierrors.APIStatus); ok {
		return int(status.Status().Code)
	}
	return http.StatusInternalServerError
}
