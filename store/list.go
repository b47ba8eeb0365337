package store

import (
	"context"
	"iter"

	"github.com/kubecoord/kubecoord/internal/registry"
)

// List is a page of objects, ordered by the bytes of "namespace/name".
type List[T any] struct {
	Items []*T
	// ResourceVersion is the resourceVersion of the state. A watch may start after it.
	ResourceVersion string
	// Continue is the token for the next page, "" on the last page.
	Continue string
	// RemainingItemCount is how many items follow the page, or nil if unknown.
	RemainingItemCount *int64
}

func (c *local[T]) List(ctx context.Context, opts ListOptions) (*List[T], error) {
	l, err := c.r.List(ctx, opts.registry())
	return c.typedList(l), err
}

func (c *local[T]) All(ctx context.Context, namespace string) iter.Seq2[*T, error] {
	l, err := c.r.List(ctx, registry.ListOptions{Namespace: namespace})
	return func(yield func(*T, error) bool) {
		if err != nil {
			yield(nil, err)
			return
		}
		for _, it := range l.Items {
			if !yield(c.typed(it), nil) {
				return
			}
		}
	}
}

func (o ListOptions) registry() registry.ListOptions {
	return registry.ListOptions{
		Namespace: o.Namespace, LabelSelector: o.LabelSelector, FieldSelector: o.FieldSelector, ShardSelector: o.ShardSelector,
		Limit: o.Limit, Continue: o.Continue, ResourceVersion: o.ResourceVersion, ResourceVersionMatch: o.ResourceVersionMatch,
	}
}

func (c *local[T]) typedList(l *registry.List) *List[T] {
	if l == nil {
		return nil
	}
	m := l.Meta()
	out := &List[T]{
		Items: make([]*T, len(l.Items)), ResourceVersion: m.ResourceVersion,
		Continue: m.Continue, RemainingItemCount: m.RemainingItemCount,
	}
	for i, it := range l.Items {
		out.Items[i] = c.typed(it)
	}
	return out
}
