package registry

import (
	"context"
	"iter"
	"time"

	"github.com/kubecoord/kubecoord/internal/hub"
	"github.com/kubecoord/kubecoord/internal/kinds"
	"github.com/kubecoord/kubecoord/watch"
)

// ObjectChange is a change of an object of any collection.
type ObjectChange struct {
	Version uint64
	// Old is the state before, nil if there was no object. New is the state after, nil if the object is gone.
	Old, New *Item
	// At is the time of the change by the store's clock. It is zero unless Options.HistoryAge is set or Observe was called.
	At time.Time
}

// Type returns the type of the event.
func (c *ObjectChange) Type() watch.EventType { return (&change{old: c.Old, new: c.New}).eventType() }

// Newest returns the state after the change, or the state before it if the object is gone.
func (c *ObjectChange) Newest() *Item { return (&change{old: c.Old, new: c.New}).newest() }

// Kind returns the kind of the object.
func (c *ObjectChange) Kind() *kinds.Kind { return c.Newest().kind.Origin() }

func objectChange(c *hub.Change[change]) ObjectChange {
	return ObjectChange{c.Version, c.Payload.old, c.Payload.new, c.At}
}

// Observer gets the changes of a store; see Observe. It is called with the lock of the store held, so it must not block or use the store.
type Observer interface {
	// Begin is called before the changes after a version. empty reports whether there were none before. It is called again when a
	// Backend has lost changes.
	Begin(version uint64, empty bool)
	// Changed gets a change, and the context of its write. A change of a Backend has an empty context.
	Changed(ctx context.Context, c ObjectChange)
}

// Observe makes the store pass all changes from now on to o, in their order. A fork does not.
func (st *Store) Observe(o Observer) {
	st.aging.Store(true)
	st.mu.Lock()
	defer st.mu.Unlock()
	st.observers = append(st.observers, o)
	o.Begin(st.version, st.version == st.first)
}

// Feed reads the changes of all collections in their order, for controllers of several kinds. Its methods are for one goroutine.
type Feed struct {
	st       *Store
	follower *hub.Follower[change]
}

// Feed returns a Feed, which the caller must Close. wants, if not nil, reports whether a change must wake the Feed. Writers call it
// with the lock of the store held, so it must not use the store.
func (st *Store) Feed(wants func(ObjectChange) bool) *Feed {
	return &Feed{st, st.hub.Follow(func(c *hub.Change[change]) bool { return wants == nil || wants(objectChange(c)) })}
}

// Close ends the Feed.
func (f *Feed) Close() { f.follower.Close() }

// Poll returns the changes since the last call, perhaps without those before the first one that the Feed wants. It does not block. If
// relist is set, there are none, and the caller must read the whole state: at the first call, when the store is loaded, and after the
// history has lost changes. What it reads may have changes that the next Poll returns.
// The error is ErrClosed, or the error of the Backend if that has ended.
func (f *Feed) Poll() (changes []ObjectChange, relist bool, err error) {
	past, complete := f.follower.Poll()
	select {
	case <-f.st.hub.Done():
		return nil, false, ErrClosed
	default:
	}
	if err := f.st.engine.endError(); err != nil {
		return nil, false, err
	}
	if !complete || len(past) == 0 {
		return nil, !complete, nil
	}
	changes = make([]ObjectChange, len(past))
	for i, c := range past {
		changes[i] = objectChange(c)
	}
	return changes, false, nil
}

// WakeUp returns a channel that delivers a value when another Poll may return something.
func (f *Feed) WakeUp() <-chan struct{} { return f.follower.Wake() }

// State returns a value that is another one, by ==, after each change of the objects.
func (r *Resource) State() any { return r.snapshot().tree }

// Present iterates over the items of a namespace, or of all for "", as they are now. They must not be changed.
func (r *Resource) Present(namespace string) iter.Seq[*Item] {
	return func(yield func(*Item) bool) {
		_ = r.snapshot().ascend(context.Background(), namespace, key{namespace: namespace}, func(e entry) bool { return yield(r.read(e.item)) })
	}
}
