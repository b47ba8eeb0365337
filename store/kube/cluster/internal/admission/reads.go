package admission

import (
	"context"
	"slices"
	"sync"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubecoord/kubecoord/httpapi"
	"github.com/kubecoord/kubecoord/internal/kinds"
	"github.com/kubecoord/kubecoord/internal/registry"
)

// objects reads objects from the store of an API.
type objects struct{ api *httpapi.API }

// resource returns the collection of a resource and the index of a version, or nil if the API does not serve it.
func (o *objects) resource(gvr schema.GroupVersionResource) (*registry.Resource, int) {
	return o.find(gvr.Group, gvr.Version, func(i *kinds.Info) bool { return i.Plural == gvr.Resource })
}

// find returns the collection of the first kind in a group that wanted accepts, and the index of a version of it, or nil.
func (o *objects) find(group, version string, wanted func(*kinds.Info) bool) (*registry.Resource, int) {
	for _, k := range o.api.Kinds() {
		kind := k.Registered()
		if info := kind.Info(); info.Group != group || !wanted(info) {
			continue
		}
		v := slices.IndexFunc(kind.Info().Versions, func(v kinds.VersionInfo) bool { return v.Name == version && !v.Unserved })
		r, err := o.api.Store().Registry().Find(kind)
		if v < 0 || err != nil {
			return nil, 0
		}
		return r, v
	}
	return nil, 0
}

// get returns an object, or the error of an object that is not there.
func (o *objects) get(gvr schema.GroupVersionResource, namespace, name string) (runtime.Object, error) {
	r, version := o.resource(gvr)
	if r == nil {
		return nil, apierrors.NewNotFound(gvr.GroupResource(), name)
	}
	it := r.Peek(namespace, name)
	if it == nil {
		return nil, apierrors.NewNotFound(gvr.GroupResource(), name)
	}
	return asRead(r.Kind, version, it), nil
}

// list returns the objects in a namespace, or all if it is "".
func (o *objects) list(r *registry.Resource, version int, namespace string) (all []runtime.Object, err error) {
	list, err := r.List(context.Background(), registry.ListOptions{Namespace: namespace, ResourceVersion: "0"})
	if err != nil {
		return nil, err
	}
	for _, it := range list.Items {
		all = append(all, asRead(r.Kind, version, it))
	}
	return all, nil
}

// asRead returns an object as informers of a real server have it: one of a Go type has no kind and no apiVersion.
func asRead(k *kinds.Kind, version int, it *registry.Item) runtime.Object {
	o := wire(k, version, it.Stored())
	if _, isTree := o.(runtime.Unstructured); !isTree {
		o.GetObjectKind().SetGroupVersionKind(schema.GroupVersionKind{})
	}
	return o
}

// collection has the objects of a built-in kind as values of their Go type, a pointer. It is safe for concurrent use.
type collection[T runtime.Object] struct {
	objects *objects
	gvr     schema.GroupVersionResource

	mu       sync.Mutex // guards all below
	resource *registry.Resource
	version  int
	items    []*registry.Item // in the order of their names
	all      []T              // of the items
}

// find returns the collection in the store, or nil if the API does not serve it.
func (c *collection[T]) find() *registry.Resource {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.resource == nil {
		c.resource, c.version = c.objects.resource(c.gvr)
	}
	return c.resource
}

// empty reports whether there are no objects.
func (c *collection[T]) empty() bool {
	r := c.find()
	return r == nil || r.Len() == 0
}

// last returns the objects of the last read.
func (c *collection[T]) last() []T {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.all
}

// read returns the objects in the order of their names. They are shared and must not be changed. If they are not the same as
// at the call before, it first calls changed, which may be nil, with the old and new states that differ.
func (c *collection[T]) read(changed func(old, now []T)) []T {
	r := c.find()
	if r == nil {
		return nil
	}
	list, err := r.List(context.Background(), registry.ListOptions{ResourceVersion: "0"})
	c.mu.Lock()
	defer c.mu.Unlock()
	if err != nil || slices.Equal(list.Items, c.items) {
		return c.all // a list without a selector of a state in memory does not fail
	}
	known := map[*registry.Item]T{}
	for i, it := range c.items {
		known[it] = c.all[i]
	}
	var all, now []T
	for _, it := range list.Items {
		o, ok := known[it]
		if !ok {
			o = asRead(r.Kind, c.version, it).(T)
			now = append(now, o)
		}
		delete(known, it)
		all = append(all, o)
	}
	var old []T
	for _, o := range known {
		old = append(old, o)
	}
	c.items, c.all = list.Items, all
	if changed != nil {
		changed(old, now)
	}
	return all
}
