package store

import (
	"context"
	"errors"
	"io"
	"iter"
)

// News is what Follow tells at once.
type News struct {
	// Afresh tells that what was known so far may be out of date: All is what
	// there is, in the order of "namespace/name".
	Afresh bool
	All    []*Item
	// Events are changes, and bookmarks. The slice is valid until the sequence
	// goes on.
	Events []ItemEvent
}

// Follow tells of all objects there are, and then of each change, for as long as
// the sequence is ranged over. Watches end now and then, and history may be gone:
// it goes on where it was, or starts afresh. The last element is an error, that of
// the context or ErrClosed.
func (r *Resource) Follow(ctx context.Context) iter.Seq2[News, error] {
	return func(yield func(News, error) bool) {
		for {
			list, err := r.List(ctx, ListOptions{})
			if err == nil {
				if !yield(News{Afresh: true, All: list.Items}, nil) {
					return
				}
				var more bool
				if more, err = r.followFrom(ctx, list.Meta().ResourceVersion, yield); !more {
					return
				}
			}
			if !errors.Is(err, ErrExpired) {
				yield(News{}, err)
				return
			}
		}
	}
}

// followFrom tells of all changes after a version, until it no longer can. more
// is false where nobody listens any more.
func (r *Resource) followFrom(ctx context.Context, version string, yield func(News, error) bool) (more bool, err error) {
	for {
		w, err := r.Watch(ctx, WatchOptions{ResourceVersion: version, AllowWatchBookmarks: true})
		if err != nil {
			return true, err
		}
		for {
			var events []ItemEvent
			if events, err = w.Next(ctx); err != nil {
				break
			}
			version = events[len(events)-1].Item.ResourceVersion()
			if !yield(News{Events: events}, nil) {
				w.Close()
				return false, nil
			}
		}
		w.Close()
		if err != io.EOF {
			return true, err
		}
	}
}
