package registry

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kubecoord/kubecoord/internal/kinds"
	"github.com/kubecoord/kubecoord/store/kind"
	"github.com/kubecoord/kubecoord/store/meta"
)

// thing is a kind without rules of its own.
type thing struct {
	meta.TypeMeta   `json:",inline"`
	meta.ObjectMeta `json:"metadata" protobuf:"1"`
}

// thingsIn returns a collection with n objects that remembers so many bytes.
func thingsIn(t *testing.T, n int, limit int64) *Resource {
	t.Helper()
	st := New(Options{})
	t.Cleanup(st.Close)
	r := st.Resource(thingKind(t))
	r.account.limit = limit
	for i := range n {
		_, err := r.Create(t.Context(), &thing{ObjectMeta: meta.ObjectMeta{Namespace: "ns", Name: fmt.Sprintf("%03d", i)}}, &Request{Namespace: "ns"})
		require.NoError(t, err)
	}
	return r
}

func thingKind(t *testing.T) *kinds.Kind {
	t.Helper()
	k, err := kinds.NewKind(kind.Descriptor[meta.Object]{
		Resource: kind.Resource{Group: "example.com", Kind: "Thing", Plural: "things"},
		Versions: []kind.Version[meta.Object]{{Name: "v1"}},
		New:      func() kinds.Object { return &thing{} },
	})
	require.NoError(t, err)
	return k
}

// remembered encodes all objects and returns how many bytes they remember then.
func remembered(t *testing.T, r *Resource) (sum int64) {
	t.Helper()
	l, err := r.List(t.Context(), ListOptions{})
	require.NoError(t, err)
	for _, it := range l.Items {
		data, err := it.Encoded(0, kinds.JSON)
		require.NoError(t, err)
		require.NotEmpty(t, data)
		sum += it.memo.Load().size()
	}
	return sum
}

func TestAppendJSONAppendsTheBytesOfEncoded(t *testing.T) {
	r := thingsIn(t, 1, maxRemembered)
	it, err := r.Get(t.Context(), "ns", "000", "")
	require.NoError(t, err)
	var answers []string
	for range 3 { // encoded in place, encoded and remembered, remembered
		data, err := it.AppendJSON([]byte("head"), 0)
		require.NoError(t, err)
		answers = append(answers, string(data))
	}
	data, err := it.Encoded(0, kinds.JSON)
	require.NoError(t, err)
	want := "head" + string(data)
	assert.Equal(t, []string{want, want, want}, answers)
	assert.Equal(t, int64(len(data)), it.memo.Load().size())
}

func TestBytesAreRememberedWhenTheyAreAskedForAgain(t *testing.T) {
	r := thingsIn(t, 1, maxRemembered)
	assert.Zero(t, remembered(t, r))
	size := remembered(t, r)
	assert.NotZero(t, size)
	assert.Equal(t, size, r.account.used.Load())
	assert.Equal(t, size, remembered(t, r), "once")
	assert.Equal(t, size, r.account.used.Load())
}

func TestRememberedBytesAreBounded(t *testing.T) {
	one := thingsIn(t, 1, maxRemembered)
	remembered(t, one)
	size := remembered(t, one)
	r := thingsIn(t, 100, 20*size)
	remembered(t, r)
	assert.Equal(t, 40*size, remembered(t, r), "a list may go beyond the limit")
	for range 3 {
		after := remembered(t, r)
		assert.LessOrEqual(t, after, 40*size)
		assert.Equal(t, after, r.account.used.Load())
	}
	r.trim()
	assert.Equal(t, 10*size, r.account.used.Load(), "half the limit is left")
}
