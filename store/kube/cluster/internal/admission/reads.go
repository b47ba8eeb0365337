package admission

import (
	"context"
	"slices"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubecoord/kubecoord/httpapi"
	"github.com/kubecoord/kubecoord/internal/kinds"
	"github.com/kubecoord/kubecoord/internal/registry"
	"github.com/kubecoord/kubecoord/store/kind"
	"github.com/kubecoord/kubecoord/store/kube/cluster/internal/typed"
)

// objects reads objects from the store of an API.
type objects struct{ api *httpapi.API }

// resource returns the collection of a resource and the index of a version, or nil if the API does not serve it.
func (o *objects) resource(gvr schema.GroupVersionResource) (*registry.Resource, int) {
	return o.find(gvr.Group, gvr.Version, func(i *kind.Info) bool { return i.Plural == gvr.Resource })
}

// find returns the collection of the first kind in a group that wanted accepts, and the index of a version of it, or nil.
func (o *objects) find(group, version string, wanted func(*kind.Info) bool) (*registry.Resource, int) {
	for _, k := range o.api.Kinds() {
		if info := k.Info(); info.Group != group || !wanted(info) {
			continue
		}
		v := slices.IndexFunc(k.Info().Versions, func(v kind.VersionInfo) bool { return v.Name == version && !v.Unserved })
		r, err := o.api.Store().Registry().Find(kinds.Of(k))
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
	return asRead(r.Kind, version, it)
}

// list returns the objects in a namespace, or all if it is "".
func (o *objects) list(r *registry.Resource, version int, namespace string) (all []runtime.Object, err error) {
	list, err := r.List(context.Background(), registry.ListOptions{Namespace: namespace, ResourceVersion: "0"})
	if err != nil {
		return nil, err
	}
	for _, it := range list.Items {
		o, err := asRead(r.Kind, version, it)
		if err != nil {
			return nil, err
		}
		all = append(all, o)
	}
	return all, nil
}

// asRead returns an object as informers of a real server have it: one of a Go type has no kind and no apiVersion.
func asRead(k *kinds.Kind, version int, it *registry.Item) (runtime.Object, error) {
	o, err := wire(context.Background(), k, version, it.Stored()) // many requests share it
	if err != nil {
		return nil, err
	}
	if _, isTree := o.(runtime.Unstructured); !isTree {
		o.GetObjectKind().SetGroupVersionKind(schema.GroupVersionKind{})
	}
	return o, nil
}

// collection returns the objects of a built-in kind, of the Go type T.
func collection[T runtime.Object](o *objects, gvr schema.GroupVersionResource) *typed.Collection[T] {
	return &typed.Collection[T]{Find: func() (*registry.Resource, func(*registry.Item) (T, bool)) {
		r, version := o.resource(gvr)
		return r, func(it *registry.Item) (T, bool) {
			o, _ := asRead(r.Kind, version, it)
			t, ok := o.(T)
			return t, ok
		}
	}}
}

// isEmpty reports whether there are no objects.
func isEmpty[T any](c *typed.Collection[T]) bool {
	r := c.Resource()
	return r == nil || r.Len() == 0
}

// read returns the objects in the order of their names.
func read[T any](c *typed.Collection[T], changed func(old, now []T)) []T {
	now, err := c.Read(changed)
	if err != nil {
		now = c.Last() // a list without a selector of a state in memory does not fail
	}
	return now.All
}
