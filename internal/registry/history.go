package registry

import (
	"time"

	"github.com/kubecoord/kubecoord/watch"
)

// PastChange is one change that history still holds.
type PastChange struct {
	Type watch.EventType
	// Item is the state after the change; of a deletion the last one, with the
	// version of the deletion.
	Item *Item
	// At is when it was made, by the store's clock. It is known only where
	// Options.HistoryAge is set, or Store.Record was called.
	At time.Time
}

// History returns the changes of the resource's objects that history still
// holds, the oldest first. complete tells that these are all there were since
// the store was made.
func (r *Resource) History() (changes []PastChange, complete bool) {
	st := r.st
	now := st.now()
	st.mu.RLock()
	defer st.mu.RUnlock()
	oldest := st.hub.Oldest(now)
	for version := oldest + 1; version <= st.version; version++ {
		if c := st.hub.Get(version); c != nil && c.Collection == r.id {
			changes = append(changes, PastChange{c.Payload.eventType, c.Payload.new, c.At})
		}
	}
	return changes, oldest == st.first
}
