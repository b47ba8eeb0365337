package store

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"github.com/kubecoord/kubecoord/internal/kinds"
	"github.com/kubecoord/kubecoord/internal/patch"
	"github.com/kubecoord/kubecoord/internal/registry"
	"github.com/kubecoord/kubecoord/store/clock"
	"github.com/kubecoord/kubecoord/store/meta"
)

// Collection reads and writes the objects of one kind in a Store. It has no state of its own, and may be used from
// any goroutine. Arguments of type *T must not be nil.
type Collection[T any] struct {
	r      *registry.Resource
	status bool
}

// Clock returns the clock of the store.
func (c *Collection[T]) Clock() clock.Clock { return c.r.Store().Clock() }

// Status returns the Collection of the status subresource, which a kind has if its Descriptor says so. Update,
// Modify, Patch and Apply through it write only the status, and never create an object. Create, Delete and
// DeleteCollection are errors. Reads are the same.
func (c *Collection[T]) Status() *Collection[T] { return &Collection[T]{r: c.r, status: true} }

// Create stores a new object and returns it with the fields that the server sets: uid, creationTimestamp,
// resourceVersion, managedFields, and the name if it was generated. Errors are ErrAlreadyExists, ErrInvalid and
// ErrBadRequest.
func (c *Collection[T]) Create(ctx context.Context, obj *T, opts CreateOptions) (*T, error) {
	if err := c.wholeObjects("Create"); err != nil {
		return nil, err
	}
	o := c.r.Given(obj)
	req := c.request(opts.DryRun, opts.FieldManager)
	req.Namespace = c.namespace(o.GetObjectMeta())
	if err := c.check(req, "CreateOptions"); err != nil {
		return nil, err
	}
	o, err := c.r.Own(ctx, o, nil)
	if err != nil {
		return nil, err
	}
	it, err := c.r.Create(ctx, o, &req)
	return c.typed(it), err
}

// Get returns the current state of an object, or ErrNotFound.
func (c *Collection[T]) Get(ctx context.Context, namespace, name string) (*T, error) {
	it, err := c.r.Get(ctx, namespace, name, "")
	return c.typed(it), err
}

// Update replaces the object with the same namespace and name. obj must have the current resourceVersion; a kind
// whose UpdateStrategy is Unconditional also accepts "". With CreateMissing it creates a missing object. An update that changes
// nothing takes no resourceVersion and sends no event. Errors are ErrConflict, ErrInvalid, ErrNotFound and
// ErrBadRequest.
func (c *Collection[T]) Update(ctx context.Context, obj *T, opts UpdateOptions) (*T, error) {
	o := c.r.Given(obj)
	m := o.GetObjectMeta()
	req := c.request(opts.DryRun, opts.FieldManager)
	req.Namespace, req.Name, req.UID = c.namespace(m), m.Name, m.UID
	return c.update(ctx, req, "UpdateOptions", registry.Replacement(func(current *registry.Item) (kinds.Object, error) {
		return c.r.Own(ctx, o, current.Stored())
	}))
}

// Modify calls change with a copy of the current state and stores the result. If another write comes first, it calls
// change again with the newer state, until ctx ends. It returns an error of change unchanged; other errors are
// ErrNotFound and the errors of Update.
func (c *Collection[T]) Modify(ctx context.Context, namespace, name string, change func(obj *T) error, opts UpdateOptions) (*T, error) {
	req := c.request(opts.DryRun, opts.FieldManager)
	req.Namespace, req.Name = namespace, name
	return c.update(ctx, req, "UpdateOptions", registry.Modification{Replacement: func(current *registry.Item) (kinds.Object, error) {
		if current == nil {
			return nil, c.r.NotFound(name)
		}
		obj := c.typed(current)
		if err := cmp.Or(change(obj), ctx.Err()); err != nil {
			return nil, err
		}
		return c.r.Own(ctx, c.r.Given(obj), current.Stored())
	}})
}

// Delete removes an object, or sets its deletionTimestamp if it has finalizers. It returns the last state, or the
// changed object, with the resourceVersion of the deletion. A dry run that would remove the last finalizer returns an
// empty object, as a real server does. Errors are ErrNotFound, ErrConflict and ErrInvalid.
func (c *Collection[T]) Delete(ctx context.Context, namespace, name string, opts DeleteOptions) (*T, error) {
	if err := c.wholeObjects("Delete"); err != nil {
		return nil, err
	}
	call := struct { // one allocation for both
		req  registry.Request
		opts kinds.DeleteOptions
	}{registry.Request{Namespace: namespace, Name: name}, opts.wire()}
	d, err := c.r.Delete(ctx, &call.req, &call.opts)
	if err != nil {
		return nil, err
	}
	return as[T](c.r.Shown(d.Copy())), nil
}

// DeleteCollection deletes the objects that List returns for the options, one after the other, and returns them as
// they were before.
func (c *Collection[T]) DeleteCollection(ctx context.Context, opts DeleteOptions, list ListOptions) (*List[T], error) {
	if err := c.wholeObjects("DeleteCollection"); err != nil {
		return nil, err
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	l, err := c.r.DeleteCollection(ctx, registry.Request{}, list.registry(), opts.wire())
	return c.typedList(l), err
}

func (c *Collection[T]) update(ctx context.Context, req registry.Request, options string, change registry.Change) (*T, error) {
	if err := c.check(req, options); err != nil {
		return nil, err
	}
	it, _, err := c.r.Update(ctx, &req, change)
	return c.typed(it), err
}

func (c *Collection[T]) request(dryRun bool, fieldManager string) registry.Request {
	req := registry.Request{Version: c.r.OwnVersion(), DryRun: dryRun, FieldManager: fieldManager}
	if c.status {
		req.Sub = c.r.Kind.SubresourceIn(req.Version, "status")
	}
	return req
}

func (c *Collection[T]) namespace(m *meta.ObjectMeta) string {
	if c.r.Info().ClusterScoped {
		return ""
	}
	return m.Namespace
}

// check returns the error of a write before it begins. options is the name of its options in the API.
func (c *Collection[T]) check(req registry.Request, options string) error {
	if c.status && req.Sub == nil {
		return fmt.Errorf("store: %s: the status is not a subresource of this kind and version; set Descriptor.Status, or write the whole object",
			c.r.Info().Plural)
	}
	return kinds.CheckFieldManager(req.FieldManager, options)
}

// wholeObjects returns the error of a method that the collection of a status does not have.
func (c *Collection[T]) wholeObjects(method string) error {
	if c.status {
		return fmt.Errorf("store: %s: got the collection of a status, want the collection of whole objects", method)
	}
	return nil
}

func (c *Collection[T]) typed(it *registry.Item) *T {
	if it == nil {
		return nil
	}
	return as[T](c.r.Shown(it.Copy()))
}

// Patch applies a patch of type t, in JSON and for the preferred version of the kind, and returns the result. Unknown
// and duplicate fields are errors. Errors are ErrNotFound, ErrBadRequest, ErrInvalid, ErrConflict if the patch
// has another resourceVersion than the object, and meta.ReasonUnsupportedMediaType if the kind does not take the type: an
// unstructured one takes no StrategicMergePatch.
func (c *Collection[T]) Patch(ctx context.Context, namespace, name string, t PatchType, data []byte, opts PatchOptions) (*T, error) {
	if types := registry.PatchTypes(c.r.Info().Trees); !slices.Contains(types, string(t)) || t == registry.ApplyPatch {
		return nil, registry.UnsupportedMedia(types...)
	}
	req := c.request(opts.DryRun, opts.FieldManager)
	req.Namespace, req.Name = namespace, name
	return c.update(ctx, req, "PatchOptions", &registry.Patch{
		Type: string(t), Data: data, Validation: patch.Strict, Scheme: kinds.NewScheme(c.r.Kind),
	})
}

// Apply merges config into the object of that name, or creates it, and makes the field manager the owner of the
// fields in config (API concepts, "Server-Side Apply"). Fields that the manager applied before and that are not in
// config are removed. Empty fields that JSON omits are not in config. Errors are ErrConflict if another manager owns
// a field with another value and Force is not set, ErrInvalid and ErrBadRequest.
func (c *Collection[T]) Apply(ctx context.Context, config *T, opts ApplyOptions) (*T, error) {
	o := c.r.Given(config)
	m := o.GetObjectMeta()
	req := c.request(opts.DryRun, opts.FieldManager)
	req.Namespace, req.Name, req.UID = c.namespace(m), m.Name, m.UID
	if opts.FieldManager == "" {
		return nil, cmp.Or(c.check(req, "PatchOptions"), kinds.ValidatePatchOptions(kinds.WriteOptions{}, true, nil))
	}
	return c.update(ctx, req, "PatchOptions", &registry.Apply{Config: c.r.Tree(o, c.r.OwnVersion()), Force: opts.Force})
}
