package httpapi_test

import (
	"net/http"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kubecoord/kubecoord/httpapi"
	"github.com/kubecoord/kubecoord/store"
	"github.com/kubecoord/kubecoord/store/kind"
	"github.com/kubecoord/kubecoord/store/meta"
)

// engine is a kind with a status subresource. Version v2 calls the speed rate,
// and the turns rounds.
type engine struct {
	meta.TypeMeta   `json:",inline"`
	meta.ObjectMeta `json:"metadata" protobuf:"1"`
	Spec            engineSpec   `json:"spec,omitzero" protobuf:"2"`
	Status          engineStatus `json:"status,omitzero" protobuf:"3"`
}

type engineSpec struct {
	Speed int32 `json:"speed,omitempty" protobuf:"1"`
}

type engineStatus struct {
	Turns int32 `json:"turns,omitempty" protobuf:"1"`
}

type engineV2 struct {
	meta.TypeMeta   `json:",inline"`
	meta.ObjectMeta `json:"metadata" protobuf:"1"`
	Spec            struct {
		Rate int32 `json:"rate,omitempty" protobuf:"1"`
	} `json:"spec,omitzero" protobuf:"2"`
	Status struct {
		Rounds int32 `json:"rounds,omitempty" protobuf:"1"`
	} `json:"status,omitzero" protobuf:"3"`
}

func newEngineKind() *store.Kind[engine] { return store.MustKind(engineDescriptor()) }

func engineDescriptor() kind.Descriptor[*engine] {
	form := kind.FormOf(
		func(e *engine) *engineV2 {
			out := &engineV2{ObjectMeta: e.ObjectMeta}
			out.Spec.Rate, out.Status.Rounds = e.Spec.Speed, e.Status.Turns
			return out
		},
		func(e *engineV2) *engine {
			return &engine{ObjectMeta: e.ObjectMeta, Spec: engineSpec{e.Spec.Rate}, Status: engineStatus{e.Status.Rounds}}
		},
	)
	return kind.Descriptor[*engine]{
		Resource: kind.Resource{Group: "example.com", Kind: "Engine", Plural: "engines", Status: true},
		Versions: []kind.Version[*engine]{{Name: "v1"}, {Name: "v2", Form: form}, {Name: "v3"}},
	}
}

func newEngineServer(t testing.TB) *server {
	return newServerWith(t, store.Options{}, httpapi.Options{Kinds: []kind.Kind{newEngineKind()}})
}

const (
	engines = "/apis/example.com/v1/namespaces/default/engines"

	merge    = "application/merge-patch+json"
	applying = "application/apply-patch+yaml"
)

func TestEveryMethodOfTheStatusWritesOnlyTheStatus(t *testing.T) {
	s := newEngineServer(t)
	created := s.must(t, "POST", engines, `{"apiVersion":"example.com/v1","kind":"Engine","metadata":{"name":"a"},"spec":{"speed":1},"status":{"turns":5}}`)
	assert.Nil(t, created["status"])
	assert.EqualValues(t, 1, created.at("metadata", "generation"))
	version := created.at("metadata", "resourceVersion").(string)

	const path = engines + "/a/status"
	for i, row := range []struct{ method, query, body, contentType string }{
		{"PUT", "", `{"apiVersion":"example.com/v1","kind":"Engine","metadata":{"name":"a","resourceVersion":"` + version + `","labels":{"k":"v"}},"spec":{"speed":9},"status":{"turns":1}}`, typeJSON},
		{"PATCH", "", `[{"op":"replace","path":"/spec/speed","value":9},{"op":"replace","path":"/status/turns","value":2}]`, "application/json-patch+json"},
		{"PATCH", "", `{"metadata":{"labels":{"k":"v"}},"spec":{"speed":9},"status":{"turns":3}}`, merge},
		{"PATCH", "", `{"metadata":{"finalizers":["a/b"]},"spec":{"speed":9},"status":{"turns":4}}`, "application/strategic-merge-patch+json"},
		{"PATCH", "?fieldManager=m&force=true", `{"apiVersion":"example.com/v1","kind":"Engine","metadata":{"labels":{"k":"v"}},"spec":{"speed":9},"status":{"turns":5}}`, applying},
	} {
		got := s.must(t, row.method, path+row.query, row.body, "Content-Type", row.contentType)
		assert.EqualValues(t, i+1, got.at("status", "turns"), row.contentType)
		assert.EqualValues(t, 1, got.at("spec", "speed"), row.contentType)
		assert.EqualValues(t, 1, got.at("metadata", "generation"), row.contentType)
		assert.Nil(t, got.at("metadata", "labels"), row.contentType)
		assert.Nil(t, got.at("metadata", "finalizers"), row.contentType)
		assert.Equal(t, got, s.must(t, "GET", path, ""))
	}
	got := s.must(t, "PATCH", engines+"/a", `{"spec":{"speed":2},"status":{"turns":99}}`, "Content-Type", merge)
	assert.EqualValues(t, 5, got.at("status", "turns"), "the object itself keeps its status")
	assert.EqualValues(t, 2, got.at("metadata", "generation"))
}

func TestInvalidRequestsForAStatus(t *testing.T) {
	kinds := []kind.Kind{newEngineKind(), store.MustKind(kind.Descriptor[*widget]{
		Resource: kind.Resource{Group: "example.com", Kind: "Widget", Plural: "widgets"},
		Versions: []kind.Version[*widget]{{Name: "v1"}},
	})}
	s := newServerWith(t, store.Options{}, httpapi.Options{Kinds: kinds})
	s.must(t, "POST", engines, `{"apiVersion":"example.com/v1","kind":"Engine","metadata":{"name":"a"}}`)
	for name, row := range map[string]struct {
		method, path, contentType, body string
		code                            int
		reason, message                 string
	}{
		"of an object that is not there": {"PUT", engines + "/b/status", typeJSON, `{"apiVersion":"example.com/v1","kind":"Engine","metadata":{"name":"b"}}`, 404, "NotFound", `engines.example.com "b" not found`},
		"applied where there is nothing": {"PATCH", engines + "/b/status?fieldManager=m", applying, `{"apiVersion":"example.com/v1","kind":"Engine","metadata":{"name":"b"}}`,
			404, "NotFound", `engines.example.com "b" not found`},
		"of a kind that has none":      {"GET", widgets + "/a/status", "", "", 404, "NotFound", `widgets.example.com "a" not found`},
		"another subresource":          {"GET", engines + "/a/scale", "", "", 404, "NotFound", `engines.example.com "a" not found`},
		"a create":                     {"POST", engines + "/a/status", typeJSON, `{}`, 405, "MethodNotAllowed", `create is not supported on resources of kind "engines.example.com"`},
		"a delete":                     {"DELETE", engines + "/a/status", "", "", 405, "MethodNotAllowed", `delete is not supported on resources of kind "engines.example.com"`},
		"of a kind of a server's own":  {"GET", leases + "/a/status", "", "", 404, "NotFound", "the server could not find the requested resource"},
		"another name in the body":     {"PUT", engines + "/a/status", typeJSON, `{"apiVersion":"example.com/v1","kind":"Engine","metadata":{"name":"b"}}`, 400, "BadRequest", "the name of the object (b) does not match the name on the URL (a)"},
		"no version in the body":       {"PUT", engines + "/a/status", typeJSON, `{"apiVersion":"example.com/v1","kind":"Engine","metadata":{"name":"a"}}`, 422, "Invalid", `engines.example.com "a" is invalid: metadata.resourceVersion: Invalid value: 0: must be specified for an update`},
		"a patch of an unknown type":   {"PATCH", engines + "/a/status", "text/plain", `{}`, 415, "UnsupportedMediaType", "the body of the request was in an unknown format - accepted media types include: application/json-patch+json, application/merge-patch+json, application/strategic-merge-patch+json, application/apply-patch+yaml"},
		"an answer of an unknown type": {"GET", engines + "/a/status", "accept:text/html", "", 406, "NotAcceptable", "only the following media types are accepted: application/json, application/yaml, application/vnd.kubernetes.protobuf"},
		"an update without a name":     {"PUT", engines, typeJSON, `{}`, 400, "BadRequest", "name must be provided"},
		"a uid that is another's":      {"PUT", engines + "/a/status", typeJSON, `{"apiVersion":"example.com/v1","kind":"Engine","metadata":{"name":"a","uid":"u"}}`, 409, "Conflict", ""},
		"a body that is no object":     {"PATCH", engines + "/a/status", merge, `[`, 400, "BadRequest", "invalid JSON patch"},
		"a status of the wrong type":   {"PATCH", engines + "/a/status", merge, `{"status":3}`, 422, "Invalid", ""},
	} {
		t.Run(name, func(t *testing.T) {
			headers := []string{"Content-Type", row.contentType}
			if row.contentType == "accept:text/html" {
				headers = []string{"Accept", "text/html"}
			}
			a := s.do(t, row.method, row.path, row.body, headers...)
			if row.message == "" {
				assert.Equal(t, row.code, a.Code, a.Body)
				return
			}
			assertStatus(t, a, row.code, row.reason, row.message)
		})
	}
}

func TestAuthorizersGetTheSubresource(t *testing.T) {
	asked := make(chan httpapi.Attributes, 1)
	s := newServerWith(t, store.Options{}, httpapi.Options{
		Kinds:     []kind.Kind{newEngineKind()},
		Authorize: func(a httpapi.Attributes) (bool, string) { asked <- a; return false, "" },
	})
	a := s.do(t, "PATCH", engines+"/a/status", `{}`, "Content-Type", merge)
	assert.Equal(t, httpapi.Attributes{
		Verb: "patch", Path: engines + "/a/status", IsResource: true,
		Group: "example.com", Version: "v1", Resource: "engines", Namespace: "default", Name: "a", Subresource: "status",
	}, <-asked)
	assertStatus(t, a, http.StatusForbidden, "Forbidden",
		`engines.example.com "a" is forbidden: User "" cannot patch resource "engines/status" in API group "example.com" in the namespace "default"`)
}

// An update creates a missing object through the status too, where the kind lets updates create (upstream: registry/generic/registry,
// Store.Update). The status is not set by that. A patch creates nothing.
func TestUpdateOfTheStatusCreatesWhereUpdatesDo(t *testing.T) {
	for _, creates := range []bool{true, false} {
		d := engineDescriptor()
		d.Strategy.Update.CreateMissing = creates
		s := newServerWith(t, store.Options{}, httpapi.Options{Kinds: []kind.Kind{store.MustKind(d)}})
		code := http.StatusNotFound
		if creates {
			code = http.StatusCreated
		}
		body := func(name string) string {
			return `{"apiVersion":"example.com/v1","kind":"Engine","metadata":{"name":"` + name + `"},"spec":{"speed":1},"status":{"turns":5}}`
		}
		for name, r := range map[string]answer{
			"put":     s.do(t, "PUT", engines+"/put/status", body("put")),
			"applied": s.do(t, "PATCH", engines+"/applied/status?fieldManager=m", body("applied"), "Content-Type", applying),
		} {
			require.Equal(t, code, r.Code, name)
			if creates {
				o := r.tree(t)
				assert.EqualValues(t, 1, o.at("spec", "speed"), name)
				assert.Nil(t, o["status"], name)
				assert.Equal(t, "status", o.at("metadata", "managedFields", 0, "subresource"), name)
			}
		}
		assert.Equal(t, http.StatusNotFound, s.do(t, "PATCH", engines+"/merged/status", `{"status":{"turns":5}}`, "Content-Type", merge).Code)
	}
}

// TestStatusAsABodyIsDecodedFirst has the answers of a kube-apiserver.
func TestStatusAsABodyIsDecodedFirst(t *testing.T) {
	s := newServer(t)
	envelope := func(raw string) string {
		return "k8s\x00\n\x0c\n\x02v1\x12\x06Status\x12" + string(rune(len(raw))) + raw
	}
	for _, row := range []struct{ contentType, body, want string }{
		{typeJSON, `{"kind":"Status","apiVersion":"v1"}`, "converting (v1.Status) to (%s): unknown conversion"},
		{typeJSON, `{"kind":"Status","apiVersion":"v1","code":"x"}`, "json: cannot unmarshal string into Go struct field Status.code of type int32"},
		{typeJSON, `{"kind":"Status","apiVersion":"v1","metadata":5}`, "json: cannot unmarshal number into Go struct field Status.metadata of type v1.ListMeta"},
		{typeJSON, `{"kind":"Status","apiVersion":"v1","details":{"causes":5}}`, "json: cannot unmarshal number into Go struct field StatusDetails.details.causes of type []v1.StatusCause"},
		{typeProtobuf, envelope(""), "converting (v1.Status) to (%s): unknown conversion"},
		{typeProtobuf, envelope("\n"), "unexpected EOF"},
		{typeProtobuf, envelope("\x08\x01"), "proto: wrong wireType = 0 for field ListMeta"},
	} {
		a := s.do(t, http.MethodPost, "/apis/coordination.k8s.io/v1/namespaces/ns/leases", row.body, "Content-Type", row.contentType)
		assert.Equal(t, 400, a.Code)
		assert.Contains(t, a.Body, strconv.Quote(`Status in version "v1" cannot be handled as a Lease: `+strings.ReplaceAll(row.want, "%s", "coordination.Lease")))
		a = s.do(t, http.MethodDelete, "/apis/coordination.k8s.io/v1/namespaces/ns/leases/a", row.body, "Content-Type", row.contentType)
		assert.Equal(t, 400, a.Code)
		assert.Contains(t, a.Body, strconv.Quote(strings.ReplaceAll(row.want, "%s", "v1.DeleteOptions")))
	}
}
