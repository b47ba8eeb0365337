package typed

import (
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// create creates an object.
func (k kind) create(t *testing.T, name string) object {
	t.Helper()
	o, err := k.Create(t.Context(), k.new(name), metav1.CreateOptions{})
	require.NoError(t, err)
	return o
}

// update changes an object and stores it.
func (k kind) update(t *testing.T, o object) object {
	t.Helper()
	o = o.DeepCopyObject().(object)
	k.change(o)
	o, err := k.Update(t.Context(), o, metav1.UpdateOptions{})
	require.NoError(t, err)
	return o
}

func (k kind) get(t *testing.T, name string) object {
	t.Helper()
	o, err := k.Get(t.Context(), name, metav1.GetOptions{})
	require.NoError(t, err)
	return o
}

// names returns the names of the items of a list.
func (k kind) names(t *testing.T, opts metav1.ListOptions) []string {
	t.Helper()
	list, err := k.List(t.Context(), opts)
	require.NoError(t, err)
	items, err := meta.ExtractList(list)
	require.NoError(t, err)
	out := []string{}
	for _, item := range items {
		out = append(out, item.(object).GetName())
	}
	return out
}

func version(t *testing.T, o interface{ GetResourceVersion() string }) uint64 {
	t.Helper()
	v, err := strconv.ParseUint(o.GetResourceVersion(), 10, 64)
	require.NoError(t, err)
	return v
}
