package differential

import (
	"bytes"
	"encoding/json"
	"fmt"
	"reflect"
	"strings"
	"testing"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	coordinationv1alpha2 "k8s.io/api/coordination/v1alpha2"
	coordinationv1beta1 "k8s.io/api/coordination/v1beta1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/runtime/serializer/protobuf"

	"github.com/kubecoord/kubecoord/candidate"
	"github.com/kubecoord/kubecoord/endpoints"
	"github.com/kubecoord/kubecoord/internal/codec"
	"github.com/kubecoord/kubecoord/lease"
)

// message is an object with upstream's generated code.
type message interface {
	runtime.Object
	Marshal() ([]byte, error)
	Unmarshal([]byte) error
}

// served lists the kinds and versions that k8s.io/api has. It no longer has LeaseCandidate v1alpha1.
var served = []struct {
	apiVersion, kind string
	ours, theirs     reflect.Type
}{
	{"coordination.k8s.io/v1", "Lease", reflect.TypeFor[lease.Lease](), reflect.TypeFor[coordinationv1.Lease]()},
	{"coordination.k8s.io/v1beta1", "LeaseCandidate", reflect.TypeFor[candidate.LeaseCandidate](), reflect.TypeFor[coordinationv1beta1.LeaseCandidate]()},
	{"coordination.k8s.io/v1alpha2", "LeaseCandidate", reflect.TypeFor[candidate.LeaseCandidate](), reflect.TypeFor[coordinationv1alpha2.LeaseCandidate]()},
	{"v1", "Endpoints", reflect.TypeFor[endpoints.Endpoints](), reflect.TypeFor[corev1.Endpoints]()},
}

func TestObjectsAreEncodedAsUpstream(t *testing.T) {
	serializer := protobuf.NewSerializer(scheme, scheme)
	types := map[string]*codec.Type{}
	for _, s := range served {
		types[s.apiVersion+s.kind] = codec.MustCompile(s.ours, s.apiVersion)
	}
	eachCase(t, 4000, func(g generator) string {
		s := pick(g, served...)
		typ := types[s.apiVersion+s.kind]
		theirs := reflect.New(s.theirs).Interface().(message)
		g.fill(reflect.ValueOf(theirs).Elem())
		theirs.GetObjectKind().SetGroupVersionKind(schema.FromAPIVersionAndKind(s.apiVersion, s.kind))

		var want bytes.Buffer
		if err := serializer.Encode(theirs, &want); err != nil {
			return err.Error()
		}
		envelope, err := codec.OpenEnvelope(want.Bytes())
		if err != nil {
			return fmt.Sprintf("%v of %x", err, want.Bytes())
		}
		ours := reflect.New(s.ours).Interface()
		if err := typ.DecodeProto(envelope.Raw, ours); err != nil {
			return fmt.Sprintf("%v of %x", err, want.Bytes())
		}
		got := codec.AppendEnvelope(nil, s.apiVersion, s.kind, typ.AppendProto(nil, ours))
		if wrong := differs("protobuf", fmt.Sprintf("%x", got), fmt.Sprintf("%x", want.Bytes())); wrong != "" {
			return wrong
		}
		return sameJSON(typ, ours, theirs)
	})
}

// sameJSON compares the JSON of two objects, and the objects decoded from it.
func sameJSON(typ *codec.Type, ours any, theirs message) string {
	theirs.GetObjectKind().SetGroupVersionKind(schema.GroupVersionKind{})
	text, err := typ.AppendJSON(nil, ours)
	want, wantErr := json.Marshal(theirs)
	if wrong := differs("JSON", fmt.Sprint(string(text), err), fmt.Sprint(string(want), wantErr)); wrong != "" || err != nil {
		return wrong
	}
	back := reflect.New(reflect.TypeOf(ours).Elem()).Interface()
	wantBack := reflect.New(reflect.TypeOf(theirs).Elem()).Interface().(message)
	if _, err := typ.DecodeJSON(text, back, true); err != nil {
		return err.Error()
	}
	if err := json.Unmarshal(want, wantBack); err != nil {
		return err.Error()
	}
	data, err := wantBack.Marshal()
	return differs("protobuf of the object decoded from JSON", fmt.Sprintf("%x", typ.AppendProto(nil, back)), fmt.Sprintf("%x%s", data, errorText(err)))
}

func TestBrokenProtobufIsDecodedAsUpstream(t *testing.T) {
	types := map[string]*codec.Type{}
	for _, s := range served {
		types[s.apiVersion+s.kind] = codec.MustCompile(s.ours, s.apiVersion)
	}
	eachCase(t, 10000, func(g generator) string {
		s := pick(g, served...)
		typ := types[s.apiVersion+s.kind]
		theirs := reflect.New(s.theirs).Interface().(message)
		g.fill(reflect.ValueOf(theirs).Elem())
		data, err := theirs.Marshal()
		if err != nil {
			return err.Error()
		}
		data = []byte(g.mutate(string(data), "\x00\x01\x02\x05\x08\x0a\x0b\x10\x12\x1a\x20\x22\x28\x7f\x80\xff"))
		ours := reflect.New(s.ours).Interface()
		theirs = reflect.New(s.theirs).Interface().(message)
		err, wantErr := typ.DecodeProto(data, ours), theirs.Unmarshal(data)
		if wrong := differs(fmt.Sprintf("error of %x", data), err, wantErr); wrong != "" || err != nil {
			return wrong
		}
		want, err := theirs.Marshal()
		if err != nil {
			return err.Error()
		}
		return differs(fmt.Sprintf("object decoded from %x", data), fmt.Sprintf("%x", typ.AppendProto(nil, ours)), fmt.Sprintf("%x", want))
	})
}

// fill sets random values in all types that upstream's objects contain.
func (g generator) fill(v reflect.Value) {
	switch v.Interface().(type) {
	case metav1.TypeMeta:
		return
	case metav1.Time:
		v.Set(reflect.ValueOf(metav1.NewTime(g.instant().Truncate(time.Second))))
		return
	case metav1.MicroTime:
		v.Set(reflect.ValueOf(metav1.NewMicroTime(g.instant().Truncate(time.Microsecond))))
		return
	case metav1.FieldsV1:
		v.Set(reflect.ValueOf(metav1.FieldsV1{Raw: []byte(pick(g, "{}", `{"f:spec":{".":{}}}`))}))
		return
	}
	switch v.Kind() {
	case reflect.Struct:
		for i := range v.NumField() {
			g.fill(v.Field(i))
		}
	case reflect.Pointer:
		if g.percent(50) {
			v.Set(reflect.New(v.Type().Elem()))
			g.fill(v.Elem())
		}
	case reflect.Slice:
		for range g.IntN(3) {
			item := reflect.New(v.Type().Elem()).Elem()
			g.fill(item)
			v.Set(reflect.Append(v, item))
		}
	case reflect.Map:
		v.Set(reflect.MakeMap(v.Type()))
		for range g.IntN(3) {
			v.SetMapIndex(reflect.ValueOf(g.text()), reflect.ValueOf(g.text()))
		}
		if v.Len() == 0 {
			v.SetZero()
		}
	case reflect.String:
		v.SetString(g.text())
	case reflect.Bool:
		v.SetBool(g.percent(50))
	default:
		v.SetInt(pick(g, 0, 1, -1, 127, 128, 1<<31-1, -1<<31, g.Int64N(1<<20)))
	}
}

// text returns a random string.
func (g generator) text() string {
	return strings.Join(upTo(g, 4, func() string {
		return pick(g, "a", "Z", " ", "é", "日", "😀", `"`, `\\`, "/", "<", ">", "&", "\n", "\t", "\x00", "\x1f", "\x7f", "\u2028", "\ufeff", "{}", "null", strings.Repeat("x", 130))
	}), "")
}
