package typed

import (
	"iter"
	"sync/atomic"

	"github.com/kubecoord/kubecoord/httpapi"
	"github.com/kubecoord/kubecoord/store"
	"github.com/kubecoord/kubecoord/store/kind"
	"github.com/kubecoord/kubecoord/store/meta"
)

// Objects reads the objects of a resource in place, as values of the Go type T in which they are stored. Of must be called before the
// other methods, which are safe for concurrent use.
type Objects[T any] struct {
	api      *httpapi.API
	resource meta.GroupResource
	found    atomic.Pointer[store.Objects]
}

// Of sets the API and the resource.
func (c *Objects[T]) Of(api *httpapi.API, resource meta.GroupResource) {
	c.api, c.resource = api, resource
}

// In returns the Objects of a resource.
func In[T any](api *httpapi.API, resource meta.GroupResource) *Objects[T] {
	c := &Objects[T]{}
	c.Of(api, resource)
	return c
}

// stored returns the objects in the store, or nil if the API does not serve the kind.
func (c *Objects[T]) stored() *store.Objects {
	if o := c.found.Load(); o != nil {
		return o
	}
	o := ObjectsOf(c.api, c.resource)
	if o != nil {
		c.found.Store(o)
	}
	return o
}

// Get returns an object, or nil. It must not be changed.
func (c *Objects[T]) Get(namespace, name string) *T {
	o := c.stored()
	if o == nil {
		return nil
	}
	found := o.Get(namespace, name)
	if found == nil {
		return nil
	}
	return kind.ValueOf[T](found)
}

// All yields the objects in a namespace, or all if it is "", in the order of their names. They must not be changed.
func (c *Objects[T]) All(namespace string) iter.Seq[*T] {
	return func(yield func(*T) bool) {
		o := c.stored()
		if o == nil || o.Len() == 0 {
			return
		}
		for stored := range o.All(namespace) {
			if v := kind.ValueOf[T](stored); v != nil && !yield(v) {
				return
			}
		}
	}
}

// Values returns a Collection of the objects of a resource, in the Go type in which they are stored.
func Values[T any](api *httpapi.API, resource meta.GroupResource) *Collection[*T] {
	return &Collection[*T]{Find: func() (*store.Objects, func(meta.Object) (*T, bool)) {
		return ObjectsOf(api, resource), func(o meta.Object) (*T, bool) {
			v := kind.ValueOf[T](o)
			return v, v != nil
		}
	}}
}
