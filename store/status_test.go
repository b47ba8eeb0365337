package store_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kubecoord/kubecoord/store"
	"github.com/kubecoord/kubecoord/store/kind"
	"github.com/kubecoord/kubecoord/store/meta"
)

// engine is a kind with a status.
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
	Turns int32    `json:"turns,omitempty" protobuf:"1"`
	Notes []string `json:"notes,omitempty" protobuf:"2"`
}

func newEngineKind(status bool) *store.Kind[engine] {
	d := engineDescriptor()
	d.Resource.Status = status
	return store.MustKind(d)
}

func engineDescriptor() kind.Descriptor[*engine] {
	return kind.Descriptor[*engine]{
		Resource: kind.Resource{Group: "example.com", Kind: "Engine", Plural: "engines", Status: true},
		Strategy: kind.Strategy[*engine]{Update: kind.UpdateStrategy[*engine]{Unconditional: true}},
		Versions: []kind.Version[*engine]{{Name: "v1"}},
	}
}

func newEngine(path string, speed, turns int32) *engine {
	return &engine{ObjectMeta: objectMeta(path), Spec: engineSpec{speed}, Status: engineStatus{Turns: turns}}
}

// shown has the fields that the tests below compare.
type shown struct {
	speed, turns int32
	generation   int64
	version      string
}

func (e *engine) shown() shown {
	return shown{e.Spec.Speed, e.Status.Turns, e.Generation, e.ResourceVersion}
}

func TestWritesOfAStatusThatCannotBe(t *testing.T) {
	st := newStore(t)
	engines := newEngineKind(true).In(st)
	_, err := engines.Status().Update(t.Context(), newEngine("ns/a", 1, 1), store.UpdateOptions{})
	assertStatus(t, err, 404, store.ErrNotFound, `engines.example.com "a" not found`)
	e, err := engines.Create(t.Context(), newEngine("ns/a", 1, 0), store.CreateOptions{})
	require.NoError(t, err)
	_, err = engines.Status().Modify(t.Context(), "ns", "a", func(e *engine) error { e.Status.Turns = 1; return nil }, store.UpdateOptions{})
	require.NoError(t, err)
	_, err = engines.Status().Update(t.Context(), e, store.UpdateOptions{})
	require.ErrorIs(t, err, store.ErrConflict, "it has a version, which is old")

	widgets := newWidgetKind().In(st)
	_, err = widgets.Status().Update(t.Context(), newWidget("ns/a", "red"), store.UpdateOptions{})
	require.EqualError(t, err, "store: widgets: the status is not a subresource of this kind and version; set Descriptor.Status, or write the whole object")
	_, err = widgets.Status().Modify(t.Context(), "ns", "a", func(*widget) error { return nil }, store.UpdateOptions{})
	require.EqualError(t, err, "store: widgets: the status is not a subresource of this kind and version; set Descriptor.Status, or write the whole object")
}

func TestVersionWithoutTheStatusDoesNotWriteIt(t *testing.T) {
	d := engineDescriptor()
	d.Versions[0].Native = &kind.NativeVersion{Lacks: []string{"status"}}
	st, k := newStore(t), store.MustKind(d)
	engines := k.In(st)
	_, err := engines.Create(t.Context(), newEngine("ns/a", 1, 1), store.CreateOptions{})
	require.NoError(t, err)
	_, err = engines.Status().Modify(t.Context(), "ns", "a", func(e *engine) error { e.Status.Turns = 2; return nil }, store.UpdateOptions{})
	require.EqualError(t, err, "store: engines: the status is not a subresource of this kind and version; set Descriptor.Status, or write the whole object")
	err = objectsOf(t, st, k).Modify(t.Context(), "ns", "a", "status", func(meta.Object) error { return nil }, store.UpdateOptions{})
	assertStatus(t, err, 400, store.ErrBadRequest, `subresource: got "status", want a subresource of engines.example.com`)
	e, err := engines.Modify(t.Context(), "ns", "a", func(e *engine) error { e.Status.Turns = 3; return nil }, store.UpdateOptions{})
	require.NoError(t, err)
	assert.Equal(t, shown{1, 3, 2, "1002"}, e.shown(), "the whole object has the status, which counts")
}

func TestCollectionOfAStatusNeitherCreatesNorDeletes(t *testing.T) {
	st := newStore(t)
	engines := newEngineKind(true).In(st)
	_, err := engines.Create(t.Context(), newEngine("ns/a", 1, 0), store.CreateOptions{})
	require.NoError(t, err)
	status := engines.Status()
	const want = ": got the collection of a status, want the collection of whole objects"
	_, err = status.Create(t.Context(), newEngine("ns/b", 1, 0), store.CreateOptions{})
	require.EqualError(t, err, "store: Create"+want)
	_, err = status.Delete(t.Context(), "ns", "a", store.DeleteOptions{})
	require.EqualError(t, err, "store: Delete"+want)
	_, err = status.DeleteCollection(t.Context(), store.DeleteOptions{}, store.ListOptions{})
	require.EqualError(t, err, "store: DeleteCollection"+want)
	assert.Equal(t, "1001", st.ResourceVersion())

	e, err := status.Get(t.Context(), "ns", "a")
	require.NoError(t, err, "reads return whole objects")
	assert.Equal(t, shown{1, 0, 1, "1001"}, e.shown())
	list, err := status.List(t.Context(), store.ListOptions{})
	require.NoError(t, err)
	assert.Len(t, list.Items, 1)
}
