package store_test

import (
	"math"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kubecoord/kubecoord/store"
	"github.com/kubecoord/kubecoord/store/kind"
)

func newBlobKind() *store.Kind[store.Unstructured] { return store.MustKind(blobDescriptor()) }

func blobDescriptor() kind.Descriptor[*store.Unstructured] {
	return kind.Descriptor[*store.Unstructured]{
		Resource: kind.Resource{Group: "example.com", Kind: "Blob", Status: true},
		Versions: []kind.Version[*store.Unstructured]{{Name: "v1"}, {Name: "v1beta1"}},
	}
}

func newBlob(path string, content map[string]any) *store.Unstructured {
	return &store.Unstructured{ObjectMeta: objectMeta(path), Content: content}
}

func TestUnstructuredObjectsKeepTheirContent(t *testing.T) {
	blobs := newBlobKind().In(newStore(t))
	content := map[string]any{
		"spec": map[string]any{"n": 1, "f": 1.5, "whole": 2.0, "list": []any{"a", nil, map[string]any{}}, "labels": map[string]string{"a": "b"}},
		"data": []string{"x"}, "null": nil, "yes": true, "status": "dropped",
	}
	b, err := blobs.Create(t.Context(), newBlob("ns/a", content), store.CreateOptions{})
	require.NoError(t, err)
	want := map[string]any{
		"spec": map[string]any{"n": int64(1), "f": 1.5, "whole": int64(2), "list": []any{"a", nil, map[string]any{}}, "labels": map[string]any{"a": "b"}},
		"data": []any{"x"}, "null": nil, "yes": true,
	}
	assert.Equal(t, want, b.Content)
	assert.EqualValues(t, 1, b.Generation)

	b.Content["spec"].(map[string]any)["n"] = int64(9)
	content["spec"].(map[string]any)["n"] = 9
	b, err = blobs.Get(t.Context(), "ns", "a")
	require.NoError(t, err)
	assert.Equal(t, want, b.Content, "what is stored is nobody else's")
}

func TestObjectsThatJSONCannotHoldAreAPanic(t *testing.T) {
	blobs := newBlobKind().In(newStore(t))
	assert.PanicsWithValue(t, "codec: chan int cannot be part of an object: json: unsupported type: chan int", func() {
		_, _ = blobs.Create(t.Context(), newBlob("ns/a", map[string]any{"c": make(chan int)}), store.CreateOptions{})
	})
	assert.PanicsWithValue(t, "codec: NaN cannot be part of an object: JSON has no such number", func() {
		_, _ = blobs.Create(t.Context(), newBlob("ns/a", map[string]any{"c": math.NaN()}), store.CreateOptions{})
	})
}
