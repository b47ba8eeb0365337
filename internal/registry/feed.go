package registry

import (
	"context"
	"iter"
)

// ObjectChange is a change of an object of any collection.
type ObjectChange struct {
	Resource *Resource
	// Old is the state before, nil if there was no object. New is the state after, nil if the object is gone.
	Old, New *Item
}

// FollowAll sends the changes of all collections in their order, for controllers of all kinds: one goroutine, and no reader in
// the hub. An element without changes means that the caller must read the whole state: the first element is one, and so is the one after
// the history has lost changes. After each element all changes up to then were sent. The last element is the error of the context, or ErrClosed.
func (st *Store) FollowAll(ctx context.Context) iter.Seq2[[]ObjectChange, error] {
	return func(yield func([]ObjectChange, error) bool) {
		at, lost := uint64(0), true
		for {
			now, next := st.hub.Head()
			var out []ObjectChange
			if !lost {
				changes, complete := st.hub.Changes(at, now)
				lost = !complete || now < at
				st.mu.RLock()
				for _, c := range changes {
					out = append(out, ObjectChange{st.byID[c.Collection], c.Payload.old, c.Payload.new})
				}
				st.mu.RUnlock()
			}
			if lost {
				out = nil
			}
			if (lost || len(out) > 0) && !yield(out, nil) {
				return
			}
			at, lost = now, false
			select {
			case <-next:
			case <-ctx.Done():
				yield(nil, ctx.Err())
				return
			case <-st.hub.Done():
				yield(nil, ErrClosed)
				return
			}
		}
	}
}

// Objects returns the items of a collection as they are now. They must not be changed.
func (r *Resource) Objects() []*Item {
	entries := entriesOf(r.snapshot().tree)
	out := make([]*Item, len(entries))
	for i, e := range entries {
		out[i] = e.item
	}
	return out
}
