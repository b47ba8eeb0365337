// Package typed has the objects of a kind as values of a Go type.
package typed

import (
	"context"
	"slices"
	"sync"

	"k8s.io/apimachinery/pkg/types"

	"github.com/kubecoord/kubecoord/internal/registry"
)

// Collection has the objects of a kind as values, which are shared and never change. Each state of an object has one value. It is
// safe for concurrent use.
type Collection[T any] struct {
	// Find returns the objects in the store, and the function that returns the value of one, or false for an object that is left
	// out. It is called until the API serves the kind; before, it returns nil.
	Find func() (*registry.Resource, func(*registry.Item) (T, bool))

	mu       sync.Mutex // guards all below
	resource *registry.Resource
	value    func(*registry.Item) (T, bool)
	items    []*registry.Item
	values   map[*registry.Item]T
	state    State[T]
}

// State is the objects at a moment, in the order of their namespaces and names.
type State[T any] struct {
	All         []T
	ByNamespace map[string][]T
	ByName      map[types.NamespacedName]T
}

// Resource returns the objects in the store, or nil if the API does not serve the kind.
func (c *Collection[T]) Resource() *registry.Resource {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.resource == nil {
		c.resource, c.value = c.Find()
	}
	return c.resource
}

// Last returns the state of the last read.
func (c *Collection[T]) Last() State[T] {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.state
}

// Read returns the present state. If it is not the state of the read before, Read first calls changed, which may be nil, with the
// values that are gone and those that are new.
func (c *Collection[T]) Read(changed func(old, now []T)) (State[T], error) {
	r := c.Resource()
	if r == nil {
		return State[T]{}, nil
	}
	list, err := r.List(context.Background(), registry.ListOptions{ResourceVersion: "0"}) // what the store has at hand, as upstream's lister
	if err != nil {
		return State[T]{}, err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if n := len(list.Items); n == len(c.items) && (n == 0 || &list.Items[0] == &c.items[0] || slices.Equal(list.Items, c.items)) {
		return c.state, nil // the lists of a store are one slice until a write
	}
	values, next := map[*registry.Item]T{}, State[T]{ByNamespace: map[string][]T{}, ByName: map[types.NamespacedName]T{}}
	var old, now []T
	for _, it := range list.Items {
		v, known := c.values[it]
		if !known {
			if v, known = c.value(it); !known {
				continue
			}
			now = append(now, v)
		}
		delete(c.values, it)
		values[it] = v
		next.All = append(next.All, v)
		next.ByNamespace[it.Namespace()] = append(next.ByNamespace[it.Namespace()], v)
		next.ByName[types.NamespacedName{Namespace: it.Namespace(), Name: it.Name()}] = v
	}
	for _, v := range c.values {
		old = append(old, v)
	}
	c.items, c.values, c.state = list.Items, values, next
	if changed != nil {
		changed(old, now)
	}
	return next, nil
}
