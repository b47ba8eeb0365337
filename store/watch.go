package store

import (
	"context"
	"io"
	"iter"

	"github.com/kubecoord/kubecoord/internal/registry"
	"github.com/kubecoord/kubecoord/watch"
)

// Watch follows the changes of a collection from the moment the sequence is ranged
// over. It ends when the loop is left, when ctx or the store ends, or at
// WatchOptions.Timeout. At the timeout the sequence just ends; otherwise its last
// element is an error. ErrExpired means that history no longer reaches back far
// enough: list again, or use Follow.
func (c *Collection[T]) Watch(ctx context.Context, opts WatchOptions) iter.Seq2[watch.Event[T], error] {
	return func(yield func(watch.Event[T], error) bool) {
		w, err := c.r.Watch(ctx, opts.registry())
		if err != nil {
			yield(watch.Event[T]{}, err)
			return
		}
		defer w.Close()
		for {
			events, err := w.Next(ctx)
			for _, ev := range events {
				if !yield(watch.Event[T]{Type: ev.Type, Object: typed[T](ev.Item), InitialEventsEnd: ev.InitialEnd}, nil) {
					return
				}
			}
			if err == nil {
				continue
			}
			if err != io.EOF {
				yield(watch.Event[T]{}, err)
			}
			return
		}
	}
}

func (o WatchOptions) registry() registry.WatchOptions {
	return registry.WatchOptions{
		Namespace: o.Namespace, Name: o.Name,
		LabelSelector: o.LabelSelector, FieldSelector: o.FieldSelector, ShardSelector: o.ShardSelector,
		ResourceVersion: o.ResourceVersion, AllowWatchBookmarks: o.AllowWatchBookmarks, Timeout: max(o.Timeout, 0),
	}
}
