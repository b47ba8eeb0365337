package registry

import (
	"fmt"

	"github.com/kubecoord/kubecoord/store/clock"
	"github.com/kubecoord/kubecoord/store/meta"
)

// Fork returns a store that is in the same state and from here on goes its own
// way: neither of the two ever sees what is written to the other. The fork has
// the objects of all kinds, the version that is next, and the history, so that
// versions, continue tokens and watches that were made before the fork mean the
// same in both; and the same Options. Its clock is the same one, but for a clock
// that is moved by hand, of which it has a fork: see clock.Forker. Watches that
// are open, and Replicas, stay with their store. The caller must Close the fork;
// closing one store does not close the other, so that a store may be forked by
// many tests, and a fork be forked again.
//
// It takes the same microsecond however many objects there are: the two share
// what they have in common, and a write copies what it needs of it. It may be
// called at any time. The error is ErrClosed where the store was closed.
func (st *Store) Fork() (*Store, error) {
	st.mu.Lock()
	defer st.mu.Unlock()
	if st.closed {
		return nil, fmt.Errorf("store.Fork: got a store that was closed, want one that is open: %w", ErrClosed)
	}
	f := &Store{
		now: st.now, clock: st.clock, seed: st.seed, aging: st.aging, first: st.first, version: st.version,
		hub:       st.hub.Fork(),
		resources: make(map[meta.GroupResource]*Resource, len(st.resources)),
	}
	if c, ok := st.clock.(clock.Forker); ok {
		f.clock = c.Fork()
		f.now = f.clock.Now
	}
	f.record = st.record.forkLocked(st.version, f.now())
	f.shares.joinFork(&st.shares)
	all := make([]Resource, len(st.resources))
	for gr, r := range st.resources {
		all[r.id].forkLocked(f, r)
		f.resources[gr] = &all[r.id]
	}
	return f, nil
}

// In returns the collection of the same kind in another store, such as a fork.
func (r *Resource) In(st *Store) *Resource { return st.Resource(r.kind) }

// forkLocked makes an empty resource that of a fork.
func (r *Resource) forkLocked(st *Store, parent *Resource) {
	r.st, r.kind, r.id = st, parent.kind, parent.id
	r.tree = parent.tree.Clone()
	r.made = parent.made.fork()
	r.hot.seed = parent.hot.seed // by which its items know their slots
	r.past.kept = parent.past.all()
}
