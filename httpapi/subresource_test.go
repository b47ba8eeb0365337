package httpapi_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kubecoord/kubecoord/httpapi"
	"github.com/kubecoord/kubecoord/internal/kinds"
	"github.com/kubecoord/kubecoord/store"
	"github.com/kubecoord/kubecoord/store/field"
	"github.com/kubecoord/kubecoord/store/kind"
	"github.com/kubecoord/kubecoord/store/meta"
)

// fleet is a built-in kind with all forms of subresources.
type fleet struct {
	meta.TypeMeta   `json:",inline"`
	meta.ObjectMeta `json:"metadata" protobuf:"1"`
	Spec            fleetSpec   `json:"spec" protobuf:"2"`
	Status          fleetStatus `json:"status" protobuf:"3"`
}

type fleetSpec struct {
	Replicas int32  `json:"replicas,omitempty" protobuf:"1"`
	Harbour  string `json:"harbour,omitempty" protobuf:"2"`
	Port     int32  `json:"port,omitempty" protobuf:"3"`
}

type fleetStatus struct {
	Replicas int32  `json:"replicas" protobuf:"1"`
	Note     string `json:"note,omitempty" protobuf:"2"`
}

// size is the body of the subresource scale.
type size struct {
	meta.TypeMeta   `json:",inline"`
	meta.ObjectMeta `json:"metadata" protobuf:"1"`
	Spec            sizeSpec    `json:"spec" protobuf:"2"`
	Status          fleetStatus `json:"status" protobuf:"3"`
}

type sizeSpec struct {
	Replicas int32 `json:"replicas,omitempty" protobuf:"1"`
}

// order is the body of the other subresources.
type order struct {
	meta.TypeMeta   `json:",inline"`
	meta.ObjectMeta `json:"metadata" protobuf:"1"`
	Harbour         string               `json:"harbour,omitempty" protobuf:"2"`
	DeleteOptions   *kinds.DeleteOptions `json:"deleteOptions,omitempty" protobuf:"3"`
}

func bodyKind(t testing.TB, group, name string, empty func() kinds.Object) *kinds.Kind {
	t.Helper()
	k, err := kinds.NewKind(kind.Descriptor[meta.Object]{Resource: kind.Resource{Group: group, Kind: name}, Native: &kind.Native[meta.Object]{}, New: empty, Versions: []kind.Version[meta.Object]{{Name: "v1"}}, Strategy: kind.Strategy[meta.Object]{Update: kind.UpdateStrategy[meta.Object]{Unconditional: true}}})
	require.NoError(t, err)
	return k
}

func newFleetServer(t testing.TB, change ...func(*httpapi.Options)) *server {
	scale := bodyKind(t, "autoscaling", "Scale", func() kinds.Object { return &size{} })
	orders := bodyKind(t, "example.com", "Order", func() kinds.Object { return &order{} })
	k, err := kinds.NewKind(kind.Descriptor[meta.Object]{
		Resource: kind.Resource{Group: "example.com", Kind: "Fleet", Status: true},
		Native:   &kind.Native[meta.Object]{},
		New:      func() kinds.Object { return &fleet{} },
		Strategy: kind.Strategy[meta.Object]{Update: kind.UpdateStrategy[meta.Object]{Unconditional: true,
			Counts: func(o, old kinds.Object) bool { return o.(*fleet).Spec != old.(*fleet).Spec }}},
		Versions: []kind.Version[meta.Object]{{Name: "v1", Validate: func(o, _ kinds.Object) field.Errors {
			if p := o.(*fleet).Spec.Port; p < 0 {
				return field.Errors{field.Invalid("spec.port", p, "must not be negative")}
			}
			return nil
		}}},
		Subresources: []kind.Subresource[meta.Object]{
			{Name: "scale", Body: scale, Verbs: []string{"get", "patch", "update"},
				Read: func(parent kinds.Object) (kinds.Object, error) {
					p, m := parent.(*fleet), parent.GetObjectMeta()
					return &size{ObjectMeta: meta.ObjectMeta{Name: m.Name, Namespace: m.Namespace, UID: m.UID, ResourceVersion: m.ResourceVersion, CreationTimestamp: m.CreationTimestamp},
						Spec: sizeSpec{p.Spec.Replicas}, Status: fleetStatus{Replicas: p.Status.Replicas}}, nil
				},
				Write: func(parent, body kinds.Object) error {
					parent.(*fleet).Spec.Replicas = body.(*size).Spec.Replicas
					return nil
				}},
			{Name: "port", Verbs: []string{"get", "patch", "update"}, Resets: []string{"status"}, Write: func(parent, body kinds.Object) error {
				parent.(*fleet).Spec.Port = body.(*fleet).Spec.Port
				return nil
			}},
			{Name: "binding", Body: orders, Verbs: []string{"create"}, Write: func(parent, body kinds.Object) error {
				p := parent.(*fleet)
				if p.Spec.Harbour != "" {
					return meta.NewConflict(meta.GroupResource{Resource: "fleets/binding"}, p.Name, "it is bound")
				}
				p.Spec.Harbour = body.(*order).Harbour
				return nil
			}},
			{Name: "eviction", Body: orders, Verbs: []string{"create"}, Native: &kind.NativeSubresource[meta.Object]{Removes: true}, Write: func(parent, _ kinds.Object) error {
				parent.(*fleet).Status.Note = "evicted"
				return nil
			}},
			{Name: "token", Body: orders, Verbs: []string{"create"}, Answer: func(_ context.Context, parent, body kinds.Object) (kinds.Object, error) {
				if body.(*order).Harbour == "" {
					return nil, errors.New("no harbour")
				}
				return &order{Harbour: parent.GetObjectMeta().Name + " in " + body.(*order).Harbour}, nil
			}},
		},
	})
	require.NoError(t, err)
	opts := httpapi.Options{Kinds: []kind.Kind{k}}
	for _, f := range change {
		f(&opts)
	}
	return newServerWith(t, store.Options{}, opts)
}

const fleets = "/apis/example.com/v1/namespaces/default/fleets"

// managersOf returns the managers of an object: name, operation, apiVersion, subresource, whether there is a time, fields.
func managersOf(t testing.TB, o tree) (out []string) {
	list, _ := o.at("metadata", "managedFields").([]any)
	for _, e := range list {
		m := e.(map[string]any)
		fields, err := json.Marshal(m["fieldsV1"])
		require.NoError(t, err)
		out = append(out, strings.TrimSpace(fmt.Sprint(m["manager"], " ", m["operation"], " ", m["apiVersion"], " ", m["subresource"], " ", m["time"] != nil, " ", string(fields))))
	}
	return out
}

// The answers come from a kube-apiserver to the same requests for a Deployment.
func TestManagersThroughScale(t *testing.T) {
	s := newFleetServer(t)
	s.must(t, "POST", fleets+"?fieldManager=maker", `{"metadata":{"name":"d"},"spec":{"replicas":2,"harbour":"h"}}`)
	scale := func(method, contentType, query string, replicas int) answer {
		return s.do(t, method, fleets+"/d/scale?"+query, fmt.Sprintf(
			`{"apiVersion":"autoscaling/v1","kind":"Scale","metadata":{"name":"d","namespace":"default"},"spec":{"replicas":%d}}`, replicas), "Content-Type", contentType)
	}
	const apply, mergePatch = "application/apply-patch+yaml", "application/merge-patch+json"
	rest := `maker Update example.com/v1 <nil> true {"f:spec":{"f:harbour":{}}}`
	wants := func(a answer, replicas, generation int, want ...string) {
		t.Helper()
		require.Equal(t, 200, a.Code, a.Body)
		body := a.tree(t)
		assert.EqualValues(t, replicas, body.at("spec", "replicas"))
		assert.Nil(t, body.at("metadata", "managedFields"))
		now := s.must(t, "GET", fleets+"/d", "")
		assert.EqualValues(t, replicas, now.at("spec", "replicas"))
		assert.EqualValues(t, generation, now.at("metadata", "generation"))
		assert.Equal(t, now.at("metadata", "resourceVersion"), body.at("metadata", "resourceVersion"))
		assert.Equal(t, append(want, rest), managersOf(t, now))
	}
	wants(scale("PUT", typeJSON, "fieldManager=maker", 2), 2, 1, `maker Update example.com/v1 <nil> false {"f:spec":{"f:replicas":{}}}`)
	wants(scale("PUT", typeJSON, "fieldManager=other", 3), 3, 2)
	assertStatus(t, scale("PATCH", apply, "fieldManager=ap", 5), 409, "Conflict",
		`Apply failed with 1 conflict: conflict with "before-first-apply" with subresource "scale" using autoscaling/v1: .spec.replicas`)
	wants(scale("PATCH", apply, "fieldManager=ap&force=true", 5), 5, 3, `ap Apply example.com/v1 scale false {"f:spec":{"f:replicas":{}}}`)
	wants(scale("PATCH", mergePatch, "fieldManager=other", 6), 6, 4, `other Update example.com/v1 scale false {"f:spec":{"f:replicas":{}}}`)
	wants(scale("PATCH", apply, "fieldManager=ap", 6), 6, 4,
		`ap Apply example.com/v1 scale false {"f:spec":{"f:replicas":{}}}`, `other Update example.com/v1 scale false {"f:spec":{"f:replicas":{}}}`)

	old := s.must(t, "GET", fleets+"/d/scale", "")
	assert.Equal(t, "autoscaling/v1", old["apiVersion"])
	s.must(t, "PATCH", fleets+"/d", `{"metadata":{"labels":{"a":"b"}}}`, "Content-Type", mergePatch)
	body, err := json.Marshal(old)
	require.NoError(t, err)
	assertStatus(t, s.do(t, "PUT", fleets+"/d/scale", string(body)), 409, "Conflict",
		`Operation cannot be fulfilled on fleets.example.com "d": the object has been modified; please apply your changes to the latest version and try again`)
	assert.Equal(t, 404, s.do(t, "GET", fleets+"/e/scale", "").Code)

	assert.Equal(t, 405, s.do(t, "POST", fleets+"/d/scale", `{}`).Code)
	assert.Equal(t, 405, s.do(t, "DELETE", fleets+"/d/scale", "").Code)
	assert.Equal(t, 404, s.do(t, "GET", fleets+"/d/nothing", "").Code)
}

func TestSubresourceWithTheBodyOfItsParent(t *testing.T) {
	s := newFleetServer(t)
	s.must(t, "POST", fleets+"?fieldManager=maker", `{"metadata":{"name":"d"},"spec":{"replicas":2}}`)
	got := s.must(t, "PUT", fleets+"/d/port?fieldManager=p", `{"metadata":{"name":"d","labels":{"not":"this"}},"spec":{"port":7,"replicas":9}}`)
	assert.Equal(t, map[string]any{"replicas": 2.0, "port": 7.0}, got["spec"])
	assert.Nil(t, got.at("metadata", "labels"))
	assert.EqualValues(t, 2, got.at("metadata", "generation"))
	assertStatus(t, s.do(t, "PATCH", fleets+"/d/port", `{"spec":{"port":-1}}`, "Content-Type", "application/merge-patch+json"), 422, "Invalid",
		`Fleet.example.com "d" is invalid: spec.port: Invalid value: -1: must not be negative`)
	got = s.must(t, "PATCH", fleets+"/d/port?fieldManager=ap&force=true", `{"apiVersion":"example.com/v1","kind":"Fleet","metadata":{"name":"d"},"spec":{"port":8}}`,
		"Content-Type", "application/apply-patch+yaml")
	assert.EqualValues(t, 8, got.at("spec", "port"))
	assert.Equal(t, `ap Apply example.com/v1 port true {"f:spec":{"f:port":{}}}`, managersOf(t, got)[0])
	assert.Equal(t, 404, s.do(t, "PUT", fleets+"/e/port", `{"metadata":{"name":"e"}}`).Code)
}

func TestSubresourcesThatAreCreated(t *testing.T) {
	s := newFleetServer(t)
	s.must(t, "POST", fleets+"?fieldManager=maker", `{"metadata":{"name":"d"},"spec":{"replicas":2}}`)
	created := map[string]any{"kind": "Status", "apiVersion": "v1", "metadata": map[string]any{}, "status": "Success", "code": 201.0}
	assert.EqualValues(t, created, s.must(t, "POST", fleets+"/d/binding", `{"metadata":{"name":"d"},"harbour":"h"}`))
	bound := s.must(t, "GET", fleets+"/d", "")
	assert.Equal(t, "h", bound.at("spec", "harbour"))
	assert.EqualValues(t, 1, bound.at("metadata", "generation"), "a binding is no update of the strategy")
	assert.Len(t, managersOf(t, bound), 1)
	assertStatus(t, s.do(t, "POST", fleets+"/d/binding", `{"metadata":{"name":"d"},"harbour":"x"}`), 409, "Conflict",
		`Operation cannot be fulfilled on fleets/binding "d": it is bound`)
	assert.Equal(t, 404, s.do(t, "POST", fleets+"/e/binding", `{"metadata":{"name":"e"}}`).Code)
	assert.Equal(t, 405, s.do(t, "GET", fleets+"/d/binding", "").Code)

	answered := s.must(t, "POST", fleets+"/d/token", `{"harbour":"here"}`)
	assert.Equal(t, "d in here", answered["harbour"])
	assert.Equal(t, "Order", answered["kind"])
	assert.Equal(t, 500, s.do(t, "POST", fleets+"/d/token", `{}`).Code)

	w := s.watch(t, fleets+"?watch=true")
	w.wants("ADDED d")
	evict := func(options string) answer {
		return s.do(t, "POST", fleets+"/d/eviction", `{"metadata":{"name":"d"},"deleteOptions":`+options+`}`)
	}
	assertStatus(t, s.do(t, "POST", fleets+"/d/eviction", `{"metadata":{"name":"x"}}`), 400, "BadRequest", "name in URL does not match name in Order object")
	assert.Equal(t, 201, evict(`{"dryRun":["All"]}`).Code)
	assertStatus(t, evict(`{"preconditions":{"uid":"other"}}`), 409, "Conflict", `Operation cannot be fulfilled on Fleet.example.com "d": the UID in the precondition (other) does not match the UID in record (`+
		bound.at("metadata", "uid").(string)+`). The object might have been deleted and then recreated`)
	a := evict(`{"preconditions":{"resourceVersion":"` + bound.at("metadata", "resourceVersion").(string) + `"}}`)
	assert.EqualValues(t, created, a.tree(t))
	w.wants("MODIFIED d", "DELETED d")
}

func TestDiscoveryAndOpenAPIHaveSubresources(t *testing.T) {
	s := newFleetServer(t)
	var names []string
	for _, r := range s.must(t, "GET", "/apis/example.com/v1", "")["resources"].([]any) {
		m := r.(map[string]any)
		names = append(names, fmt.Sprint(m["name"], " ", m["group"], " ", m["version"], " ", m["kind"], " ", m["verbs"]))
	}
	assert.Equal(t, []string{
		"fleets <nil> <nil> Fleet [create delete deletecollection get list patch update watch]",
		"fleets/binding <nil> <nil> Order [create]", "fleets/eviction <nil> <nil> Order [create]", "fleets/port <nil> <nil> Fleet [get patch update]",
		"fleets/scale autoscaling v1 Scale [get patch update]", "fleets/status <nil> <nil> Fleet [get patch update]", "fleets/token <nil> <nil> Order [create]",
	}, names)
	found := s.must(t, "GET", "/apis", "", "Accept", typeJSON+aggregatedV2)
	assert.Equal(t, map[string]any{"group": "autoscaling", "version": "v1", "kind": "Scale"},
		found.at("items", 1, "versions", 0, "resources", 0, "subresources", 3, "responseKind"))
	paths := tree(s.must(t, "GET", "/openapi/v3/apis/example.com/v1", "")["paths"].(map[string]any))
	const scale = "/apis/example.com/v1/namespaces/{namespace}/fleets/{name}/scale"
	assert.Equal(t, map[string]any{"group": "autoscaling", "kind": "Scale", "version": "v1"}, paths.at(scale, "put", "x-kubernetes-group-version-kind"))
	assert.Equal(t, "replaceExampleComV1NamespacedFleetScale", paths.at(scale, "put", "operationId"))
	assert.NotNil(t, paths.at("/apis/example.com/v1/namespaces/{namespace}/fleets/{name}/eviction", "post"))
}

func TestSubresourceWithoutAFunctionIsRefused(t *testing.T) {
	body := bodyKind(t, "example.com", "Order", func() kinds.Object { return &order{} })
	for want, sub := range map[string]kind.Subresource[meta.Object]{
		`kind Fleet: Subresources: got "a" without a Body for create, want it for the verbs [create]`: {Name: "a", Verbs: []string{"create"}},
		`kind Fleet: Subresources: got "b" without Write, want it for the verbs [create]`:             {Name: "b", Body: body, Verbs: []string{"create"}},
		`kind Fleet: Subresources: got "c" without Read, want it for the verbs [get]`:                 {Name: "c", Body: body, Verbs: []string{"get"}},
		`kind Fleet: Subresources: got "d" without Write, want it for the verbs [get update]`:         {Name: "d", Verbs: []string{"get", "update"}},
	} {
		_, err := kinds.NewKind(kind.Descriptor[meta.Object]{
			Resource:     kind.Resource{Kind: "Fleet"},
			New:          func() kinds.Object { return &fleet{} },
			Versions:     []kind.Version[meta.Object]{{Name: "v1"}},
			Subresources: []kind.Subresource[meta.Object]{sub},
		})
		assert.EqualError(t, err, want)
	}
}
