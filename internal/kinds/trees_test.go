package kinds_test

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kubecoord/kubecoord/internal/kinds"
	"github.com/kubecoord/kubecoord/store/meta"
	"github.com/kubecoord/kubecoord/store/schema"
)

// tree is an object without a Go type.
type tree struct {
	meta.TypeMeta   `json:",inline"`
	meta.ObjectMeta `json:"metadata" protobuf:"1"`
	Content         map[string]any `json:",rest"`
}

// halves is a Serializer whose messages are JSON without the member long, which they are short of.
type halves struct{}

func (halves) Decode(data []byte, f kinds.Format, _ bool) (doc map[string]any, strictErrs []error, err error) {
	if f == kinds.Protobuf {
		data = append([]byte(`{"proto":true,`), data[1:]...)
	}
	err = json.Unmarshal(data, &doc)
	return doc, nil, err
}

func (halves) Normal(doc map[string]any, _ bool) (map[string]any, []error, error) {
	if doc["bad"] != nil {
		return nil, nil, errors.New("cannot restore struct from: string")
	}
	doc["normal"] = true
	return doc, nil, nil
}

func (halves) AppendProto(dst []byte, doc map[string]any) ([]byte, error) {
	delete(doc, "long")
	text, err := json.Marshal(doc)
	return append(dst, text...), err
}

func (halves) HasProto() bool { return true }

func newHalves(t *testing.T) *kinds.Kind {
	k, err := kinds.NewKind(kinds.Descriptor{
		Group: "half.k8s.io", Name: "Half", Native: true, New: func() kinds.Object { return &tree{} },
		Versions: []kinds.Version{{Name: "v1", Schema: &schema.Schema{Type: "object"}, Serializer: halves{}}},
	})
	require.NoError(t, err)
	return k
}

func TestStoredValueOfASerializer(t *testing.T) {
	k := newHalves(t)
	assert.False(t, k.Info().JSONOnly)
	assert.False(t, k.Info().Sorted)
	value, err := k.StoredValue(&tree{ObjectMeta: meta.ObjectMeta{Name: "a", ResourceVersion: "7"}, Content: map[string]any{"x": int64(1)}})
	require.NoError(t, err)
	assert.True(t, strings.HasPrefix(string(value), "k8s\x00"))
	assert.NotContains(t, string(value), "resourceVersion")
	o, err := k.DecodeStored(value)
	require.NoError(t, err)
	assert.Equal(t, "a", o.GetObjectMeta().Name)
	assert.Equal(t, map[string]any{"x": int64(1), "proto": true}, o.(*tree).Content)
}

func TestSizeOfASerializer(t *testing.T) {
	k := newHalves(t)
	o := &tree{Content: map[string]any{"long": strings.Repeat("a", 1000)}}
	assert.Greater(t, k.Size(o, 2000), 1000, "the JSON says enough")
	assert.Less(t, k.Size(o, 1000), 200)
}

func TestObjectOfACallerIsInItsNormalForm(t *testing.T) {
	k := newHalves(t)
	reset := &tree{ObjectMeta: meta.ObjectMeta{ManagedFields: []meta.ManagedFieldsEntry{}}}
	o, err := k.Own(reset, nil)
	require.NoError(t, err)
	assert.Equal(t, true, o.(*tree).Content["normal"])
	assert.Len(t, o.GetObjectMeta().ManagedFields, 1, "an empty list resets the managers")
	_, err = k.Own(&tree{Content: map[string]any{"bad": 1}}, nil)
	assert.EqualError(t, err, `Half in version "v1" cannot be handled as a Half: cannot restore struct from: string`)
	assert.ErrorIs(t, err, meta.ReasonBadRequest)
}
