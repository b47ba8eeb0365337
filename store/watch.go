package store

import (
	"context"
	"errors"
	"io"
	"iter"
	"time"

	"github.com/kubecoord/kubecoord/internal/differ"
	"github.com/kubecoord/kubecoord/internal/registry"
	"github.com/kubecoord/kubecoord/store/meta"
	"github.com/kubecoord/kubecoord/watch"
)

func (c *local[T]) Watch(ctx context.Context, opts WatchOptions) iter.Seq2[watch.Event[T], error] {
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
				if !yield(watch.Event[T]{Type: ev.Type, Object: c.delivered(ev.Item, opts.Shared), InitialEventsEnd: ev.InitialEnd}, nil) {
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

// delivered returns the object of an event: a copy, or the stored object itself for WatchOptions.Shared.
func (c *local[T]) delivered(it *registry.Item, shared bool) *T {
	if shared && c.r.OwnVersion() == 0 {
		return as[T](it.Stored())
	}
	return c.typed(it)
}

func (o WatchOptions) registry() registry.ListOptions {
	return registry.ListOptions{
		Namespace: o.Namespace, Name: o.Name,
		LabelSelector: o.LabelSelector, FieldSelector: o.FieldSelector, ShardSelector: o.ShardSelector,
		ResourceVersion: o.ResourceVersion, AllowWatchBookmarks: o.AllowWatchBookmarks, Timeout: max(o.Timeout, 0),
	}
}

func (c *local[T]) Follow(ctx context.Context, opts WatchOptions) iter.Seq2[watch.Event[T], error] {
	return func(yield func(watch.Event[T], error) bool) {
		f := follower[T]{c: c, opts: opts}
		f.differ = differ.New(identity, func(t watch.EventType, it *registry.Item) error {
			if !yield(watch.Event[T]{Type: t, Object: c.delivered(it, opts.Shared)}, nil) {
				return errLeft
			}
			return nil
		})
		f.opts.AllowWatchBookmarks = true // one marks the end of the current state
		if opts.Timeout > 0 {
			f.deadline = c.Clock().Now().Add(opts.Timeout)
		}
		var err error
		if opts.ResourceVersion != "" {
			err = meta.NewBadRequest("resourceVersion: got %q, want none: Follow begins with the current state", opts.ResourceVersion)
		}
		for err == nil || errors.Is(err, ErrExpired) {
			err = f.watch(ctx)
		}
		if err != io.EOF && err != errLeft {
			yield(watch.Event[T]{}, err)
		}
	}
}

// errLeft means that the consumer left the loop.
var errLeft = errors.New("left")

// follower is the state of one Follow.
type follower[T any] struct {
	c        *local[T]
	opts     WatchOptions
	deadline time.Time // zero without opts.Timeout
	differ   *differ.Differ[*registry.Item]
}

func identity(it *registry.Item) differ.Identity {
	return differ.Identity{Namespace: it.Namespace(), Name: it.Name(), UID: it.UID(), ResourceVersion: it.ResourceVersion()}
}

// watch sends the differences to the current state, and then the changes.
func (f *follower[T]) watch(ctx context.Context) error {
	if !f.deadline.IsZero() {
		f.opts.Timeout = max(f.deadline.Sub(f.c.Clock().Now()), 1)
	}
	w, err := f.c.r.Watch(ctx, f.opts.registry())
	if err != nil {
		return err
	}
	defer w.Close()
	f.differ.Begin()
	listing := true
	for {
		events, err := w.Next(ctx)
		if err != nil {
			return err
		}
		for _, ev := range events {
			switch {
			case ev.InitialEnd:
				listing = false
				err = f.differ.End()
			case listing:
				err = f.differ.Listed(ev.Item)
			case ev.Type != watch.Bookmark:
				err = f.differ.Event(ev.Type, ev.Item)
			}
			if err != nil {
				return err
			}
		}
	}
}
