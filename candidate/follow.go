package candidate

import (
	"context"
	"errors"
	"io"
	"slices"

	"github.com/kubecoord/kubecoord/store"
)

// news is what a watch tells.
type news struct {
	of *store.Resource
	// afresh tells that what was known so far may be out of date: all is what
	// there is.
	afresh bool
	all    []*store.Item
	events []store.ItemEvent
}

// follow passes on what happens to the objects of a resource, until the context
// or the store ends. It begins with all there are, and does so again when it
// lost the thread.
func follow(ctx context.Context, r *store.Resource, out chan<- news) error {
	for {
		list, err := r.List(ctx, store.ListOptions{})
		if err != nil {
			return err
		}
		if err := send(ctx, out, news{of: r, afresh: true, all: list.Items}); err != nil {
			return err
		}
		if err := followFrom(ctx, r, list.Meta().ResourceVersion, out); !errors.Is(err, store.ErrExpired) {
			return err
		}
	}
}

// followFrom passes on all changes after a version. Watches end after half an
// hour or more; the next one goes on where it was.
func followFrom(ctx context.Context, r *store.Resource, version string, out chan<- news) error {
	for {
		w, err := r.Watch(ctx, store.WatchOptions{ResourceVersion: version, AllowWatchBookmarks: true})
		if err != nil {
			return err
		}
		for err == nil {
			var events []store.ItemEvent
			if events, err = w.Next(ctx); err != nil {
				break
			}
			version = events[len(events)-1].Item.ResourceVersion()
			err = send(ctx, out, news{of: r, events: slices.Clone(events)})
		}
		w.Close()
		if err != io.EOF {
			return err
		}
	}
}

func send(ctx context.Context, out chan<- news, n news) error {
	select {
	case out <- n:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
