package client

import (
	"maps"
	"slices"

	"github.com/kubecoord/kubecoord/store/meta"
	"github.com/kubecoord/kubecoord/watch"
)

// follower sends the differences between lists.
type follower[T any] struct {
	c     *Collection[T]
	yield func(watch.Event[T]) bool
	sent  map[string]*T // copies of what was sent last, by namespace and name
}

func keyOf(m *meta.ObjectMeta) string { return m.Namespace + "/" + m.Name }

// send passes on an event. It returns false if the consumer left the loop.
func (f *follower[T]) send(ev watch.Event[T]) bool {
	if key := keyOf(object(ev.Object).GetObjectMeta()); ev.Type == watch.Deleted {
		delete(f.sent, key)
	} else {
		f.sent[key] = any(f.c.kind.Copy(object(ev.Object))).(*T)
	}
	return f.yield(ev)
}

// relist sends the differences to the current state. It returns false if the consumer left the
// loop.
func (f *follower[T]) relist(items []*T) bool {
	found := map[string]bool{}
	for _, obj := range items {
		m := object(obj).GetObjectMeta()
		found[keyOf(m)] = true
		ev := watch.Event[T]{Type: watch.Modified, Object: obj}
		if last := f.sent[keyOf(m)]; last == nil {
			ev.Type = watch.Added
		} else if was := object(last).GetObjectMeta(); was.ResourceVersion == m.ResourceVersion {
			continue
		} else if was.UID != m.UID {
			ev.Type = watch.Added
			if !f.send(watch.Event[T]{Type: watch.Deleted, Object: last}) {
				return false
			}
		}
		if !f.send(ev) {
			return false
		}
	}
	for _, key := range slices.Sorted(maps.Keys(f.sent)) {
		if !found[key] && !f.send(watch.Event[T]{Type: watch.Deleted, Object: f.sent[key]}) {
			return false
		}
	}
	return true
}
