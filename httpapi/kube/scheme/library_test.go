package scheme

import (
	"bytes"
	"encoding/json"
	"io"
	"math/rand"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/api/apitesting/fuzzer"
	metafuzzer "k8s.io/apimachinery/pkg/apis/meta/fuzzer"
	"k8s.io/apimachinery/pkg/runtime"
	runtimeschema "k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	clientscheme "k8s.io/client-go/kubernetes/scheme"
	"sigs.k8s.io/randfill"

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
		obj := valueOf(o.new())
		fill.Fill(obj)
		metaOf(obj).ManagedFields = nil
		obj.GetObjectKind().SetGroupVersionKind(o.gvk)
		out = append(out, obj)
	}
	return out
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
