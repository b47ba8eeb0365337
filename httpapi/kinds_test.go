package httpapi_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kubecoord/kubecoord/httpapi"
	"github.com/kubecoord/kubecoord/internal/kinds"
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

// Compared with a kube-apiserver: only types of its scheme can be converted, and custom resources are not in it.
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
