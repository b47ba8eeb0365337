package registry_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kubecoord/kubecoord/internal/kinds"
	"github.com/kubecoord/kubecoord/internal/registry"
	"github.com/kubecoord/kubecoord/store"
	"github.com/kubecoord/kubecoord/store/field"
	"github.com/kubecoord/kubecoord/store/kind"
	"github.com/kubecoord/kubecoord/store/meta"
)

// The states of a large object share memory. An attempt that lost a race is followed by one with the same object, which the rules of the kind
// change in place. So that must not have memory of a stored state.
func TestALostRaceLeavesTheStatesThatShareMemory(t *testing.T) {
	var overtake func()
	k, err := kinds.NewKind(kind.Descriptor[meta.Object]{
		Resource: kind.Resource{Kind: "Thing"},
		Strategy: kind.Strategy[meta.Object]{Update: kind.UpdateStrategy[meta.Object]{Unconditional: true}},
		New:      func() kinds.Object { return new(store.Unstructured) },
		Versions: []kind.Version[meta.Object]{{Name: "v1", Validate: func(_, _ kinds.Object) field.Errors {
			if first := overtake; first != nil {
				overtake = nil
				first()
			}
			return nil
		}}},
	})
	require.NoError(t, err)
	st := newStore(t)
	r := st.Resource(k)
	large := strings.Repeat("x", 4<<10)
	object := func(counted int64) *store.Unstructured {
		return &store.Unstructured{ObjectMeta: objectMeta("ns/a"), Content: map[string]any{
			"spec": map[string]any{"text": large, "list": []any{"first"}}, "counted": counted,
		}}
	}
	put := func(o *store.Unstructured) *registry.Item {
		sent := registry.SentBy(k, o, nil)
		it, _, err := r.Update(t.Context(), &registry.Request{Namespace: "ns", Name: "a"}, &sent)
		require.NoError(t, err)
		return it
	}
	list := func(o kinds.Object) *any {
		return &o.(*store.Unstructured).Content["spec"].(map[string]any)["list"].([]any)[0]
	}
	first, err := r.Create(t.Context(), object(0), &registry.Request{Namespace: "ns"})
	require.NoError(t, err)

	var second *registry.Item
	overtake = func() { second = put(object(1)) }
	o := object(2)
	third := put(o)
	assert.Same(t, list(first.Stored()), list(second.Stored()), "they share memory")
	assert.Same(t, list(first.Stored()), list(third.Stored()), "they share memory")
	assert.NotSame(t, list(first.Stored()), list(o), "what the attempts may change is not stored")
}
