package kube

import (
	"context"
	"iter"

	"k8s.io/apimachinery/pkg/runtime"

	"github.com/kubecoord/kubecoord/httpapi/client"
	"github.com/kubecoord/kubecoord/store"
	"github.com/kubecoord/kubecoord/store/clock"
	"github.com/kubecoord/kubecoord/store/kind"
	"github.com/kubecoord/kubecoord/watch"
)

// Collection reads and writes the objects of one kind as values of T, a Go type of Kubernetes' modules or of a controller, such
// as corev1.ConfigMap. The objects are in a store or on a server; the methods, their options and their errors are as in
// store.Collection and in the Collection of httpapi/client. A Collection has no state of its own, and may be used from any
// goroutine. Arguments of type *T must not be nil.
//
// Objects are in the preferred version of the kind, so T must be of that version. Reading an object and writing it
// loses the members that T does not have, as with every typed client.
type Collection[T any] struct {
	objects objects[T]
	status  func() objects[T]
}

// objects is a collection of a store or of a client.
type objects[T any] interface {
	Clock() clock.Clock
	Create(ctx context.Context, obj *T, opts store.CreateOptions) (*T, error)
	Get(ctx context.Context, namespace, name string) (*T, error)
	Update(ctx context.Context, obj *T, opts store.UpdateOptions) (*T, error)
	Modify(ctx context.Context, namespace, name string, change func(*T) error, opts store.UpdateOptions) (*T, error)
	Patch(ctx context.Context, namespace, name string, t store.PatchType, data []byte, opts store.PatchOptions) (*T, error)
	Apply(ctx context.Context, config *T, opts store.ApplyOptions) (*T, error)
	Delete(ctx context.Context, namespace, name string, opts store.DeleteOptions) (*T, error)
	DeleteCollection(ctx context.Context, opts store.DeleteOptions, list store.ListOptions) (*store.List[T], error)
	List(ctx context.Context, opts store.ListOptions) (*store.List[T], error)
	All(ctx context.Context, namespace string) iter.Seq2[*T, error]
	Watch(ctx context.Context, opts store.WatchOptions) iter.Seq2[watch.Event[T], error]
	Follow(ctx context.Context, opts store.WatchOptions) iter.Seq2[watch.Event[T], error]
}

// In returns the objects of a kind in a store, or on the server of a client, as values of T:
//
//	configMaps, err := kube.In[corev1.ConfigMap](kind, st)
//
// The store keeps the objects of a built-in kind of package scheme as values of T. It converts the objects of a kind without a Go type,
// such as a kind that a CustomResourceDefinition defines. In fails if the objects of the kind have another Go type, as Leases have: for
// these use store.Kind.In.
func In[T any, P interface {
	*T
	runtime.Object
}, D *store.Store | *client.Client](kind kind.Kind, door D) (*Collection[T], error) {
	k, err := store.As[T](kind)
	if err == nil {
		of, status := in(k, door)
		return &Collection[T]{of, status}, nil
	}
	u, isOpen := store.As[store.Unstructured](kind)
	if isOpen != nil {
		return nil, err
	}
	of, status := in(u, door)
	return &Collection[T]{converted[T]{of}, func() objects[T] { return converted[T]{status()} }}, nil
}

// in returns the collection of a kind in a store or on a server, and the function that returns the collection of its status.
func in[T any, D *store.Store | *client.Client](k *store.Kind[T], door D) (objects[T], func() objects[T]) {
	switch d := any(door).(type) {
	case *store.Store:
		c := k.In(d)
		return c, func() objects[T] { return c.Status() }
	case *client.Client:
		c := client.In(d, k)
		return c, func() objects[T] { return c.Status() }
	}
	panic("kube: unreachable") // D has no other type
}

// Clock returns the clock of the store, or clock.Real for a server.
func (c *Collection[T]) Clock() clock.Clock { return c.objects.Clock() }

// Status returns the Collection of the status subresource.
func (c *Collection[T]) Status() *Collection[T] { return &Collection[T]{c.status(), c.status} }

// Create stores a new object and returns it with the fields that the server sets.
func (c *Collection[T]) Create(ctx context.Context, obj *T, opts store.CreateOptions) (*T, error) {
	return c.objects.Create(ctx, obj, opts)
}

// Get returns the current state of an object, or store.ErrNotFound.
func (c *Collection[T]) Get(ctx context.Context, namespace, name string) (*T, error) {
	return c.objects.Get(ctx, namespace, name)
}

// Update replaces the object with the same namespace and name.
func (c *Collection[T]) Update(ctx context.Context, obj *T, opts store.UpdateOptions) (*T, error) {
	return c.objects.Update(ctx, obj, opts)
}

// Modify calls change with the current state and stores the result. If another write comes first, it calls change again with
// the newer state, until ctx ends. It returns an error of change unchanged.
func (c *Collection[T]) Modify(ctx context.Context, namespace, name string, change func(obj *T) error, opts store.UpdateOptions) (*T, error) {
	return c.objects.Modify(ctx, namespace, name, change, opts)
}

// Patch applies a patch of type t to the object of that name and returns the result.
func (c *Collection[T]) Patch(ctx context.Context, namespace, name string, t store.PatchType, data []byte, opts store.PatchOptions) (*T, error) {
	return c.objects.Patch(ctx, namespace, name, t, data, opts)
}

// Apply merges config into the object of that name, or creates it, and makes the field manager the owner of the fields in
// config: all fields of T that its JSON does not omit.
func (c *Collection[T]) Apply(ctx context.Context, config *T, opts store.ApplyOptions) (*T, error) {
	return c.objects.Apply(ctx, config, opts)
}

// Delete removes an object, or sets its deletionTimestamp if it has finalizers. It returns the object; for an object that is gone,
// a server returns only namespace, name and uid.
func (c *Collection[T]) Delete(ctx context.Context, namespace, name string, opts store.DeleteOptions) (*T, error) {
	return c.objects.Delete(ctx, namespace, name, opts)
}

// DeleteCollection deletes the objects that List returns for the options list, and returns them as they were before.
func (c *Collection[T]) DeleteCollection(ctx context.Context, opts store.DeleteOptions, list store.ListOptions) (*store.List[T], error) {
	return c.objects.DeleteCollection(ctx, opts, list)
}

// List returns a page of objects.
func (c *Collection[T]) List(ctx context.Context, opts store.ListOptions) (*store.List[T], error) {
	return c.objects.List(ctx, opts)
}

// All iterates over the objects of a namespace, or of all namespaces for "". An error is the last element.
func (c *Collection[T]) All(ctx context.Context, namespace string) iter.Seq2[*T, error] {
	return c.objects.All(ctx, namespace)
}

// Watch iterates over the changes of the collection that opts select, and waits for more; see store.Collection.Watch.
func (c *Collection[T]) Watch(ctx context.Context, opts store.WatchOptions) iter.Seq2[watch.Event[T], error] {
	return c.objects.Watch(ctx, opts)
}

// Follow is like Watch, but does not end with store.ErrExpired: it lists again.
func (c *Collection[T]) Follow(ctx context.Context, opts store.WatchOptions) iter.Seq2[watch.Event[T], error] {
	return c.objects.Follow(ctx, opts)
}
