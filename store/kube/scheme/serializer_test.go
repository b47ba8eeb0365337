package scheme

import (
	"bytes"
	"encoding/json"
	"io"
	"math/rand"
	"reflect"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/api/apitesting/fuzzer"
	metafuzzer "k8s.io/apimachinery/pkg/apis/meta/fuzzer"
	"k8s.io/apimachinery/pkg/runtime"
	runtimeschema "k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	clientscheme "k8s.io/client-go/kubernetes/scheme"
	kjson "sigs.k8s.io/json"
	"sigs.k8s.io/randfill"

	"github.com/kubecoord/kubecoord/internal/kinds"
	"github.com/kubecoord/kubecoord/store/schema"
)

// everyType calls test for the Go type of each version of each built-in kind.
func everyType(t *testing.T, test func(t *testing.T, o *objectType, s *schema.Schema)) {
	b := newBuilder()
	for _, r := range resources() {
		for _, v := range append([]string{r.version}, r.also...) {
			gvk := runtimeschema.GroupVersionKind{Group: r.group, Version: v, Kind: r.kind}
			t.Run(gvk.String(), func(t *testing.T) {
				o, version, err := b.version(gvk)
				require.NoError(t, err)
				test(t, o, version.Schema)
			})
		}
	}
}

// randomObjects returns objects of a type with random members, by the functions that upstream's round-trip tests use.
func randomObjects(o *objectType, n int) (out []runtime.Object) {
	fill := fuzzer.FuzzerFor(metafuzzer.Funcs, rand.NewSource(int64(len(o.gvk.Kind))), serializer.NewCodecFactory(clientscheme.Scheme))
	fill = fill.Funcs(func(r *runtime.RawExtension, c randfill.Continue) { r.Raw = []byte(`{"a":[1,"b",null]}`) })
	for range n {
		obj := o.new()
		fill.Fill(obj)
		metaOf(obj).ManagedFields = nil
		obj.GetObjectKind().SetGroupVersionKind(o.gvk)
		out = append(out, obj)
	}
	return out
}

// TestNormalFormIsWhatTheGoTypeWrites: the tree of an object is the one that its JSON decodes to, from JSON and from protobuf.
func TestNormalFormIsWhatTheGoTypeWrites(t *testing.T) {
	everyType(t, func(t *testing.T, o *objectType, _ *schema.Schema) {
		for _, obj := range append(randomObjects(o, 10), o.new()) {
			obj.GetObjectKind().SetGroupVersionKind(o.gvk)
			text, err := json.Marshal(obj)
			require.NoError(t, err)
			want := jsonTree(t, obj)
			got, problems, err := o.Decode(text, kinds.JSON, true)
			require.NoError(t, err)
			assert.Empty(t, problems)
			requireSame(t, want, got)

			normal, problems, err := o.Normal(runtime.DeepCopyJSON(got), true)
			require.NoError(t, err)
			assert.Empty(t, problems)
			requireSame(t, want, normal)

			data, err := o.AppendProto([]byte("x"), got)
			require.NoError(t, err)
			read := o.new()
			require.NoError(t, read.(message).Unmarshal(data[1:]))
			read.GetObjectKind().SetGroupVersionKind(o.gvk)
			got, _, err = o.Decode(data[1:], kinds.Protobuf, true)
			require.NoError(t, err)
			requireSame(t, jsonTree(t, read), got)
		}
	})
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

// TestSchemaHasAllMembersInTheirOrder: the schema describes each member that the JSON of an object has, in the order in which
// encoding/json writes them, with its type.
func TestSchemaHasAllMembersInTheirOrder(t *testing.T) {
	everyType(t, func(t *testing.T, o *objectType, s *schema.Schema) {
		for _, obj := range randomObjects(o, 5) {
			text, err := json.Marshal(obj)
			require.NoError(t, err)
			dec := json.NewDecoder(bytes.NewReader(text))
			dec.UseNumber()
			token, err := dec.Token()
			require.NoError(t, err)
			walk(t, dec, token, s, o.gvk.Kind)
			_, err = dec.Token()
			assert.ErrorIs(t, err, io.EOF)
		}
	})
}

// walk reads a value and compares it with a schema.
func walk(t *testing.T, dec *json.Decoder, token json.Token, s *schema.Schema, path string) {
	next := func() json.Token {
		token, err := dec.Token()
		require.NoError(t, err)
		return token
	}
	switch token := token.(type) {
	case json.Delim:
		if token == '[' {
			assert.True(t, s == nil || s.PreserveUnknown || s.Type == "array", path)
			for dec.More() {
				var items *schema.Schema
				if s != nil {
					items = s.Items
				}
				walk(t, dec, next(), items, path+"[]")
			}
			next()
			return
		}
		assert.True(t, s == nil || s.PreserveUnknown || s.Type == "object", path)
		last := -1
		for dec.More() {
			name := next().(string)
			var member *schema.Schema
			if s != nil && s.Properties != nil {
				i := slices.IndexFunc(s.Properties, func(p schema.Property) bool { return p.Name == name })
				if assert.GreaterOrEqual(t, i, 0, "%s.%s is not described", path, name) {
					assert.Greater(t, i, last, "%s.%s is out of order", path, name)
					last, member = i, s.Properties[i].Schema
				}
			} else if s != nil {
				member = s.Additional
			}
			walk(t, dec, next(), member, path+"."+name)
		}
		next()
	case string:
		assert.True(t, s == nil || s.Type == "string" || s.Type == "" || s.PreserveUnknown, path)
	case json.Number:
		assert.True(t, s == nil || s.Type == "integer" || s.Type == "number" || s.Type == "" || s.PreserveUnknown, path)
	case bool:
		assert.True(t, s == nil || s.Type == "boolean" || s.PreserveUnknown, path)
	}
}

// TestAutoscalersConvertWithoutLoss: what autoscaling/v1 cannot say survives in its annotations.
func TestAutoscalersConvertWithoutLoss(t *testing.T) {
	k, err := newBuilder().builtin(resources()[slices.IndexFunc(resources(), func(r served) bool { return r.kind == "HorizontalPodAutoscaler" })])
	require.NoError(t, err)
	o, _, err := newBuilder().version(runtimeschema.GroupVersionKind{Group: "autoscaling", Version: "v2", Kind: "HorizontalPodAutoscaler"})
	require.NoError(t, err)
	const text = `{"spec":{"scaleTargetRef":{"kind":"Deployment","name":"d","apiVersion":"apps/v1"},"minReplicas":1,"maxReplicas":3,"metrics":[
		{"type":"Resource","resource":{"name":"memory","target":{"type":"AverageValue","averageValue":"1Gi"}}},
		{"type":"Pods","pods":{"metric":{"name":"x"},"target":{"type":"AverageValue","averageValue":"3"}}},
		{"type":"External","external":{"metric":{"name":"y"},"target":{"type":"Value","value":"4"}}},
		{"type":"Object","object":{"describedObject":{"kind":"Service","name":"s"},"metric":{"name":"z"},"target":{"type":"Value","value":"5"}}},
		{"type":"ContainerResource","containerResource":{"name":"cpu","container":"c","target":{"type":"Utilization","averageUtilization":7}}},
		{"type":"Resource","resource":{"name":"cpu","target":{"type":"Utilization","averageUtilization":50}}}],
		"behavior":{"scaleUp":{"stabilizationWindowSeconds":5}}},"status":{"conditions":[{"type":"AbleToScale","status":"True"}]}}`
	doc, _, err := o.Decode([]byte(text), kinds.JSON, true)
	require.NoError(t, err)
	obj := newObject()
	delete(doc, "metadata")
	delete(doc, "kind")
	delete(doc, "apiVersion")
	reflect.ValueOf(obj).Elem().FieldByName("Content").Set(reflect.ValueOf(doc))
	k.FromWire(0, obj) // sets the defaults
	older := k.Convert(obj, 0, 1)
	assert.Contains(t, older.GetObjectMeta().Annotations, "autoscaling.alpha.kubernetes.io/metrics")
	assert.Equal(t, obj, k.Convert(older, 1, 0))
}
