// Package typed has the objects of a kind as values of a Go type.
package typed

import (
	"sync"

	"k8s.io/apimachinery/pkg/types"

	"github.com/kubecoord/kubecoord/store"
	"github.com/kubecoord/kubecoord/store/meta"
)

// Collection has the objects of a kind as values, which are shared and never change. Each state of an object has one value. It is
// safe for concurrent use.
type Collection[T any] struct {
	// Find returns the objects in the store, and the function that returns the value of one, or false for an object that is left
	// out. It is called until the API serves the kind; before, it returns nil.
	Find func() (*store.Objects, func(meta.Object) (T, bool))

	mu     sync.Mutex // guards all below
	source *store.Objects
	value  func(meta.Object) (T, bool)
	at     any // Objects.State at the last read
	values map[meta.Object]T
	state  State[T]
}

// State is the objects at a moment, in the order of their namespaces and names.
type State[T any] struct {
	All         []T
	ByNamespace map[string][]T
	ByName      map[types.NamespacedName]T
}

// Objects returns the objects in the store, or nil if the API does not serve the kind.
func (c *Collection[T]) Objects() *store.Objects {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.source == nil {
		c.source, c.value = c.Find()
	}
	return c.source
}

// Last returns the state of the last read.
func (c *Collection[T]) Last() State[T] {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.state
}

// Read returns the present state. If it is not the state of the read before, Read first calls changed, which may be nil, with the
// values that are gone and those that are new.
func (c *Collection[T]) Read(changed func(old, now []T)) State[T] {
	r := c.Objects()
	if r == nil {
		return State[T]{}
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	at := r.State()
	if at == c.at {
		return c.state
	}
	values, next := map[meta.Object]T{}, State[T]{ByNamespace: map[string][]T{}, ByName: map[types.NamespacedName]T{}}
	var old, now []T
	for o := range r.All("") {
		v, known := c.values[o]
		if !known {
			if v, known = c.value(o); !known {
				continue
			}
			now = append(now, v)
		}
		delete(c.values, o)
		values[o] = v
		m := o.GetObjectMeta()
		next.All = append(next.All, v)
		next.ByNamespace[m.Namespace] = append(next.ByNamespace[m.Namespace], v)
		next.ByName[types.NamespacedName{Namespace: m.Namespace, Name: m.Name}] = v
	}
	for _, v := range c.values {
		old = append(old, v)
	}
	c.at, c.values, c.state = at, values, next
	if changed != nil && len(old)+len(now) > 0 {
		changed(old, now)
	}
	return next
}
