package registry

import (
	"context"
	"slices"
	"time"

	"github.com/kubecoord/kubecoord/internal/hub"
	"github.com/kubecoord/kubecoord/watch"
)

// Recorded is what a store has recorded of its changes, and what they led to; see
// Store.Record.
type Recorded struct {
	// Since is the version before the first of the changes, and Version that of
	// the store. Complete tells that there were no changes before.
	Since, Version uint64
	Complete       bool
	// Changes are those of all resources in the order of their versions.
	Changes []RecordedChange
	// Forks are the moments between the changes at which the store became a fork
	// of another one, in their order.
	Forks []RecordedFork
	// Now is what there is, resource by resource in the order of lists.
	Now []RecordedState
}

// RecordedFork is the moment at which a store was forked: the changes up to Version
// were made before, by the clock of the parent.
type RecordedFork struct {
	Version uint64
	// At is when it was by the clock of the fork, which may show quite another
	// time than the parent's: that of a testing/synctest bubble does.
	At time.Time
}

// RecordedChange is one change of a Recorded.
type RecordedChange struct {
	Resource *Resource
	Type     watch.EventType
	Version  uint64
	// Old is the state before, nil for Added. New is that after; for Deleted it is
	// the last state under the version of the deletion.
	Old, New *Item
	// At is when it was made, by the store's clock.
	At time.Time
	// Origin is that of the Request which made it, or 0.
	Origin uint64
}

// RecordedState is the current state of an object.
type RecordedState struct {
	Resource *Resource
	Item     *Item
}

// record holds the last changes. It is guarded by the store's mutex, but what it
// holds never changes: a clone of a store may share it.
type record struct {
	limit   int
	since   uint64 // the version before the first of changes
	changes []*hub.Change[change]
	before  *record   // what was recorded before the store was forked, or nil
	forked  time.Time // when it was, by the clock of the fork
}

// forkLocked returns the record of a fork that is made of a store at a version.
func (rec *record) forkLocked(version uint64, now time.Time) record {
	if rec.limit <= 0 {
		return record{}
	}
	before := *rec
	before.changes = slices.Clip(rec.changes)
	return record{limit: rec.limit, since: version, before: &before, forked: now}
}

// last returns the changes that are to be kept, the version before them, and the
// forks between them.
func (rec *record) last() (changes []*hub.Change[change], since uint64, forks []RecordedFork) {
	changes, since = rec.changes, rec.since
	for p := rec; p.before != nil && len(changes) < rec.limit; {
		forks = append(forks, RecordedFork{p.since, p.forked})
		p = p.before
		changes, since = slices.Concat(p.changes, changes), p.since
	}
	if left := len(changes) - rec.limit; left > 0 {
		changes, since = changes[left:], changes[left-1].Version
	}
	slices.Reverse(forks)
	return changes, since, forks
}

// addLocked takes in a change. It keeps up to twice as many as it has to, so that
// letting go of the rest costs little.
func (rec *record) addLocked(c *hub.Change[change]) {
	if rec.limit <= 0 {
		return
	}
	if len(rec.changes) >= 2*rec.limit {
		left := len(rec.changes) - rec.limit
		rec.since = rec.changes[left-1].Version
		rec.changes = append(make([]*hub.Change[change], 0, 2*rec.limit), rec.changes[left:]...)
		rec.before, rec.forked = nil, time.Time{}
	}
	rec.changes = append(rec.changes, c)
}

// Record keeps the last n changes for Recorded from now on. Unlike those of history
// they stay when history expires. n may be changed at any time; 0 stops recording, and
// forgets what was recorded when it begins again.
func (st *Store) Record(n int) {
	st.mu.Lock()
	defer st.mu.Unlock()
	if st.record.limit <= 0 {
		st.record = record{since: st.version}
	}
	st.record.limit, st.aging = n, st.aging || n > 0
}

// Recorded returns the changes that were recorded and the state that they led to,
// at one and the same version.
func (st *Store) Recorded() Recorded {
	st.mu.Lock()
	out := Recorded{Version: st.version}
	rec := st.record
	resources := make([]*Resource, len(st.resources))
	snapshots := make([]snapshot, len(st.resources))
	for _, r := range st.resources {
		resources[r.id], snapshots[r.id] = r, r.snapshotLocked()
	}
	st.mu.Unlock()
	var changes []*hub.Change[change]
	if changes, out.Since, out.Forks = rec.last(); rec.limit <= 0 {
		out.Since = out.Version
	}
	out.Complete = out.Since == st.first
	out.Changes = make([]RecordedChange, len(changes))
	for i, c := range changes {
		p := &c.Payload
		out.Changes[i] = RecordedChange{resources[c.Collection], p.eventType, c.Version, p.old, p.new, c.At, p.origin}
	}
	for id, r := range resources {
		snapshots[id].tree.Ascend(func(e entry) bool {
			out.Now = append(out.Now, RecordedState{r, e.item})
			return true
		})
	}
	return out
}

// Selects returns what tells whether a watch with these options is concerned with
// an object in a certain state. The error is that of Watch.
func (r *Resource) Selects(opts WatchOptions) (func(*Item) bool, error) {
	sel, err := r.parseSelection(opts.Namespace, opts.LabelSelector, opts.FieldSelector)
	if err != nil {
		return nil, err
	}
	if err := sel.checkFields(opts.Name); err != nil {
		return nil, err
	}
	if err := sel.parseShards(opts.ShardSelector, nil); err != nil {
		return nil, err
	}
	return sel.matches, nil
}

// originKey is where the origin of changes is in a context.
type originKey struct{}

// WithOrigin returns a context that names the origin of the changes made in it by
// a number other than 0; see Request.Origin.
func WithOrigin(ctx context.Context, origin uint64) context.Context {
	return context.WithValue(ctx, originKey{}, origin)
}

// OriginOf returns the origin that a context names, or 0.
func OriginOf(ctx context.Context) uint64 {
	origin, _ := ctx.Value(originKey{}).(uint64)
	return origin
}
