package httpapi_test

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kubecoord/kubecoord/httpapi"
	"github.com/kubecoord/kubecoord/internal/kinds"
	"github.com/kubecoord/kubecoord/lease"
	"github.com/kubecoord/kubecoord/store"
	"github.com/kubecoord/kubecoord/store/kind"
	"github.com/kubecoord/kubecoord/store/meta"
)

// widget is a kind of a user's own.
type widget struct {
	meta.TypeMeta   `json:",inline"`
	meta.ObjectMeta `json:"metadata" protobuf:"1"`
	Spec            widgetSpec `json:"spec" protobuf:"2"`
}

type widgetSpec struct {
	Size int32 `json:"size,omitempty" protobuf:"1"`
}

func newWidgetServer(t testing.TB) *server {
	k := store.MustKind(kind.Descriptor[*widget]{
		Resource: kind.Resource{Group: "example.com", Kind: "Widget", Plural: "widgets", ShortNames: []string{"wd"}},
		Versions: []kind.Version[*widget]{{Name: "v1"}, {Name: "v1alpha1", Deprecated: "use v1"}},
	})
	return newServerWith(t, store.Options{}, httpapi.Options{Kinds: []kind.Kind{k}})
}

const widgets = "/apis/example.com/v1/namespaces/default/widgets"

// widgetNamed is the shortest body that creates a widget: custom resources must name their type.
func widgetNamed(name string) string {
	return `{"apiVersion":"example.com/v1","kind":"Widget","metadata":{"name":"` + name + `"}}`
}

func TestCustomKindIsServed(t *testing.T) {
	s := newWidgetServer(t)
	w := s.watch(t, widgets+"?watch=true")
	created := s.must(t, "POST", widgets, `{"apiVersion":"example.com/v1","kind":"Widget","metadata":{"name":"a"},"spec":{"size":3}}`)
	assert.Equal(t, "Widget", created["kind"])
	assert.Equal(t, "example.com/v1", created["apiVersion"])
	assert.EqualValues(t, 3, created.at("spec", "size"))
	w.wants("ADDED a")
	for _, patch := range []string{"merge-patch", "strategic-merge-patch"} {
		got := s.must(t, "PATCH", widgets+"/a", `{"spec":{"size":4}}`, "Content-Type", "application/"+patch+"+json")
		assert.EqualValues(t, 4, got.at("spec", "size"))
	}
	w.wants("MODIFIED a")
	list := s.must(t, "GET", widgets, "")
	assert.Equal(t, "WidgetList", list["kind"])
	table := s.must(t, "GET", widgets, "", "Accept", typeJSON+asTable)
	assert.Equal(t, "a", table.at("rows", 0, "cells", 0))
	assert.Equal(t, "k8s\x00", s.do(t, "GET", widgets+"/a", "", "Accept", typeProtobuf).Body[:4])
	assertStatus(t, s.do(t, "GET", widgets+"/b", ""), http.StatusNotFound, "NotFound", `widgets.example.com "b" not found`)
	s.must(t, "DELETE", widgets+"/a", "")
	w.wants("DELETED a")
}

func TestCustomKindIsServedInAllItsVersions(t *testing.T) {
	s := newWidgetServer(t)
	s.must(t, "POST", widgets, `{"apiVersion":"example.com/v1","kind":"Widget","metadata":{"name":"a"}}`)
	a := s.do(t, "GET", "/apis/example.com/v1alpha1/namespaces/default/widgets/a", "")
	require.Equal(t, http.StatusOK, a.Code)
	assert.Equal(t, "example.com/v1alpha1", a.tree(t)["apiVersion"])
	assert.Equal(t, []string{`299 - "use v1"`}, a.Header.Values("Warning"))
}

// The answers come from apiextensions-apiserver, whether or not the kind has a Go type here.
func TestBodiesOfACustomKindMustNameItsType(t *testing.T) {
	s := newWidgetServer(t)
	s.must(t, "POST", widgets, widgetNamed("a"))
	const wrongVersion = `the API version in the data (example.com/v1alpha1) does not match the expected API version (example.com/v1)`
	for name, row := range map[string]struct {
		method, path, contentType, body string
		code                            int
		message                         string
	}{
		"no kind": {"POST", "", typeJSON, `{"apiVersion":"example.com/v1"}`, 400,
			`the object provided is unrecognized (must be of type Widget): Object 'Kind' is missing in '{"apiVersion":"example.com/v1"}' ({"apiVersion":"example.com/v1" ...)`},
		"no version":              {"POST", "", typeJSON, `{"kind":"Widget"}`, 400, "the API version in the data () does not match the expected API version (example.com/v1)"},
		"another version":         {"POST", "", typeJSON, `{"apiVersion":"example.com/v1alpha1","kind":"Widget"}`, 400, wrongVersion},
		"another version in YAML": {"PUT", "/a", "application/yaml", "apiVersion: example.com/v1alpha1\nkind: Widget\n", 400, wrongVersion},
		"another kind": {"POST", "", typeJSON, `{"apiVersion":"example.com/v1","kind":"Glob","metadata":{"name":"g"}}`, 422,
			`Glob.example.com "g" is invalid: kind: Invalid value: "Glob": must be Widget`},
		"another kind and namespace": {"POST", "", typeJSON, `{"apiVersion":"example.com/v1","kind":"Glob","metadata":{"name":"g","namespace":"other"}}`, 400,
			"the namespace of the provided object does not match the namespace sent on the request"},
		"another kind in an update": {"PUT", "/a", typeJSON, `{"apiVersion":"example.com/v1","kind":"Glob","metadata":{"name":"a","resourceVersion":"1001"}}`, 422,
			`Glob.example.com "a" is invalid: kind: Invalid value: "Glob": must be Widget`},
		"another kind in an update without a version": {"PUT", "/a", typeJSON, `{"apiVersion":"example.com/v1","kind":"Glob","metadata":{"name":"a"}}`, 422,
			`widgets.example.com "a" is invalid: metadata.resourceVersion: Invalid value: 0: must be specified for an update`},
		"another kind of an object that does not exist": {"PUT", "/b", typeJSON, `{"apiVersion":"example.com/v1","kind":"Glob","metadata":{"name":"b"}}`, 404,
			`widgets.example.com "b" not found`},
		"a patch to another kind at another version": {"PATCH", "/a", merge, `{"kind":"Glob","metadata":{"resourceVersion":"1"}}`, 409,
			`Operation cannot be fulfilled on widgets.example.com "a": the object has been modified; please apply your changes to the latest version and try again`},
		"a patch without a version": {"PATCH", "/a", merge, `{"apiVersion":null}`, 500, "Internal error occurred: Object 'apiVersion' is missing in 'object has no apiVersion field'"},
		"a patch to another kind":   {"PATCH", "/a", merge, `{"kind":"Glob"}`, 422, `Glob.example.com "a" is invalid: kind: Invalid value: "Glob": must be Widget`},
		"a patch to another version": {"PATCH", "/a", merge, `{"apiVersion":"example.com/v1alpha1"}`, 422,
			`Widget.example.com "a" is invalid: apiVersion: Invalid value: "example.com/v1alpha1": must be example.com/v1`},
	} {
		t.Run(name, func(t *testing.T) {
			a := s.do(t, row.method, widgets+row.path, row.body, "Content-Type", row.contentType)
			assert.Equal(t, row.code, a.Code, a.Body)
			assert.Equal(t, row.message, a.tree(t)["message"])
		})
	}
}

// Compared with kube-apiserver 1.36.3: only types of its scheme can be converted, and custom resources are not in it.
func TestBodiesOfAnotherTypeAreUnconvertibleOrUnregistered(t *testing.T) {
	s := newWidgetServer(t)
	for _, row := range []struct {
		apiVersion, kind string
		known            bool
	}{
		{"apps/v1", "Deployment", true},
		{"apps/v1", "DeploymentList", true},
		{"apps/v1", "Scale", false},
		{"apps/v1beta1", "Scale", true},
		{"apps/v1beta1", "ScaleList", false},
		{"apps/v1", "CreateOptions", true},
		{"apps/v9", "Deployment", false},
		{"events.k8s.io/v1", "Event", true},
		{"autoscaling/v1", "Scale", true},
		{"v1", "PodList", true},
		{"v1", "PodExecOptions", true},
		{"v1", "PodExecOptionsList", false},
		{"v1", "List", true},
		{"core/v1", "Pod", false},
		{"apiextensions.k8s.io/v1", "CustomResourceDefinition", false},
		{"example.com/v1", "Widget", false},
	} {
		_, version, found := strings.Cut(row.apiVersion, "/")
		if !found {
			version = row.apiVersion
		}
		problem := fmt.Sprintf("no kind %q is registered for version %q in scheme %q", row.kind, row.apiVersion, "kubecoord")
		if row.known {
			problem = fmt.Sprintf("converting (v1.%s) to (coordination.Lease): unknown conversion", row.kind)
			if version != "v1" && row.kind != "CreateOptions" {
				problem = strings.Replace(problem, "v1", version, 1)
			}
		}
		a := s.do(t, "POST", leases, fmt.Sprintf(`{"apiVersion":%q,"kind":%q}`, row.apiVersion, row.kind))
		assertStatus(t, a, 400, "BadRequest", fmt.Sprintf("%s in version %q cannot be handled as a Lease: %s", row.kind, version, problem))
	}
}

func TestErrorsNameTheTypeOfTheRequestedVersion(t *testing.T) {
	s := newServer(t)
	for _, version := range []string{"v1beta1", "v1alpha2", "v1alpha1"} {
		a := s.do(t, "POST", "/apis/coordination.k8s.io/"+version+"/namespaces/default/leasecandidates", `{"spec":[]}`)
		assertStatus(t, a, http.StatusBadRequest, "BadRequest", `LeaseCandidate in version "`+version+`" cannot be handled as a LeaseCandidate: `+
			`json: cannot unmarshal array into Go struct field LeaseCandidate.spec of type `+version+`.LeaseCandidateSpec`)
	}
}

func TestNamespaceIsSentInTheRequestedFormat(t *testing.T) {
	s := newServer(t)
	const path = "/api/v1/namespaces/default"
	assert.Equal(t, "Namespace", s.must(t, "GET", path, "")["kind"])
	a := s.do(t, "GET", path, "", "Accept", "application/yaml")
	assert.Equal(t, "application/yaml", a.Header.Get("Content-Type"))
	assert.Contains(t, a.Body, "\nkind: Namespace\n")
	a = s.do(t, "GET", path, "", "Accept", typeProtobuf)
	assert.Equal(t, typeJSON, a.Header.Get("Content-Type"), "its type has no protobuf form here")
	assert.Equal(t, "Namespace", a.tree(t)["kind"])
}

func TestCustomKindIsDiscovered(t *testing.T) {
	s := newWidgetServer(t)
	groups := s.must(t, "GET", "/apis", "")
	assert.Equal(t, "example.com", groups.at("groups", 1, "name"))
	assert.Equal(t, "v1", groups.at("groups", 1, "preferredVersion", "version"))
	resources := s.must(t, "GET", "/apis/example.com/v1", "")
	assert.Equal(t, "widgets", resources.at("resources", 0, "name"))
	assert.Equal(t, "widget", resources.at("resources", 0, "singularName"))
	assert.Equal(t, []any{"wd"}, resources.at("resources", 0, "shortNames"))
	aggregated := s.must(t, "GET", "/apis", "", "Accept", aggregatedAccept)
	assert.Equal(t, "example.com", aggregated.at("items", 1, "metadata", "name"))
}

func TestGoAPIAndHTTPSeeTheSameObjects(t *testing.T) {
	s := newServer(t)
	s.must(t, "POST", leases, `{"metadata":{"name":"a"},"spec":{"holderIdentity":"over HTTP"}}`)
	l, err := lease.In(s.st).Get(t.Context(), "default", "a")
	require.NoError(t, err)
	assert.Equal(t, "over HTTP", *l.Spec.HolderIdentity)
	l.Spec.HolderIdentity = new("in Go")
	_, err = lease.In(s.st).Update(t.Context(), l, store.UpdateOptions{})
	require.NoError(t, err)
	assert.Equal(t, "in Go", s.must(t, "GET", leases+"/a", "").at("spec", "holderIdentity"))
}

func TestLongUserAgentIsAManagerOfTheGreatestLength(t *testing.T) {
	s := newServer(t)
	l := s.must(t, "POST", leases, `{"metadata":{"name":"a"},"spec":{"holderIdentity":"me"}}`, "User-Agent", strings.Repeat("m", 129)+"/1")
	assert.Equal(t, strings.Repeat("m", 128), l.at("metadata", "managedFields", 0, "manager"))
}

func TestAnswersAreLogged(t *testing.T) {
	entries := make(chan httpapi.LogEntry, 1)
	s := newServerWith(t, store.Options{}, httpapi.Options{Log: func(e httpapi.LogEntry) { entries <- e }})
	a := s.do(t, "GET", leases+"/none?resourceVersion=0", "", "User-Agent", "me/1")
	e := <-entries
	assert.Positive(t, e.Duration)
	e.Duration = 0
	assert.Equal(t, httpapi.LogEntry{
		Method: "GET", Path: leases + "/none", Query: "resourceVersion=0", UserAgent: "me/1",
		Code: http.StatusNotFound, Bytes: int64(len(a.Body)),
		Attributes: httpapi.Attributes{
			Verb: "get", Path: leases + "/none", IsResource: true,
			Group: "coordination.k8s.io", Version: "v1", Resource: "leases", Namespace: "default", Name: "none",
		},
	}, e)
}

func TestApplyThatCreatesMustNameTheObject(t *testing.T) {
	s := newServer(t)
	apply := func(body string) answer {
		return s.do(t, "PATCH", leases+"/a?fieldManager=m", body, "Content-Type", "application/apply-patch+yaml")
	}
	const unnamed = `{"apiVersion":"coordination.k8s.io/v1","kind":"Lease","metadata":{"labels":{"x":"1"}}}`
	assertStatus(t, apply(unnamed), http.StatusBadRequest, "BadRequest", "the name of the object (a based on URL) was undeterminable: name must be provided")
	assert.Equal(t, http.StatusNotFound, s.do(t, "GET", leases+"/a", "").Code)
	assert.Equal(t, http.StatusCreated, apply(`{"apiVersion":"coordination.k8s.io/v1","kind":"Lease","metadata":{"name":"a"}}`).Code)
	assert.Equal(t, http.StatusOK, apply(unnamed).Code, "where there is one its name is known")
}

// The functions of a kind may change an object in place, and with it no other one that was equal.
func TestObjectsOfAKindThatChangesThemShareNothing(t *testing.T) {
	for name, change := range map[string]func(d *kind.Descriptor[meta.Object], f func(o kinds.Object)){
		"Default": func(d *kind.Descriptor[meta.Object], f func(o kinds.Object)) { d.Strategy.Default = f },
		"PrepareForCreate": func(d *kind.Descriptor[meta.Object], f func(o kinds.Object)) {
			d.Strategy.Create.Prepare = func(_ context.Context, o kinds.Object) { f(o) }
		},
	} {
		t.Run(name, func(t *testing.T) {
			s := newServer(t)
			require.NoError(t, s.api.AddKinds(t.Context(), widgetKind(t, func(d *kind.Descriptor[meta.Object]) {
				change(d, func(o kinds.Object) { o.GetObjectMeta().Labels["by"] = o.GetObjectMeta().Name })
			})))
			for _, name := range []string{"a", "b"} {
				s.must(t, "POST", widgets, `{"apiVersion":"example.com/v1","kind":"Widget","metadata":{"name":"`+name+`","labels":{"by":"a"}}}`)
			}
			assert.Equal(t, "a", s.must(t, "GET", widgets+"/a", "").at("metadata", "labels", "by"))
		})
	}
}
