package store

import (
	"cmp"
	"context"
	"errors"
	"fmt"

	"github.com/kubecoord/kubecoord/internal/registry"
	"github.com/kubecoord/kubecoord/store/clock"
	"github.com/kubecoord/kubecoord/store/meta"
)

// Collection is the typed door to the objects of one kind in a Store. It holds no
// state of its own, and may be used from any goroutine. Objects that go in are
// copied; objects that come out belong to the caller.
//
// All errors of the API are *meta.StatusError, and answer errors.Is for the errors
// of this package. A write whose context has ended is refused with the error of the
// context.
type Collection[T any] struct {
	r      *registry.Resource
	status bool
}

// Clock returns the clock of the store.
func (c *Collection[T]) Clock() clock.Clock { return c.r.Store().Clock() }

// Status returns the collection for writes of the status alone, of a kind that has
// it as a subresource: Update, Modify, Patch and Apply through it write nothing
// else, and never create. Create and Delete are refused. Reads are the same.
func (c *Collection[T]) Status() *Collection[T] { return &Collection[T]{r: c.r, status: true} }

// Create stores a new object and returns it with what the server filled in: uid,
// creationTimestamp, resourceVersion, and the name if it was generated. Errors are
// ErrAlreadyExists, ErrInvalid and ErrBadRequest.
func (c *Collection[T]) Create(ctx context.Context, obj *T, opts CreateOptions) (*T, error) {
	if c.status {
		return nil, errors.New("store: Create: got the collection of a status, want that of whole objects")
	}
	o := object(obj)
	req := c.request(ctx, opts.DryRun, opts.FieldManager)
	req.Namespace = c.namespace(o.GetObjectMeta())
	if err := c.check(ctx, req, "CreateOptions"); err != nil {
		return nil, err
	}
	it, err := c.r.Create(ctx, c.r.Own(o, nil), req)
	return typed[T](it), err
}

// Get returns the current state of an object, or ErrNotFound.
func (c *Collection[T]) Get(ctx context.Context, namespace, name string) (*T, error) {
	it, err := c.r.Get(ctx, namespace, name, "")
	return typed[T](it), err
}

// Update replaces the object of the same namespace and name. Its resourceVersion
// must be that of the state that it replaces; kinds with UnconditionalUpdate take
// "" as any, and kinds with CreateOnUpdate create the object if there is none. An
// update that changes nothing takes no resourceVersion and sends no event. Errors
// are ErrConflict, ErrInvalid, ErrNotFound and ErrBadRequest.
func (c *Collection[T]) Update(ctx context.Context, obj *T, opts UpdateOptions) (*T, error) {
	o := object(obj)
	m := o.GetObjectMeta()
	req := c.request(ctx, opts.DryRun, opts.FieldManager)
	req.Namespace, req.Name = c.namespace(m), m.Name
	if err := c.check(ctx, req, "UpdateOptions"); err != nil {
		return nil, err
	}
	it, _, err := c.r.Update(ctx, req, registry.Replacement{UID: m.UID, Object: func(current *registry.Item) (registry.Object, error) {
		return c.r.Own(o, current), nil
	}})
	return typed[T](it), err
}

// Modify gives change a copy of the current state and writes what change makes of
// it. If another writer comes in between, change is called again with the newer
// state. An error of change is returned as it is. Other errors are ErrNotFound and
// those of Update.
func (c *Collection[T]) Modify(ctx context.Context, namespace, name string, change func(obj *T) error, opts UpdateOptions) (*T, error) {
	req := c.request(ctx, opts.DryRun, opts.FieldManager)
	req.Namespace, req.Name = namespace, name
	if err := c.check(ctx, req, "UpdateOptions"); err != nil {
		return nil, err
	}
	it, _, err := c.r.Update(ctx, req, registry.Replacement{Object: func(current *registry.Item) (registry.Object, error) {
		if current == nil {
			return nil, c.r.NotFound(name)
		}
		obj := typed[T](current)
		if err := cmp.Or(change(obj), ctx.Err()); err != nil {
			return nil, err
		}
		return c.r.Own(object(obj), current), nil
	}})
	return typed[T](it), err
}

// Delete removes an object, or marks it as terminating if it has finalizers. It
// returns the object as the deletion left it, with the resourceVersion of the
// deletion. A dry run that would take off the last finalizer returns an empty
// object, as a real server does. Errors are ErrNotFound, ErrConflict and ErrInvalid.
func (c *Collection[T]) Delete(ctx context.Context, namespace, name string, opts DeleteOptions) (*T, error) {
	if c.status {
		return nil, errors.New("store: Delete: got the collection of a status, want that of whole objects")
	}
	it, _, err := c.r.Delete(ctx, registry.Request{Namespace: namespace, Name: name, Origin: registry.OriginOf(ctx)}, opts.wire())
	return typed[T](it), err
}

// DeleteCollection deletes all objects that a list with the same options would
// return, and returns them as they were before.
func (c *Collection[T]) DeleteCollection(ctx context.Context, opts DeleteOptions, list ListOptions) (*List[T], error) {
	if c.status {
		return nil, errors.New("store: DeleteCollection: got the collection of a status, want that of whole objects")
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	l, err := c.r.DeleteCollection(ctx, list.registry(), opts.wire())
	return typedList[T](l), err
}

// request returns what a write passes on, except for the name of the object.
func (c *Collection[T]) request(ctx context.Context, dryRun bool, fieldManager string) registry.Request {
	return registry.Request{DryRun: dryRun, FieldManager: fieldManager, Status: c.status, Origin: registry.OriginOf(ctx)}
}

// namespace returns the namespace that an object is written to.
func (c *Collection[T]) namespace(m *meta.ObjectMeta) string {
	if c.r.ClusterScoped() {
		return ""
	}
	return m.Namespace
}

// check returns the error of a write that must not begin. options is the name of its
// options in the API.
func (c *Collection[T]) check(ctx context.Context, req registry.Request, options string) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	if c.status && !c.r.HasStatus() {
		return fmt.Errorf("store: %s: the status is not a subresource of this kind; set Descriptor.Status, or write the whole object", c.r.Info().Plural)
	}
	return registry.CheckFieldManager(req.FieldManager, options)
}

// object returns a typed object in the form that the registry takes.
func object[T any](obj *T) registry.Object { return any(obj).(registry.Object) }

// typed returns a copy of an item for the caller to own.
func typed[T any](it *registry.Item) *T {
	if it == nil {
		return nil
	}
	return as[T](it.Copy())
}
