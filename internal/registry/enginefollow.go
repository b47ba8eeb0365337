package registry

import (
	"iter"

	"github.com/google/btree"

	"github.com/kubecoord/kubecoord/internal/backend"
	"github.com/kubecoord/kubecoord/internal/hub"
	"github.com/kubecoord/kubecoord/watch"
)

// follower receives the changes of the Backend for the cache. Only the goroutine of Follow
// calls its methods.
type follower engine

// arrival is a change of the Backend, decoded.
type arrival struct {
	r *Resource
	key
	item *Item // nil if the object is gone, or cannot be read
	err  error // why it cannot be read
}

// arrivals returns the decoded changes of objects of our kinds.
func (f *follower) arrivals(changes iter.Seq[backend.Stored]) (all []arrival) {
	e := (*engine)(f)
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
	var old Object
	if have != nil && have.UID() == it.UID() {
		old = have.obj
	}
	e.st.interned.intern(it.obj, old)
	return it, nil
}

// Load replaces the cache. The history begins again.
func (f *follower) Load(all iter.Seq[backend.Stored], version uint64) error {
	e, st := (*engine)(f), f.st
	arrivals := f.arrivals(all)
	st.mu.Lock()
	defer st.mu.Unlock()
	st.bytes = 0
	for _, r := range st.resources {
		r.tree, r.fresh = btree.NewG(treeDegree, entryLess), nil
		r.hot.clear()
		r.snapshots.dropBefore(version + 1)
	}
	e.mu.Lock()
	e.unreadable = nil
	for _, a := range arrivals {
		if a.err != nil {
			e.unreadable = append(e.unreadable, unreadable{r: a.r, key: a.key, version: version, err: a.err})
			continue
		}
		a.r.keepLocked(a.item)
	}
	e.mu.Unlock()
	st.version = version
	st.record = record{limit: st.record.limit, since: version}
	st.hub.Lose(version)
	return nil
}

// Changed makes the changes of one version.
func (f *follower) Changed(version uint64, changes []backend.Stored) error {
	st := f.st
	arrivals := f.arrivals(func(yield func(backend.Stored) bool) {
		for _, s := range changes {
			if !yield(s) {
				return
			}
		}
	})
	at := st.changeTime()
	st.mu.Lock()
	defer st.mu.Unlock()
	published := make([]*hub.Change[change], 0, len(arrivals))
	for _, a := range arrivals {
		old := a.r.lookupLocked(a.key)
		f.noteUnreadable(a, version)
		c := &hub.Change[change]{
			Version: version, Collection: a.r.id, Namespace: a.namespace, Name: a.name, At: at,
			Payload: change{eventType: watch.Modified, old: old, new: a.item},
		}
		switch {
		case a.item == nil && old == nil:
			continue
		case a.item == nil:
			c.Payload.eventType, c.Payload.new = watch.Deleted, old.renumbered(version)
			a.r.dropLocked(old)
		case old == nil:
			c.Payload.eventType = watch.Added
			a.r.keepLocked(a.item)
		default:
			st.bytes -= int64(old.size) + objectOverhead
			a.r.keepLocked(a.item)
		}
		c.Size = int64(c.Payload.new.size) + objectOverhead
		st.record.addLocked(c)
		published = append(published, c)
	}
	st.version = version
	st.hub.PublishAll(version, published)
	return nil
}

// Reached advances the cache to a version without changes in between.
func (f *follower) Reached(version uint64) {
	f.st.mu.Lock()
	defer f.st.mu.Unlock()
	f.st.reachLocked(version)
}

// keepLocked puts an item into the tree.
func (r *Resource) keepLocked(it *Item) {
	e := it.entry()
	if it.account == nil { // it is new here
		it.account, it.slot = r.account, r.hot.index(e.key)
	}
	r.tree.ReplaceOrInsert(e)
	r.hot.put(it)
	r.fresh = nil
	r.st.bytes += int64(it.size) + objectOverhead
}

// dropLocked removes an item from the tree.
func (r *Resource) dropLocked(it *Item) {
	r.tree.Delete(it.entry())
	r.hot.drop(it)
	r.fresh = nil
	r.st.bytes -= int64(it.size) + objectOverhead
}

// noteUnreadable notes that an object can no longer be read, or can be read again. It forgets
// what is older than the history.
func (f *follower) noteUnreadable(a arrival, version uint64) {
	e := (*engine)(f)
	e.mu.Lock()
	defer e.mu.Unlock()
	if a.err == nil && len(e.unreadable) == 0 {
		return
	}
	oldest := f.st.oldest()
	kept := e.unreadable[:0]
	for _, u := range e.unreadable {
		if u.r == a.r && u.key == a.key && u.until == 0 {
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

// checkReadable returns the error of a read of a namespace, or of one object in it, at a
// version.
func (e *engine) checkReadable(r *Resource, namespace, name string, version uint64) error {
	e.mu.Lock()
	defer e.mu.Unlock()
	for _, u := range e.unreadable {
		if u.r == r && (namespace == "" || namespace == u.namespace) && (name == "" || name == u.name) &&
			u.version <= version && (u.until == 0 || version < u.until) {
			return u.err
		}
	}
	return nil
}
