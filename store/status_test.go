package store_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kubecoord/kubecoord/internal/kinds"
	"github.com/kubecoord/kubecoord/internal/registry"
	"github.com/kubecoord/kubecoord/store"
	"github.com/kubecoord/kubecoord/store/fixture"
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
	d.Status = status
	return store.MustKind(d)
}

func engineDescriptor() store.Descriptor[engine] {
	return store.Descriptor[engine]{
		Group: "example.com", Name: "Engine", Plural: "engines", Status: true, UnconditionalUpdate: true,
		Versions: []store.Version[engine]{{Name: "v1"}},
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

func TestStatusIsWrittenThroughItsSubresourceAlone(t *testing.T) {
	engines := newEngineKind(true).In(newStore(t))
	e, err := engines.Create(t.Context(), newEngine("ns/a", 1, 9), store.CreateOptions{})
	require.NoError(t, err)
	assert.Equal(t, shown{1, 0, 1, "1001"}, e.shown(), "a create has no status")

	e.Spec.Speed, e.Status.Turns, e.Labels = 5, 7, map[string]string{"k": "v"}
	e, err = engines.Status().Update(t.Context(), e, store.UpdateOptions{})
	require.NoError(t, err)
	assert.Equal(t, shown{1, 7, 1, "1002"}, e.shown(), "nothing else is written")
	assert.Empty(t, e.Labels)

	e.Spec.Speed, e.Status.Turns = 2, 8
	e, err = engines.Update(t.Context(), e, store.UpdateOptions{})
	require.NoError(t, err)
	assert.Equal(t, shown{2, 7, 2, "1003"}, e.shown(), "an update leaves it alone")

	e, err = engines.Status().Modify(t.Context(), "ns", "a", func(e *engine) error {
		e.Spec.Speed, e.Status.Notes = 6, []string{"n"}
		return nil
	}, store.UpdateOptions{})
	require.NoError(t, err)
	assert.Equal(t, shown{2, 7, 2, "1004"}, e.shown())
	assert.Equal(t, []string{"n"}, e.Status.Notes)
}

func TestStatusThatStaysTheSameMakesNoVersion(t *testing.T) {
	engines := newEngineKind(true).In(newStore(t))
	_, err := engines.Create(t.Context(), newEngine("ns/a", 1, 0), store.CreateOptions{})
	require.NoError(t, err)
	e, err := engines.Status().Update(t.Context(), newEngine("ns/a", 3, 0), store.UpdateOptions{})
	require.NoError(t, err)
	assert.Equal(t, shown{1, 0, 1, "1001"}, e.shown())
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
	require.EqualError(t, err, "store: widgets: the status is not a subresource of this kind; set Descriptor.Status, or write the whole object")
	_, err = widgets.Status().Modify(t.Context(), "ns", "a", func(*widget) error { return nil }, store.UpdateOptions{})
	require.EqualError(t, err, "store: widgets: the status is not a subresource of this kind; set Descriptor.Status, or write the whole object")
}

func TestCollectionOfAStatusNeitherCreatesNorDeletes(t *testing.T) {
	st := newStore(t)
	engines := newEngineKind(true).In(st)
	_, err := engines.Create(t.Context(), newEngine("ns/a", 1, 0), store.CreateOptions{})
	require.NoError(t, err)
	status := engines.Status()
	const want = ": got the collection of a status, want that of whole objects"
	_, err = status.Create(t.Context(), newEngine("ns/b", 1, 0), store.CreateOptions{})
	require.EqualError(t, err, "store: Create"+want)
	_, err = status.Delete(t.Context(), "ns", "a", store.DeleteOptions{})
	require.EqualError(t, err, "store: Delete"+want)
	_, err = status.DeleteCollection(t.Context(), store.DeleteOptions{}, store.ListOptions{})
	require.EqualError(t, err, "store: DeleteCollection"+want)
	assert.Equal(t, "1001", st.ResourceVersion())

	e, err := status.Get(t.Context(), "ns", "a")
	require.NoError(t, err, "reads are those of whole objects")
	assert.Equal(t, shown{1, 0, 1, "1001"}, e.shown())
	list, err := status.List(t.Context(), store.ListOptions{})
	require.NoError(t, err)
	assert.Len(t, list.Items, 1)
}

func TestStatusHasManagersOfItsOwn(t *testing.T) {
	engines := newEngineKind(true).In(newStore(t))
	me := store.CreateOptions{FieldManager: "me"}
	_, err := engines.Create(t.Context(), newEngine("ns/a", 1, 1), me)
	require.NoError(t, err)
	e, err := engines.Status().Update(t.Context(), newEngine("ns/a", 9, 1), store.UpdateOptions(me))
	require.NoError(t, err)
	require.Len(t, e.ManagedFields, 2)
	assert.Equal(t, "", e.ManagedFields[0].Subresource)
	assert.JSONEq(t, `{"f:spec":{".":{},"f:speed":{}}}`, string(e.ManagedFields[0].FieldsV1.Raw))
	assert.Equal(t, "status", e.ManagedFields[1].Subresource)
	assert.JSONEq(t, `{"f:status":{".":{},"f:turns":{}}}`, string(e.ManagedFields[1].FieldsV1.Raw))

	e.Status.Turns, e.Spec.Speed = 2, 4
	e, err = engines.Update(t.Context(), e, store.UpdateOptions{FieldManager: "other"})
	require.NoError(t, err)
	require.Len(t, e.ManagedFields, 3)
	assert.Equal(t, "me", e.ManagedFields[1].Manager, "a status that an update says is nobody's loss")
	assert.JSONEq(t, `{"f:status":{".":{},"f:turns":{}}}`, string(e.ManagedFields[1].FieldsV1.Raw))
}

func TestGenerationCountsChangesBeyondMetadata(t *testing.T) {
	for name, row := range map[string]struct {
		status bool
		change func(*engine)
		want   int64
	}{
		"spec":                            {true, func(e *engine) { e.Spec.Speed = 2 }, 2},
		"labels":                          {true, func(e *engine) { e.Labels = map[string]string{"k": "v"} }, 1},
		"the generation itself":           {true, func(e *engine) { e.Generation = 77 }, 1},
		"a status that is a subresource":  {true, func(e *engine) { e.Status.Turns = 2 }, 1},
		"a status that is no subresource": {false, func(e *engine) { e.Status.Turns = 2 }, 2},
	} {
		t.Run(name, func(t *testing.T) {
			engines := newEngineKind(row.status).In(newStore(t))
			start := newEngine("ns/a", 1, 1)
			start.Generation = 5
			e, err := engines.Create(t.Context(), start, store.CreateOptions{})
			require.NoError(t, err)
			assert.EqualValues(t, 1, e.Generation)
			row.change(e)
			e, err = engines.Update(t.Context(), e, store.UpdateOptions{})
			require.NoError(t, err)
			assert.Equal(t, row.want, e.Generation)
		})
	}
}

func TestDeletionThatIsHeldBackIsAGeneration(t *testing.T) {
	engines := newEngineKind(true).In(newStore(t))
	e := newEngine("ns/a", 1, 1)
	e.Finalizers = []string{"example.com/hold"}
	_, err := engines.Create(t.Context(), e, store.CreateOptions{})
	require.NoError(t, err)
	e, err = engines.Delete(t.Context(), "ns", "a", store.DeleteOptions{})
	require.NoError(t, err)
	assert.EqualValues(t, 2, e.Generation)

	e.Finalizers, e.Status.Turns = nil, 4
	e, err = engines.Status().Update(t.Context(), e, store.UpdateOptions{})
	require.NoError(t, err, "the status of an object that goes can be written")
	assert.EqualValues(t, 4, e.Status.Turns)
	_, err = engines.Get(t.Context(), "ns", "a")
	require.NoError(t, err, "a write of the status takes no finalizer away")
}

func TestFixturesKeepStatusAndGeneration(t *testing.T) {
	const file = `apiVersion: example.com/v1
kind: Engine
metadata: {name: a, namespace: ns, generation: 4}
status: {turns: 3}
---
apiVersion: example.com/v1
kind: Engine
metadata: {name: b, namespace: ns}
status: {turns: 5}
`
	st, k := newStore(t), newEngineKind(true)
	require.NoError(t, fixture.Load(t.Context(), st, fixture.Options{Kinds: []kind.Kind{k}}, fixture.Stream("engines.yaml", strings.NewReader(file))))
	for name, want := range map[string]shown{"a": {0, 3, 4, "1001"}, "b": {0, 5, 1, "1002"}} {
		e, err := k.In(st).Get(t.Context(), "ns", name)
		require.NoError(t, err)
		assert.Equal(t, want, e.shown())
	}
}

func TestFinalizersWithoutADomainAreWarnedAbout(t *testing.T) {
	var warnings []string
	r := resourceOf(newStore(t), newEngineKind(true))
	e := newEngine("ns/a", 1, 1)
	e.Finalizers = []string{"mine", "a.b", "a.b/c", "orphan"}
	req := registry.Request{Namespace: "ns", Name: "a", Warn: func(s string) { warnings = append(warnings, s) }}
	_, err := r.Create(t.Context(), e, req)
	require.NoError(t, err)
	want := []string{
		`metadata.finalizers: "a.b": prefer a domain-qualified finalizer name including a path (/) to avoid accidental conflicts with other finalizer writers`,
		`metadata.finalizers: "mine": prefer a domain-qualified finalizer name to avoid accidental conflicts with other finalizer writers`,
	}
	assert.Equal(t, want, warnings)
	_, _, err = r.Update(t.Context(), req, registry.Replacement(func(current *registry.Item) (kinds.Object, error) {
		e := current.Wire().(*engine)
		e.Spec.Speed = 2
		return r.FromWire(t.Context(), 0, e)
	}))
	require.NoError(t, err)
	assert.Equal(t, want, warnings, "they are told once")
}
