package store

import (
	"context"
	"errors"
	"io"
	"iter"
	"maps"
	"slices"
	"time"

	"github.com/kubecoord/kubecoord/internal/registry"
	"github.com/kubecoord/kubecoord/store/meta"
	"github.com/kubecoord/kubecoord/watch"
)

// Follow is like Watch, but goes on when history has gone: it lists again, and
// sends the difference to what it sent before as events. So a consumer sees every
// object come and go, though not every state in between; an object that went
// unseen is Deleted in the last state that was sent. opts.ResourceVersion must be
// empty. Bookmarks are not sent. The sequence ends at opts.Timeout; otherwise its last
// element is the error of ctx, of opts, or ErrClosed.
func (c *Collection[T]) Follow(ctx context.Context, opts WatchOptions) iter.Seq2[watch.Event[T], error] {
	return func(yield func(watch.Event[T], error) bool) {
		f := follower[T]{c: c, opts: opts, yield: yield, sent: map[string]*registry.Item{}}
		f.opts.AllowWatchBookmarks = true // one marks the end of the current state
		if opts.Timeout > 0 {
			f.deadline = c.Clock().Now().Add(opts.Timeout)
		}
		err := f.check()
		for err == nil || errors.Is(err, ErrExpired) {
			err = f.watch(ctx)
		}
		if err != io.EOF && err != errLeft {
			yield(watch.Event[T]{}, err)
		}
	}
}

// errLeft ends a loop that the consumer has left.
var errLeft = errors.New("left")

// follower is one Follow under way.
type follower[T any] struct {
	c    *Collection[T]
	opts WatchOptions
	// deadline is when opts.Timeout ends the sequence, or zero.
	deadline time.Time

	yield func(watch.Event[T], error) bool
	sent  map[string]*registry.Item // by namespace and name
}

func (f *follower[T]) check() error {
	if f.opts.ResourceVersion != "" {
		return meta.NewBadRequest("resourceVersion: got %q, want none: Follow begins with the current state", f.opts.ResourceVersion)
	}
	return nil
}

// watch sends the difference to the current state, and then the changes. It returns
// the error that ends the watch.
func (f *follower[T]) watch(ctx context.Context) error {
	if !f.deadline.IsZero() {
		f.opts.Timeout = max(f.deadline.Sub(f.c.Clock().Now()), 1)
	}
	w, err := f.c.r.Watch(ctx, f.opts.registry())
	if err != nil {
		return err
	}
	defer w.Close()
	listing, found := true, map[string]bool{}
	for {
		events, err := w.Next(ctx)
		if err != nil {
			return err
		}
		for _, ev := range events {
			switch {
			case ev.InitialEnd:
				listing = false
				err = f.dropMissing(found)
			case listing:
				found[itemKey(ev.Item)] = true
				err = f.sendNewer(ev)
			case ev.Type != watch.Bookmark:
				err = f.send(ev)
			}
			if err != nil {
				return err
			}
		}
	}
}

func itemKey(it *registry.Item) string { return it.Namespace() + "/" + it.Name() }

// send passes on an event.
func (f *follower[T]) send(ev registry.ItemEvent) error {
	if ev.Type == watch.Deleted {
		delete(f.sent, itemKey(ev.Item))
	} else {
		f.sent[itemKey(ev.Item)] = ev.Item
	}
	if !f.yield(watch.Event[T]{Type: ev.Type, Object: typed[T](ev.Item)}, nil) {
		return errLeft
	}
	return nil
}

// sendNewer sends the event of an object that is there, unless its state was sent.
func (f *follower[T]) sendNewer(ev registry.ItemEvent) error {
	last := f.sent[itemKey(ev.Item)]
	switch {
	case last == nil:
		return f.send(ev)
	case last.ResourceVersion() == ev.Item.ResourceVersion():
		return nil
	case last.UID() != ev.Item.UID():
		if err := f.send(registry.ItemEvent{Type: watch.Deleted, Item: last}); err != nil {
			return err
		}
		return f.send(ev)
	}
	return f.send(registry.ItemEvent{Type: watch.Modified, Item: ev.Item})
}

// dropMissing sends the deletion of what was sent and is no longer there.
func (f *follower[T]) dropMissing(found map[string]bool) error {
	for _, k := range slices.Sorted(maps.Keys(f.sent)) {
		if found[k] {
			continue
		}
		if err := f.send(registry.ItemEvent{Type: watch.Deleted, Item: f.sent[k]}); err != nil {
			return err
		}
	}
	return nil
}
