package registry

import (
	"context"
	"iter"
	"math"
	"slices"
	"time"

	"github.com/google/btree"

	"github.com/kubecoord/kubecoord/internal/hub"
	"github.com/kubecoord/kubecoord/store/backend"
	"github.com/kubecoord/kubecoord/store/meta"
)

// follower receives the changes of the Backend for the cache. Only the goroutine of Follow calls its methods.
type follower engine

// arrival is a change of the Backend, decoded.
type arrival struct {
	r *Resource
	key
	item *Item // nil if the object is gone, or cannot be read
	err  error // why it cannot be read
}

// arrivals returns the decoded changes of objects of our kinds.
func (e *engine) arrivals(changes iter.Seq[backend.Stored]) (all []arrival) {
	for s := range changes {
		r, k := e.find(s.Key)
		if r == nil {
			continue
		}
		a := arrival{r: r, key: k}
		if s.Value != nil {
			a.item, a.err = e.itemOf(r, k, s)
		}
		all = append(all, a)
	}
	return all
}

// itemOf returns the item of a stored state, which the cache may have.
func (e *engine) itemOf(r *Resource, k key, s backend.Stored) (*Item, error) {
	have := r.lookup(k)
	if have != nil && have.version == s.Version {
		return have, nil
	}
	it, err := r.decode(k, s)
	if err != nil {
		return nil, err
	}
	var old *meta.ObjectMeta
	if have != nil && have.UID() == it.UID() {
		old = have.meta()
	}
	e.st.interned.Metadata(it.meta(), old)
	return it, nil
}

// Load replaces the cache. The history begins again, and all watchers expire.
func (f *follower) Load(all iter.Seq[backend.Stored], version uint64) error {
	e, st := (*engine)(f), f.st
	e.turn.Lock()
	defer e.turn.Unlock()
	trees, unread := e.treesOf(all)
	st.mu.Lock()
	defer st.mu.Unlock()
	for r, tree := range trees {
		r.tree, r.index, r.fresh = tree, nil, nil
		r.snapshots.dropBefore(math.MaxUint64)
	}
	e.mu.Lock()
	e.unreadable = unread
	e.mu.Unlock()
	st.version = version
	for _, o := range st.observers {
		o.Begin(version, false)
	}
	st.hub.Lose(version)
	return nil
}

// treesOf returns a tree for each resource with the objects that can be read.
func (e *engine) treesOf(all iter.Seq[backend.Stored]) (trees map[*Resource]*btree.BTreeG[entry], unread []unreadable) {
	trees = map[*Resource]*btree.BTreeG[entry]{}
	for _, r := range e.prefixes {
		trees[r] = btree.NewG(treeDegree, entryLess)
	}
	for _, a := range e.arrivals(all) {
		if a.err != nil {
			unread = append(unread, unreadable{r: a.r, key: a.key, err: a.err})
			continue
		}
		trees[a.r].ReplaceOrInsert(a.r.adopt(a.item))
	}
	return trees, unread
}

// Changed makes the changes of one version.
func (f *follower) Changed(version uint64, changes []backend.Stored) error {
	st := f.st
	f.turn.Lock()
	defer f.turn.Unlock()
	at := st.changeTime()
	arrivals := slices.DeleteFunc((*engine)(f).arrivals(slices.Values(changes)), func(a arrival) bool {
		return version <= a.r.since // its objects were read after the change
	})
	published := make([]*hub.Change[change], len(arrivals))
	for i, a := range arrivals {
		if old := a.r.lookup(a.key); old != nil || a.item != nil { // only the follower changes the tree
			published[i] = a.r.newChange(&write{old: old, version: version}, a.item, at)
		}
	}
	st.mu.Lock()
	defer st.mu.Unlock()
	for i, a := range arrivals {
		f.noteUnreadable(a, version, at)
		if c := published[i]; c != nil {
			a.r.applyLocked(context.Background(), c)
		}
	}
	st.version = version
	st.hub.Publish(version, slices.DeleteFunc(published, func(c *hub.Change[change]) bool { return c == nil })...)
	return nil
}

// SeenAt returns the time at which the store saw the first change that its history has from a
// version on, or zero: then there is none, or the history has no times.
func (st *Store) SeenAt(version uint64) (at time.Time) {
	now := st.now()
	st.mu.RLock()
	defer st.mu.RUnlock()
	if changes, _ := st.hub.Changes(max(version, 1+st.hub.Oldest(now))-1, st.version); len(changes) > 0 {
		at = changes[0].At
	}
	return at
}

// Reached advances the cache to a version without changes in between.
func (f *follower) Reached(version uint64) {
	f.st.mu.Lock()
	defer f.st.mu.Unlock()
	f.st.reachLocked(version)
}

// noteUnreadable notes that an object can no longer be read, or can be read again. It forgets
// values that were replaced before the history begins.
func (f *follower) noteUnreadable(a arrival, version uint64, at time.Time) {
	e := (*engine)(f)
	e.mu.Lock()
	defer e.mu.Unlock()
	if a.err == nil && len(e.unreadable) == 0 {
		return
	}
	oldest := f.st.hub.Oldest(at)
	kept := e.unreadable[:0]
	for _, u := range e.unreadable {
		if u.r.collection == a.r.collection && u.key == a.key && u.until == 0 {
			u.until = version
		}
		if u.until == 0 || u.until > oldest {
			kept = append(kept, u)
		}
	}
	e.unreadable = kept
	if a.err != nil {
		e.unreadable = append(e.unreadable, unreadable{r: a.r, key: a.key, version: version, err: a.err})
	}
}

// checkReadable returns the error of a read of a namespace, or of one object in it, at a version.
func (e *engine) checkReadable(r *Resource, namespace, name string, version uint64) error {
	if e == nil {
		return nil
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	for _, u := range e.unreadable {
		if u.r.collection == r.collection && (namespace == "" || namespace == u.namespace) && (name == "" || name == u.name) &&
			u.version <= version && (u.until == 0 || version < u.until) {
			return u.err
		}
	}
	return nil
}
