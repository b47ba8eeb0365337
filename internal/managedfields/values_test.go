package managedfields

import (
	"cmp"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/kubecoord/kubecoord/internal/codec"
)

// The order comes from value.Compare in structured-merge-diff.
func TestValuesHaveAnOrder(t *testing.T) {
	sorted := []any{
		-1.5, int64(-1), 0.0, int64(1), 1.5, int64(2), int64(10), int64(1 << 60), int64(1<<60 + 1), "", "10", "2", "a", false, true,
		[]any{}, []any{int64(1)}, []any{int64(1), nil}, []any{int64(2)},
		map[string]any{}, map[string]any{"a": int64(1)}, map[string]any{"a": int64(1), "b": int64(1)}, map[string]any{"a": int64(1), "c": int64(0)},
		map[string]any{"a": int64(2)}, map[string]any{"b": int64(0)}, nil,
	}
	for i, a := range sorted {
		for j, b := range sorted {
			assert.Equal(t, cmp.Compare(i, j), compareValues(a, b), "%v and %v", a, b)
			assert.Equal(t, i == j, codec.TreeValue(a).Equal(codec.TreeValue(b)), "%v and %v", a, b)
		}
	}
	assert.Zero(t, compareValues(int64(1), 1.0))
	assert.True(t, codec.TreeValue(int64(1)).Equal(codec.TreeValue(1.0)))
	assert.True(t, codec.TreeValue(1.0).Equal(codec.TreeValue(int64(1))))
	assert.False(t, codec.TreeValue(0.0).Equal(codec.TreeValue("")), "another type is another value")
	assert.False(t, codec.TreeValue(int64(0)).Equal(codec.TreeValue(false)))
}
