package store

import (
	"context"
	"iter"

	"github.com/kubecoord/kubecoord/store/clock"
	"github.com/kubecoord/kubecoord/watch"
)

// Collection reads and writes the objects of one kind: in a Store by Kind.In, on a server by client.In, and as values of a Go type of
// Kubernetes by kube.In. What is said of a method is true of a store; packages client and kube say where a server differs. A Collection
// has no state of its own, and may be used from any goroutine. Arguments of type *T must not be nil.
type Collection[T any] struct{ objects methods[T] }

// methods are the methods of a Collection.
type methods[T any] interface {
	Clock() clock.Clock
	Status() *Collection[T]
	Create(ctx context.Context, obj *T, opts CreateOptions) (*T, error)
	Get(ctx context.Context, namespace, name string) (*T, error)
	Update(ctx context.Context, obj *T, opts UpdateOptions) (*T, error)
	Modify(ctx context.Context, namespace, name string, change func(obj *T) error, opts UpdateOptions) (*T, error)
	Patch(ctx context.Context, namespace, name string, t PatchType, data []byte, opts PatchOptions) (*T, error)
	Apply(ctx context.Context, config *T, opts ApplyOptions) (*T, error)
	Delete(ctx context.Context, namespace, name string, opts DeleteOptions) (*T, error)
	DeleteCollection(ctx context.Context, opts DeleteOptions, list ListOptions) (*List[T], error)
	List(ctx context.Context, opts ListOptions) (*List[T], error)
	All(ctx context.Context, namespace string) iter.Seq2[*T, error]
	Watch(ctx context.Context, opts WatchOptions) iter.Seq2[watch.Event[T], error]
	Follow(ctx context.Context, opts WatchOptions) iter.Seq2[watch.Event[T], error]
}

// CollectionOf returns the Collection that calls the methods of objects, which are not in a Store. It is for packages such as client.
func CollectionOf[T any](objects methods[T]) *Collection[T] { return &Collection[T]{objects} }

// Clock returns the clock of the store, or clock.Real for a server.
func (c *Collection[T]) Clock() clock.Clock { return c.objects.Clock() }

// Status returns the Collection of the status subresource, which a kind has if its Descriptor says so. Update,
// Modify, Patch and Apply through it write only the status, and never create an object. Create, Delete and
// DeleteCollection are errors. Reads are the same.
func (c *Collection[T]) Status() *Collection[T] { return c.objects.Status() }

// Create stores a new object and returns it with the fields that the server sets: uid, creationTimestamp,
// resourceVersion, managedFields, and the name if it was generated. Errors are ErrAlreadyExists, ErrInvalid and
// ErrBadRequest.
func (c *Collection[T]) Create(ctx context.Context, obj *T, opts CreateOptions) (*T, error) {
	return c.objects.Create(ctx, obj, opts)
}

// Get returns the current state of an object, or ErrNotFound.
func (c *Collection[T]) Get(ctx context.Context, namespace, name string) (*T, error) {
	return c.objects.Get(ctx, namespace, name)
}

// Update replaces the object with the same namespace and name. obj must have the current resourceVersion; a kind
// whose UpdateStrategy is Unconditional also accepts "". With CreateMissing it creates a missing object. An update that changes
// nothing takes no resourceVersion and sends no event. Errors are ErrConflict, ErrInvalid, ErrNotFound and
// ErrBadRequest.
func (c *Collection[T]) Update(ctx context.Context, obj *T, opts UpdateOptions) (*T, error) {
	return c.objects.Update(ctx, obj, opts)
}

// Modify calls change with a copy of the current state and stores the result. If another write comes first, it calls
// change again with the newer state, until ctx ends. It returns an error of change unchanged; other errors are
// ErrNotFound and the errors of Update.
func (c *Collection[T]) Modify(ctx context.Context, namespace, name string, change func(obj *T) error, opts UpdateOptions) (*T, error) {
	return c.objects.Modify(ctx, namespace, name, change, opts)
}

// Patch applies a patch of type t, in JSON and for the preferred version of the kind, and returns the result. Unknown
// and duplicate fields are errors. Errors are ErrNotFound, ErrBadRequest, ErrInvalid, ErrConflict if the patch
// has another resourceVersion than the object, and meta.ReasonUnsupportedMediaType if the kind does not take the type: an
// unstructured one takes no StrategicMergePatch.
func (c *Collection[T]) Patch(ctx context.Context, namespace, name string, t PatchType, data []byte, opts PatchOptions) (*T, error) {
	return c.objects.Patch(ctx, namespace, name, t, data, opts)
}

// Apply merges config into the object of that name, or creates it, and makes the field manager the owner of the
// fields in config (API concepts, "Server-Side Apply"). Fields that the manager applied before and that are not in
// config are removed. Empty fields that JSON omits are not in config. Errors are ErrConflict if another manager owns
// a field with another value and Force is not set, ErrInvalid and ErrBadRequest.
func (c *Collection[T]) Apply(ctx context.Context, config *T, opts ApplyOptions) (*T, error) {
	return c.objects.Apply(ctx, config, opts)
}

// Delete removes an object, or sets its deletionTimestamp if it has finalizers. It returns the last state, or the
// changed object, with the resourceVersion of the deletion. A dry run that would remove the last finalizer returns an
// empty object, as a real server does. Errors are ErrNotFound, ErrConflict and ErrInvalid.
func (c *Collection[T]) Delete(ctx context.Context, namespace, name string, opts DeleteOptions) (*T, error) {
	return c.objects.Delete(ctx, namespace, name, opts)
}

// DeleteCollection deletes the objects that List returns for the options, one after the other, and returns them as
// they were before.
func (c *Collection[T]) DeleteCollection(ctx context.Context, opts DeleteOptions, list ListOptions) (*List[T], error) {
	return c.objects.DeleteCollection(ctx, opts, list)
}

// List returns a page of objects. It waits only for a ResourceVersion in the future, at most three seconds. Errors
// are ErrBadRequest, ErrInvalid, ErrExpired and ErrTimeout.
func (c *Collection[T]) List(ctx context.Context, opts ListOptions) (*List[T], error) {
	return c.objects.List(ctx, opts)
}

// All iterates over the objects of a namespace, or of all namespaces for "", in the order of "namespace/name" and in
// their state at the call. An error is the last element.
func (c *Collection[T]) All(ctx context.Context, namespace string) iter.Seq2[*T, error] {
	return c.objects.All(ctx, namespace)
}

// Watch sends the changes of a collection. The watch opens when the sequence is ranged over, and ends with the loop.
// At opts.Timeout the sequence ends without an error. Otherwise its last element is an error: the error of ctx,
// ErrClosed, ErrBadRequest or ErrInvalid for opts, ErrTimeout for a ResourceVersion in the future, or ErrExpired if
// history no longer has the next change. After ErrExpired list again, or use Follow.
func (c *Collection[T]) Watch(ctx context.Context, opts WatchOptions) iter.Seq2[watch.Event[T], error] {
	return c.objects.Watch(ctx, opts)
}

// Follow is like Watch, but does not end with ErrExpired: it lists again, and sends the differences to the objects it
// sent before. So the consumer always gets to the current state, but may miss states in between. An object that was
// deleted meanwhile is sent in the last state that was sent. opts.ResourceVersion must be "". Bookmarks are not sent.
func (c *Collection[T]) Follow(ctx context.Context, opts WatchOptions) iter.Seq2[watch.Event[T], error] {
	return c.objects.Follow(ctx, opts)
}
