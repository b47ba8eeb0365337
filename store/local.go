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

// local are the objects of a Collection in a Store.
type local[T any] struct {
	collection Collection[T] // of these objects: one allocation for both
	r          *registry.Resource
	status     bool
}

func newLocal[T any](r *registry.Resource, status bool) *Collection[T] {
	l := &local[T]{r: r, status: status}
	l.collection.objects = l
	return &l.collection
}

func (c *local[T]) Clock() clock.Clock { return c.r.Store().Clock() }

func (c *local[T]) Status() *Collection[T] { return newLocal[T](c.r, true) }

func (c *local[T]) Create(ctx context.Context, obj *T, opts CreateOptions) (*T, error) {
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

func (c *local[T]) Get(ctx context.Context, namespace, name string) (*T, error) {
	it, err := c.r.Get(ctx, namespace, name, "")
	return c.typed(it), err
}

func (c *local[T]) Update(ctx context.Context, obj *T, opts UpdateOptions) (*T, error) {
	o := c.r.Given(obj)
	m := o.GetObjectMeta()
	req := c.request(opts.DryRun, opts.FieldManager)
	req.Namespace, req.Name, req.UID = c.namespace(m), m.Name, m.UID
	return c.update(ctx, req, "UpdateOptions", registry.Replacement(func(current *registry.Item) (kinds.Object, error) {
		return c.r.Own(ctx, o, current.Stored())
	}))
}

func (c *local[T]) Modify(ctx context.Context, namespace, name string, change func(obj *T) error, opts UpdateOptions) (*T, error) {
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

func (c *local[T]) Delete(ctx context.Context, namespace, name string, opts DeleteOptions) (*T, error) {
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

func (c *local[T]) DeleteCollection(ctx context.Context, opts DeleteOptions, list ListOptions) (*List[T], error) {
	if err := c.wholeObjects("DeleteCollection"); err != nil {
		return nil, err
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	l, err := c.r.DeleteCollection(ctx, registry.Request{}, list.registry(), opts.wire())
	return c.typedList(l), err
}

func (c *local[T]) update(ctx context.Context, req registry.Request, options string, change registry.Change) (*T, error) {
	if err := c.check(req, options); err != nil {
		return nil, err
	}
	it, _, err := c.r.Update(ctx, &req, change)
	return c.typed(it), err
}

func (c *local[T]) request(dryRun bool, fieldManager string) registry.Request {
	req := registry.Request{Version: c.r.OwnVersion(), DryRun: dryRun, FieldManager: fieldManager}
	if c.status {
		req.Sub = c.r.Kind.SubresourceIn(req.Version, "status")
	}
	return req
}

func (c *local[T]) namespace(m *meta.ObjectMeta) string {
	if c.r.Info().ClusterScoped {
		return ""
	}
	return m.Namespace
}

// check returns the error of a write before it begins. options is the name of its options in the API.
func (c *local[T]) check(req registry.Request, options string) error {
	if c.status && req.Sub == nil {
		return fmt.Errorf("store: %s: the status is not a subresource of this kind and version; set Descriptor.Status, or write the whole object",
			c.r.Info().Plural)
	}
	return kinds.CheckFieldManager(req.FieldManager, options)
}

// wholeObjects returns the error of a method that the collection of a status does not have.
func (c *local[T]) wholeObjects(method string) error {
	if c.status {
		return fmt.Errorf("store: %s: got the collection of a status, want the collection of whole objects", method)
	}
	return nil
}

func (c *local[T]) typed(it *registry.Item) *T {
	if it == nil {
		return nil
	}
	return as[T](c.r.Shown(it.Copy()))
}

func (c *local[T]) Patch(ctx context.Context, namespace, name string, t PatchType, data []byte, opts PatchOptions) (*T, error) {
	if types := registry.PatchTypes(c.r.Info().Trees); !slices.Contains(types, string(t)) || t == registry.ApplyPatch {
		return nil, registry.UnsupportedMedia(types...)
	}
	req := c.request(opts.DryRun, opts.FieldManager)
	req.Namespace, req.Name = namespace, name
	return c.update(ctx, req, "PatchOptions", &registry.Patch{
		Type: string(t), Data: data, Validation: patch.Strict, Scheme: kinds.NewScheme(c.r.Kind),
	})
}

func (c *local[T]) Apply(ctx context.Context, config *T, opts ApplyOptions) (*T, error) {
	o := c.r.Given(config)
	m := o.GetObjectMeta()
	req := c.request(opts.DryRun, opts.FieldManager)
	req.Namespace, req.Name, req.UID = c.namespace(m), m.Name, m.UID
	if opts.FieldManager == "" {
		return nil, cmp.Or(c.check(req, "PatchOptions"), kinds.ValidatePatchOptions(kinds.WriteOptions{}, true, nil))
	}
	return c.update(ctx, req, "PatchOptions", &registry.Apply{Config: c.r.Tree(o, c.r.OwnVersion()), Force: opts.Force})
}
