package registry

import (
	"context"
	"errors"
	"iter"

	"github.com/kubecoord/kubecoord/store/meta"
)

// Update is one element of Follow.
type Update struct {
	// Relisted means that All is the whole state, in the order of "namespace/name", and
	// replaces all earlier Updates. It must not be changed.
	Relisted bool
	All      []*Item
	// Events are changes and bookmarks. The slice is valid until the next step.
	Events []ItemEvent
}

// Follow lists all objects, and then sends each change. When history has expired it lists again. The last element is
// the error of the context, or ErrClosed. wants is as in WatchOptions.
func (r *Resource) Follow(ctx context.Context, wants func(*Item) bool) iter.Seq2[Update, error] {
	return func(yield func(Update, error) bool) {
		for {
			list, err := r.List(ctx, ListOptions{})
			if err == nil {
				if !yield(Update{Relisted: true, All: list.Items}, nil) {
					return
				}
				var left bool
				if left, err = r.followFrom(ctx, WatchOptions{
					ResourceVersion: list.Meta().ResourceVersion, AllowWatchBookmarks: true, Wants: wants,
				}, yield); left {
					return
				}
			}
			if !errors.Is(err, meta.ReasonExpired) {
				yield(Update{}, err)
				return
			}
		}
	}
}

// followFrom sends the events of a watch until it ends. left reports whether the consumer left the loop.
func (r *Resource) followFrom(ctx context.Context, opts WatchOptions, yield func(Update, error) bool) (left bool, err error) {
	w, err := r.Watch(ctx, opts)
	if err != nil {
		return false, err
	}
	defer w.Close()
	for {
		events, err := w.Next(ctx)
		if err != nil {
			return false, err
		}
		if !yield(Update{Events: events}, nil) {
			return true, nil
		}
	}
}
