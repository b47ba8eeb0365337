package registry

import (
	"cmp"
	"context"
	"errors"
	"math"
	"time"

	"github.com/kubecoord/kubecoord/internal/hub"
	"github.com/kubecoord/kubecoord/internal/kinds"
	"github.com/kubecoord/kubecoord/store/meta"
)

// reader serves reads: from memory, from a cache that follows a Backend (engine.go), or from
// a copy that lags (replica.go).
type reader interface {
	// present returns the lowest version that a consistent read may show.
	present(ctx context.Context) (uint64, error)
	// waitFor waits until reads see a version, at most futureWait.
	waitFor(ctx context.Context, r *Resource, version uint64) error
	// get returns the present state of an object, or nil. lookup returns the state that reads see now.
	get(ctx context.Context, r *Resource, k key) (*Item, error)
	lookup(r *Resource, k key) (*Item, error)
	// current returns a state that is not older than the call, and state the one that reads
	// see now. at returns the state at a version that reads see, or errSnapshotGone.
	current(ctx context.Context, r *Resource) (snapshot, error)
	state(r *Resource) (snapshot, error)
	at(r *Resource, version uint64) (snapshot, error)
	// open returns the events of a selection after a version.
	open(r *Resource, sel *selection, after uint64) (events, error)
	// position returns how far watches may read.
	position(r *Resource) position
}

// source is where a store keeps its objects.
type source interface {
	reader
	// commit makes a change, and returns it with its answer and version. The error is a
	// *lostRace if the object is no longer in the state that the change replaces.
	commit(ctx context.Context, r *Resource, w write) (write, error)
}

// position is how far a reader is with a kind.
type position struct {
	version uint64
	floor   uint64          // watches before this version are expired
	moved   <-chan struct{} // closed by CatchUp and Jump; nil after them
	grown   <-chan struct{} // closed by the next change; nil unless a Replica follows
	next    time.Time       // when Age lets in the next change, or zero
}

// everything is the position of a reader that does not lag.
const everything = math.MaxUint64

// reader returns the reader for a context.
func (st *Store) reader(ctx context.Context) reader {
	if p, ok := ctx.Value(replicaKey{}).(*Replica); ok && p.st == st {
		return p
	}
	return st.source
}

// memory is the source of a store in memory. The other readers override some of its methods.
type memory struct{ st *Store }

func (m memory) present(context.Context) (uint64, error) { return m.st.ResourceVersion(), nil }

func (m memory) waitFor(ctx context.Context, _ *Resource, version uint64) error {
	return m.st.waitFor(ctx, version)
}

func (memory) get(_ context.Context, r *Resource, k key) (*Item, error) { return r.lookup(k), nil }

func (memory) lookup(r *Resource, k key) (*Item, error) { return r.lookup(k), nil }

func (memory) current(_ context.Context, r *Resource) (snapshot, error) { return r.snapshot(), nil }

func (memory) state(r *Resource) (snapshot, error) { return r.snapshot(), nil }

func (memory) at(r *Resource, version uint64) (snapshot, error) { return r.at(version) }

func (memory) position(*Resource) position { return position{version: everything} }

func (m memory) open(r *Resource, sel *selection, after uint64) (events, error) {
	now, opened := m.st.now(), m.st.openEvents(r, sel, after)
	if oldest := max(m.st.hub.Oldest(now), r.since); after < oldest {
		opened.Close()
		return nil, expiredWatch(&hub.ExpiredError{Requested: after, Oldest: oldest})
	}
	return &opened, nil
}

func (m memory) commit(ctx context.Context, r *Resource, w write) (write, error) {
	st := m.st
	if w.obj != nil {
		var old *meta.ObjectMeta
		if w.old != nil {
			old = w.old.meta()
		}
		st.interned.Metadata(w.obj.GetObjectMeta(), old)
	}
	w.share(r.Kind)
	at := st.changeTime()
	st.mu.Lock()
	defer st.mu.Unlock()
	if err := r.retired.Load(); err != nil {
		return w, err
	}
	if have := r.lookupLocked(w.key); !sameState(have, w.old) {
		return w, &lostRace{have}
	}
	if err := st.checkQuotaLocked(&w); err != nil {
		return w, err
	}
	r.publishLocked(ctx, &w, at)
	return w, nil
}

// checkQuotaLocked refuses a write that adds bytes to a store that has no room for them
// (upstream: etcd, api/v3rpc/rpctypes, ErrNoSpace; a server passes its text on).
func (st *Store) checkQuotaLocked(w *write) error {
	growth := int64(w.size) + objectOverhead
	if w.old != nil {
		growth -= w.old.counted()
	}
	if w.obj != nil && st.quota > 0 && growth > 0 && st.bytes+growth > st.quota {
		return errors.New("etcdserver: mvcc: database space exceeded")
	}
	return nil
}

// changeTime returns the time of a change if the history needs it. It calls the user's
// clock, so it must be called without the lock.
func (st *Store) changeTime() time.Time {
	if !st.aging.Load() {
		return time.Time{}
	}
	return st.now()
}

// publishLocked makes a write in the tree, the counter and the history: the one place where
// versions are taken. The store owns w.obj from here on.
func (r *Resource) publishLocked(ctx context.Context, w *write, at time.Time) {
	st := r.st
	w.version = st.version + 1
	var next *Item
	if w.obj != nil {
		next = newItem(r.Kind, w.obj, w.version)
		next.size = uint32(w.size)
		if w.filled {
			next.fill()
		}
		setResourceVersion(w.obj, w.version)
		w.answer = next
		st.bytes += next.counted()
	}
	if w.old != nil {
		st.bytes -= w.old.counted()
	}
	c := r.newChange(w, next, at)
	r.applyLocked(ctx, c)
	st.version = w.version
	st.hub.Publish(w.version, c)
}

// newChange returns the change of a write to the state next, which is nil if the object is gone.
func (r *Resource) newChange(w *write, next *Item, at time.Time) *hub.Change[change] {
	newest := cmp.Or(next, w.old)
	m := newest.meta() // unlike w.key, its texts are no part of a request
	return &hub.Change[change]{
		Version: w.version, Collection: r.id, Namespace: m.Namespace, Name: m.Name, Size: max(newest.counted(), int64(w.held)), At: at,
		Payload: change{old: w.old, new: next},
	}
}

// shareFrom is the size from which the states of an object share memory, and from which their memory is counted. Of smaller ones the
// number of changes is a bound.
const shareFrom = 2 << 10

// share makes the next state share the memory of the state before it, and counts what only that has: what the history holds by the change.
func (w *write) share(k *kinds.Kind) {
	if w.old == nil || w.old.size < shareFrom || w.old.kind != k {
		return
	}
	var next any
	if w.obj != nil {
		next = k.Type().CopyStruct(w.obj) // another attempt may change obj, which therefore keeps its own memory
		w.obj = next.(kinds.Object)
	}
	w.held = k.Type().Share(next, w.old.obj)
}

// applyLocked makes a change in the tree, and passes it to the observers.
func (r *Resource) applyLocked(ctx context.Context, c *hub.Change[change]) {
	r.fresh = nil
	if it := c.Payload.new; it != nil {
		e := r.adopt(it)
		r.tree.ReplaceOrInsert(e)
		r.index.put(e.key, it)
		r.newest.Store(it)
	} else {
		e := c.Payload.old.entry()
		r.tree.Delete(e)
		r.index.remove(e.key)
	}
	for _, o := range r.st.observers {
		o.Changed(ctx, objectChange(c))
	}
}

// adopt prepares an item for the tree, and returns its entry.
func (r *Resource) adopt(it *Item) entry {
	if it.account == nil { // it is new here
		it.account = r.account
	}
	return it.entry()
}
