package store

import (
	"context"
	"fmt"
	"io"
	"iter"

	"github.com/kubecoord/kubecoord/store/meta"
	"github.com/kubecoord/kubecoord/watch"
)

// Collection is the typed view of one kind in a Store. It may be made anew
// whenever it is needed, and used from any goroutine. Objects that go in are
// copied; objects that come out belong to the caller.
type Collection[T any] struct {
	r *Resource
}

// In returns the collection of a kind in a store. Packages of kinds have an In
// of their own.
func In[T any](st *Store, kind *Kind[T]) *Collection[T] {
	return &Collection[T]{st.Resource(kind)}
}

// Store returns the store that the collection is in.
func (c *Collection[T]) Store() *Store { return c.r.st }

// Create stores a new object. The answer has what the server filled in: uid,
// creationTimestamp, resourceVersion, and the name where it was generated.
// Errors are ErrAlreadyExists, ErrInvalid and ErrBadRequest.
func (c *Collection[T]) Create(obj *T, opts CreateOptions) (*T, error) {
	if err := opts.Validate(); err != nil {
		return nil, err
	}
	o := c.own(obj, nil)
	it, err := c.r.Create(o, Request{
		Namespace: c.namespace(o.GetObjectMeta()), DryRun: isDryRun(opts.DryRun), FieldManager: opts.FieldManager,
	})
	return typed[T](it), err
}

// namespace returns where an object is to be written.
func (c *Collection[T]) namespace(m *meta.ObjectMeta) string {
	if c.r.kind.clusterScoped {
		return ""
	}
	return m.Namespace
}

// own returns a copy of a caller's object in the form that is stored. It may
// share with the current state, if there is one, what did not change.
func (c *Collection[T]) own(obj *T, current *Item) Object {
	o := any(obj).(Object)
	fields := o.GetObjectMeta().ManagedFields
	if current != nil && c.r.kind.pure {
		o = c.r.kind.forms[0].typ.CopyOnto(o, current.obj).(Object)
	} else {
		o = c.r.kind.copy(o)
	}
	*o.GetTypeMeta() = meta.TypeMeta{}
	if fields != nil && len(fields) == 0 {
		o.GetObjectMeta().ManagedFields = fields
	}
	keepReset(o.GetObjectMeta())
	c.r.kind.defaults(o)
	return o
}

func typed[T any](it *Item) *T {
	if it == nil {
		return nil
	}
	return as[T](it.copy())
}

// Get returns the current state of an object, or ErrNotFound.
func (c *Collection[T]) Get(namespace, name string) (*T, error) {
	it, err := c.r.Get(context.Background(), namespace, name, "")
	return typed[T](it), err
}

// Update replaces the object of the same namespace and name. Its
// resourceVersion must be that of the state it replaces; kinds that allow
// unconditional updates take an empty one as any. Kinds that create on update
// do so where there is none. An update that changes nothing makes no version
// and no event. Errors are ErrConflict, ErrInvalid and ErrNotFound.
func (c *Collection[T]) Update(obj *T, opts UpdateOptions) (*T, error) {
	return c.update(obj, opts, false)
}

func (c *Collection[T]) update(obj *T, opts UpdateOptions, status bool) (*T, error) {
	if err := opts.Validate(); err != nil {
		return nil, err
	}
	if err := c.checkStatus(status); err != nil {
		return nil, err
	}
	m := any(obj).(Object).GetObjectMeta()
	req := Request{
		Namespace: c.namespace(m), Name: m.Name,
		DryRun: isDryRun(opts.DryRun), FieldManager: opts.FieldManager, Status: status,
	}
	it, _, err := c.r.Update(req, m.UID, func(current *Item) (Object, error) { return c.own(obj, current), nil })
	return typed[T](it), err
}

// UpdateStatus is Update for the status of a kind that has it as a subresource:
// nothing else of obj counts but its name and resourceVersion. It never creates.
func (c *Collection[T]) UpdateStatus(obj *T, opts UpdateOptions) (*T, error) {
	return c.update(obj, opts, true)
}

// Modify changes an object in place: change is given a copy of the current
// state, and is called again with a newer one where another writer came in
// between. An error of change ends it and is returned as it is. Where there is
// no such object the error is ErrNotFound.
func (c *Collection[T]) Modify(namespace, name string, change func(obj *T) error) (*T, error) {
	return c.modify(Request{Namespace: namespace, Name: name}, change)
}

// ModifyStatus is Modify for the status of a kind that has it as a subresource:
// nothing else that change does counts.
func (c *Collection[T]) ModifyStatus(namespace, name string, change func(obj *T) error) (*T, error) {
	return c.modify(Request{Namespace: namespace, Name: name, Status: true}, change)
}

// checkStatus refuses a write of a status that is no subresource.
func (c *Collection[T]) checkStatus(status bool) error {
	if status && !c.r.kind.status {
		return fmt.Errorf("store: %s: the status is no subresource of this kind: set Kind.Status, or write the whole object", c.r.kind.groupResource())
	}
	return nil
}

func (c *Collection[T]) modify(req Request, change func(obj *T) error) (*T, error) {
	if err := c.checkStatus(req.Status); err != nil {
		return nil, err
	}
	it, _, err := c.r.Update(req, "", func(current *Item) (Object, error) {
		if current == nil {
			return nil, meta.NewNotFound(c.r.kind.groupResource(), req.Name)
		}
		obj := typed[T](current)
		if err := change(obj); err != nil {
			return nil, err
		}
		return c.own(obj, current), nil
	})
	return typed[T](it), err
}

// Delete removes an object, or marks it as terminating where finalizers hold
// it. It returns the object as the deletion left it, with the version of the
// deletion; for the dry run of one see Resource.Delete. Errors are ErrNotFound, ErrConflict (preconditions) and ErrInvalid
// (options).
func (c *Collection[T]) Delete(namespace, name string, opts DeleteOptions) (*T, error) {
	it, _, err := c.r.Delete(Request{Namespace: namespace, Name: name}, opts)
	return typed[T](it), err
}

// DeleteCollection deletes all that a list with the same options would return
// and returns it, as it was before.
func (c *Collection[T]) DeleteCollection(ctx context.Context, list ListOptions, opts DeleteOptions) ([]*T, error) {
	l, err := c.r.DeleteCollection(ctx, list, opts)
	if err != nil {
		return nil, err
	}
	return typedItems[T](l), nil
}

// List returns a page of objects and the metadata of the list, which holds the
// token for the next one. It waits, for three seconds at most, only for a
// resourceVersion in the future.
func (c *Collection[T]) List(ctx context.Context, opts ListOptions) ([]*T, meta.ListMeta, error) {
	l, err := c.r.List(ctx, opts)
	if err != nil {
		return nil, meta.ListMeta{}, err
	}
	return typedItems[T](l), l.Meta(), nil
}

// All walks all objects of a namespace, or of all for "", as they are at the
// moment of the call, in the order of "namespace/name".
func (c *Collection[T]) All(namespace string) iter.Seq[*T] {
	s := c.r.snapshot()
	sel := selection{kind: c.r.kind, namespace: namespace}
	return func(yield func(*T) bool) {
		for _, it := range sel.page(s, "", 0).Items {
			if !yield(typed[T](it)) {
				return
			}
		}
	}
}

func typedItems[T any](l *List) []*T {
	out := make([]*T, len(l.Items))
	for i, it := range l.Items {
		out[i] = typed[T](it)
	}
	return out
}

// Event is one event of a typed watch.
type Event[T any] struct {
	Type watch.EventType
	// Object is the state after the change; of a deletion the last one, with
	// the version of the deletion; of a bookmark an object that has nothing
	// but a resourceVersion.
	Object *T
}

// Watch follows the changes of a collection from the moment the sequence is
// ranged over until the context ends, the
// loop is left, or the watch does: at its timeout the sequence just ends, in
// all other cases its last element is an error. An error that is ErrExpired
// means that history no longer reaches back far enough; list again.
func (c *Collection[T]) Watch(ctx context.Context, opts WatchOptions) iter.Seq2[Event[T], error] {
	return func(yield func(Event[T], error) bool) {
		w, err := c.r.Watch(ctx, opts)
		if err != nil {
			yield(Event[T]{}, err)
			return
		}
		defer w.Close()
		for {
			events, err := w.Next(ctx)
			if err == nil {
				for _, ev := range events {
					if !yield(Event[T]{ev.Type, typed[T](ev.Item)}, nil) {
						return
					}
				}
				continue
			}
			if err != io.EOF {
				yield(Event[T]{}, err)
			}
			return
		}
	}
}
