package kinds

import (
	"encoding/json"
	"math/rand"
	"reflect"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/api/apitesting/fuzzer"
	"k8s.io/apimachinery/pkg/api/equality"
	metafuzzer "k8s.io/apimachinery/pkg/apis/meta/fuzzer"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	runtimeschema "k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	clientscheme "k8s.io/client-go/kubernetes/scheme"
	kjson "sigs.k8s.io/json"
	"sigs.k8s.io/randfill"

	"github.com/kubecoord/kubecoord/httpapi/kube/scheme"
	"github.com/kubecoord/kubecoord/internal/codec"
	"github.com/kubecoord/kubecoord/internal/kinds"
	"github.com/kubecoord/kubecoord/store/kind"
	"github.com/kubecoord/kubecoord/store/meta"
)

// objectType is the Go type of a version of a built-in kind.
type objectType struct {
	kind *kinds.Kind
	gvk  runtimeschema.GroupVersionKind
	typ  *codec.Type
}

func (o *objectType) new() meta.Object { return o.typ.New().(meta.Object) }

func valueOf(o meta.Object) runtime.Object { return kind.Value(o).(runtime.Object) }

// everyType calls test for the Go type of each version of each built-in kind.
func everyType(t *testing.T, test func(t *testing.T, o *objectType)) {
	all, err := scheme.Kinds(clientscheme.Scheme, scheme.Options{})
	require.NoError(t, err)
	for _, k := range all {
		for v, version := range k.Info().Versions {
			if version.Unserved {
				continue
			}
			named := k.TypeMeta(v)
			o := &objectType{kinds.Of(k), runtimeschema.FromAPIVersionAndKind(named.APIVersion, named.Kind), kinds.Of(k).Schema(v)}
			t.Run(o.gvk.String(), func(t *testing.T) { test(t, o) })
		}
	}
}

// randomObjects returns objects of a type with random members, by the functions that upstream's round-trip tests use.
func randomObjects(o *objectType, n int) (out []runtime.Object) {
	fill := fuzzer.FuzzerFor(metafuzzer.Funcs, rand.NewSource(int64(len(o.gvk.Kind))), serializer.NewCodecFactory(clientscheme.Scheme))
	fill = fill.Funcs(func(r *runtime.RawExtension, c randfill.Continue) { r.Raw = []byte(`{"a":[1,"b",null]}`) })
	for range n {
		obj := valueOf(o.new())
		fill.Fill(obj)
		obj.(metav1.Object).SetManagedFields(nil)
		obj.GetObjectKind().SetGroupVersionKind(o.gvk)
		out = append(out, obj)
	}
	return out
}

// message is the protobuf form of the types of k8s.io/api.
type message interface {
	Marshal() ([]byte, error)
	Unmarshal(data []byte) error
}

// TestObjectsAreHandledAsByTheirLibrary: the JSON of an object is what encoding/json writes, its message what its own methods write, its
// tree what the converter of apimachinery makes, and its copy equals the result of DeepCopy.
func TestObjectsAreHandledAsByTheirLibrary(t *testing.T) {
	everyType(t, func(t *testing.T, o *objectType) {
		for _, obj := range append(randomObjects(o, 10), valueOf(o.new())) {
			obj.GetObjectKind().SetGroupVersionKind(o.gvk)
			before := obj.DeepCopyObject()
			box := o.typ.Box(obj)
			text, err := json.Marshal(obj)
			require.NoError(t, err)
			got, err := o.typ.AppendJSON(nil, box)
			require.NoError(t, err)
			require.Equal(t, string(text), string(got))

			read, want := o.new(), valueOf(o.new())
			problems, err := o.typ.DecodeJSON(text, read, true)
			require.NoError(t, err)
			assert.Empty(t, problems)
			require.NoError(t, kjson.UnmarshalCaseSensitivePreserveInts(text, want))
			requireEqual(t, want, valueOf(read))

			tree := jsonTree(t, obj)
			requireSame(t, tree, o.typ.ToUnstructured(box))
			read = o.new()
			problems, err = o.typ.FromUnstructured(tree, read, true)
			require.NoError(t, err)
			assert.Empty(t, problems)
			requireEqual(t, want, valueOf(read))

			same := o.typ.Copy(box).(meta.Object)
			requireEqual(t, want, valueOf(same))
			assert.True(t, o.typ.Equal(box, same))
			o.typ.Normalize(same)
			assert.True(t, o.typ.Equal(same, box))

			data, err := obj.(message).Marshal()
			require.NoError(t, err)
			require.Equal(t, "x"+string(data), string(o.typ.AppendProto([]byte("x"), box)))
			assert.Equal(t, len(data), o.typ.Size(box))
			read = o.new()
			require.NoError(t, o.typ.DecodeProto(data, read))
			want = valueOf(o.new())
			require.NoError(t, want.(message).Unmarshal(data))
			requireEqual(t, want, valueOf(read))
			requireEqual(t, before, obj) // nothing has changed it
		}
	})
}

// TestCopiesShareNothing: what is done to a copy is not seen in the object, and the other way round.
func TestCopiesShareNothing(t *testing.T) {
	everyType(t, func(t *testing.T, o *objectType) {
		for _, obj := range randomObjects(o, 5) {
			before := obj.DeepCopyObject()
			scrub(reflect.ValueOf(valueOf(o.typ.Copy(o.typ.Box(obj)).(meta.Object))))
			requireEqual(t, before, obj)
		}
	})
}

// scrub clears all that can be changed through a value.
func scrub(v reflect.Value) {
	switch v.Kind() {
	case reflect.Pointer:
		if !v.IsNil() {
			scrub(v.Elem())
		}
	case reflect.Struct:
		for _, f := range v.Fields() {
			scrub(f)
		}
	case reflect.Slice:
		for i := range v.Len() {
			scrub(v.Index(i))
		}
	case reflect.Map:
		for _, key := range v.MapKeys() {
			scrub(v.MapIndex(key))
			v.SetMapIndex(key, reflect.Value{})
		}
	}
	if v.CanSet() {
		v.SetZero()
	}
}

// requireEqual requires that two objects have the same meaning: an empty list or map is as good as none.
func requireEqual(t *testing.T, want, got any) {
	t.Helper()
	require.True(t, equality.Semantic.DeepEqual(want, got), "%s", cmp.Diff(want, got))
}

// jsonTree returns the tree that the JSON of an object decodes to.
func jsonTree(t *testing.T, obj runtime.Object) (tree map[string]any) {
	text, err := json.Marshal(obj)
	require.NoError(t, err)
	require.NoError(t, kjson.UnmarshalCaseSensitivePreserveInts(text, &tree))
	return tree
}

// requireSame is require.Equal with the difference only.
func requireSame(t *testing.T, want, got map[string]any) {
	t.Helper()
	require.Empty(t, cmp.Diff(want, got))
}

// TestAutoscalersConvertWithoutLoss: what autoscaling/v1 cannot say survives in its annotations.
func TestAutoscalersConvertWithoutLoss(t *testing.T) {
	everyType(t, func(t *testing.T, o *objectType) {
		if o.gvk == (runtimeschema.GroupVersionKind{Group: "autoscaling", Version: "v2", Kind: "HorizontalPodAutoscaler"}) {
			convertAutoscaler(t, o)
		}
	})
}

func convertAutoscaler(t *testing.T, o *objectType) {
	k := o.kind
	const text = `{"spec":{"scaleTargetRef":{"kind":"Deployment","name":"d","apiVersion":"apps/v1"},"minReplicas":1,"maxReplicas":3,"metrics":[
		{"type":"Resource","resource":{"name":"memory","target":{"type":"AverageValue","averageValue":"1Gi"}}},
		{"type":"Pods","pods":{"metric":{"name":"x"},"target":{"type":"AverageValue","averageValue":"3"}}},
		{"type":"External","external":{"metric":{"name":"y"},"target":{"type":"Value","value":"4"}}},
		{"type":"Object","object":{"describedObject":{"kind":"Service","name":"s"},"metric":{"name":"z"},"target":{"type":"Value","value":"5"}}},
		{"type":"ContainerResource","containerResource":{"name":"cpu","container":"c","target":{"type":"Utilization","averageUtilization":7}}},
		{"type":"Resource","resource":{"name":"cpu","target":{"type":"Utilization","averageUtilization":50}}}],
		"behavior":{"scaleUp":{"stabilizationWindowSeconds":5}}},"status":{"conditions":[{"type":"AbleToScale","status":"True"}]}}`
	obj := o.new()
	_, err := o.typ.DecodeJSON([]byte(text), obj, true)
	require.NoError(t, err)
	_, err = k.FromWire(t.Context(), 0, obj) // sets the defaults
	require.NoError(t, err)
	older, err := k.Convert(t.Context(), obj, 0, 1, kind.Anew)
	require.NoError(t, err)
	assert.Contains(t, older.GetObjectMeta().Annotations, "autoscaling.alpha.kubernetes.io/metrics")
	back, err := k.Convert(t.Context(), older, 1, 0, kind.Anew)
	require.NoError(t, err)
	assert.True(t, k.Type().Equal(obj, back))
}

// TestOwnersOfNewObjects: what a create records for its manager is what a comparison with an empty object finds.
func TestOwnersOfNewObjects(t *testing.T) {
	everyType(t, func(t *testing.T, o *objectType) {
		if o.typ != o.kind.Schema(0) {
			return // objects are created in the stored form
		}
		for _, obj := range append(randomObjects(o, 20), plainObjects(t, o)...) {
			boxes := [2]meta.Object{o.typ.Box(obj), o.typ.Box(obj.DeepCopyObject())}
			managers, now := o.kind.Managers(nil, 0), time.Unix(1e9, 0)
			managers.Update(0, nil, boxes[0], "m", now)
			managers.Update(0, o.kind.New(0), boxes[1], "m", now)
			assert.Equal(t, fieldsOf(boxes[1]), fieldsOf(boxes[0]))
		}
	})
}

// plainObjects returns objects as clients write them, with lists out of order and with an item that is there twice.
func plainObjects(t *testing.T, o *objectType) (out []runtime.Object) {
	for _, text := range map[string][]string{
		"Pod": {
			`{"metadata":{"name":"a","labels":{"b":"c","a":"b"},"finalizers":["z/b","a/b"]},"spec":{"containers":[{"name":"b","image":"i","ports":[{"containerPort":2},{"containerPort":1,"protocol":"UDP"}],
				"readinessProbe":{"tcpSocket":{"port":"http"}},"resources":{"limits":{"memory":"1Gi","cpu":"1"}}},{"name":"a","env":[{"name":"Z"},{"name":"A","value":"v"}]}],"tolerations":[{"key":"k"}]}}`,
			`{"spec":{"containers":[{"name":"a","ports":[{"containerPort":1},{"containerPort":1,"protocol":"TCP"}]},{"name":"a"}]}}`,
			`{"metadata":{"finalizers":["a/b","a/b"]},"spec":{"containers":[],"volumes":[]}}`,
		},
		"Service": {`{"metadata":{"name":"a"},"spec":{"selector":{"a":"b"},"ports":[{"port":2,"targetPort":"x"},{"port":1,"targetPort":1}],"clusterIPs":["None"]}}`},
		"Role":    {`{"rules":[{"verbs":["get"],"resources":["b","a"]}]}`},
	}[o.gvk.Kind] {
		obj := o.new()
		_, err := o.typ.DecodeJSON([]byte(text), obj, true)
		require.NoError(t, err)
		out = append(out, valueOf(obj))
	}
	return out
}

// fieldsOf returns the fields of the managers of an object.
func fieldsOf(o meta.Object) (texts []string) {
	for _, e := range o.GetObjectMeta().ManagedFields {
		texts = append(texts, string(e.FieldsV1.Raw))
	}
	return texts
}
