package access

import (
	"context"
	"sync"

	"k8s.io/apimachinery/pkg/types"

	"github.com/kubecoord/kubecoord/internal/kinds"
	"github.com/kubecoord/kubecoord/internal/registry"
)

// collection is a view of the objects of a kind as values of their Go type. A value is made once for each state of an object.
type collection[T any] struct {
	resource func() *registry.Resource // nil if the kind is not served

	mu    sync.Mutex // guards all below; the values are shared and never change
	items []*registry.Item
	made  map[*registry.Item]*T
	state state[T]
}

// state is the objects of a kind at a moment, in the order of their namespaces and names.
type state[T any] struct {
	byName      map[types.NamespacedName]*T
	byNamespace map[string][]*T
}

// read returns the present objects.
func (c *collection[T]) read() (state[T], error) {
	r := c.resource()
	if r == nil {
		return state[T]{}, nil
	}
	list, err := r.List(context.Background(), registry.ListOptions{ResourceVersion: "0"}) // what the store has at hand, as upstream's lister
	if err != nil {
		return state[T]{}, err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.made != nil && sameItems(c.items, list.Items) {
		return c.state, nil
	}
	made := make(map[*registry.Item]*T, len(list.Items))
	next := state[T]{byName: make(map[types.NamespacedName]*T, len(list.Items)), byNamespace: map[string][]*T{}}
	for _, it := range list.Items {
		v := c.made[it]
		if v == nil {
			if v = kinds.ValueOf[T](it.Stored()); v == nil {
				continue
			}
		}
		made[it] = v
		next.byName[types.NamespacedName{Namespace: it.Namespace(), Name: it.Name()}] = v
		next.byNamespace[it.Namespace()] = append(next.byNamespace[it.Namespace()], v)
	}
	c.items, c.made, c.state = list.Items, made, next
	return next, nil
}

// sameItems reports whether two lists are the same one. The lists of a store share their items until a write.
func sameItems(a, b []*registry.Item) bool {
	return len(a) == len(b) && (len(a) == 0 || &a[0] == &b[0])
}
