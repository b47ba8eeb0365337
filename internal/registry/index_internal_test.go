package registry

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/kubecoord/kubecoord/store/meta"
)

type named struct {
	meta.TypeMeta
	meta.ObjectMeta
}

// indexed returns an item of an object with a name.
func indexed(name string) *Item {
	return &Item{obj: &named{ObjectMeta: meta.ObjectMeta{Namespace: "n", Name: name}}}
}

func TestIndexKnowsWhatIsThere(t *testing.T) {
	x, a := newIndex(), indexed("a")
	_, certain := x.find(a.key())
	assert.True(t, certain, "the index is empty")
	x.put(a.key(), a)
	it, certain := x.find(a.key())
	assert.Same(t, a, it)
	assert.True(t, certain)
	next := indexed("a")
	x.put(a.key(), next)
	it, certain = x.find(a.key())
	assert.Same(t, next, it)
	assert.True(t, certain)
	x.remove(a.key())
	it, certain = x.find(a.key())
	assert.Nil(t, it)
	assert.True(t, certain)
	assert.False(t, x.collided)
}

// Two keys with one hash cannot be found, so the later one is put under the hash of the first one.
func TestIndexLeavesEqualHashesToTheTree(t *testing.T) {
	x, a, b := newIndex(), indexed("a"), indexed("b")
	h := x.hash(a.key())
	x.items[h] = b
	x.put(a.key(), a)
	assert.True(t, x.collided)
	assert.Same(t, a, x.items[h])
	_, certain := x.find(b.key())
	assert.False(t, certain, "a took its place")
	x.items[h] = b
	_, certain = x.find(a.key())
	assert.False(t, certain)
	x.remove(a.key())
	assert.Same(t, b, x.items[h], "another object's item")
}

func TestNilIndexKnowsNothing(t *testing.T) {
	var x *index
	x.put(key{"n", "a"}, indexed("a"))
	x.remove(key{"n", "a"})
	_, certain := x.find(key{"n", "a"})
	assert.False(t, certain)
}

func TestIndexGivesMemoryBack(t *testing.T) {
	x := newIndex()
	for i := range 2 * shrinkFrom {
		it := indexed(fmt.Sprint(i))
		x.put(it.key(), it)
	}
	for i := range 2*shrinkFrom - 1 {
		x.remove(key{"n", fmt.Sprint(i)})
	}
	assert.Less(t, x.most, shrinkFrom)
	it, certain := x.find(key{"n", fmt.Sprint(2*shrinkFrom - 1)})
	assert.NotNil(t, it)
	assert.True(t, certain)
}
