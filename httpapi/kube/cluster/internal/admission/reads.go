package admission

import (
	"context"
	"slices"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubecoord/kubecoord/httpapi"
	"github.com/kubecoord/kubecoord/httpapi/kube/cluster/internal/typed"
	"github.com/kubecoord/kubecoord/store"
	"github.com/kubecoord/kubecoord/store/kind"
	"github.com/kubecoord/kubecoord/store/meta"
)

// objects reads objects from the store of an API.
type objects struct{ api *httpapi.API }

// resource returns the collection of a resource and the index of a version, or nil if the API does not serve it.
func (o *objects) resource(gvr schema.GroupVersionResource) (*store.Objects, int) {
	return o.find(gvr.Group, gvr.Version, func(i *kind.Info) bool { return i.Plural == gvr.Resource })
}

// find returns the collection of the first kind in a group that wanted accepts, and the index of a version of it, or nil.
func (o *objects) find(group, version string, wanted func(*kind.Info) bool) (*store.Objects, int) {
	for _, k := range o.api.Kinds() {
		if info := k.Info(); info.Group != group || !wanted(info) {
			continue
		}
		v := slices.IndexFunc(k.Info().Versions, func(v kind.VersionInfo) bool { return v.Name == version && !v.Unserved })
		r, err := o.api.Store().Objects(k)
		if v < 0 || err != nil {
			return nil, 0
		}
		return r, v
	}
	return nil, 0
}

// serves reports whether the API serves a version of a group.
func (o *objects) serves(gv schema.GroupVersion) bool {
	return slices.ContainsFunc(o.api.Kinds(), func(k kind.Kind) bool {
		return k.Info().Group == gv.Group && slices.ContainsFunc(k.Info().Versions, func(v kind.VersionInfo) bool { return v.Name == gv.Version && !v.Unserved })
	})
}

// get returns an object, or the error of an object that is not there.
func (o *objects) get(gvr schema.GroupVersionResource, namespace, name string) (runtime.Object, error) {
	r, version := o.resource(gvr)
	if r == nil {
		return nil, apierrors.NewNotFound(gvr.GroupResource(), name)
	}
	found := r.Get(namespace, name)
	if found == nil {
		return nil, apierrors.NewNotFound(gvr.GroupResource(), name)
	}
	return asRead(r.Kind(), version, found)
}

// list returns the objects in a namespace, or all if it is "".
func (o *objects) list(r *store.Objects, version int, namespace string) (all []runtime.Object, err error) {
	for stored := range r.All(namespace) {
		o, err := asRead(r.Kind(), version, stored)
		if err != nil {
			return nil, err
		}
		all = append(all, o)
	}
	return all, nil
}

// asRead returns an object as informers of a real server have it: one of a Go type has no kind and no apiVersion.
func asRead(k kind.Kind, version int, stored meta.Object) (runtime.Object, error) {
	o, err := wire(context.Background(), k, version, stored) // many requests share it
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
	return &typed.Collection[T]{Find: func() (*store.Objects, func(meta.Object) (T, bool)) {
		r, version := o.resource(gvr)
		return r, func(stored meta.Object) (T, bool) {
			o, _ := asRead(r.Kind(), version, stored)
			t, ok := o.(T)
			return t, ok
		}
	}}
}

// isEmpty reports whether there are no objects.
func isEmpty[T any](c *typed.Collection[T]) bool {
	r := c.Objects()
	return r == nil || r.Len() == 0
}

// read returns the objects in the order of their names.
func read[T any](c *typed.Collection[T], changed func(old, now []T)) []T { return c.Read(changed).All }
