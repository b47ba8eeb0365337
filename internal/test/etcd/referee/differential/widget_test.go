package differential

import (
	"encoding/json"
	"net/http/httptest"
	"sync"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/managedfields"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	"k8s.io/kube-openapi/pkg/spec3"

	"github.com/kubecoord/kubecoord/httpapi"
	"github.com/kubecoord/kubecoord/store"
	"github.com/kubecoord/kubecoord/store/kind"
	"github.com/kubecoord/kubecoord/store/meta"
)

const widgetGroup = "example.com"

var widgetVersion = schema.GroupVersion{Group: widgetGroup, Version: "v1"}

// widget is a custom kind with the features that the three kinds of kubecoord lack: sets, lists by one and two keys, and atomic
// structs. This is the type for upstream, and Widget the type for kubecoord.
type widget struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`
	Spec              widgetSpec `json:"spec"`
}

type widgetList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`
	Items           []widget `json:"items"`
}

// widgetSpec is WidgetSpec without the tags that upstream does not read.
type widgetSpec struct {
	Mode    string            `json:"mode,omitempty"`
	Count   *int32            `json:"count,omitempty"`
	On      bool              `json:"on"`
	Tags    []string          `json:"tags,omitempty" patchStrategy:"merge"`
	Steps   []string          `json:"steps,omitempty"`
	Parts   []WidgetPart      `json:"parts,omitempty" patchStrategy:"merge" patchMergeKey:"name"`
	Ports   []WidgetPort      `json:"ports,omitempty"`
	Options map[string]string `json:"options,omitempty"`
	Origin  widgetOrigin      `json:"origin,omitempty"`
	Nested  *WidgetNested     `json:"nested,omitempty" patchStrategy:"retainKeys"`
}

type widgetOrigin struct {
	X int32 `json:"x,omitempty"`
	Y int32 `json:"y,omitempty"`
}

// Widget is the type for kubecoord.
type Widget struct {
	meta.TypeMeta   `json:",inline"`
	meta.ObjectMeta `json:"metadata" protobuf:"1"`
	Spec            WidgetSpec `json:"spec" protobuf:"2"`
}

// WidgetSpec has one field for each kind of ownership.
type WidgetSpec struct {
	Mode    string            `json:"mode,omitempty" protobuf:"1"`
	Count   *int32            `json:"count,omitempty" protobuf:"2"`
	On      bool              `json:"on" protobuf:"3"`
	Tags    []string          `json:"tags,omitempty" patchStrategy:"merge" listType:"set" protobuf:"4"`
	Steps   []string          `json:"steps,omitempty" protobuf:"5"`
	Parts   []WidgetPart      `json:"parts,omitempty" patchStrategy:"merge" patchMergeKey:"name" listType:"map" listMapKey:"name" protobuf:"6"`
	Ports   []WidgetPort      `json:"ports,omitempty" listType:"map" listMapKey:"port,protocol" protobuf:"7"`
	Options map[string]string `json:"options,omitempty" protobuf:"8"`
	Origin  WidgetOrigin      `json:"origin,omitempty" protobuf:"9"`
	Nested  *WidgetNested     `json:"nested,omitempty" patchStrategy:"retainKeys" protobuf:"10"`
}

// WidgetPart is an item with the key name.
type WidgetPart struct {
	Name   string   `json:"name" protobuf:"1"`
	Size   int64    `json:"size,omitempty" protobuf:"2"`
	Labels []string `json:"labels,omitempty" patchStrategy:"merge" listType:"set" protobuf:"3"`
}

// WidgetPort is an item with two keys.
type WidgetPort struct {
	Port     int32  `json:"port" protobuf:"1"`
	Protocol string `json:"protocol" protobuf:"2"`
	Target   string `json:"target,omitempty" protobuf:"3"`
}

// WidgetOrigin is atomic: it has one owner.
type WidgetOrigin struct {
	_ struct{} `structType:"atomic"`
	X int32    `json:"x,omitempty" protobuf:"1"`
	Y int32    `json:"y,omitempty" protobuf:"2"`
}

// WidgetNested is granular: each field has its owner.
type WidgetNested struct {
	A string         `json:"a,omitempty" protobuf:"1"`
	B *WidgetNested2 `json:"b,omitempty" protobuf:"2"`
}

// WidgetNested2 is one level below.
type WidgetNested2 struct {
	C string            `json:"c,omitempty" protobuf:"1"`
	D map[string]string `json:"d,omitempty" protobuf:"2"`
}

func newWidgetKind() *store.Kind[Widget] {
	return store.MustKind(kind.Descriptor[*Widget]{
		Resource: kind.Resource{Group: widgetGroup, Kind: "Widget", Plural: "widgets"},
		Native:   &kind.Native[*Widget]{},
		Strategy: kind.Strategy[*Widget]{Update: kind.UpdateStrategy[*Widget]{CreateMissing: true}},
		Versions: []kind.Version[*Widget]{{Name: widgetVersion.Version}},
	})
}

func (w *widget) DeepCopyObject() runtime.Object {
	out := &widget{TypeMeta: w.TypeMeta, ObjectMeta: *w.ObjectMeta.DeepCopy()}
	text, err := json.Marshal(w.Spec)
	utilruntime.Must(err)
	utilruntime.Must(json.Unmarshal(text, &out.Spec))
	return out
}

func (l *widgetList) DeepCopyObject() runtime.Object {
	out := &widgetList{TypeMeta: l.TypeMeta, ListMeta: *l.ListMeta.DeepCopy()}
	for i := range l.Items {
		out.Items = append(out.Items, *l.Items[i].DeepCopyObject().(*widget))
	}
	return out
}

// widgetConverter reads the types of Widget from the OpenAPI document that kubecoord serves.
var widgetConverter = sync.OnceValue(func() managedfields.TypeConverter {
	st := store.New(store.Options{})
	defer st.Close()
	api := httpapi.New(st, httpapi.Options{Kinds: []kind.Kind{newWidgetKind()}})
	defer api.Close()
	w := httptest.NewRecorder()
	api.ServeHTTP(w, httptest.NewRequest("GET", "/openapi/v3/apis/"+widgetVersion.String(), nil))
	var doc spec3.OpenAPI
	utilruntime.Must(json.Unmarshal(w.Body.Bytes(), &doc))
	converter, err := managedfields.NewTypeConverter(doc.Components.Schemas, false)
	utilruntime.Must(err)
	return converter
})
