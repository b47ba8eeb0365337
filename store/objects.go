package store

import (
	"cmp"
	"context"
	"iter"

	"github.com/kubecoord/kubecoord/internal/kinds"
	"github.com/kubecoord/kubecoord/internal/registry"
	"github.com/kubecoord/kubecoord/store/kind"
	"github.com/kubecoord/kubecoord/store/meta"
)

// Objects has the objects of one kind in a Store, without their Go type, for programs that treat all kinds alike, such as a garbage
// collector or an admission plugin. Objects that come out are shared with the store and all its readers, as the objects of an informer of
// client-go are: they must not be changed. It has no state of its own, and may be used from any goroutine.
type Objects struct{ r *registry.Resource }

// Objects returns the objects of a kind. The error is for a kind that the store does not have, or that another has replaced.
func (st *Store) Objects(k kind.Kind) (*Objects, error) {
	r, err := st.registry().Find(kinds.Of(k))
	if err != nil {
		return nil, err
	}
	return &Objects{r}, nil
}

// Kind returns the kind of the objects.
func (o *Objects) Kind() kind.Kind { return o.r.Kind }

// Len returns the number of objects.
func (o *Objects) Len() int { return o.r.Len() }

// Get returns the present state of an object, without waiting, or nil if there is none.
func (o *Objects) Get(namespace, name string) meta.Object { return o.r.Peek(namespace, name).Stored() }

// State returns a value that is another one, by ==, after each change of the objects.
func (o *Objects) State() any { return o.r.State() }

// All iterates over the objects of a namespace, or of all namespaces for "", in the order of "namespace/name" and in their present state.
func (o *Objects) All(namespace string) iter.Seq[meta.Object] {
	return func(yield func(meta.Object) bool) {
		for it := range o.r.Present(namespace) {
			if !yield(it.Stored()) {
				return
			}
		}
	}
}

// Modify calls change with a copy of the present state in the stored form and stores the result in the preferred version, as
// Collection.Modify does. subresource is the name of the subresource that is written, or "".
func (o *Objects) Modify(ctx context.Context, namespace, name, subresource string, change func(obj meta.Object) error, opts UpdateOptions) error {
	req := o.request(namespace, name)
	req.DryRun, req.FieldManager = opts.DryRun, opts.FieldManager
	if subresource != "" {
		req.Sub = o.r.Kind.SubresourceIn(req.Version, subresource)
		if req.Sub == nil {
			return meta.NewBadRequest("subresource: got %q, want a subresource of %s", subresource, o.r.GroupResource())
		}
	}
	_, _, err := o.r.Update(ctx, &req, registry.Modification{Replacement: func(current *registry.Item) (meta.Object, error) {
		if current == nil {
			return nil, o.r.NotFound(name)
		}
		obj := current.Copy()
		if err := change(obj); err != nil {
			return nil, err
		}
		return obj, ctx.Err()
	}})
	return err
}

// Delete deletes an object, as Collection.Delete does.
func (o *Objects) Delete(ctx context.Context, namespace, name string, opts DeleteOptions) error {
	_, err := o.r.Delete(ctx, new(o.request(namespace, name)), new(opts.wire()))
	return err
}

// DeleteCollection deletes the objects of a namespace, or of all namespaces for "", one after the other.
func (o *Objects) DeleteCollection(ctx context.Context, namespace string, opts DeleteOptions) error {
	_, err := o.r.DeleteCollection(ctx, registry.Request{Namespace: namespace}, registry.ListOptions{Namespace: namespace}, opts.wire())
	return err
}

// SetTerminating says whether the definition of the kind is terminating. Then nothing can be created, as on a real server.
func (o *Objects) SetTerminating(terminating bool) { o.r.Store().SetTerminating(o.r.Kind, terminating) }

func (o *Objects) request(namespace, name string) registry.Request {
	return registry.Request{Namespace: namespace, Name: name, Version: o.r.Info().Preferred()}
}

// ObjectChange is a change of an object of any kind. Its objects are shared, as the objects of Objects are.
type ObjectChange struct {
	// Kind is the kind of the object, without the types that embed it.
	Kind kind.Kind
	// Old is the state before, nil if there was no object. New is the state after, nil if the object is gone.
	Old, New meta.Object
}

// Changes sends the changes of the objects of all kinds from now on, in the order of their resourceVersions. An element without changes,
// of which the first one is one, means that the caller must read the whole state: with Objects. The last element has the error of the
// context, or ErrClosed.
func (st *Store) Changes(ctx context.Context) iter.Seq2[[]ObjectChange, error] {
	return func(yield func([]ObjectChange, error) bool) {
		f := st.registry().Feed(nil)
		defer f.Close()
		for {
			changes, relist, err := f.Poll()
			if err = cmp.Or(err, ctx.Err()); err != nil {
				yield(nil, err)
				return
			}
			var out []ObjectChange
			for i := range changes {
				c := &changes[i]
				out = append(out, ObjectChange{c.Kind(), c.Old.Stored(), c.New.Stored()})
			}
			if (relist || len(out) > 0) && !yield(out, nil) {
				return
			}
			select {
			case <-f.WakeUp():
			case <-ctx.Done():
			}
		}
	}
}
