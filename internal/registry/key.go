package registry

import "strings"

// key is where an object stands in its collection.
type key struct {
	namespace, name string
}

// less orders keys by the bytes of "namespace/name", which is the order of all
// lists: a namespace "a-b" stands before "a", since '-' is less than '/'.
func (k key) less(l key) bool {
	if k.namespace == l.namespace {
		return k.name < l.name
	}
	n := min(len(k.namespace), len(l.namespace))
	if c := strings.Compare(k.namespace[:n], l.namespace[:n]); c != 0 {
		return c < 0
	}
	if len(k.namespace) == n {
		return '/' < l.namespace[n]
	}
	return k.namespace[n] < '/'
}

// entry is an item in the tree. Its key stands beside it, so that a search
// need not look at the objects on its way.
type entry struct {
	key
	item *Item
}

func entryLess(a, b entry) bool { return a.key.less(b.key) }

func (it *Item) key() key {
	m := it.meta()
	return key{m.Namespace, m.Name}
}

func (it *Item) entry() entry { return entry{it.key(), it} }
