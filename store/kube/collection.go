package kube

import (
	"context"
	"fmt"
	"iter"

	"k8s.io/apimachinery/pkg/runtime"

	"github.com/kubecoord/kubecoord/httpapi/client"
	"github.com/kubecoord/kubecoord/store"
	"github.com/kubecoord/kubecoord/store/clock"
	"github.com/kubecoord/kubecoord/watch"
)

// Collection reads and writes the objects of one kind as values of T, a Go type of Kubernetes' modules or of a controller, such
// as corev1.ConfigMap. The objects are in a store or on a server; the methods, their options and their errors are those of
// store.Collection and of the Collection of httpapi/client. A Collection has no state of its own, and may be used from any
// goroutine. Arguments of type *T must not be nil.
//
// Objects are in the preferred version of the kind, so T must be of that version. A member that T does not have is lost when
// an object is written that was read, as with every typed client.
type Collection[T any] struct {
	objects objects
	status  func() objects
}

// objects is a collection of untyped objects.
type objects interface {
	Clock() clock.Clock
	Create(ctx context.Context, obj *store.Unstructured, opts store.CreateOptions) (*store.Unstructured, error)
	Get(ctx context.Context, namespace, name string) (*store.Unstructured, error)
	Update(ctx context.Context, obj *store.Unstructured, opts store.UpdateOptions) (*store.Unstructured, error)
	Modify(ctx context.Context, namespace, name string, change func(*store.Unstructured) error, opts store.UpdateOptions) (*store.Unstructured, error)
	Patch(ctx context.Context, namespace, name string, t store.PatchType, data []byte, opts store.PatchOptions) (*store.Unstructured, error)
	Apply(ctx context.Context, config *store.Unstructured, opts store.ApplyOptions) (*store.Unstructured, error)
	Delete(ctx context.Context, namespace, name string, opts store.DeleteOptions) (*store.Unstructured, error)
	DeleteCollection(ctx context.Context, opts store.DeleteOptions, list store.ListOptions) (*store.List[store.Unstructured], error)
	List(ctx context.Context, opts store.ListOptions) (*store.List[store.Unstructured], error)
	All(ctx context.Context, namespace string) iter.Seq2[*store.Unstructured, error]
	Watch(ctx context.Context, opts store.WatchOptions) iter.Seq2[watch.Event[store.Unstructured], error]
	Follow(ctx context.Context, opts store.WatchOptions) iter.Seq2[watch.Event[store.Unstructured], error]
}

// In returns the objects of a kind in a store, or on the server of a client, as values of T:
//
//	configMaps, err := kube.In[corev1.ConfigMap](kind, st)
//
// The error says that the objects of the kind have a Go type of their own, as Leases have; see store.Kind.In.
func In[T any, P interface {
	*T
	runtime.Object
}, D *store.Store | *client.Client](kind store.AnyKind, door D) (*Collection[T], error) {
	k, err := store.As[store.Unstructured](kind)
	if err != nil {
		return nil, err
	}
	switch d := any(door).(type) {
	case *store.Store:
		c := k.In(d)
		return &Collection[T]{c, func() objects { return c.Status() }}, nil
	case *client.Client:
		c := client.In(d, k)
		return &Collection[T]{c, func() objects { return c.Status() }}, nil
	}
	panic("kube: unreachable") // D has no other type
}

// Clock returns the clock of the store, or clock.Real for a server.
func (c *Collection[T]) Clock() clock.Clock { return c.objects.Clock() }

// Status returns the Collection of the status subresource.
func (c *Collection[T]) Status() *Collection[T] { return &Collection[T]{c.status(), c.status} }

// Create stores a new object and returns it with the fields that the server sets.
func (c *Collection[T]) Create(ctx context.Context, obj *T, opts store.CreateOptions) (*T, error) {
	return send(obj, func(u *store.Unstructured) (*store.Unstructured, error) { return c.objects.Create(ctx, u, opts) })
}

// Get returns the current state of an object, or store.ErrNotFound.
func (c *Collection[T]) Get(ctx context.Context, namespace, name string) (*T, error) {
	return typed[T](c.objects.Get(ctx, namespace, name))
}

// Update replaces the object with the same namespace and name.
func (c *Collection[T]) Update(ctx context.Context, obj *T, opts store.UpdateOptions) (*T, error) {
	return send(obj, func(u *store.Unstructured) (*store.Unstructured, error) { return c.objects.Update(ctx, u, opts) })
}

// Modify calls change with the current state and stores the result. If another write comes first, it calls change again with
// the newer state, until ctx ends. It returns an error of change unchanged.
func (c *Collection[T]) Modify(ctx context.Context, namespace, name string, change func(obj *T) error, opts store.UpdateOptions) (*T, error) {
	return typed[T](c.objects.Modify(ctx, namespace, name, func(u *store.Unstructured) error {
		obj, err := typed[T](u, nil)
		if err != nil {
			return err
		}
		if err := change(obj); err != nil {
			return err
		}
		changed, err := untyped(obj)
		if err != nil {
			return err
		}
		*u = *changed
		return nil
	}, opts))
}

// Patch applies a patch of type t and returns the result.
func (c *Collection[T]) Patch(ctx context.Context, namespace, name string, t store.PatchType, data []byte, opts store.PatchOptions) (*T, error) {
	return typed[T](c.objects.Patch(ctx, namespace, name, t, data, opts))
}

// Apply merges config into the object of that name, or creates it, and makes the field manager the owner of the fields in
// config: all fields of T that its JSON does not omit.
func (c *Collection[T]) Apply(ctx context.Context, config *T, opts store.ApplyOptions) (*T, error) {
	return send(config, func(u *store.Unstructured) (*store.Unstructured, error) { return c.objects.Apply(ctx, u, opts) })
}

// Delete removes an object, or sets its deletionTimestamp if it has finalizers. Of an object that is gone, a server returns
// only namespace, name and uid.
func (c *Collection[T]) Delete(ctx context.Context, namespace, name string, opts store.DeleteOptions) (*T, error) {
	return typed[T](c.objects.Delete(ctx, namespace, name, opts))
}

// DeleteCollection deletes the objects that List returns for the options, and returns them as they were before.
func (c *Collection[T]) DeleteCollection(ctx context.Context, opts store.DeleteOptions, list store.ListOptions) (*store.List[T], error) {
	return typedList[T](c.objects.DeleteCollection(ctx, opts, list))
}

// List returns a page of objects.
func (c *Collection[T]) List(ctx context.Context, opts store.ListOptions) (*store.List[T], error) {
	return typedList[T](c.objects.List(ctx, opts))
}

// All iterates over the objects of a namespace, or of all namespaces for "". An error is the last element.
func (c *Collection[T]) All(ctx context.Context, namespace string) iter.Seq2[*T, error] {
	all := c.objects.All(ctx, namespace)
	return func(yield func(*T, error) bool) {
		for u, err := range all {
			obj, err := typed[T](u, err)
			if !yield(obj, err) || err != nil {
				return
			}
		}
	}
}

// Watch sends the changes of the collection. Objects are never shared: WatchOptions.Shared saves only one of two copies.
func (c *Collection[T]) Watch(ctx context.Context, opts store.WatchOptions) iter.Seq2[watch.Event[T], error] {
	return events[T](c.objects.Watch(ctx, opts))
}

// Follow is like Watch, but does not end with store.ErrExpired: it lists again.
func (c *Collection[T]) Follow(ctx context.Context, opts store.WatchOptions) iter.Seq2[watch.Event[T], error] {
	return events[T](c.objects.Follow(ctx, opts))
}

// send converts an object, writes it, and converts the result.
func send[T any](obj *T, write func(*store.Unstructured) (*store.Unstructured, error)) (*T, error) {
	u, err := untyped(obj)
	if err != nil {
		return nil, err
	}
	return typed[T](write(u))
}

func typedList[T any](l *store.List[store.Unstructured], err error) (*store.List[T], error) {
	if l == nil || err != nil {
		return nil, err
	}
	out := &store.List[T]{
		Items: make([]*T, len(l.Items)), ResourceVersion: l.ResourceVersion, Continue: l.Continue, RemainingItemCount: l.RemainingItemCount,
	}
	for i, u := range l.Items {
		if out.Items[i], err = typed[T](u, nil); err != nil {
			return nil, fmt.Errorf("%s/%s: %w", u.Namespace, u.Name, err)
		}
	}
	return out, nil
}

func events[T any](in iter.Seq2[watch.Event[store.Unstructured], error]) iter.Seq2[watch.Event[T], error] {
	return func(yield func(watch.Event[T], error) bool) {
		for ev, err := range in {
			obj, err := typed[T](ev.Object, err)
			out := watch.Event[T]{Type: ev.Type, Object: obj, InitialEventsEnd: ev.InitialEventsEnd}
			if err != nil {
				out = watch.Event[T]{}
			}
			if !yield(out, err) || err != nil {
				return
			}
		}
	}
}
