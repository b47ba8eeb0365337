package store_test

import (
	"math"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kubecoord/kubecoord/store"
	"github.com/kubecoord/kubecoord/store/field"
	"github.com/kubecoord/kubecoord/store/fixture"
	"github.com/kubecoord/kubecoord/store/kind"
)

func newBlobKind() *store.Kind[store.Unstructured] { return store.MustKind(blobDescriptor()) }

func blobDescriptor() store.Descriptor[store.Unstructured] {
	return store.Descriptor[store.Unstructured]{
		Group: "example.com", Name: "Blob", Status: true,
		Versions: []store.Version[store.Unstructured]{{Name: "v1"}, {Name: "v1beta1"}},
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

func TestUnstructuredObjectsHaveAStatusAndAGeneration(t *testing.T) {
	blobs := newBlobKind().In(newStore(t))
	_, err := blobs.Create(t.Context(), newBlob("ns/a", map[string]any{"spec": int64(1)}), store.CreateOptions{})
	require.NoError(t, err)
	b, err := blobs.Status().Modify(t.Context(), "ns", "a", func(b *store.Unstructured) error {
		b.Content["spec"], b.Content["status"] = 2, map[string]any{"ok": true}
		return nil
	}, store.UpdateOptions{})
	require.NoError(t, err)
	assert.Equal(t, map[string]any{"spec": int64(1), "status": map[string]any{"ok": true}}, b.Content)
	assert.EqualValues(t, 1, b.Generation)

	b, err = blobs.Modify(t.Context(), "ns", "a", func(b *store.Unstructured) error {
		b.Content = map[string]any{"spec": 1.0}
		return nil
	}, store.UpdateOptions{})
	require.NoError(t, err)
	assert.Equal(t, "1002", b.ResourceVersion, "1.0 is 1, and the status stays")
	b, err = blobs.Modify(t.Context(), "ns", "a", func(b *store.Unstructured) error {
		b.Content["spec"] = nil
		return nil
	}, store.UpdateOptions{})
	require.NoError(t, err)
	assert.EqualValues(t, 2, b.Generation)
	assert.Equal(t, map[string]any{"spec": nil, "status": map[string]any{"ok": true}}, b.Content)

	b, err = blobs.Status().Modify(t.Context(), "ns", "a", func(b *store.Unstructured) error {
		delete(b.Content, "status")
		return nil
	}, store.UpdateOptions{})
	require.NoError(t, err)
	assert.Equal(t, map[string]any{"spec": nil}, b.Content, "a status can be taken away")
}

func TestUnstructuredKindsMayHaveHooks(t *testing.T) {
	color := func(b *store.Unstructured) string {
		s, _ := b.Content["color"].(string)
		return s
	}
	d := blobDescriptor()
	d.Default = func(b *store.Unstructured) {
		if color(b) == "" {
			b.Content = map[string]any{"color": "grey"}
		}
	}
	d.Validate = func(b, _ *store.Unstructured) (errs field.Errors) {
		if color(b) == "pink" {
			errs = append(errs, field.NotSupported("color", "pink", "grey"))
		}
		return errs
	}
	d.SelectableFields = []store.SelectableField[store.Unstructured]{{Path: "color", Value: color}}
	blobs := store.MustKind(d).In(newStore(t))
	b, err := blobs.Create(t.Context(), newBlob("ns/a", nil), store.CreateOptions{})
	require.NoError(t, err)
	assert.Equal(t, "grey", color(b))
	_, err = blobs.Create(t.Context(), newBlob("ns/b", map[string]any{"color": "pink"}), store.CreateOptions{})
	assertStatus(t, err, 422, store.ErrInvalid, `Blob.example.com "b" is invalid: color: Unsupported value: "pink": supported values: "grey"`)
	found, err := blobs.List(t.Context(), store.ListOptions{FieldSelector: "color=grey"})
	require.NoError(t, err)
	assert.Len(t, found.Items, 1)
}

func TestUnstructuredFixturesAreDumpedAsTheyWereLoaded(t *testing.T) {
	const file = `apiVersion: v1
items:
- apiVersion: example.com/v1
  kind: Blob
  metadata:
    name: a
    namespace: ns
  spec:
    any:
    - 1
    - 1.5
    - thing: null
  status:
    ready: true
kind: List
metadata:
  resourceVersion: ""
`
	st, kinds := newStore(t), []kind.Kind{newBlobKind()}
	load := func(text string) error {
		return fixture.Load(t.Context(), st, fixture.Options{Kinds: kinds}, fixture.Stream("blobs.yaml", strings.NewReader(text)))
	}
	require.NoError(t, load(file))
	var dump strings.Builder
	require.NoError(t, fixture.Dump(&dump, st, fixture.DumpOptions{Kinds: kinds, OmitServerFields: true}))
	assert.Equal(t, file, dump.String())

	require.EqualError(t, load("apiVersion: example.com/v1\nkind: Blob\nmetadata: {name: b, namespace: ns, bogus: 1}\n"),
		`blobs.yaml, document 1 (line 1): Blob: unknown field "metadata.bogus"`)
	require.EqualError(t, load("apiVersion: example.com/v1\nkind: Blob\nmetadata: {name: b, namespace: ns}\nspec: 1\nspec: 2\n"),
		`blobs.yaml, document 1 (line 1): Blob: line 5: key "spec" already set in map`)
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

func TestObjectsOfAnyFormMayBeTooLarge(t *testing.T) {
	blobs := newBlobKind().In(newStore(t))
	_, err := blobs.Create(t.Context(), newBlob("ns/a", map[string]any{"spec": map[string]any{"text": strings.Repeat("x", 1<<21)}}), store.CreateOptions{})
	require.EqualError(t, err, "etcdserver: request is too large")
}
