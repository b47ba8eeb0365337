package codec

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/kubecoord/kubecoord/store/meta"
)

// A kubelet's Lease has an owner, which each renewal compares.
func TestEqualListsAreComparedWithoutTrees(t *testing.T) {
	typ := compileFor[Lease]("v1")
	x := &Lease{ObjectMeta: meta.ObjectMeta{Finalizers: []string{"a/b"}, OwnerReferences: []meta.OwnerReference{{Kind: "Node", UID: "u"}}}}
	y := typ.Copy(x).(*Lease)
	equal := func(name string) bool {
		return typ.Value(x).Member("metadata").Member(name).Equal(typ.Value(y).Member("metadata").Member(name))
	}
	for _, name := range []string{"finalizers", "ownerReferences"} {
		assert.True(t, equal(name))
		assert.Zero(t, testing.AllocsPerRun(10, func() { equal(name) }), name)
	}
	y.Finalizers[0], y.OwnerReferences[0].UID = "c/d", "v"
	assert.False(t, equal("finalizers"))
	assert.False(t, equal("ownerReferences"))
	list := typ.Value(x).Member("metadata").Member("finalizers")
	assert.True(t, list.IsTree())
	assert.False(t, list.IsEmpty())
	assert.True(t, list.Equal(TreeValue([]any{"a/b"})))
}
