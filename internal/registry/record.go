package registry

import (
	"context"
	"slices"
	"time"

	"github.com/kubecoord/kubecoord/internal/hub"
	"github.com/kubecoord/kubecoord/watch"
)

// Recorded holds the recorded changes of a store and its state; see Store.Record.
type Recorded struct {
	// Since is the version before the first change, and Version the last version.
	// Complete reports whether there were no changes before Since.
	Since, Version uint64
	Complete       bool
	// Changes are the changes of all resources, in the order of their versions.
	Changes []RecordedChange
	// Forks are the moments at which the store was forked from another one, in order.
	Forks []RecordedFork
	// Now is the state, each resource in the order of lists.
	Now []RecordedState
}

// RecordedFork is the moment of a fork. Changes up to Version were made before it, by the clock of the parent.
type RecordedFork struct {
	Version uint64
	// At is the time by the clock of the fork. The parent's clock may show another time,
	// as in a testing/synctest bubble.
	At time.Time
}

// RecordedChange is one change of a Recorded or of a history.
type RecordedChange struct {
	Resource *Resource
	Type     watch.EventType
	Version  uint64
	// Old is the state before, nil for Added. New is the state after; for Deleted it is
	// the last state, with the version of the deletion.
	Old, New *Item
	// At is the time of the change by the store's clock. It is zero unless Options.HistoryAge
	// is set or Store.Record was called.
	At time.Time
	// Origin is the number that WithOrigin gave to the request, or 0.
	Origin uint64
}

func recorded(r *Resource, c *hub.Change[change]) RecordedChange {
	p := &c.Payload
	return RecordedChange{r, p.eventType(), c.Version, p.old, eventItem(c), c.At, p.origin}
}

// RecordedState is the current state of an object.
type RecordedState struct {
	Resource *Resource
	Item     *Item
}

// record holds the last changes. The store's mutex guards it; forks may share the changes themselves.
type record struct {
	limit   int
	since   uint64 // the version before the first change
	changes []*hub.Change[change]
	before  *record   // the record of the parent at the fork, or nil
	forked  time.Time // by the clock of the fork
}

// forkLocked returns the record of a fork made at a version.
func (rec *record) forkLocked(version uint64, now time.Time) record {
	if rec.limit <= 0 {
		return record{}
	}
	before := *rec
	return record{limit: rec.limit, since: version, before: &before, forked: now}
}

// last returns the last limit changes, the version before them, and the forks between them.
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

// addLocked adds a change. It keeps up to twice the limit, so that dropping old changes is cheap on average.
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

// Record keeps the last n changes from now on, even when history expires. n may be changed
// at any time. 0 stops recording; starting again forgets the earlier changes.
func (st *Store) Record(n int) {
	st.mu.Lock()
	defer st.mu.Unlock()
	if st.record.limit <= 0 {
		st.record = record{since: st.version}
	}
	st.record.limit = n
	if n > 0 {
		st.aging.Store(true)
	}
}

// Recorded returns the recorded changes and the state after them.
func (st *Store) Recorded() Recorded {
	st.mu.Lock()
	out := Recorded{Version: st.version}
	rec := st.record
	resources := slices.Clone(st.byID)
	snapshots := make([]snapshot, len(resources))
	for id, r := range resources {
		snapshots[id] = r.snapshotLocked()
	}
	st.mu.Unlock()
	var changes []*hub.Change[change]
	if changes, out.Since, out.Forks = rec.last(); rec.limit <= 0 {
		out.Since = out.Version
	}
	out.Complete = out.Since == st.first
	out.Changes = make([]RecordedChange, len(changes))
	for i, c := range changes {
		out.Changes[i] = recorded(resources[c.Collection], c)
	}
	for id, r := range resources {
		snapshots[id].tree.Ascend(func(e entry) bool {
			out.Now = append(out.Now, RecordedState{r, e.item})
			return true
		})
	}
	return out
}

// originKey is the context key of an origin.
type originKey struct{}

// WithOrigin returns a context whose writes are recorded with a number other than 0.
func WithOrigin(ctx context.Context, origin uint64) context.Context {
	return context.WithValue(ctx, originKey{}, origin)
}

// OriginOf returns the origin in a context, or 0.
func OriginOf(ctx context.Context) uint64 {
	origin, _ := ctx.Value(originKey{}).(uint64)
	return origin
}
