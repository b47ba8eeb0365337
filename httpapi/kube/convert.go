package kube

import (
	"context"
	"fmt"
	"iter"

	"k8s.io/apimachinery/pkg/runtime"

	"github.com/kubecoord/kubecoord/store"
	"github.com/kubecoord/kubecoord/store/clock"
	"github.com/kubecoord/kubecoord/watch"
)

// converted has the untyped objects of a collection as values of T.
type converted[T any] struct {
	objects *store.Collection[store.Unstructured]
}

func (c converted[T]) Clock() clock.Clock { return c.objects.Clock() }

func (c converted[T]) Status() *store.Collection[T] {
	return store.CollectionOf(converted[T]{c.objects.Status()})
}

func (c converted[T]) Create(ctx context.Context, obj *T, opts store.CreateOptions) (*T, error) {
	return send(obj, func(u *store.Unstructured) (*store.Unstructured, error) { return c.objects.Create(ctx, u, opts) })
}

func (c converted[T]) Get(ctx context.Context, namespace, name string) (*T, error) {
	return typed[T](c.objects.Get(ctx, namespace, name))
}

func (c converted[T]) Update(ctx context.Context, obj *T, opts store.UpdateOptions) (*T, error) {
	return send(obj, func(u *store.Unstructured) (*store.Unstructured, error) { return c.objects.Update(ctx, u, opts) })
}

func (c converted[T]) Modify(ctx context.Context, namespace, name string, change func(obj *T) error, opts store.UpdateOptions) (*T, error) {
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

func (c converted[T]) Patch(ctx context.Context, namespace, name string, t store.PatchType, data []byte, opts store.PatchOptions) (*T, error) {
	return typed[T](c.objects.Patch(ctx, namespace, name, t, data, opts))
}

func (c converted[T]) Apply(ctx context.Context, config *T, opts store.ApplyOptions) (*T, error) {
	return send(config, func(u *store.Unstructured) (*store.Unstructured, error) { return c.objects.Apply(ctx, u, opts) })
}

func (c converted[T]) Delete(ctx context.Context, namespace, name string, opts store.DeleteOptions) (*T, error) {
	return typed[T](c.objects.Delete(ctx, namespace, name, opts))
}

func (c converted[T]) DeleteCollection(ctx context.Context, opts store.DeleteOptions, list store.ListOptions) (*store.List[T], error) {
	return typedList[T](c.objects.DeleteCollection(ctx, opts, list))
}

func (c converted[T]) List(ctx context.Context, opts store.ListOptions) (*store.List[T], error) {
	return typedList[T](c.objects.List(ctx, opts))
}

func (c converted[T]) All(ctx context.Context, namespace string) iter.Seq2[*T, error] {
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

func (c converted[T]) Watch(ctx context.Context, opts store.WatchOptions) iter.Seq2[watch.Event[T], error] {
	return events[T](c.objects.Watch(ctx, opts))
}

func (c converted[T]) Follow(ctx context.Context, opts store.WatchOptions) iter.Seq2[watch.Event[T], error] {
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

// The two halves of a conversion meet in the tree that the JSON of an object decodes to.

// untyped returns an object of a Go type as an untyped one, which shares no memory with it.
func untyped[T any](obj *T) (*store.Unstructured, error) {
	doc, err := runtime.DefaultUnstructuredConverter.ToUnstructured(obj)
	u := &store.Unstructured{}
	if err == nil {
		err = u.SetTree(doc)
	}
	if err != nil {
		return nil, fmt.Errorf("kube: %T: %w", *obj, err)
	}
	return u, nil
}

// typed returns an untyped object as one of a Go type. It takes the results of a call, and returns its error.
func typed[T any](u *store.Unstructured, err error) (*T, error) {
	if err != nil || u == nil {
		return nil, err
	}
	obj := new(T)
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(u.Tree(), obj); err != nil {
		return nil, fmt.Errorf("kube: %T: %w", *obj, err)
	}
	return obj, nil
}
